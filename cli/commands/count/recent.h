/* recent.h - `seen count` over sliding windows: a row at the end of each period. */
#ifndef SEEN_COUNT_RECENT_H
#define SEEN_COUNT_RECENT_H

#include "commands/count/pace.h"
#include "commands/count/part.h"
#include "seen_counter.h"
#include "state/state.h"

enum { RECENT_CELLS = 1024 + 2 };

struct recent {
    uint64_t window; /* 0: the window does not slide, and nothing here is used */
    bool timed;
    struct counting *how;
    const struct pace *pace;
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

/* Takes over what the pace does with windows, which are periods here: a row at the end of each. */
void recent_begin(struct recent *, struct counting *, struct pace *, struct counts *);
void recent_free(struct recent *);

/* One record; its time, if the window is one of time. */
void recent_add(struct recent *, const seen_digest *, seen_time);

/* For a state; and back again: false if the bytes cannot be right. */
void recent_save(const struct recent *, struct blocks_out *);
bool recent_load(struct recent *, struct blocks_in *);

/* Says how many records are in no row, unless --quiet. */
void recent_tell(const struct recent *, const struct input_options *);

#endif
