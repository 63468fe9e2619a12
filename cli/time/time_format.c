/* time_format.c - reads times by strptime(3) in the C locale.  Beyond strptime, it reads %f, the
 * fraction of a second, and refuses dates that the calendar lacks, such as 31 June. */
#include "time/time.h"

#include "base/cli.h"
#include "time/zone.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LONGEST = 127 }; /* bytes of a time */

/* The first conversion `letter` in a format, or NULL. */
static const char *conversion(const char *format, char letter) {
    for (const char *p = format; (p = strchr(p, '%')); p += 1 + (p[1] != '\0')) {
        const char *end = p + 1 + strspn(p + 1, "EO_-0^#");
        if (*end == letter) return p;
    }
    return NULL;
}

static void refuse_unfit(const char *text) {
    if (conversion(text, 'Z'))
        die("--time-format '%s': names of time zones (%%Z) are ambiguous; times with an offset are "
            "read by %%z",
            text);
    if (conversion(text, 's'))
        die("--time-format '%s': seconds since 1970 (%%s) are read without a format", text);
}

/* The format must read what it writes.  So a letter that strptime does not know is found before the
 * first record. */
static void refuse_unknown(const struct time_format *f, const char *text) {
    const time_t moment = 1604686251;
    char written[2 * LONGEST], *end = written;
    struct tm tm;
    seen_time back;
    gmtime_r(&moment, &tm);
    end += strftime(end, LONGEST, f->before, &tm);
    if (f->after) *end++ = '5';
    if (f->after && *f->after) end += strftime(end, LONGEST, f->after, &tm);
    if (end == written || !time_format_parse(f, &back, written, (size_t)(end - written)))
        die("--time-format '%s' is not a format of strptime(3): write one such as "
            "'%%d/%%b/%%Y:%%H:%%M:%%S %%z'",
            text);
}

void time_format_init(struct time_format *f, const char *text) {
    const char *fraction = conversion(text, 'f');
    size_t before = fraction ? (size_t)(fraction - text) : strlen(text);
    refuse_unfit(text);
    f->has_offset = conversion(text, 'z');
    f->before = strndup(text, before);
    f->after = fraction ? strdup(fraction + 2) : NULL;
    if (!f->before || (fraction && !f->after)) die("out of memory for a format of times");
    refuse_unknown(f, text);
}

void time_format_free(struct time_format *f) {
    free(f->before);
    free(f->after);
    *f = (struct time_format){0};
}

/* Digits at p as microseconds; NULL if there is none. */
static const char *take_fraction(const char *p, seen_time *micros) {
    uint64_t unit = 100000;
    const char *start = p;
    for (; *p >= '0' && *p <= '9'; p++, unit /= 10) *micros += (uint64_t)(*p - '0') * unit;
    return p > start ? p : NULL;
}

bool time_format_parse(const struct time_format *f, seen_time *out, const char *text, size_t len) {
    char copy[LONGEST + 1];
    seen_time micros = 0;
    struct tm tm = {.tm_mday = 1, .tm_year = 70}, date;
    if (!f) return time_parse(out, text, len);
    if (len > LONGEST || memchr(text, '\0', len)) return false;
    memcpy(copy, text, len);
    copy[len] = '\0';
    const char *p = strptime(copy, f->before, &tm);
    if (p && f->after) p = take_fraction(p, &micros);
    if (p && f->after) p = strptime(p, f->after, &tm);
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
