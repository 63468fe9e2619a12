/* digests.c - exact sets of digests that grow by doubling. */
#include "table/digests.h"

#include "base/bits.h"

enum { LEAST = 16, REACH = 4096 }; /* slots at first; slots that a search visits at most */

void digests_free(struct digests *s, const struct seen_allocator *alloc) {
    if (s->slot) alloc->free(alloc->ctx, s->slot, s->slots * sizeof *s->slot);
    *s = (struct digests){0};
}

static bool same(seen_digest a, seen_digest b) { return a.lo == b.lo && a.hi == b.hi; }

static bool is_zero(seen_digest d) { return !d.lo && !d.hi; }

static uint64_t home(const struct digests *s, seen_digest d) {
    return bits_draw(d.lo, d.hi, DRAW_DIGESTS) & (s->slots - 1);
}

/* The slot of a digest, or the empty slot that it would get. */
static uint64_t search(const struct digests *s, seen_digest d) {
    uint64_t i = home(s, d);
    while (!is_zero(s->slot[i]) && !same(s->slot[i], d)) i = (i + 1) & (s->slots - 1);
    return i;
}

static bool grow(struct digests *s, uint64_t most, const struct seen_allocator *alloc) {
    struct digests twice = {
        .slots = s->slots ? 2 * s->slots : LEAST, .used = s->used, .zero = s->zero};
    if (twice.slots > most || twice.slots > SIZE_MAX / 2 / sizeof *s->slot) return false;
    twice.slot = alloc->zalloc(alloc->ctx, twice.slots * sizeof *twice.slot);
    if (!twice.slot) return false;
    for (uint64_t i = 0; i < s->slots; i++)
        if (!is_zero(s->slot[i])) twice.slot[search(&twice, s->slot[i])] = s->slot[i];
    digests_free(s, alloc);
    *s = twice;
    return true;
}

bool digests_add(struct digests *s, seen_digest d, uint64_t most,
                 const struct seen_allocator *alloc) {
    if (is_zero(d)) return s->zero = true;
    if (s->slots && same(s->slot[search(s, d)], d)) return true;
    if (s->used >= s->slots / 4 * 3 && !grow(s, most, alloc)) return false;
    s->slot[search(s, d)] = d;
    s->used++;
    return true;
}

bool digests_sound(const struct digests *s) {
    uint64_t used = 0;
    for (uint64_t i = 0; i < s->slots; i++) used += !is_zero(s->slot[i]);
    if (used != s->used || used > s->slots / 4 * 3) return false;
    for (uint64_t i = 0; i < s->slots; i++) {
        seen_digest d = s->slot[i];
        if (is_zero(d)) continue;
        if (((i - home(s, d)) & (s->slots - 1)) > REACH || search(s, d) != i) return false;
    }
    return true;
}

/* -- with the latest time of each digest -------------------------------------------------- */

void latest_free(struct latest *s, const struct seen_allocator *alloc) {
    if (s->slot) alloc->free(alloc->ctx, s->slot, s->slots * sizeof *s->slot);
    *s = (struct latest){0};
}

static uint64_t latest_home(const struct latest *s, seen_digest d) {
    return bits_draw(d.lo, d.hi, DRAW_LATEST) & (s->slots - 1);
}

/* As search(). */
static uint64_t latest_search(const struct latest *s, seen_digest d) {
    uint64_t i = latest_home(s, d);
    for (; s->slot[i].stamp; i = (i + 1) & (s->slots - 1))
        if (same(s->slot[i].digest, d)) break;
    return i;
}

static uint64_t latest_places(uint64_t slots) { return slots / 4 * 3; }

uint64_t latest_count(const struct latest *s, seen_time least) {
    uint64_t n = 0;
    for (uint64_t i = 0; i < s->slots; i++) n += s->slot[i].stamp > least;
    return n;
}

/* Moves the keys that count to new slots.  An eighth of the places stays free at least, so this is
 * rare. */
static bool renew(struct latest *s, seen_time least, uint64_t most,
                  const struct seen_allocator *alloc) {
    struct latest new = {.slots = LEAST, .used = latest_count(s, least)};
    while (new.used >= latest_places(new.slots) / 8 * 7)
        if ((new.slots *= 2) > SIZE_MAX / 2 / sizeof *s->slot) return false;
    if (new.slots > most) return false;
    new.slot = alloc->zalloc(alloc->ctx, new.slots * sizeof *new.slot);
    if (!new.slot) return false;
    for (uint64_t i = 0; i < s->slots; i++)
        if (s->slot[i].stamp > least) new.slot[latest_search(&new, s->slot[i].digest)] = s->slot[i];
    latest_free(s, alloc);
    *s = new;
    return true;
}

bool latest_add(struct latest *s, seen_digest d, seen_time time, seen_time least, uint64_t most,
                const struct seen_allocator *alloc) {
    struct latest_slot *at = s->slots ? &s->slot[latest_search(s, d)] : NULL;
    if (!at || !at->stamp) {
        if (s->used >= latest_places(s->slots)) {
            if (!renew(s, least, most, alloc)) return false;
            at = &s->slot[latest_search(s, d)];
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
    if (used != s->used || used > latest_places(s->slots)) return false;
    for (uint64_t i = 0; i < s->slots; i++) {
        const struct latest_slot *at = &s->slot[i];
        if (!at->stamp) continue;
        if (at->stamp > newest + 1 || latest_search(s, at->digest) != i) return false;
        if (((i - latest_home(s, at->digest)) & (s->slots - 1)) > REACH) return false;
    }
    return true;
}
