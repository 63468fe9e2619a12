/* time_format.h - times as --time-format says they are written, in the terms of strptime(3). */
#ifndef SEEN_TIME_FORMAT_H
#define SEEN_TIME_FORMAT_H

#include "records/record.h"

#include <stdbool.h>
#include <stddef.h>

struct time_format {
    char *before, *after; /* what stands before and behind %f; without one, all and NULL */
    bool has_offset;      /* it has a %z */
};

/* Dies where the format cannot read back what it writes. */
void time_format_init(struct time_format *, const char *text);
void time_format_free(struct time_format *);

/* Without %z a time is that of the zone that was set, or UTC.  False if the text is not all of the
 * format, or no date of the calendar from 1970 on. */
bool time_format_parse(const struct time_format *, seen_time *, const char *text, size_t len);

/* The time that a field holds, in this format, or with NULL in those of time.h. */
bool time_of_field(const struct time_format *, const struct slice *, seen_time *);

#endif
