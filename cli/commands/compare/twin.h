/* twin.h - the exact truth about a window: when was this key last seen in it?
 *
 * A twin is an exact detector of the window that another one serves: a landmark window is its own,
 * a jumping or sliding one the last N(1+slack), a decaying one all there ever was.  It grows with
 * the distinct keys, which is what comparing costs.  Under refresh=first the guarantee is relative
 * to the records that were accepted: such a twin has one contender and stores what that stored. */
#ifndef SEEN_COMPARE_TWIN_H
#define SEEN_COMPARE_TWIN_H

#include "judge/judge.h"

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

#endif
