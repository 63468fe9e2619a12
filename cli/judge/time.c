/* time.c - what a time field says, and where days and weeks begin in a time zone.  The engine knows
 * neither clocks nor zones; both stay here. */
#include "judge/time.h"

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

static bool parse_epoch(seen_time *out, const char *p, const char *end) {
    const char *start = p;
    while (p < end && *p == '0') p++;
    const char *first = p;
    uint64_t value = 0, more = 0;
    while (p < end && isdigit((unsigned char)*p) && p - first < 18)
        value = value * 10 + (uint64_t)(*p++ - '0');
    long digits = p - first;
    uint64_t unit = digits <= 11 ? SECOND : digits <= 14 ? 1000 : 1; /* in microseconds */
    if (p == start || digits > 17) return false;
    if (p < end && (*p != '.' || !fraction(p + 1, end, unit, &more))) return false;
    *out = value * unit + more;
    return true;
}

/* -- RFC 3339 ----------------------------------------------------------------------------- */

/* `n` digits at p, or -1. */
static int digits(const char *p, int n) {
    int value = 0;
    for (int i = 0; i < n; i++) {
        if (!isdigit((unsigned char)p[i])) return -1;
        value = value * 10 + (p[i] - '0');
    }
    return value;
}

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

/* Z, +hh:mm, -hh:mm or nothing, in seconds. */
static bool parse_offset(const char *p, const char *end, int64_t *out) {
    *out = 0;
    if (p == end || (end - p == 1 && (*p == 'Z' || *p == 'z'))) return true;
    if (end - p != 6 || (*p != '+' && *p != '-') || p[3] != ':') return false;
    int hours = digits(p + 1, 2), minutes = digits(p + 4, 2);
    if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return false;
    *out = (hours * 60 + minutes) * 60 * (*p == '-' ? -1 : 1);
    return true;
}

static bool parse_rfc3339(seen_time *out, const char *p, const char *end) {
    if (end - p < 19 || p[4] != '-' || p[7] != '-' || p[13] != ':' || p[16] != ':') return false;
    if (!strchr("Tt _", p[10]) || !p[10]) return false;
    int year = digits(p, 4), month = digits(p + 5, 2), day = digits(p + 8, 2);
    int hour = digits(p + 11, 2), minute = digits(p + 14, 2), second = digits(p + 17, 2);
    if (year < 0 || month < 1 || month > 12 || day < 1 || day > days_in_month(year, month))
        return false;
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60)
        return false; /* 60: a leap second, counted as the next one */
    uint64_t micros = 0;
    int64_t offset;
    p += 19;
    if (p < end && *p == '.') {
        const char *point = p++;
        while (p < end && isdigit((unsigned char)*p)) p++;
        if (!fraction(point + 1, p, SECOND, &micros)) return false;
    }
    if (!parse_offset(p, end, &offset)) return false;
    int64_t seconds =
        days_from_civil(year, month, day) * DAY + hour * 3600 + minute * 60 + second - offset;
    if (seconds < 0) return false;
    *out = (seen_time)seconds * SECOND + micros;
    return true;
}

bool time_parse(seen_time *out, const char *text, size_t len) {
    return parse_epoch(out, text, text + len) || parse_rfc3339(out, text, text + len) ||
           clf_time_parse(out, text, len);
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
    return true;
}

/* A date in the zone as one number that grows from day to day. */
static int64_t local_day(time_t t) {
    struct tm tm;
    localtime_r(&t, &tm);
    return days_from_civil(tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
}

/* The first second of the first day that is not before `target`.  Searched rather than computed
 * with mktime: a day may begin at 01:00, or be missing.  Starting from the date alone makes the
 * answer the same from whichever record it is asked. */
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
