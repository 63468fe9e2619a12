/* time.c - what a time field says, and where days and weeks begin in a time zone.  The engine knows
 * neither clocks nor zones; both stay here. */
#include "time/time_parts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SECOND = 1000000, DAY = 86400 };

/* -- numbers ------------------------------------------------------------------------------ */

/* The digits behind a point, in parts of `unit` (a power of ten); false if there is something else.
 */
static bool fraction(const char *p, const char *end, uint64_t unit, uint64_t *out) {
    uint64_t value = 0, scale = 1;
    if (p == end) return false;
    for (; p < end; p++) {
        if (!isdigit((unsigned char)*p)) return false;
        if (scale < unit) value = value * 10 + (uint64_t)(*p - '0'), scale *= 10;
    }
    *out = value * (unit / scale);
    return true;
}

static bool is_point(char c) { return c == '.' || c == ','; }

static bool parse_epoch(seen_time *out, const char *p, const char *end) {
    const char *start = p;
    while (p < end && *p == '0') p++;
    const char *first = p;
    uint64_t value = 0, more = 0;
    while (p < end && isdigit((unsigned char)*p) && p - first < 20)
        value = value * 10 + (uint64_t)(*p++ - '0');
    long length = p - first;
    uint64_t unit = length <= 11 ? SECOND : length <= 14 ? 1000 : 1; /* in microseconds */
    if (p == start || length > 19) return false;
    if (p < end && !is_point(*p)) return false;
    if (p < end && !fraction(p + 1, end, unit, &more)) return false;
    *out = length >= 18 ? value / 1000 : value * unit + more;
    return true;
}

/* -- dates -------------------------------------------------------------------------------- */

/* Days since 1970-01-01 of a date in the Gregorian calendar; years are counted from March, so that
 * the leap day is the last of its year. */
static int64_t days_from_civil(int64_t year, int month, int day) {
    year -= month <= 2;
    int64_t era = year / 400, of_era = year % 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static int days_in_month(int year, int month) {
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

static bool is_valid(const struct civil *c) {
    if (c->year < 0 || c->month < 1 || c->month > 12) return false;
    if (c->day < 1 || c->day > days_in_month(c->year, c->month)) return false;
    return c->hour >= 0 && c->hour <= 23 && c->minute >= 0 && c->minute <= 59 && c->second >= 0 &&
           c->second <= 60;
}

bool civil_time(const struct civil *c, seen_time *out) {
    if (!is_valid(c)) return false;
    int64_t seconds = days_from_civil(c->year, c->month, c->day) * DAY + c->hour * 3600 +
                      c->minute * 60 + c->second;
    seconds -= c->has_offset ? c->offset : time_zone_offset(seconds);
    if (seconds < 0) return false;
    *out = (seen_time)seconds * SECOND + c->micros;
    return true;
}

/* +01:00, +0100 or +01 */
static bool numeric_offset(struct civil *c, const char *p, const char *end) {
    long n = end - p;
    bool colon = n == 6 && p[3] == ':';
    if ((n != 3 && n != 5 && !colon) || (*p != '+' && *p != '-')) return false;
    int hours = digits(p + 1, 2), minutes = n == 3 ? 0 : digits(end - 2, 2);
    if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return false;
    c->offset = (hours * 60 + minutes) * 60 * (*p == '-' ? -1 : 1);
    return true;
}

bool civil_offset(struct civil *c, const char *p, const char *end) {
    c->has_offset = p < end;
    if (p == end) return true;
    if (*p == ' ' && end - p > 1) p++;
    long n = end - p;
    if (n == 1 && (*p == 'Z' || *p == 'z')) return true;
    if (n == 3 && (!memcmp(p, "UTC", 3) || !memcmp(p, "GMT", 3))) return true;
    return numeric_offset(c, p, end);
}

/* :51.25 or nothing; NULL if it is something else. */
static const char *parse_seconds(struct civil *c, const char *p, const char *end) {
    if (p == end || *p != ':') return p;
    if (end - p < 3) return NULL;
    c->second = digits(p + 1, 2);
    p += 3;
    if (p == end || !is_point(*p)) return p;
    const char *first = ++p;
    while (p < end && isdigit((unsigned char)*p)) p++;
    return fraction(first, p, SECOND, &c->micros) ? p : NULL;
}

/* Parses 2020-11-06, alone or followed by a time such as T18:10:51.5+01:00.  The seconds and the
 * offset may be missing. */
static bool parse_date(seen_time *out, const char *p, const char *end) {
    if (end - p < 10 || p[4] != '-' || p[7] != '-') return false;
    struct civil c = {.year = digits(p, 4), .month = digits(p + 5, 2), .day = digits(p + 8, 2)};
    p += 10;
    if (p == end) return civil_time(&c, out);
    if (end - p < 6 || !*p || !strchr("Tt _", *p) || p[3] != ':') return false;
    c.hour = digits(p + 1, 2);
    c.minute = digits(p + 4, 2);
    p = parse_seconds(&c, p + 6, end);
    return p && civil_offset(&c, p, end) && civil_time(&c, out);
}

bool time_parse(seen_time *out, const char *text, size_t len) {
    return parse_epoch(out, text, text + len) || parse_date(out, text, text + len) ||
           clf_time_parse(out, text, len) || mail_time_parse(out, text, len);
}

int time_text(seen_time t, char *buf, size_t cap) {
    const seen_time year_10000 = UINT64_C(253402300800) * SECOND;
    time_t seconds = (time_t)(t / SECOND);
    unsigned micros = (unsigned)(t % SECOND);
    struct tm tm;
    buf[0] = '\0';
    if (t >= year_10000 || !gmtime_r(&seconds, &tm)) return 0;
    size_t n = strftime(buf, cap, "%Y-%m-%dT%H:%M:%S", &tm);
    if (micros) {
        n += (size_t)snprintf(buf + n, cap - n, ".%06u", micros);
        while (buf[n - 1] == '0') n--;
    }
    return (int)(n + (size_t)snprintf(buf + n, cap - n, "Z"));
}

/* -- clocks ------------------------------------------------------------------------------- */

seen_time time_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (seen_time)t.tv_sec * SECOND + (seen_time)t.tv_nsec / 1000;
}

double time_monotonic(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* -- zones -------------------------------------------------------------------------------- */

static bool zone_is_set;

bool time_set_zone(const char *name) {
    char path[512];
    const char *dir = getenv("TZDIR");
    snprintf(path, sizeof path, "%s/%s", dir ? dir : "/usr/share/zoneinfo", name);
    bool safe = name[0] && name[0] != '/' && !strstr(name, "..");
    bool utc = !strcmp(name, "UTC");
    if (!utc) { /* libc would take an unknown name for UTC without a word */
        char magic[5] = "";
        FILE *file = safe ? fopen(path, "rb") : NULL;
        if (!file) return false;
        size_t got = fread(magic, 1, 4, file);
        fclose(file);
        if (got != 4 || strcmp(magic, "TZif")) return false;
    }
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

/* Where clocks were put back an hour comes twice: the first is taken.  Where they were put forward
 * an hour is missing: its times go on from the hour before. */
static int64_t search_offset(int64_t local) {
    int64_t before = offset_at(local - DAY), after = offset_at(local + DAY);
    if (before == after || offset_at(local - before) == before) return before;
    return offset_at(local - after) == after ? after : before;
}

/* Zones change at whole minutes, nearly always at quarters of an hour; those of a stream are much
 * the same.  A quarter is kept if both its ends agree. */
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

/* A date in the zone as one number that grows from day to day. */
static int64_t local_day(time_t t) {
    struct tm tm;
    localtime_r(&t, &tm);
    return days_from_civil(tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
}

/* The first second of the first day that is not before `target`.  Searched rather than computed
 * with mktime: a day may begin at 01:00, or be missing.  The search starts from the date alone, so
 * the answer is the same for all records of a day. */
static seen_time first_of_day(int64_t target) {
    time_t before = (time_t)(target * DAY - 26 * 3600), after = before + 2 * 26 * 3600;
    while (after - before > 1) { /* before: still an earlier day; after: not */
        time_t middle = before + (after - before) / 2;
        if (local_day(middle) < target)
            before = middle;
        else
            after = middle;
    }
    return after > 0 ? (seen_time)after * SECOND : 0;
}

static int64_t since_monday(int64_t day) { return (day + 3) % 7; } /* day 0 was a Thursday */

seen_time time_boundary(seen_time t, bool week) {
    int64_t today = local_day((time_t)(t / SECOND));
    return first_of_day(week ? today - since_monday(today) : today);
}

seen_time time_next_boundary(seen_time t, bool week) {
    int64_t today = local_day((time_t)(t / SECOND));
    return first_of_day(week ? today + 7 - since_monday(today) : today + 1);
}
