/* shards.h - finds the shard of a key, and divides a batch among shards. */
#ifndef SHARDS_H
#define SHARDS_H

#include "base/bits.h"
#include "detector/detector.h"
#include "spec/options.h"

/* Records divided at once: enough that each of some dozens of shards gets a batch worth
 * prefetching.
 */
#define SHARDS_BATCH 2048

static inline uint64_t shards_of(const seen_detector *d, seen_digest digest) {
    return bits_range(bits_draw(digest.lo, digest.hi, DRAW_SHARD),
                      options_get(&d->plan.spec, OPTION_SHARDS));
}

/* Judges the keys of shards from <= s < to among n records with clocks `at`.  Verdicts of other
 * keys stay as they are.  Shards share no memory that is written, so others may run in parallel. */
void shards_observe(seen_detector *, uint64_t from, uint64_t to, size_t n, const seen_digest *,
                    const uint64_t *at, uint8_t *verdict);

#endif
