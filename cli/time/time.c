/* time.c - reads times in every known form, prints them, and reads the machine's clocks. */
#include "time/time.h"

#include "base/cli.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SECOND = 1000000, DAY = 86400 };

/* -- numbers ------------------------------------------------------------------------------ */

/* Reads the digits behind a point as parts of `unit`, a power of ten.  False: not all are
 * digits. */
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

struct date {
    int year, month, day, hour, minute, second; /* month and day from 1 */
    uint64_t micros;
    bool has_offset; /* else the time is in the zone that is set, or in UTC */
    int offset;      /* seconds east of UTC */
};

/* `n` digits at p as a number, or -1. */
static int digits(const char *p, int n) {
    int value = 0;
    for (int i = 0; i < n; i++) {
        if (p[i] < '0' || p[i] > '9') return -1;
        value = value * 10 + (p[i] - '0');
    }
    return value;
}

/* The place of the name at p among names of three letters, from 1; 0: it is none of them. */
static int name_at(const char *p, const char *names) {
    for (int i = 0; names[3 * i]; i++)
        if (!memcmp(names + 3 * i, p, 3)) return i + 1;
    return 0;
}

static int month_at(const char *p) { return name_at(p, "JanFebMarAprMayJunJulAugSepOctNovDec"); }

/* False: there is no such date or time of day, or it is before 1970.  A leap second counts as the
 * second after it. */
static bool moment_of(const struct date *d, seen_time *out) {
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (d->year % 4 == 0 && d->year % 100 != 0) || d->year % 400 == 0;
    if (d->year < 0 || d->month < 1 || d->month > 12) return false;
    int last = lengths[d->month - 1] + (d->month == 2 && leap);
    if (d->day < 1 || d->day > last || d->hour < 0 || d->hour > 23) return false;
    if (d->minute < 0 || d->minute > 59 || d->second < 0 || d->second > 60) return false;
    int64_t seconds =
        time_days(d->year, d->month, d->day) * DAY + d->hour * 3600 + d->minute * 60 + d->second;
    seconds -= d->has_offset ? d->offset : time_zone_offset(seconds);
    if (seconds < 0) return false;
    *out = (seen_time)seconds * SECOND + d->micros;
    return true;
}

/* Reads an offset that takes all of [p, end): Z, +01:00, +0100, +01, UTC or GMT, with or without a
 * space before it, or no offset at all.  False: the text is none of these. */
static bool read_offset(struct date *d, const char *p, const char *end) {
    d->has_offset = p < end;
    if (p == end) return true;
    if (*p == ' ' && end - p > 1) p++;
    long n = end - p;
    if (n == 1 && (*p == 'Z' || *p == 'z')) return true;
    if (n == 3 && (!memcmp(p, "UTC", 3) || !memcmp(p, "GMT", 3))) return true;
    bool colon = n == 6 && p[3] == ':';
    if ((n != 3 && n != 5 && !colon) || (*p != '+' && *p != '-')) return false;
    int hours = digits(p + 1, 2), minutes = n == 3 ? 0 : digits(end - 2, 2);
    if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return false;
    d->offset = (hours * 60 + minutes) * 60 * (*p == '-' ? -1 : 1);
    return true;
}

/* -- RFC 3339 ----------------------------------------------------------------------------- */

/* Reads :51.25, or nothing if no colon follows.  Returns the place behind, NULL if malformed. */
static const char *parse_seconds(struct date *c, const char *p, const char *end) {
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
static bool parse_rfc3339(seen_time *out, const char *p, const char *end) {
    if (end - p < 10 || p[4] != '-' || p[7] != '-') return false;
    struct date c = {.year = digits(p, 4), .month = digits(p + 5, 2), .day = digits(p + 8, 2)};
    p += 10;
    if (p == end) return moment_of(&c, out);
    if (end - p < 6 || !*p || !strchr("Tt _", *p) || p[3] != ':') return false;
    c.hour = digits(p + 1, 2);
    c.minute = digits(p + 4, 2);
    p = parse_seconds(&c, p + 6, end);
    return p && read_offset(&c, p, end) && moment_of(&c, out);
}

/* -- web logs: 10/Oct/2000:13:55:36 -0700 --------------------------------------------------- */

static bool parse_clf(seen_time *out, const char *p, const char *end) {
    static const char form[] = "  /   /    :  :  :   "; /* blanks stand for anything */
    if (end - p != 26 || p[20] != ' ' || (p[21] != '+' && p[21] != '-')) return false;
    for (size_t i = 0; form[i]; i++)
        if (form[i] != ' ' && form[i] != p[i]) return false;
    struct date d = {.year = digits(p + 7, 4),
                     .month = month_at(p + 3),
                     .day = digits(p, 2),
                     .hour = digits(p + 12, 2),
                     .minute = digits(p + 15, 2),
                     .second = digits(p + 18, 2)};
    return read_offset(&d, p + 20, end) && moment_of(&d, out);
}

/* -- RFC 2822, mails and HTTP: Fri, 06 Nov 2020 18:10:51 +0100 ------------------------------ */

/* The names that RFC 2822 gives to offsets of North America: hours west of UTC. */
static bool read_named_offset(struct date *d, const char *p, const char *end) {
    static const int hours[] = {4, 5, 5, 6, 6, 7, 7, 8};
    int zone = end - p == 4 && *p == ' ' ? name_at(p + 1, "EDTESTCDTCSTMDTMSTPDTPST") : 0;
    if (!zone) return false;
    d->has_offset = true;
    d->offset = -3600 * hours[zone - 1];
    return true;
}

/* The day of the week, the seconds and a comment at the end, such as (CET), may be missing.  The
 * day of the week is not checked against the date. */
static bool parse_mail(seen_time *out, const char *p, const char *end) {
    struct date d = {0};
    const char *comment = end > p && end[-1] == ')' ? memchr(p, '(', (size_t)(end - p)) : NULL;
    if (comment) end = comment;
    while (comment && end > p && end[-1] == ' ') end--;
    if (end - p > 5 && name_at(p, "MonTueWedThuFriSatSun") && p[3] == ',' && p[4] == ' ') p += 5;
    int length = end - p > 2 && p[1] != ' ' ? 2 : 1; /* of the day of the month */
    if (end - p < length + 15 || p[length] != ' ') return false;
    d.day = digits(p, length);
    p += length + 1;
    if (d.day < 0 || p[3] != ' ' || p[8] != ' ' || p[11] != ':') return false;
    d.month = month_at(p);
    d.year = digits(p + 4, 4);
    d.hour = digits(p + 9, 2);
    d.minute = digits(p + 12, 2);
    p += 14;
    if (end - p >= 3 && *p == ':') {
        d.second = digits(p + 1, 2);
        p += 3;
    }
    return (read_offset(&d, p, end) || read_named_offset(&d, p, end)) && moment_of(&d, out);
}

/* -- all ---------------------------------------------------------------------------------- */

bool time_parse(seen_time *out, const char *text, size_t len) {
    const char *end = text + len;
    return parse_epoch(out, text, end) || parse_rfc3339(out, text, end) ||
           parse_clf(out, text, end) || parse_mail(out, text, end);
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

/* -- --time-format: strptime(3) in the C locale -------------------------------------------- *
 *
 * Beyond strptime, %f is the fraction of a second, and dates that the calendar lacks, such as 31
 * June, are refused. */

enum { MAX_TEXT = 127 }; /* bytes of a time */

/* The first conversion `letter` in a format, or NULL. */
static const char *conversion(const char *format, char letter) {
    for (const char *p = format; (p = strchr(p, '%')); p += 1 + (p[1] != '\0')) {
        const char *end = p + 1 + strspn(p + 1, "EO_-0^#");
        if (*end == letter) return p;
    }
    return NULL;
}

/* Dies unless the format can read what it writes.  A letter that strptime does not know is thus
 * found before the first record. */
static void check_format(const struct time_format *f, const char *text) {
    const time_t moment = 1604686251;
    char written[2 * MAX_TEXT], *end = written;
    struct tm tm;
    seen_time back;
    gmtime_r(&moment, &tm);
    end += strftime(end, MAX_TEXT, f->before, &tm);
    if (f->after) *end++ = '5';
    if (f->after && *f->after) end += strftime(end, MAX_TEXT, f->after, &tm);
    if (end == written || !time_format_parse(f, &back, written, (size_t)(end - written)))
        die("--time-format '%s' is not a format of strptime(3): write one such as "
            "'%%d/%%b/%%Y:%%H:%%M:%%S %%z'",
            text);
}

void time_format_init(struct time_format *f, const char *text) {
    const char *fraction = conversion(text, 'f');
    size_t before = fraction ? (size_t)(fraction - text) : strlen(text);
    if (conversion(text, 'Z'))
        die("--time-format '%s': names of time zones (%%Z) are ambiguous; use %%z, which reads an "
            "offset such as +0100",
            text);
    if (conversion(text, 's'))
        die("--time-format '%s': seconds since 1970 (%%s) are read without a format", text);
    f->has_offset = conversion(text, 'z');
    f->before = strndup(text, before);
    f->after = fraction ? strdup(fraction + 2) : NULL;
    if (!f->before || (fraction && !f->after)) die("out of memory for a format of times");
    check_format(f, text);
}

void time_format_free(struct time_format *f) {
    free(f->before);
    free(f->after);
    *f = (struct time_format){0};
}

bool time_format_parse(const struct time_format *f, seen_time *out, const char *text, size_t len) {
    char copy[MAX_TEXT + 1];
    seen_time micros = 0;
    struct tm tm = {.tm_mday = 1, .tm_year = 70}, date;
    if (!f) return time_parse(out, text, len);
    if (len > MAX_TEXT || memchr(text, '\0', len)) return false;
    memcpy(copy, text, len);
    copy[len] = '\0';
    const char *p = strptime(copy, f->before, &tm);
    if (p && f->after) {
        const char *digits = p;
        for (uint64_t unit = 100000; isdigit((unsigned char)*p); p++, unit /= 10)
            micros += (uint64_t)(*p - '0') * unit;
        p = p > digits ? strptime(p, f->after, &tm) : NULL;
    }
    if (!p || p != copy + len) return false;
    int day = tm.tm_mday, second = tm.tm_sec;
    tm.tm_sec = 0; /* 60, a leap second, counts as the next one */
    date = tm;
    int64_t seconds = timegm(&date) + second;
    seconds -= f->has_offset ? tm.tm_gmtoff : time_zone_offset(seconds);
    if (date.tm_mday != day || seconds < 0) return false;
    *out = (seen_time)seconds * 1000000 + micros;
    return true;
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
