/* window.h - the seam between a detector and its windows.
 *
 * A window sees one clock that never goes back: `at` counts records in count windows (the record's
 * own number, from 0, over all shards) and microseconds in time windows.  So windows of records and
 * of time share their code, and all shards have the same clock.  Only with lateness= it goes back,
 * by at most lateness.
 *
 * A structure that ages by itself is one file that fills in a window_ops, and one row in
 * registry.c. A pointer may be NULL if its comment says so, or if the structure lacks the trait.
 */
#ifndef WINDOW_H
#define WINDOW_H

#include "base/base.h"
#include "filter/filter.h"
#include "seen.h"
#include "theory/gaps.h"

#include <stdbool.h>

#define DETECTOR_BATCH 256 /* records handled at once: enough to prefetch, and fit on the stack */

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
     * `size`: a window over a filter, see below). */
    int (*plan)(struct seen_plan *, struct seen_error *);
    /* Decaying windows: the errors of a plan on a stream whose gaps are known. */
    struct forecast (*forecast)(const struct seen_plan *, const struct gap_law *);
    /* Decaying windows: sets the i-th geometry that is worth trying for such a stream, as far as
     * the spec leaves it open.  False: there are fewer (NULL: there is one). */
    bool (*variant)(struct seen_spec *, size_t i);
    uint64_t (*size)(const struct seen_spec *); /* one shard's state */

    void (*init)(struct window *);    /* prepares a zeroed state */
    void (*destroy)(struct window *); /* NULL: there is nothing to free */
    /* Called after the window's block may have moved: updates pointers and offers the mover all
     * memory outside the block (NULL: there is none). */
    void (*move)(struct window *, struct seen_mover);
    /* Tests and adds n keys in order, the i-th at clock at[i].  verdict[i]: 1 if it is a duplicate.
     */
    void (*observe)(struct window *, size_t n, const seen_digest *, const uint64_t *at,
                    uint8_t *verdict);
    /* Prefetches the lines that observe and find read first (NULL: this would not be faster). */
    void (*prefetch)(const struct window *, seen_digest);
    /* Writes each key's age in the clock's unit, as seen from a record at `at`; SEEN_NEVER: the key
     * is not in the window. */
    void (*find)(const struct window *, size_t n, const seen_digest *, uint64_t at, uint64_t *age);
    void (*landmark)(struct window *, uint64_t at); /* forgets all keys */
    /* Where the landmark window around `at` begins (only landmark windows have it). */
    uint64_t (*since)(const struct window *, uint64_t at);
    /* Removes keys; returns how many were held. */
    size_t (*forget)(struct window *, size_t n, const seen_digest *, uint64_t at);
    /* Merges `most` more lines or keys.  `place` is all zero at first.  True: the merge is done. */
    bool (*merge)(struct window *into, uint64_t into_at, const struct window *from,
                  uint64_t from_at, uint64_t most, struct merge_cursor *);
    /* Adds this shard's statistics to `out`, which already holds those of the detector. */
    void (*stats)(const struct window *, uint64_t at, struct seen_stats *);
    void (*clear_counters)(struct window *); /* sets what stats counts back to 0 */
    /* The clock at which the next generation begins (NULL: rates do not jump there). */
    uint64_t (*boundary)(const struct window *);
    /* Tells the window that about `keys` keys called duplicates were new.  They changed nothing in
     * the structure, but its rate formula counts them as added (NULL: it does not need them). */
    void (*unnoticed)(struct window *, double keys);
    /* Write and read the state.  load returns SEEN_EFORMAT for bytes that save cannot have written,
     * and allocates at most `limit` bytes. */
    int (*save)(const struct window *, struct seen_writer);
    int (*load)(struct window *, uint64_t at, struct seen_reader, uint64_t limit,
                struct seen_error *);
};

/* Adds the age of the oldest generation of a shard that holds a key to the statistics. */
static inline void stats_oldest(struct seen_stats *out, uint64_t age) {
    if (out->oldest == SEEN_NEVER || out->oldest < age) out->oldest = age;
}

/* -- what a detector does for its windows ------------------------------------------------- */

/* Bytes of a detector, or a few more, whose shards have a state of `state` bytes each.  Planners
 * subtract them from mem=.  detector.c defines it. */
uint64_t detector_fixed(const struct seen_spec *, uint64_t state);

/* -- landmark and jumping windows, over any filter (generations.c) ------------------------ */

/* As window_ops.plan and window_ops.size. */
int generations_plan(struct seen_plan *, const struct filter_theory *, struct seen_error *);
uint64_t generations_size(const struct seen_spec *, const struct filter_theory *);

/* -- generations on one clock ------------------------------------------------------------- */

/*     ┤ ago 2 ┤ ago 1 ┤ current ──►├ boundary
 *     └ step ─┘       └ start
 *
 * Generations have logical numbers.  A silence that outlasts all of them moves the boundary, but
 * raises the number by the number of generations at most, so that 16-bit stamps cannot wrap unswept
 * (table.h). */

/* A snapshot keeps it. */
struct rotation {
    uint64_t generation; /* logical number of the current one; as many as live exist before it */
    uint64_t boundary;   /* clock at which the next one begins; UINT64_MAX: by landmark only */
    uint64_t begun; /* generations (sliding: windows) that began after the first one with keys */
};

/* The number of generations that begin from now up to clock `at`. */
static inline uint64_t rotation_steps(const struct rotation *r, uint64_t step, uint64_t at) {
    return at < r->boundary ? 0 : (at - r->boundary) / step + 1;
}

/* How many of n records come before the boundary. */
static inline uint64_t rotation_run(const struct rotation *r, uint64_t n, const uint64_t *at) {
    uint64_t run = n;
    if (at[n - 1] >= r->boundary)
        for (run = 0; at[run] < r->boundary;) run++;
    return run;
}

/* The clock at which the generation around `at` begins. */
static inline uint64_t rotation_start(const struct rotation *r, uint64_t step, uint64_t at) {
    uint64_t boundary = r->boundary + rotation_steps(r, step, at) * step;
    return step && boundary > step ? boundary - step : 0;
}

/* The least age, seen from `at`, of a record in the generation `ago` before that which began at
 * `start`. */
static inline uint64_t rotation_age(const struct seen_spec *spec, uint64_t step, uint64_t start,
                                    uint64_t at, uint32_t ago) {
    if (!ago) return spec->unit == SEEN_UNIT_MICROSECONDS ? 0 : 1;
    return at - start + 1 + (ago - 1) * step;
}

/* Checks a rotation that was loaded, for `live` generations and a first boundary at `first`. */
static inline bool rotation_sane(const struct rotation *r, const struct seen_spec *spec,
                                 uint64_t step, uint64_t first, uint32_t live) {
    bool clocked = step ? r->boundary >= bits_min(first, step) && r->boundary < MAX_COUNT
                        : r->boundary == UINT64_MAX;
    bool aligned = !step || spec->unit == SEEN_UNIT_RECORDS || (r->boundary - first) % step == 0;
    return clocked && aligned && r->generation >= live && r->generation < MAX_COUNT &&
           r->begun < MAX_COUNT;
}

#endif
