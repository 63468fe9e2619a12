/* hll.h - the register of a key in HyperLogLog, and the estimate from all registers.  hll.c and the
 * sliding counter share them. */
#ifndef COUNT_HLL_H
#define COUNT_HLL_H

#include "base/bits.h"
#include "sketch/counter.h"

enum { HLL_RANKS = 64 };

/* The register of a key, of 2^p, and its rank there, from 1. */
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
