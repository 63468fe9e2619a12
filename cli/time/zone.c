/* zone.c - sets the time zone, and finds where days, weeks and landmark windows begin.  The engine
 * knows neither clocks nor zones. */
#include "time/time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SECOND = 1000000, DAY = 86400 };

/* -- the zone ----------------------------------------------------------------------------- */

static bool zone_is_set;

/* Looks at the zone's file, because libc takes an unknown name for UTC without a message. */
static bool is_known(const char *name) {
    char path[512], magic[5] = "";
    const char *dir = getenv("TZDIR");
    if (!name[0] || name[0] == '/' || strstr(name, "..")) return false;
    snprintf(path, sizeof path, "%s/%s", dir ? dir : "/usr/share/zoneinfo", name);
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    size_t got = fread(magic, 1, 4, file);
    fclose(file);
    return got == 4 && !strcmp(magic, "TZif");
}

bool time_set_zone(const char *name) {
    bool utc = !strcmp(name, "UTC");
    if (!utc && !is_known(name)) return false;
    if (setenv("TZ", utc ? "UTC0" : name, 1)) return false;
    tzset();
    zone_is_set = true;
    return true;
}

/* Seconds east of UTC at a moment. */
static int64_t offset_at(int64_t t) {
    struct tm tm;
    time_t moment = (time_t)t;
    localtime_r(&moment, &tm);
    return tm.tm_gmtoff;
}

/* An hour that comes twice, when clocks are put back, is taken as its first time.  Times in an hour
 * that is missing, when clocks are put forward, continue the hour before. */
static int64_t search_offset(int64_t local) {
    int64_t before = offset_at(local - DAY), after = offset_at(local + DAY);
    if (before == after || offset_at(local - before) == before) return before;
    return offset_at(local - after) == after ? after : before;
}

/* Times of a stream are close together, so the offset of the last quarter of an hour is kept.
 * Zones may change within a quarter: the offset is kept only if both ends of the quarter agree. */
int64_t time_zone_offset(int64_t local) {
    enum { QUARTER = 900 };
    static _Thread_local int64_t quarter = -1, offset;
    if (!zone_is_set) return 0;
    if (local / QUARTER == quarter && local >= 0) return offset;
    int64_t first = local - local % QUARTER, found = search_offset(local);
    bool same = search_offset(first) == found && search_offset(first + QUARTER - 1) == found;
    quarter = same && local >= 0 ? local / QUARTER : -1;
    offset = found;
    return found;
}

/* -- days and weeks ----------------------------------------------------------------------- */

/* Years are counted from March here, so that the leap day is the last one of its year. */
int64_t time_days(int64_t year, int month, int day) {
    year -= month <= 2;
    int64_t era = year / 400, of_era = year % 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* The date of a moment in the zone, as a number of days. */
static int64_t local_day(time_t t) {
    struct tm tm;
    localtime_r(&t, &tm);
    return time_days(tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
}

/* The first second of the first day that is not before `target`.  A search, not mktime, because a
 * day may begin at 01:00 or be missing.  It starts from the date alone, so that all records of a
 * day get the same answer. */
static seen_time first_of_day(int64_t target) {
    time_t before = (time_t)(target * DAY - 26 * 3600), after = before + 2 * 26 * 3600;
    while (after - before > 1) { /* `before` is on an earlier day, `after` is not */
        time_t middle = before + (after - before) / 2;
        if (local_day(middle) < target)
            before = middle;
        else
            after = middle;
    }
    return after > 0 ? (seen_time)after * SECOND : 0;
}

static int64_t since_monday(int64_t day) { return (day + 3) % 7; } /* day 0 was a Thursday */

static seen_time time_boundary(seen_time t, bool week) {
    int64_t today = local_day((time_t)(t / SECOND));
    return first_of_day(week ? today - since_monday(today) : today);
}

seen_time time_next_boundary(seen_time t, bool week) {
    int64_t today = local_day((time_t)(t / SECOND));
    return first_of_day(week ? today + 7 - since_monday(today) : today + 1);
}

void calendar_window(const struct calendar *c, seen_time t, seen_time *begin, seen_time *end) {
    const uint64_t week = UINT64_C(7) * DAY * SECOND;
    if (c->zone) {
        *begin = time_boundary(t, c->zone == ZONE_WEEK);
        *end = time_next_boundary(t, c->zone == ZONE_WEEK);
        return;
    }
    /* Weeks begin on Mondays; 1970-01-01 was a Thursday. */
    uint64_t shift = c->length % week == 0 ? week / 7 * 3 : 0;
    uint64_t from = (t + shift) / c->length * c->length;
    *begin = from > shift ? from - shift : 0;
    *end = from + c->length - shift;
}
