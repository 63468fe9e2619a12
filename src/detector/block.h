/* block.h - what a detector holds, the table of structures, and the planner. */
#ifndef BLOCK_H
#define BLOCK_H

#include "base/bits.h"
#include "seen_gaps.h"
#include "spec/spec.h"
#include "window/window.h"

#include <stdbool.h>

/* The part of the detector itself that a snapshot keeps. */
struct detector_counters {
    uint64_t tick; /* number of the next record; seen_clear does not reset it */
    uint64_t records, duplicates, late, max_late, clamped;
    seen_time last;
};

/* The bytes of a detector without its shards.  Plans state the memory of a detector, and a new
 * field must not change it: the head has spare room. */
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
    struct window shard[]; /* as many as shards=.  Their states follow in the same block, then the
                              cache of confirm.h or the table of claims.h */
};

_Static_assert(sizeof(struct seen_detector) == BLOCK_HEAD, "the head of a detector is full");

/* seen_new with the instruction set of an enum cpu, or the best one here (0); for tests. */
int detector_new(seen_detector **, const struct seen_plan *, uint32_t cpu,
                 const struct seen_allocator *, struct seen_error *);

/* Bytes of the whole block under a resolved spec, whose shards have a state of `state` bytes each.
 */
uint64_t detector_bytes(const struct seen_spec *, uint64_t state);

/* The clock of the next record.  `now` is a time, for windows of time. */
uint64_t detector_now(const seen_detector *, seen_time now);

/* -- shards (shards.c) -------------------------------------------------------------------- */

/* Records divided at once.  With some dozens of shards, each still gets a batch worth prefetching.
 */
#define SHARDS_BATCH 2048

static inline uint64_t shards_of(const seen_detector *d, seen_digest digest) {
    uint64_t shards = options_get(&d->plan.spec, OPTION_SHARDS);
    return shards == 1 ? 0 : bits_range(bits_draw(digest.lo, digest.hi, DRAW_SHARD), shards);
}

/* Judges the keys of shards from <= s < to among n records with clocks `at`.  Verdicts of other
 * keys stay as they are.  Shards share no memory that is written, so others may run in parallel. */
void shards_observe(seen_detector *, uint64_t from, uint64_t to, size_t n, const seen_digest *,
                    const uint64_t *at, uint8_t *verdict);

/* -- the sample behind seen_gaps (gaps.c) ------------------------------------------------- */

#define GAP_DECADES 16 /* of seen_gaps_stats */

/* The counts of a sample.  They belong to the sample. */
const struct gap_counts *sample_counts(const seen_gaps *);

/* -- the table of structures (registry.c) ------------------------------------------------- */

/* One way to serve a window: an aging structure, or a window over a filter. */
struct registry_choice {
    const struct window_ops *ops;
    const struct filter_ops *filter; /* NULL for a structure that ages by itself */
    const char *name;                /* its filter= name */
};

/* Decides every option that plan->spec leaves open, and predicts errors and memory. */
int registry_plan(const struct registry_choice *, struct seen_plan *, struct seen_error *);

/* Bytes of one shard's state under a resolved spec. */
uint64_t registry_state(const struct registry_choice *, const struct seen_spec *);

/* The i-th way to serve `window` (enum seen_window) under filter= `name` ("" for any); false when
 * there are no more. */
bool registry_pick(uint32_t window, const char *name, size_t i, struct registry_choice *);

/* The formulas of the i-th filter, or NULL after the last. */
const struct filter_theory *registry_filter(size_t i);

/* -- the planner (planner.c) -------------------------------------------------------------- */

/* Plans one structure, without comparing it with others. */
int planner_choice(struct seen_plan *, const struct seen_spec *asked,
                   const struct registry_choice *, struct seen_error *);

/* Inserts a plan into the n best plans so far, which stand best first, and keeps at most `cap` of
 * them.  Returns their new number. */
size_t planner_insert(struct seen_plan *plans, size_t n, size_t cap, const struct seen_plan *,
                      bool (*wins)(const struct seen_plan *, const struct seen_plan *));

#endif
