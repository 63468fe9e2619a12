/* counter.h - the seam between a distinct counter and its sketch.  The geometry of a sketch is one
 * number of cells. */
#ifndef COUNTER_H
#define COUNTER_H

#include "base/bits.h"
#include "seen.h"

#include <stdbool.h>

struct counter_ops {
    const char *name;
    uint64_t (*size)(double error);  /* cells for a relative standard error; 0: impossible */
    double (*error)(uint64_t cells); /* the relative standard error of this many cells */
    uint64_t (*bytes)(uint64_t cells);
    void (*init)(void *state, uint64_t cells, uint64_t seed); /* on zeroed bytes */
    void (*add)(void *state, uint64_t cells, size_t n, const seen_digest *);
    double (*estimate)(const void *state, uint64_t cells);
    void (*merge)(void *into, const void *from, uint64_t cells);
    bool (*valid)(uint64_t cells);                                   /* size() may return this */
    bool (*sound)(const void *state, uint64_t cells, uint64_t seed); /* add() can leave it so */
};

extern const struct counter_ops counter_hll, counter_fm;

/* -- HyperLogLog, for hll.c and the sliding counter --------------------------------------- */

enum { HLL_RANKS = 64 };

/* Returns the register, of 2^p, that a key goes to, and its rank there, which is 1 or more. */
static inline uint64_t hll_place(seen_digest d, int p, uint8_t *rank) {
    uint64_t x = bits_draw(d.lo, d.hi, DRAW_HLL);
    uint64_t rest = x << p | (uint64_t)1 << (p - 1); /* a 1 behind the q bits ends the search */
    *rank = (uint8_t)(__builtin_clzll(rest) + 1);
    return x >> (64 - p);
}

/* The greatest possible rank with m registers. */
static inline uint8_t hll_rank_most(uint64_t m) { return (uint8_t)(64 - __builtin_ctzll(m) + 1); }

/* The estimated number of different keys, if count[r] of m registers hold rank r, for r from 0 to
 * hll_rank_most(m). */
double hll_estimate(const uint64_t count[HLL_RANKS + 2], uint64_t m);

#endif
