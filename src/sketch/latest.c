/* latest.c - an exact set of digests with the latest time of each. */
#include "sketch/latest.h"

#include "base/bits.h"

enum { LEAST = 16, REACH = 4096 }; /* REACH: no honest search is that long */

void latest_free(struct latest *s, const struct seen_allocator *alloc) {
    if (s->slot) alloc->free(alloc->ctx, s->slot, s->slots * sizeof *s->slot);
    *s = (struct latest){0};
}

static uint64_t home(const struct latest *s, seen_digest d) {
    return bits_draw(d.lo, d.hi, DRAW_LATEST) & (s->slots - 1);
}

/* Where it is, or would be. */
static uint64_t search(const struct latest *s, seen_digest d) {
    uint64_t i = home(s, d);
    for (; s->slot[i].stamp; i = (i + 1) & (s->slots - 1))
        if (s->slot[i].digest.lo == d.lo && s->slot[i].digest.hi == d.hi) break;
    return i;
}

static uint64_t places(uint64_t slots) { return slots / 4 * 3; }

uint64_t latest_count(const struct latest *s, seen_time least) {
    uint64_t n = 0;
    for (uint64_t i = 0; i < s->slots; i++) n += s->slot[i].stamp > least;
    return n;
}

/* Moves the keys that count to new slots.  At least an eighth of these stays free, so that this
 * happens seldom. */
static bool renew(struct latest *s, seen_time least, uint64_t most,
                  const struct seen_allocator *alloc) {
    struct latest new = {.slots = LEAST, .used = latest_count(s, least)};
    while (new.used >= places(new.slots) / 8 * 7)
        if ((new.slots *= 2) > SIZE_MAX / 2 / sizeof *s->slot) return false;
    if (new.slots > most) return false;
    new.slot = alloc->zalloc(alloc->ctx, new.slots * sizeof *new.slot);
    if (!new.slot) return false;
    for (uint64_t i = 0; i < s->slots; i++)
        if (s->slot[i].stamp > least) new.slot[search(&new, s->slot[i].digest)] = s->slot[i];
    latest_free(s, alloc);
    *s = new;
    return true;
}

bool latest_add(struct latest *s, seen_digest d, seen_time time, seen_time least, uint64_t most,
                const struct seen_allocator *alloc) {
    struct latest_slot *at = s->slots ? &s->slot[search(s, d)] : NULL;
    if (!at || !at->stamp) {
        if (s->used >= places(s->slots)) {
            if (!renew(s, least, most, alloc)) return false;
            at = &s->slot[search(s, d)];
        }
        *at = (struct latest_slot){.digest = d};
        s->used++;
    }
    at->stamp = bits_max(at->stamp, time + 1);
    return true;
}

bool latest_sound(const struct latest *s, seen_time newest) {
    uint64_t used = 0;
    for (uint64_t i = 0; i < s->slots; i++) used += s->slot[i].stamp != 0;
    if (used != s->used || used > places(s->slots)) return false;
    for (uint64_t i = 0; i < s->slots; i++) {
        const struct latest_slot *at = &s->slot[i];
        if (!at->stamp) continue;
        if (at->stamp > newest + 1 || search(s, at->digest) != i) return false;
        if (((i - home(s, at->digest)) & (s->slots - 1)) > REACH) return false;
    }
    return true;
}
