/* time_parts.h - for those who read times: the parts of a date, and what moment they are. */
#ifndef SEEN_TIME_PARTS_H
#define SEEN_TIME_PARTS_H

#include "time/time.h"

#include <string.h>

struct civil {
    int year, month, day, hour, minute, second; /* month and day from 1 */
    uint64_t micros;
    bool has_offset; /* else the time is that of --zone, or UTC */
    int offset;      /* seconds east of UTC */
};

/* False if there is no such date or time of day, or if it was before 1970.  A leap second counts as
 * the second after it. */
bool civil_time(const struct civil *, seen_time *out);

/* `n` digits at p as a number, or -1. */
static inline int digits(const char *p, int n) {
    int value = 0;
    for (int i = 0; i < n; i++) {
        if (p[i] < '0' || p[i] > '9') return -1;
        value = value * 10 + (p[i] - '0');
    }
    return value;
}

/* Jan is 1; 0 if there is no such month. */
static inline int month_of(const char *p) {
    static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    for (int i = 0; i < 12; i++)
        if (!memcmp(names + 3 * i, p, 3)) return i + 1;
    return 0;
}

/* All of [p, end): nothing, or an offset: Z, +01:00, +0100, +01, UTC, GMT, with a space before it
 * or none.  False if it is something else. */
bool civil_offset(struct civil *, const char *p, const char *end);

#endif
