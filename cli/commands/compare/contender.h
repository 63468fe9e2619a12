/* contender.h - one of the detectors that `seen compare` runs, and its errors so far. */
#ifndef SEEN_COMPARE_CONTENDER_H
#define SEEN_COMPARE_CONTENDER_H

#include "twin.h"

enum { DECADES = 16 };

struct contender {
    const char *asked; /* the spec as given */
    struct seen_plan plan;
    enum zone_window zone;
    seen_detector *detector;
    struct judge judge;
    struct twin *twin;
    uint8_t verdict[BATCH];
    uint64_t truths[3]; /* records of each enum truth */
    uint64_t fp, fn;    /* new ones called duplicate; duplicates called new */
    uint64_t duplicates, confirmed, confirmed_fp; /* called so; with cache=: sure of; wrongly */
    struct {
        uint64_t duplicates, missed; /* whose key was last seen 10^i to 10^(i+1) - 1 records ago */
    } gap[DECADES];
    double seconds; /* in the detector */
};

/* Verdicts of a batch, and the time they took. */
void contender_judge(struct contender *, struct batch *, seen_time now);

/* Counts errors, once the twin has answered; `ever` knows the gap in records. */
void contender_count(struct contender *, const struct batch *, const struct twin *ever);

/* A rate and where it lies in 95 of 100 cases (Wilson 1927): x of n independent trials. */
struct rate {
    double value, low, high; /* 0, 0, 1 where there were no trials */
};
struct rate rate_of(uint64_t x, uint64_t n);

/* The false-positive rate that the engine's own account expected on these records. */
double contender_expected(const struct contender *);

/* -- reports (report.c) ------------------------------------------------------------------- */

struct comparison {
    struct contender *contender;
    size_t n;
    uint64_t records, unreadable;
};

void report_text(const struct comparison *);
void report_json(const struct comparison *);
void report_csv(const struct comparison *);

#endif
