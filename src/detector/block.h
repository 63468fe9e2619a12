/* block.h - what the block of a detector holds. */
#ifndef BLOCK_H
#define BLOCK_H

#include "base/bits.h"
#include "seen_gaps.h"
#include "spec/spec.h"
#include "window/window.h"

/* The part of the detector itself that a snapshot keeps. */
struct detector_counters {
    uint64_t tick; /* number of the next record; seen_clear does not reset it */
    uint64_t records, duplicates, late, max_late, clamped;
    seen_time last;
};

/* The bytes of a detector without its shards.  Plans say how much memory a detector takes, and a
 * field more shall not change that. */
#define BLOCK_HEAD 864

struct seen_detector {
    union {
        struct {
            struct resolved plan;
            struct seen_allocator alloc;
            size_t bytes; /* of this block */
            struct detector_counters counters;
        };
        char room[BLOCK_HEAD];
    };
    struct window shard[]; /* as many as shards=; in the same block their states follow, and the
                              cache of confirm.h or the table of claims.h */
};

_Static_assert(sizeof(struct seen_detector) == BLOCK_HEAD, "the head of a detector is full");

/* seen_new with the instruction set of an enum cpu, or the best one here (0); for tests. */
int detector_new(seen_detector **, const struct seen_plan *, uint32_t cpu,
                 const struct seen_allocator *, struct seen_error *);

/* Bytes of the whole block under a resolved spec, whose shards have a state of `state` bytes each.
 */
uint64_t detector_bytes(const struct seen_spec *, uint64_t state);

/* Clock of the record to come. */
uint64_t detector_now(const seen_detector *, seen_time now);

/* -- shards (shards.c) -------------------------------------------------------------------- */

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

/* -- the sample behind seen_gaps (gaps.c) ------------------------------------------------- */

#define GAP_DECADES 16 /* of seen_gaps_stats */

const struct gap_counts *sample_counts(const seen_gaps *);

#endif
