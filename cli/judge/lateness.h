/* lateness.h - how late records came: counted, and sorted into a few spans that people think in. */
#ifndef SEEN_LATENESS_H
#define SEEN_LATENESS_H

#include "seen.h"

#include <stddef.h>

enum { LATENESS_SPANS = 8 };

/* Late by less than each of these (and not less than the one before); the last: any more. */
extern const struct lateness_span {
    const char *name;
    uint64_t below; /* microseconds */
} lateness_spans[LATENESS_SPANS];

/* All of it is to be saved with the detector. */
struct lateness {
    seen_time newest;
    uint64_t records, late, most;
    uint64_t by[LATENESS_SPANS];
};

void lateness_note(struct lateness *, size_t n, const seen_time *); /* in order */

#endif
