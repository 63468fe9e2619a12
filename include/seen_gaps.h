/* seen_gaps.h - learns from a sample how far apart the repeats of a stream are, and plans decaying
 * windows for it.
 *
 * Failure, ownership and threads are as in seen.h. */
#ifndef SEEN_GAPS_H
#define SEEN_GAPS_H

#include "seen.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* -- gaps: how far apart the repeats of a stream are ------------------------------------------- */

/* What decaying windows miss depends on the stream.  A seen_gaps learns from a sample how many
 * records and how many different keys lie between two of a key, and then predicts and plans.  Freed
 * with seen_gaps_free; one seen_gaps, one thread. */
typedef struct seen_gaps seen_gaps;

/* `mem` bytes (2 MiB at least) are allocated, once.  Keys that do not fit, 64 bytes each, are
 * sampled: half of them are followed, then a quarter, and so on, chosen by their digests. */
int seen_gaps_new(seen_gaps **, uint64_t mem, const struct seen_allocator *, struct seen_error *);
void seen_gaps_free(seen_gaps *); /* NULL is fine */

/* The next n records.  All digests must come from one hash, of one seed. */
void seen_gaps_add(seen_gaps *, size_t n, const seen_digest *);

struct seen_gaps_stats {
    uint64_t records;  /* in the sample */
    double keys;       /* different ones among them */
    double repeats;    /* records whose key came before in the sample, of them ... */
    double decade[16]; /* ... 10^i to 10^(i+1)-1 records before */
    double followed;   /* share of the keys that was followed; 1: all numbers here are exact */
    uint64_t reach;    /* longest gap, in records, that counts in predictions without end */
    double within;  /* in a stream that goes on like this: share of the records that repeat a key at
                       such a gap.  Others are new, or repeat after more records than the sample can
                       show; nothing tells them apart. */
    uint64_t bytes; /* allocated */
    uint64_t reserved[16];
};
void seen_gaps_stats(const seen_gaps *, struct seen_gaps_stats *);

/* The rates at which a plan's detector is expected to call new keys duplicates, and repeats within
 * reach new: for ever (run = 0), or in all of the first `run` records of an empty one.
 * SEEN_EREFUSED where the window is not decaying, or under refresh=first. */
int seen_gaps_predict(const seen_gaps *, const struct seen_plan *, uint64_t run, double *fp,
                      double *fn, struct seen_error *);

/* As seen_plan_all, for a decaying window of given memory: fp_mean and fn are what is predicted for
 * ever, the first misses the least of those that keep fp=, and `asked` of each plan has what was
 * decided for the sample: filter= and cell-max= and k=, or set-size=.  [Deng, Rafiei 2006, 4.1] */
int seen_gaps_plan(const seen_gaps *, const struct seen_spec *, struct seen_plan *, size_t cap,
                   struct seen_error *);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
