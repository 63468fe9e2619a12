/* pace.h - where windows begin, as the engine says: a landmark detector that is shown one key over
 * and over calls it new in each window's first record.  So days, weeks, zones and patterns mean
 * here what they mean everywhere. */
#ifndef SEEN_COUNT_PACE_H
#define SEEN_COUNT_PACE_H

#include "judge/asked.h"

struct pace {
    struct judge judge; /* keys, times and landmarks of a batch */
    seen_detector *detector;
    uint64_t length;     /* of a window or, jumping, a sub-window; 0: none */
    uint64_t subwindows; /* Q of a jumping window, else 1 */
    uint64_t records;    /* so far */
    uint64_t from;       /* the window's first record: its number from 1, or its time */
    uint64_t seed;
    bool timed;
};

/* Reads the spec asked for, or dies: landmark and jumping windows only. */
void pace_init(struct pace *, struct asked *, struct source *, const struct layout *);
void pace_free(struct pace *);

/* Record m of the judge's batch comes: how many windows or sub-windows end before it. */
uint64_t pace_step(struct pace *, size_t m);

/* Where the window began, as text: a record's number or a time in UTC. */
const char *pace_from(const struct pace *, char buf[32]);

#endif
