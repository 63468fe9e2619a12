/* recent.h - `seen count` over sliding windows: a row at the end of each period. */
#ifndef SEEN_COUNT_RECENT_H
#define SEEN_COUNT_RECENT_H

#include "commands/count/part.h"
#include "commands/count/windows.h"
#include "seen_counter.h"
#include "state/state.h"

enum { RECENT_CELLS = 1024 + 2 };

struct recent {
    uint64_t window; /* 0: the window does not slide, and nothing here is used */
    bool timed;
    struct counting *how;
    const struct windows *windows;
    struct counts *rows;
    seen_sliding_counter *counter;
    uint64_t records;        /* so far */
    seen_time first, newest; /* of them */
    seen_time told;          /* the latest when the last row was printed, --every */
    uint64_t outside, late; /* records older than the window; that came after a row of their time */
    struct {
        uint64_t number, records; /* of the cell that stands here */
    } cell[RECENT_CELLS];
};

/* Prints a row at the end of each period.  The periods are the windows that `windows` opens and
 * ends. */
void recent_begin(struct recent *, struct counting *, struct windows *, struct counts *);
void recent_free(struct recent *);

/* Counts one record.  Its time matters in windows of time only. */
void recent_add(struct recent *, const seen_digest *, seen_time);

/* Write the counter to a state and read it back; false if the bytes cannot be right. */
void recent_save(const struct recent *, struct blocks_out *);
bool recent_load(struct recent *, struct blocks_in *);

/* Warns how many records are in no row, unless --quiet is given. */
void recent_tell(const struct recent *, const struct input_options *);

#endif
