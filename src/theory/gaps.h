/* gaps.h - the distances between repeats of a stream, from which structures predict their
 * errors.
 *
 * Numbers of records and of keys are kept in buckets: one for each number below GAP_EXACT, then
 * GAP_STEPS for each power of two.
 *
 *     between   number of records between two records of a key: 0 for neighbours ([DR06] 3.6: gaps)
 *     depth     number of different keys among these: the stack distance of an LRU list */
#ifndef THEORY_GAPS_H
#define THEORY_GAPS_H

#include "base/bits.h"
#include "seen.h"

enum { GAP_EXACT = 16, GAP_STEPS = 8, GAP_BUCKETS = GAP_EXACT + 44 * GAP_STEPS };

static inline size_t gap_bucket(uint64_t x) {
    if (x < GAP_EXACT) return (size_t)x;
    uint32_t octave = 63 - (uint32_t)__builtin_clzll(x);
    size_t bucket = GAP_EXACT + (octave - 4) * GAP_STEPS + (x >> (octave - 3)) % GAP_STEPS;
    return bucket < GAP_BUCKETS ? bucket : GAP_BUCKETS - 1;
}

/* The least number in a bucket.  A bucket ends where the next one begins. */
double gap_from(size_t bucket);

/* A gap and the one before it, two buckets together; 0 stands before the first gap of a key. */
enum { GAP_PAIRED = 1 + GAP_BUCKETS / 2 };
static inline size_t gap_paired(size_t bucket) { return 1 + bucket / 2; }

/* The counts of a sample.  `first[b]`: first records of a key, by the number of records before
 * them. `repeats[between][depth]`.  `pairs[between before][between]`. */
struct gap_counts {
    double records;
    double first[GAP_BUCKETS];
    double repeats[GAP_BUCKETS][GAP_BUCKETS];
    double pairs[GAP_PAIRED][GAP_PAIRED];
};

struct gap_law {
    const struct gap_counts *counts;
    double run;    /* records since the structure was empty; INFINITY: endless */
    double reach;  /* longest gap that counts */
    double within; /* share of all records that repeat a key within reach, in an endless run */
    double centre[GAP_BUCKETS];   /* a bucket's mean number of records between, nearly */
    double at_gap[GAP_BUCKETS];   /* share of the repeats with this number of records between */
    double at_depth[GAP_BUCKETS]; /* share of the repeats at that depth */
    double keys[GAP_BUCKETS + 1]; /* different keys among gap_from(b) records, expected */
};

/* Corrects counts if only some keys are followed.  These keys may have too many or too few records,
 * depending on whether frequent keys are among them, and frequent keys have the shortest gaps
 * (Waldspurger et al., FAST 2015, 4.3).  So this takes the surplus from the front of n numbers, or
 * adds what is missing to the first. */
void gap_law_absorb(double *shortest, size_t n, double surplus);

/* Estimates the law of a run of `run` records, or of an endless one (INFINITY).
 *
 * A sample shows a gap only if the gap is shorter than the place of its record: longer gaps are
 * censored there.  So the law of gaps is estimated in the way of lifetimes (Kaplan, Meier 1958): a
 * gap is a lifetime, and the place of a first occurrence is the end of the observation.  Gaps above
 * nine tenths of the sample do not count, because only few records could show them.  For a run as
 * long as the sample the counts are used as they are. */
void gap_law_make(struct gap_law *, const struct gap_counts *, double run);

/* The expected number of different keys among `records` records, and the share of repeats whose
 * depth is `depth` or more. */
double gap_law_keys(const struct gap_law *, double records);
double gap_law_deeper(const struct gap_law *, double depth);

/* Rates of false positives among the records of new keys, and of false negatives among repeats. */
struct forecast {
    double fp, fn;
};

#endif
