/* progress.h - the line on a terminal that tells how far a run is: with percent and time left where
 * the size of the input is known. */
#ifndef SEEN_PROGRESS_H
#define SEEN_PROGRESS_H

#include "records/reader.h"

struct progress {
    bool wanted; /* by the options, on a terminal that gets no records */
    double started, shown;
    uint64_t total, first; /* bytes of all files (0: not known); where the run began in them */
};

void progress_init(struct progress *, const struct input_options *);

/* A quarter of a second has passed since the last line. */
bool progress_due(struct progress *);

/* The caller's text, and how much of the input was read. */
void progress_show(struct progress *, const struct reader *, const char *text);

#endif
