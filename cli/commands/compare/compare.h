/* compare.h - what `seen compare` runs side by side. */
#ifndef SEEN_COMPARE_COMPARE_H
#define SEEN_COMPARE_COMPARE_H

#include "judge/judge.h"

/* The exact truth about a window: when was this key last seen in it?
 *
 * A twin is an exact detector of the window that another one serves: a landmark window is its own,
 * a jumping or sliding one the last N(1+slack), a decaying one all there ever was.  It grows with
 * the distinct keys, which is what comparing costs.  Under refresh=first the guarantee is relative
 * to the records that were accepted: such a twin has one contender and stores what that stored. */

struct twin {
    char spec[512];
    struct seen_plan plan;
    seen_detector *detector;
    struct judge judge;
    bool shared;         /* its answers do not depend on verdicts */
    bool read[BATCH];    /* the record could be judged, and then ... */
    uint64_t age[BATCH]; /* ... how long ago its key was last stored; SEEN_NEVER */
};

enum truth { TRUTH_NEW, TRUTH_EITHER, TRUTH_DUPLICATE };

/* The spec of the twin of a plan whose seed is set; with `forever` one of all there ever was, its
 * ages in records. */
void twin_spec(char *spec, size_t cap, const struct seen_plan *, bool forever);

/* Dies where there is no memory.  The layout stays the caller's. */
void twin_init(struct twin *, const char *spec, const struct layout *, uint32_t max_record);
void twin_free(struct twin *);

/* Fills `read` and `age` for a batch; `verdict`: of the contender, where the twin is not shared. */
void twin_batch(struct twin *, const struct batch *, seen_time now, const uint8_t *verdict);

/* What a key of that age is, in the window of a plan. */
enum truth twin_truth(const struct seen_plan *, uint64_t age);

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
    uint64_t duplicates, confirmed, confirmed_fp; /* called so; with verify=: sure of; wrongly */
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
