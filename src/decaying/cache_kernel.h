/* cache_kernel.h - test and add of the fingerprint cache.  A set is a number of ways x bits bits,
 * with the newest entry lowest.  A record shifts all entries newer than its own up by one, over its
 * own, and enters below.  If the set does not hold it, all entries shift and the oldest is lost.
 *
 *     newest          oldest      c:  found 3rd, so three entries move      x:  not found
 *     | a | b | c | d |     ->    | c | a | b | d |                         | x | a | b | c |
 *
 * Sets of up to CACHE_NARROW bits are done in one word, without a branch.  Others are done by
 * touch_wide, which the file that includes this one defines: each instruction set has its own. */
#ifndef CACHE_KERNEL_H
#define CACHE_KERNEL_H

#include "decaying/cache.h"

/* The first byte of the 64-bit word to load for at most CACHE_NARROW bits from `bit` on.  The word
 * lies within the line. */
static inline uint32_t first_byte(uint32_t bit) { return (uint32_t)bits_min(bit >> 3, 56); }

static inline uint64_t entry(const uint64_t *line, uint32_t bit, uint32_t bits) {
    uint32_t byte = first_byte(bit);
    uint64_t word;
    memcpy(&word, (const char *)line + byte, sizeof word);
    return word >> (bit - 8 * byte) & (((uint64_t)1 << bits) - 1);
}

/* Moves a fingerprint to the front of its set, and returns whether it was there. */
ALWAYS_INLINE bool touch_wide(struct cache *, const struct cache_shape *, uint64_t *line,
                              uint32_t bit, uint64_t fingerprint);

/* -- narrow sets -------------------------------------------------------------------------- */

struct narrow {
    uint64_t lows, highs;  /* the lowest and highest bit of each entry */
    uint64_t oldest, last; /* the oldest entry, and its highest bit */
};

static inline struct narrow narrow_of(const struct cache_shape *g) {
    struct narrow n = {0};
    for (uint32_t i = 0; i < g->ways; i++) n.lows |= (uint64_t)1 << i * g->bits;
    n.highs = n.lows << (g->bits - 1);
    n.last = (uint64_t)1 << (g->ways * g->bits - 1);
    n.oldest = cache_values(g->bits) << (g->ways - 1) * g->bits;
    return n;
}

/* At most one entry is the fingerprint.  After xor with the fingerprint this entry is 0, and the
 * borrow trick that finds zeros errs only above the lowest 0.  `newer` has the bits up to the end
 * of that entry, or of the whole set if the fingerprint is not there. */
ALWAYS_INLINE bool touch_narrow(struct cache *c, const struct cache_shape *g,
                                const struct narrow *n, char *at, uint32_t shift,
                                uint64_t fingerprint, bool renew) {
    uint64_t word, set, less, zero, end, newer;
    memcpy(&word, at, sizeof word);
    set = word >> shift;
    less = set ^ fingerprint * n->lows;
    zero = (less - n->lows) & ~less & n->highs;
    end = zero | n->last;
    newer = end ^ (end - 1);
    if (!renew && zero) newer = 0;
    word ^= ((set ^ (set << g->bits | fingerprint)) & newer) << shift;
    memcpy(at, &word, sizeof word);
    c->stored += !zero & !(set & n->oldest);
    return zero != 0;
}

/* -- batches ------------------------------------------------------------------------------ */

/* Finds the places of all records first, so the last loop only reads and writes sets.  Narrow sets
 * begin `bit` bits after the start of the word with which they are read, others after that of their
 * line. */
ALWAYS_INLINE void observe_sets(struct cache *c, const struct cache_shape *given, size_t n,
                                const seen_digest *d, uint8_t *verdict, bool narrow, bool renew) {
    struct cache_shape g = *given;
    struct narrow constants = narrow ? narrow_of(&g) : (struct narrow){0};
    char *at[DETECTOR_BATCH + BITS_AHEAD];
    uint64_t fingerprint[DETECTOR_BATCH], generation = c->generation;
    uint16_t bit[DETECTOR_BATCH];
    for (size_t i = 0; i < n; i++) {
        struct cache_place p = cache_place(&g, d[i]);
        uint32_t byte = narrow ? first_byte(p.bit) : 0;
        at[i] = (char *)c->line[p.line] + byte;
        bit[i] = (uint16_t)(p.bit - 8 * byte);
        fingerprint[i] = p.fingerprint;
    }
    for (size_t i = n; i < n + BITS_AHEAD; i++) at[i] = at[n - 1];
    for (size_t i = 0; i < BITS_AHEAD; i++) __builtin_prefetch(at[i], 1);
    for (size_t i = 0; i < n; i++) {
        uint64_t *line = (uint64_t *)((uintptr_t)at[i] & ~(uintptr_t)63);
        __builtin_prefetch(at[i + BITS_AHEAD], 1);
        table_freshen(line, generation);
        verdict[i] = narrow ? touch_narrow(c, &g, &constants, at[i], bit[i], fingerprint[i], renew)
                            : touch_wide(c, &g, line, bit[i], fingerprint[i]);
    }
}

/* refresh= is a constant in each call. */
ALWAYS_INLINE void observe_any(struct cache *c, const struct cache_shape *g, size_t n,
                               const seen_digest *d, uint8_t *verdict) {
    if (!n) return;
    if (g->ways * g->bits > CACHE_NARROW)
        observe_sets(c, g, n, d, verdict, false, g->renew);
    else if (g->renew)
        observe_sets(c, g, n, d, verdict, true, true);
    else
        observe_sets(c, g, n, d, verdict, true, false);
}

#endif
