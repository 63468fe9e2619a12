/* zone.h - the time zone of --zone, the calendar's days, and where landmark windows of time begin
 * and end: every 1h, days and weeks in UTC, or days and weeks of the zone. */
#ifndef SEEN_ZONE_H
#define SEEN_ZONE_H

#include "seen.h"

#include <stdbool.h>

/* Makes NAME the process's time zone.  False if the system does not know it. */
bool time_set_zone(const char *name);

/* Seconds east of UTC of a local time, given in seconds since 1970 as if it were UTC; 0 if no zone
 * is set.  May be called on several threads. */
int64_t time_zone_offset(int64_t local);

/* Days since 1970-01-01 of a date in the Gregorian calendar; month and day count from 1. */
int64_t time_days(int64_t year, int month, int day);

/* -- windows ------------------------------------------------------------------------------ */

enum zone_window { ZONE_NONE, ZONE_DAY, ZONE_WEEK };

struct calendar {
    uint64_t length;       /* microseconds; 0: windows are not of time, unless ... */
    enum zone_window zone; /* ... they are days or weeks in the process's time zone */
};

/* Does the calendar have windows of time? */
static inline bool calendar_is_set(const struct calendar *c) { return c->length || c->zone; }

/* The window that holds t: [begin, end). */
void calendar_window(const struct calendar *, seen_time t, seen_time *begin, seen_time *end);

/* The last moment up to t, and the first one after it, that begins a day (or, with `week`, a
 * Monday) in the process's time zone. */
seen_time time_boundary(seen_time t, bool week);
seen_time time_next_boundary(seen_time t, bool week);

#endif
