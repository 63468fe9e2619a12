/* reorder.h - --reorder L: records are held back until none that may still come is older, and
 * judged in the order of their times; of equal times in that of their arrival.
 *
 * A record is let go when one has come that is L younger, or at the end of the input; never because
 * nothing comes.  One that is more than L late counts as L late, for what is older has gone.  If
 * `most` bytes are not enough, the oldest go early, and are counted.  A record older than one that
 * went early counts as old as that one: it is judged out of order, and counted as displaced. */
#ifndef SEEN_REORDER_H
#define SEEN_REORDER_H

#include "judge/held.h"

enum { REORDER_PARTS = 16 };

struct waiting {
    seen_time time;
    uint32_t place; /* on the shelf, which is in order of arrival */
};

struct reorder {
    uint64_t span; /* microseconds; 0: records are not held at all */
    size_t most;
    struct shelf shelf;
    struct waiting *heap; /* the oldest first */
    size_t n, room;
    size_t peak;
    seen_time newest, gone; /* the greatest time that came; the time of what was let go early */
    uint64_t clamped, early, displaced;
    uint64_t recent[REORDER_PARTS + 2]; /* bytes of records by their time, in parts of the span */
    uint64_t recent_all, recent_most;   /* of all parts; at most, so long as there were records */
};

void reorder_init(struct reorder *, uint64_t span, size_t most, unsigned with, char end);
void reorder_free(struct reorder *);

void reorder_put(struct reorder *, const struct record *, const struct reading *);

/* The oldest, if it is time for it (`all`: in any case); NULL: not yet.  It can be read until
 * reorder_put. */
const struct held *reorder_take(struct reorder *, bool all);

/* About how many bytes would have let no record go early. */
double reorder_needed(const struct reorder *);

#endif
