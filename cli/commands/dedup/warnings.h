/* warnings.h - what a run tells of its detector's errors: that the rate passes its plan, that
 * memory does not hold the window, and at the end how many records were judged wrongly. */
#ifndef SEEN_DEDUP_WARNINGS_H
#define SEEN_DEDUP_WARNINGS_H

#include "seen.h"

#include <stdbool.h>
#include <stddef.h>

/* The end of a sentence that says which options to raise. */
const char *room_more(const struct seen_plan *);

/* Writes the options that would have kept all of a window that was cut short, such as "mem=128MiB"
 * or "items=2000000 and mem=128MiB"; they were planned with.  Empty where none would. */
void room_fix(const struct seen_plan *, const struct seen_stats *, char *text, size_t cap);

struct warnings {
    const seen_detector *detector;
    bool quiet;      /* nothing is told */
    bool certain;    /* only confirmed duplicates are dropped, so that no rate is told */
    bool shortened;  /* it was told that memory does not hold the window */
    unsigned told;   /* warnings of the rate */
    uint64_t looked; /* records before the last look at the rate */
};

/* Before the first record.  Without a detector nothing is told.  What an earlier run of the same
 * state told is not told again. */
void warnings_begin(struct warnings *, const seen_detector *, bool quiet, bool certain);

/* Comes after each batch, with the number of records so far; looks at the rate now and then. */
void warnings_after(struct warnings *, uint64_t records);

/* Comes before the run waits for input; looks at the rate if records came since the last look. */
void warnings_now(struct warnings *, uint64_t records);

/* At the end, with the number of records.  dropped: duplicates were dropped, so that it is told how
 * many of them were new. */
void warnings_end(struct warnings *, uint64_t records, bool dropped);

#endif
