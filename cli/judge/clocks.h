/* clocks.h - what a run tells of the records' times beside the machine's clock. */
#ifndef SEEN_CLOCKS_H
#define SEEN_CLOCKS_H

#include "judge/lateness.h"
#include "read/source.h"

/* Records of one batch whose times are more than a day later than the clock. */
struct future {
    seen_time now; /* what the clock said */
    uint64_t n;
    uint16_t at;    /* the first of them in the batch ... */
    seen_time time; /* ... and its time */
};

static inline void future_note(struct future *f, uint16_t at, seen_time time) {
    if (f->n++) return;
    f->at = at;
    f->time = time;
}

struct clocks {
    struct future future;  /* of the whole input: `now` is the clock at the first of them */
    uint64_t number;       /* the first one's, from 1 */
    bool unset;            /* the clock was before 2020 */
    uint64_t window;       /* of time, for records that are judged by when they arrive; else 0 */
    uint64_t records;      /* so far */
    seen_time first, last; /* of the clock while they came */
};

/* The next batch, and how many records came before it. */
void clocks_note(struct clocks *, uint64_t before, uint64_t n, const struct future *);

/* At the end, one line for each thing that went wrong, unless --quiet. */
void clocks_tell(const struct clocks *, const struct source *);

/* `later` records were judged at a later time than their own, in windows of so many microseconds.
 */
void clocks_tell_late(const struct lateness *, const struct source *, uint64_t later,
                      uint64_t window);

#endif
