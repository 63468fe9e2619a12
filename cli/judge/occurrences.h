/* occurrences.h - of each key in the window its first occurrence, the one let through, and its last.
 *
 * Exact, and beside an exact detector, whose verdicts it is told; it takes some 130 bytes a key. */
#ifndef SEEN_LEDGER_H
#define SEEN_LEDGER_H

#include "output/tags.h"

struct occurrences {
    struct entry *entries; /* by key, and in order of age */
    uint64_t reach;        /* a key counts while its clock is at most so far behind */
    bool timed;            /* clocks are times, else counts of records */
    bool refresh_first;
    uint64_t most;  /* keys; 0: any number */
    uint64_t noted; /* records */
    seen_time last; /* the clock of a late record */
};

/* For a detector of filter=exact, which stays the caller's. */
void occurrences_init(struct occurrences *, const seen_detector *);
void occurrences_free(struct occurrences *);

/* The next record and its verdict: fills the fact's age, first and last. */
void occurrences_note(struct occurrences *, seen_digest, uint8_t verdict, struct fact *);

/* A window began: the first `noted` records are not in it. */
void occurrences_landmark(struct occurrences *, uint64_t noted);

#endif
