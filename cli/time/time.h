/* time.h - what a time field says, and where days and weeks begin in a time zone. */
#ifndef SEEN_CLI_TIME_H
#define SEEN_CLI_TIME_H

#include "seen.h"

#include <stdbool.h>
#include <stddef.h>

/* Reads a time, in microseconds since the epoch:
 *
 *     1604686251  1604686251.25   up to 11 digits: seconds
 *     1604686251250               12 to 14: milliseconds
 *     1604686251250000            15 to 17: microseconds
 *     1604686251250000000         18 or 19: nanoseconds, which are cut to microseconds
 *     2020-11-06T18:10:51Z        RFC 3339: also with a space or _ for T, fractions, an offset
 *     2020-11-06T18:10+0100       ... without seconds; offsets also as +0100, +01, UTC, GMT
 *     2020-11-06 18:10:51,25      ... with a comma for the point
 *     2020-11-06                  midnight
 *     10/Oct/2000:13:55:36 -0700  as web servers write it (clf_time.c)
 *     Fri, 06 Nov 2020 18:10:51 +0100  RFC 2822, as in mails and HTTP (mail_time.c)
 *
 * A time without an offset is in the zone that was set, or UTC.  Leading zeros do not count as
 * digits.  False: the text is none of these, or a time before 1970. */
bool time_parse(seen_time *, const char *text, size_t len);
bool clf_time_parse(seen_time *, const char *text, size_t len); /* one kind alone */
bool mail_time_parse(seen_time *, const char *text, size_t len);

/* As RFC 3339 in UTC, 2020-11-06T18:10:51.5Z; its length, 0 (and nothing) beyond the year 9999. */
int time_text(seen_time, char *buf, size_t cap);

seen_time time_now(void);    /* the wall clock */
double time_monotonic(void); /* seconds; for rates */

/* -- zones -------------------------------------------------------------------------------- */

/* Makes NAME the process's time zone.  False if the system does not know it. */
bool time_set_zone(const char *name);

/* Seconds east of UTC of a local time, in seconds since 1970 as if it were UTC; 0 if no zone is
 * set.  Safe on threads. */
int64_t time_zone_offset(int64_t local);

/* The last moment up to t, and the first after it, that begins a day (or, with `week`, a Monday) in
 * that zone. */
seen_time time_boundary(seen_time t, bool week);
seen_time time_next_boundary(seen_time t, bool week);

#endif
