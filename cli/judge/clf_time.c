/* clf_time.c - the time of web logs: 10/Oct/2000:13:55:36 -0700. */
#include "judge/time.h"

#include <ctype.h>
#include <string.h>
#include <time.h>

/* Two digits below `most`, or -1. */
static int two(const char *p, int most) {
    if (!isdigit((unsigned char)p[0]) || !isdigit((unsigned char)p[1])) return -1;
    int value = 10 * (p[0] - '0') + p[1] - '0';
    return value < most ? value : -1;
}

static int month_of(const char *p) {
    static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    for (int i = 0; i < 12; i++)
        if (!memcmp(names + 3 * i, p, 3)) return i;
    return -1;
}

/* Everything but the digits, the month and the zone is where it belongs. */
static bool has_form(const char *p, size_t len) {
    static const char form[] = "  /   /    :  :  :      ";
    if (len != 26) return false;
    for (size_t i = 0; form[i]; i++)
        if (form[i] != ' ' && form[i] != p[i]) return false;
    return p[20] == ' ' && (p[21] == '+' || p[21] == '-');
}

bool clf_time_parse(seen_time *out, const char *p, size_t len) {
    if (!has_form(p, len)) return false;
    int century = two(p + 7, 100), year = two(p + 9, 100);
    int offset_hours = two(p + 22, 24), offset_minutes = two(p + 24, 60);
    struct tm tm = {.tm_mday = two(p, 32),
                    .tm_mon = month_of(p + 3),
                    .tm_hour = two(p + 12, 24),
                    .tm_min = two(p + 15, 60),
                    .tm_sec = two(p + 18, 61)};
    if (century < 0 || year < 0 || offset_hours < 0 || offset_minutes < 0) return false;
    if (tm.tm_mday < 1 || tm.tm_mon < 0 || tm.tm_hour < 0 || tm.tm_min < 0 || tm.tm_sec < 0)
        return false;
    tm.tm_year = 100 * century + year - 1900;
    int day = tm.tm_mday, leap = tm.tm_sec == 60; /* counted as the next second */
    tm.tm_sec -= leap;
    int64_t seconds = timegm(&tm) + leap;
    if (tm.tm_mday != day) return false; /* the 31st of June */
    seconds -= (offset_hours * 60 + offset_minutes) * 60 * (p[21] == '-' ? -1 : 1);
    if (seconds < 0) return false;
    *out = (seen_time)seconds * 1000000;
    return true;
}
