/* time.h - times as text in every form that seen knows or that --time-format describes, the
 * machine's clocks, the time zone of --zone, and where landmark windows of time begin and end. */
#ifndef SEEN_CLI_TIME_H
#define SEEN_CLI_TIME_H

#include "seen.h"

#include <stdbool.h>
#include <stddef.h>

/* Reads a time, in microseconds since 1970:
 *
 *     1604686251  1604686251.25   up to 11 digits: seconds
 *     1604686251250               12 to 14: milliseconds
 *     1604686251250000            15 to 17: microseconds
 *     1604686251250000000         18 or 19: nanoseconds, which are cut to microseconds
 *     2020-11-06T18:10:51Z        RFC 3339: also with a space or _ for T, fractions, an offset
 *     2020-11-06T18:10+0100       ... without seconds; offsets also as +0100, +01, UTC, GMT
 *     2020-11-06 18:10:51,25      ... with a comma for the point
 *     2020-11-06                  midnight
 *     10/Oct/2000:13:55:36 -0700  as web servers write it
 *     Fri, 06 Nov 2020 18:10:51 +0100  RFC 2822, as in mails and HTTP
 *
 * A time without an offset is in the zone that time_set_zone has set, or in UTC.  Leading zeros do
 * not count as digits.  False: the text is none of these, or a time before 1970. */
bool time_parse(seen_time *, const char *text, size_t len);

/* Prints RFC 3339 in UTC, 2020-11-06T18:10:51.5Z.  Returns the length; 0 beyond the year 9999, when
 * the text is empty. */
int time_text(seen_time, char *buf, size_t cap);

seen_time time_now(void);    /* the wall clock */
double time_monotonic(void); /* seconds; for rates */

/* -- --time-format: times in the terms of strptime(3), and %f for the fraction of a second ---- */

struct time_format {
    char *before, *after; /* the format before and behind %f; without %f: all of it, and NULL */
    bool has_offset;      /* the format has a %z */
};

/* Dies with a sentence if the format cannot read what it writes. */
void time_format_init(struct time_format *, const char *text);
void time_format_free(struct time_format *);

/* Reads a time in this format; with NULL as time_parse does.  Without %z the time is in the zone
 * that time_set_zone has set, or in UTC.  False: the text is not all of the format, or not a date
 * of the calendar from 1970 on. */
bool time_format_parse(const struct time_format *, seen_time *, const char *text, size_t len);

/* -- the zone, and days since 1970 ------------------------------------------------------------- */

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

/* Are windows bounded by the calendar at all? */
static inline bool calendar_is_set(const struct calendar *c) { return c->length || c->zone; }

/* The window that holds t: [begin, end). */
void calendar_window(const struct calendar *, seen_time t, seen_time *begin, seen_time *end);

/* The beginning of the day of t in the process's time zone, or of its week (from Monday), and the
 * beginning of the next one. */
seen_time time_next_boundary(seen_time t, bool week);

#endif
