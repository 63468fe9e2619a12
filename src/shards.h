/* shards.h - which shard a key belongs to, and each shard's part of a batch. */
#ifndef SHARDS_H
#define SHARDS_H

#include "bits.h"
#include "detector.h"

/* Records told apart at once: enough that each of some dozens of shards gets a batch worth
 * prefetching. */
#define SHARDS_BATCH 2048

static inline uint64_t shards_of(const seen_detector *d, seen_digest digest) {
    return bits_range(bits_draw(digest.lo, digest.hi, DETECTOR_SHARD_DRAW), d->plan.spec.shards);
}

/* What shards from <= s < to have to say of n records, whose clocks are `at`; verdicts of the
 * others stay as they are.  Shards share nothing that is written: other ones may be at work
 * meanwhile. */
void shards_observe(seen_detector *, uint64_t from, uint64_t to, size_t n, const seen_digest *,
                    const uint64_t *at, uint8_t *verdict);

#endif
