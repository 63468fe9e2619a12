/* detector.h - the seam between a detector and its window, and what a detector is made of.
 *
 * A window sees one clock that never goes back: `at` counts records in count windows (the record's
 * own number, from 0, over all shards) and microseconds in time windows.  So count and time are one
 * code, and shards agree on what time it is.  With lateness= alone it does go back, so far at most.
 */
#ifndef DETECTOR_H
#define DETECTOR_H

#include "filter/filter.h"
#include "gaps/gap_law.h"
#include "seen.h"

#define DETECTOR_BATCH                                                                             \
    256 /* records handled at once: enough to prefetch, small enough for the stack */

struct truth;

struct window {
    const struct window_ops *ops;
    const struct seen_plan *plan;
    struct filter filter; /* unused by structures that age by themselves */
    void *state;          /* ops->size bytes */
    struct truth *truth;  /* what the shard knows of its errors; NULL: it makes none */
};

struct window_ops {
    const char *name;
    bool by_name; /* for special wishes (SEEN_BY_NAME), where there is no filter to say so */

    /* Decides everything that plan->spec leaves open, and predicts. */
    int (*plan)(struct seen_plan *, const struct filter_ops *, struct seen_error *);
    /* Decaying windows: the errors that a plan makes on a stream whose gaps are known; and the i-th
     * geometry worth trying for such a stream, set in the spec where that leaves it open.  False
     * behind the last; NULL: there is one. */
    struct forecast (*forecast)(const struct seen_plan *, const struct gap_law *);
    bool (*variant)(struct seen_spec *, size_t i);
    uint64_t (*size)(const struct seen_plan *, const struct filter_ops *); /* one shard's state */

    void (*init)(struct window *);
    void (*destroy)(struct window *);
    /* Its block may have moved; offers what it has outside (NULL: nothing). */
    void (*move)(struct window *, struct seen_mover);
    void (*observe)(struct window *, size_t n, const seen_digest *, const uint64_t *at,
                    uint8_t *verdict);
    /* Has memory fetch the lines looked at first; NULL: it would not pay. */
    void (*prefetch)(const struct window *, seen_digest);
    /* Ages in the clock's unit, were each the record at `at`; SEEN_NEVER outside the window. */
    void (*find)(const struct window *, size_t n, const seen_digest *, uint64_t at, uint64_t *age);
    void (*landmark)(struct window *, uint64_t at);
    /* Where the landmark window around `at` begins; needed by those only. */
    uint64_t (*since)(const struct window *, uint64_t at);
    size_t (*forget)(struct window *, size_t n, const seen_digest *, uint64_t at);
    /* `most` lines or keys more; place is all zero at first, and true is returned at the end. */
    bool (*merge)(struct window *into, uint64_t into_at, const struct window *from,
                  uint64_t from_at, uint64_t most, struct seen_merging *);
    /* Adds this shard's; what the detector itself counts is there already. */
    void (*stats)(const struct window *, uint64_t at, struct seen_stats *);
    void (*clear_counters)(struct window *);
    /* The clock at which the next generation begins, where rates jump there; NULL: they do not. */
    uint64_t (*boundary)(const struct window *);
    /* So many keys called duplicates are expected to have been new: they count as thrown in, though
     * they changed nothing.  NULL: the rate does not depend on them. */
    void (*unnoticed)(struct window *, double keys);
    int (*save)(const struct window *, struct seen_writer);
    int (*load)(struct window *, uint64_t at, struct seen_reader, uint64_t limit,
                struct seen_error *);
};

/* One shard's oldest generation that holds a key. */
static inline void stats_oldest(struct seen_stats *out, uint64_t age) {
    if (out->oldest == SEEN_NEVER || out->oldest < age) out->oldest = age;
}

/* What is saved of the detector itself. */
struct detector_counters {
    uint64_t tick; /* number of the next record: goes on where seen_clear starts the rest anew */
    uint64_t records, duplicates, late, late_most, clamped;
    seen_time last;
};

#define DETECTOR_TIME_MOST                                                                         \
    ((uint64_t)1 << 60) /* some 36,000 years: sums of times never overflow                         \
                         */

struct seen_detector {
    struct seen_plan plan;
    struct seen_allocator alloc;
    size_t bytes; /* of this block */
    struct detector_counters counters;
    struct window shard[]; /* plan.spec.shards of them; in the same block their states follow, and
                              the cache of confirm.h */
};

/* Bytes of the whole block under a resolved plan. */
uint64_t detector_bytes(const struct seen_plan *, const struct window_ops *,
                        const struct filter_ops *);

#define DETECTOR_SHARD_DRAW                                                                        \
    64 /* of bits_draw; one that no probe uses: else that probe would see one shard's share */
/* The same, or a few bytes more, of shards of `state` bytes each. */
uint64_t detector_fixed(const struct seen_spec *, uint64_t state);

/* Clock of the record to come. */
uint64_t detector_now(const seen_detector *, seen_time now);

#endif
