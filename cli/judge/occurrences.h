/* occurrences.h - the first occurrence of each key in the window, which was let through, and the
 * last one.
 *
 * Exact, and beside an exact detector, whose verdicts it is told; it takes some 130 bytes a key. */
#ifndef SEEN_OCCURRENCES_H
#define SEEN_OCCURRENCES_H

#include "judge/clock.h"
#include "output/tags.h"

struct occurrences {
    struct entry *entries; /* by key, and in order of age */
    struct window_clock clock;
    uint64_t most; /* keys; 0: any number */
};

/* For a detector of filter=exact, which stays the caller's. */
void occurrences_init(struct occurrences *, const seen_detector *);
void occurrences_free(struct occurrences *);

/* The next record and its verdict: fills the fact's age, first and last. */
void occurrences_note(struct occurrences *, seen_digest, uint8_t verdict, struct fact *);

/* A window began: the first `noted` records are not in it. */
void occurrences_landmark(struct occurrences *, uint64_t noted);

#endif
