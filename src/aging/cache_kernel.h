/* cache_kernel.h - test and add of the fingerprint cache.  A set is a number of ways x bits bits,
 * its newest entry lowest; a record shifts what is newer than its own entry up by one entry, over
 * it, and enters below.  Where no entry is its own, all are newer, and the oldest is shifted out.
 *
 *     newest          oldest      c:  found 3rd, so three entries move      x:  not found
 *     | a | b | c | d |     ->    | c | a | b | d |                         | x | a | b | c |
 *
 * Sets of up to CACHE_NARROW bits are done in one word, without a branch.  Others are done by
 * touch_wide, which the file that includes this one defines: each instruction set has its own. */
#ifndef CACHE_KERNEL_H
#define CACHE_KERNEL_H

#include "aging/cache.h"
#include "filter/cells.h"

#define AHEAD 16 /* lines fetched ahead of use */

static inline uint64_t load_at(const uint64_t *line, uint32_t byte) {
    uint64_t word;
    memcpy(&word, (const char *)line + byte, sizeof word);
    return word;
}

/* An entry of at most CACHE_NARROW bits; the last load ends with the line. */
static inline uint64_t entry(const uint64_t *line, uint32_t bit, uint32_t bits) {
    uint32_t byte = (uint32_t)bits_min(bit >> 3, 56);
    return load_at(line, byte) >> (bit - 8 * byte) & (((uint64_t)1 << bits) - 1);
}

/* A set that was not full gets one more. */
static inline void fill(struct cache *c, const struct cache_shape *g, uint32_t held) {
    c->stored++;
    c->compared[held]++;
    c->compared[g->ways]--; /* where observe_sets will count it */
}

static inline struct cache_place place_of(const struct cache_shape *g, seen_digest d) {
    struct cells_probe at = cells_place(d.lo, g->lines, g->sets);
    return (struct cache_place){at.line, at.cell * g->ways * g->bits,
                                1 + bits_range(d.hi, cache_values(g->bits))};
}

/* Returns whether it was found. */
typedef bool touch_fn(struct cache *, const struct cache_shape *, uint64_t *line, uint32_t bit,
                      uint64_t fingerprint);

static bool touch_wide(struct cache *, const struct cache_shape *, uint64_t *line, uint32_t bit,
                       uint64_t fingerprint);

/* -- narrow sets -------------------------------------------------------------------------- */

struct narrow {
    uint64_t whole, lows, highs; /* all bits of a set; the lowest and highest of each entry */
};

static inline struct narrow narrow_of(const struct cache_shape *g) {
    struct narrow n = {.whole = ((uint64_t)1 << g->ways * g->bits) - 1};
    for (uint32_t i = 0; i < g->ways; i++) n.lows |= (uint64_t)1 << i * g->bits;
    n.highs = n.lows << (g->bits - 1);
    return n;
}

/* At most one entry is the fingerprint: less it, that one is 0, and borrows are wrong only above
 * the lowest 0.  `newer` are the bits up to its end; all, if there is none. */
ALWAYS_INLINE bool touch_narrow(struct cache *c, const struct cache_shape *g, struct narrow n,
                                uint64_t *line, uint32_t bit, uint64_t fingerprint, bool renew) {
    uint32_t byte = (uint32_t)bits_min(bit >> 3, 56), shift = bit - 8 * byte;
    uint64_t word = load_at(line, byte), set = word >> shift & n.whole;
    uint64_t less = set ^ fingerprint * n.lows;
    uint64_t zero = (less - n.lows) & ~less & n.highs;
    uint64_t newer = (zero ^ (zero - 1)) & n.whole;
    if (!renew && zero) newer = 0;
    word ^= ((set ^ (set << g->bits | fingerprint)) & newer) << shift;
    memcpy((char *)line + byte, &word, sizeof word);
    if (__builtin_expect(!zero && !(set >> (g->ways - 1) * g->bits), 0))
        fill(c, g, set ? (63 - (uint32_t)__builtin_clzll(set)) / g->bits + 1 : 0);
    return zero != 0;
}

/* -- batches ------------------------------------------------------------------------------ */

ALWAYS_INLINE void observe_sets(struct cache *c, const struct cache_shape *given, size_t n,
                                const seen_digest *d, uint8_t *verdict, bool narrow, bool renew) {
    struct cache_shape g = *given;
    struct narrow constants = {0};
    uint64_t *line[DETECTOR_BATCH + AHEAD], fingerprint[DETECTOR_BATCH];
    uint32_t bit[DETECTOR_BATCH];
    if (narrow) constants = narrow_of(&g);
    for (size_t i = 0; i < n; i++) {
        struct cache_place p = place_of(&g, d[i]);
        line[i] = c->line[p.line];
        bit[i] = p.bit;
        fingerprint[i] = p.fingerprint;
    }
    for (size_t i = n; i < n + AHEAD; i++) line[i] = line[n - 1];
    for (size_t i = 0; i < AHEAD; i++) __builtin_prefetch(line[i], 1);
    for (size_t i = 0; i < n; i++) {
        __builtin_prefetch(line[i + AHEAD], 1);
        table_freshen(line[i], c->generation);
        verdict[i] = narrow ? touch_narrow(c, &g, constants, line[i], bit[i], fingerprint[i], renew)
                            : touch_wide(c, &g, line[i], bit[i], fingerprint[i]);
    }
    c->compared[g.ways] += n - bits_count(verdict, n);
}

/* The usual refresh is a constant of its own. */
static inline void observe_any(struct cache *c, const struct cache_shape *g, size_t n,
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
