/* compare.h - the parts of `seen compare`: exact windows, candidates, and reports. */
#ifndef SEEN_COMPARE_COMPARE_H
#define SEEN_COMPARE_COMPARE_H

#include "judge/judge.h"

/* An exact window, which knows when each key was last seen in it.
 *
 * It is an exact detector.  For a landmark window it has the same window, for a jumping or sliding
 * one the last N(1+slack) records, for a decaying one all records.  It grows with the distinct
 * keys.
 *
 * Under refresh=first, verdicts depend on the records that were accepted.  Such an exact window
 * belongs to one candidate and stores the records that this candidate accepted. */
struct true_window {
    char spec[512];
    struct seen_plan plan;
    seen_detector *detector;
    struct judge judge;
    bool shared;         /* its answers do not depend on verdicts */
    bool read[BATCH];    /* could the record be judged? */
    uint64_t age[BATCH]; /* if so, how long ago its key was last stored; or SEEN_NEVER */
};

enum truth_of_key { TRUTH_NEW, TRUTH_EITHER, TRUTH_DUPLICATE };

enum { DECADES = 16 };

struct candidate {
    const char *asked; /* the spec as given */
    struct seen_plan plan;
    enum zone_window zone;
    seen_detector *detector;
    struct judge judge;
    struct true_window *truth;
    uint8_t verdict[BATCH];
    uint64_t truths[3];             /* records of each enum truth_of_key */
    uint64_t fp, fn;                /* new records called duplicates; duplicates called new */
    uint64_t duplicates, confirmed; /* records called duplicates; those that verify= confirmed */
    uint64_t confirmed_fp;          /* confirmed wrongly */
    struct {
        uint64_t duplicates, missed;
    } gap[DECADES]; /* [i]: of keys that were last seen 10^i to 10^(i+1) - 1 records ago */
    double seconds; /* in the detector */
};

/* The rate of x in n independent trials, and the interval that holds it in 95 of 100 cases (Wilson
 * 1927). */
struct rate {
    double value, low, high; /* 0, 0, 1 if there were no trials */
};
struct rate rate_of(uint64_t x, uint64_t n);

/* The false-positive rate that the detector itself expected on these records. */
double candidate_expected(const struct candidate *);

/* -- reports (report.c) ------------------------------------------------------------------- */

struct comparison {
    struct candidate *candidate;
    size_t n;
    uint64_t records, unreadable;
};

void report_text(const struct comparison *);
void report_json(const struct comparison *);
void report_csv(const struct comparison *);

#endif
