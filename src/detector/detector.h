/* detector.h - the seam between a detector and its window, and what a detector is made of.
 *
 * A window sees one clock that never goes back: `at` counts records in count windows (the record's
 * own number, from 0, over all shards) and microseconds in time windows.  So count and time are one
 * code, and shards agree on what time it is.  With lateness= alone it does go back, so far at most.
 */
#ifndef DETECTOR_H
#define DETECTOR_H

#include "base/cursor.h"
#include "filter/filter.h"
#include "seen.h"
#include "theory/gaps.h"

#define DETECTOR_BATCH                                                                             \
    256 /* records handled at once: enough to prefetch, small enough for the stack */

struct truth;

/* A plan as a detector keeps it. */
struct resolved {
    struct seen_spec spec;
    uint64_t asked;              /* the options that the caller gave, as in seen_spec.given */
    const char *window, *filter; /* names, static */
    uint32_t traits, digests;
    uint32_t cpu; /* enum cpu, the instruction set that runs */
    uint64_t bytes, capacity;
    double fp_full, fp_mean, fn, slack, touches;
};

struct window {
    const struct window_ops *ops;
    const struct resolved *plan;
    struct filter filter; /* unused by structures that age by themselves */
    void *state;          /* ops->size bytes */
    struct truth *truth;  /* what the shard knows of its errors; NULL: it makes none */
};

struct window_ops {
    const char *name;
    bool by_name; /* SEEN_ON_REQUEST, for structures without a filter that has this trait */

    /* Decides every option that plan->spec leaves open, and predicts errors and memory (NULL, as
     * `size`: a window over a filter, see generations.h). */
    int (*plan)(struct seen_plan *, struct seen_error *);
    /* Decaying windows: the errors that a plan makes on a stream whose gaps are known; and the i-th
     * geometry worth trying for such a stream, set in the spec where that leaves it open.  False
     * behind the last; NULL: there is one. */
    struct forecast (*forecast)(const struct seen_plan *, const struct gap_law *);
    bool (*variant)(struct seen_spec *, size_t i);
    uint64_t (*size)(const struct seen_spec *); /* one shard's state */

    void (*init)(struct window *);
    void (*destroy)(struct window *); /* NULL: there is nothing to free */
    /* Called after the window's block may have moved: updates pointers and offers the mover all
     * memory outside the block (NULL: there is none). */
    void (*move)(struct window *, struct seen_mover);
    void (*observe)(struct window *, size_t n, const seen_digest *, const uint64_t *at,
                    uint8_t *verdict);
    /* Prefetches the lines that observe and find read first (NULL: this would not be faster). */
    void (*prefetch)(const struct window *, seen_digest);
    /* Writes each key's age in the clock's unit, as seen from a record at `at`; SEEN_NEVER: the key
     * is not in the window. */
    void (*find)(const struct window *, size_t n, const seen_digest *, uint64_t at, uint64_t *age);
    void (*landmark)(struct window *, uint64_t at);
    /* Where the landmark window around `at` begins (only landmark windows have it). */
    uint64_t (*since)(const struct window *, uint64_t at);
    size_t (*forget)(struct window *, size_t n, const seen_digest *, uint64_t at);
    /* Merges `most` more lines or keys.  `place` is all zero at first.  True: the merge is done. */
    bool (*merge)(struct window *into, uint64_t into_at, const struct window *from,
                  uint64_t from_at, uint64_t most, struct merge_cursor *);
    /* Adds this shard's statistics to `out`, which already holds those of the detector. */
    void (*stats)(const struct window *, uint64_t at, struct seen_stats *);
    void (*clear_counters)(struct window *);
    /* The clock at which the next generation begins (NULL: rates do not jump there). */
    uint64_t (*boundary)(const struct window *);
    /* Tells the window that about `keys` keys called duplicates were new.  They changed nothing in
     * the structure, but its rate formula counts them as added (NULL: it does not need them). */
    void (*unnoticed)(struct window *, double keys);
    int (*save)(const struct window *, struct seen_writer);
    int (*load)(struct window *, uint64_t at, struct seen_reader, uint64_t limit,
                struct seen_error *);
};

/* Takes the age of one shard's oldest generation that holds a key into the statistics. */
static inline void stats_oldest(struct seen_stats *out, uint64_t age) {
    if (out->oldest == SEEN_NEVER || out->oldest < age) out->oldest = age;
}

/* The part of the detector itself that a snapshot keeps. */
struct detector_counters {
    uint64_t tick; /* number of the next record; seen_clear does not reset it */
    uint64_t records, duplicates, late, max_late, clamped;
    seen_time last;
};

/* Some 36,000 years: sums of two times never overflow. */
#define DETECTOR_TIME_MOST ((uint64_t)1 << 60)

/* The bytes of a detector without its shards.  Plans say how much memory a detector takes, and a
 * field more shall not change that. */
#define DETECTOR_HEAD 864

struct seen_detector {
    union {
        struct {
            struct resolved plan;
            struct seen_allocator alloc;
            size_t bytes; /* of this block */
            struct detector_counters counters;
        };
        char room[DETECTOR_HEAD];
    };
    struct window shard[]; /* as many as shards=; in the same block their states follow, and the
                              cache of confirm.h */
};

_Static_assert(sizeof(struct seen_detector) == DETECTOR_HEAD, "the head of a detector is full");

/* seen_new with the instruction set of an enum cpu, or the best one here (0); for tests. */
int detector_new(seen_detector **, const struct seen_plan *, uint32_t cpu,
                 const struct seen_allocator *, struct seen_error *);

/* Bytes of the whole block under a resolved spec, whose shards have a state of `state` bytes each.
 */
uint64_t detector_bytes(const struct seen_spec *, uint64_t state);

/* The same, or a few bytes more, of shards of `state` bytes each. */
uint64_t detector_fixed(const struct seen_spec *, uint64_t state);

/* Clock of the record to come. */
uint64_t detector_now(const seen_detector *, seen_time now);

#endif
