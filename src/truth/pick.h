/* pick.h - which records of a batch belong to the control sample.
 *
 * A key is sampled if all bits of `mask` are 0 in lo ^ hi of its digest.  One loop, compiled for
 * each instruction set; all write the same places. */
#ifndef PICK_H
#define PICK_H

#include "base/bits.h"
#include "seen.h"

#include <stdbool.h>

/* Writes the places of the sampled ones of n digests, in order; returns how many. */
typedef size_t pick_fn(const seen_digest *, size_t n, uint64_t mask, uint16_t *place);

pick_fn pick_portable, pick_avx2, pick_avx512;
pick_fn *pick_of(uint32_t cpu);

static inline bool pick_one(seen_digest d, uint64_t mask) { return !((d.lo ^ d.hi) & mask); }

/* The places of those among [from, to). */
ALWAYS_INLINE size_t pick_some(const seen_digest *d, size_t from, size_t to, uint64_t mask,
                               uint16_t *place, size_t m) {
    for (size_t i = from; i < to; i++) {
        place[m] = (uint16_t)i;
        m += pick_one(d[i], mask);
    }
    return m;
}

#endif
