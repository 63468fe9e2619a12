/* clocks.h - what a run tells of the records' times beside the machine's clock. */
#ifndef SEEN_CLOCKS_H
#define SEEN_CLOCKS_H

#include "judge/lateness.h"
#include "records/input_options.h"

struct clocks {
    bool unset;            /* the clock was before 2020 */
    uint64_t window;       /* of time, for records that are judged by when they arrive; else 0 */
    uint64_t records;      /* so far */
    seen_time first, last; /* of the clock while they came */
};

/* The next batch of n records, and what the clock said. */
void clocks_note(struct clocks *, uint64_t n, seen_time now);

/* At the end, one line for each thing that went wrong, unless --quiet. */
void clocks_tell(const struct clocks *, const struct input_options *);

/* Warns that `later` records were judged at a later time than their own.  `window` is the window's
 * length in microseconds. */
void clocks_tell_late(const struct lateness *, const struct input_options *, uint64_t later,
                      uint64_t window);

#endif
