/* kept.h - --state of `seen count` and `seen top`.
 *
 * A run prints what one run over all records so far would print.  The windows that are open when
 * its input ends are printed as they stand, and stay open in the state.  Windows that ended before
 * are printed once. */
#ifndef SEEN_COUNT_KEPT_H
#define SEEN_COUNT_KEPT_H

#include "state/state.h"

/* Into the state's blob, where `seen state` finds it. */
struct kept {
    uint64_t records; /* that were judged */
    uint64_t open;    /* windows */
    uint64_t done;    /* rows printed (count), or windows that ended (top) */
    bool headed;      /* the heading of the table is printed */
};

/* All options are known: loads the state, if there is one, and dies where options differ. */
void kept_ask(struct state *, struct asked *, struct input_options *);

/* Rows so far go out; false: they have not arrived. */
bool kept_deliver(void *);

/* Does the detector, of a state, follow that plan?  Its seed may be another. */
bool kept_same_plan(const struct seen_plan *, const seen_detector *);

void kept_pack(const struct kept *, struct packer *);
bool kept_unpack(struct kept *, const char *bytes, size_t len);

/* Ends the line in which an earlier run was killed. */
void kept_mend(bool *unended);

#endif
