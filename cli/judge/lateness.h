/* lateness.h - how late records came: counted, and sorted into a few spans that people think in. */
#ifndef SEEN_LATENESS_H
#define SEEN_LATENESS_H

#include "time/zone.h"

#include <stddef.h>

enum { LATENESS_SPANS = 8 };

/* Late by less than each of these (and not less than the one before); the last: any more. */
extern const struct lateness_span {
    const char *name;
    uint64_t below; /* microseconds */
} lateness_spans[LATENESS_SPANS];

struct lateness {
    /* To be saved with the detector: */
    seen_time newest;
    uint64_t records, late, most;
    uint64_t by[LATENESS_SPANS];
    /* For this run only: */
    struct calendar calendar; /* of landmark windows of time; set by the judge */
    seen_time begin, end;     /* the window of `newest` */
    uint64_t run_records, run_late, run_most;
    uint64_t strayed; /* late records that belong to an earlier window */
};

void lateness_note(struct lateness *, size_t n, const seen_time *); /* in order */

#endif
