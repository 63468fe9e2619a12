/* digests.c - an exact set of digests that grows by doubling. */
#include "table/digest_table.h"

#include "base/bits.h"

enum { LEAST = 16, REACH = 4096 }; /* REACH: no honest search is that long */

void digests_free(struct digests *s, const struct seen_allocator *alloc) {
    if (s->slot) alloc->free(alloc->ctx, s->slot, s->slots * sizeof *s->slot);
    *s = (struct digests){0};
}

static bool same(seen_digest a, seen_digest b) { return a.lo == b.lo && a.hi == b.hi; }

static bool is_zero(seen_digest d) { return !d.lo && !d.hi; }

static uint64_t home(const struct digests *s, seen_digest d) {
    return bits_draw(d.lo, d.hi, DRAW_DIGESTS) & (s->slots - 1);
}

/* Where it is, or would be. */
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
