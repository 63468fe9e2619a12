/* span.h - fields by their places: 3, 2-4, 2-, last, last-1, 2-last-1. */
#ifndef SEEN_SPAN_H
#define SEEN_SPAN_H

#include "records/record.h"

enum { SPAN_MOST = 65536 }; /* the largest number of a field */

/* False if the word is a name.  Dies, saying how it is written, if it can only be a place and is
 * none that exists. */
bool span_parse(const char *word, struct span *);

/* The numbers of the first and the last field of a span, from 0, in a record of n fields.  False: n
 * fields are too few. */
bool span_among(const struct span *, uint64_t n, uint64_t *first, uint64_t *last);

/* Both ends are counted from the first field: the numbers are the same in all records. */
static inline bool span_is_fixed(const struct span *s) {
    return !s->first.from_end && !s->last.from_end;
}

#endif
