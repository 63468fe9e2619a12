/* reorder.h - --reorder L: records are held back until none that may still come is older, and
 * judged in the order of their times; of equal times in that of their arrival.
 *
 * A record is let go when one has come that is L younger, or at the end of the input; never because
 * nothing comes.  One that is more than L late counts as L late, for what is older has gone.  Where
 * `most` bytes are not enough the oldest go early, and nothing older is taken as older from then
 * on: both are counted. */
#ifndef SEEN_REORDER_H
#define SEEN_REORDER_H

#include "hold/held.h"

struct reorder {
    uint64_t span; /* microseconds; 0: records are not held at all */
    size_t most;
    char end;           /* of a record */
    struct held **heap; /* the oldest first */
    size_t n, room;
    size_t bytes, peak;
    seen_time newest, gone; /* the greatest time that came; the time of what was let go early */
    uint64_t serial, clamped, early;
};

void reorder_init(struct reorder *, uint64_t span, size_t most, char end);
void reorder_free(struct reorder *);

void reorder_put(struct reorder *, const struct record *, const struct reading *);

/* The oldest, if it is time for it (`all`: in any case); NULL: not yet. */
struct held *reorder_take(struct reorder *, bool all);

#endif
