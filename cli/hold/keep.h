/* keep.h - --keep last: of the records of one key in a window the last one goes through, not the
 * first; until it is known to be the last it is held back.
 *
 * A record is dropped when one of its key comes in its window, and takes its place.  It is let go
 * once none can come:
 *
 *     sliding   when the window has passed since it; so of an endless chain of repeats, none
 * further than the window from the next, only the last goes.  Under refresh=first when the window
 * has passed since the first of them: one record a window, the latest landmark  when the next
 * window begins
 *
 * and at the end of the input: in the order of the records, under refresh=first of the first ones
 * of their keys.  Where `most` bytes are not enough the oldest go early, and are counted: then more
 * than one record of a key can go. */
#ifndef SEEN_KEEP_H
#define SEEN_KEEP_H

#include "hold/held.h"

struct keep {
    struct kept *kept; /* by key, and in the order in which they go */
    char end;          /* of a record */
    const struct seen_spec *spec;
    bool timed, refresh_first;
    uint64_t reach;  /* sliding: how long after its clock a record is held */
    uint64_t noted;  /* records */
    uint64_t base;   /* ... before the last landmark that was set */
    uint64_t window; /* landmark: its number */
    seen_time clock; /* of the record in hand: its time, which never goes back, or its number */
    bool over;       /* landmark: a window ended, and what was held of it goes */
    size_t most, bytes, peak;
    uint64_t early;
};

/* For an exact detector of a landmark or sliding window, which stays the caller's. */
void keep_init(struct keep *, const seen_detector *, size_t most, char end);
void keep_free(struct keep *);

/* The next record is this one, in turn: keep_step says that it comes (`landmark`: after one that
 * was set), keep_take gives what goes before it, NULL: no more (`all`: the input has ended),
 * keep_put holds it and returns the one whose place it takes, or NULL. */
void keep_step(struct keep *, const struct reading *, bool landmark);
struct held *keep_take(struct keep *, bool all);
struct held *keep_put(struct keep *, const struct record *, const struct reading *);

#endif
