/* calendar.h - where the landmark windows of time begin and end: every 1h, days and weeks in UTC,
 * or days and weeks of a time zone. */
#ifndef SEEN_CALENDAR_H
#define SEEN_CALENDAR_H

#include "seen.h"

#include <stdbool.h>

enum zone_window { ZONE_NONE, ZONE_DAY, ZONE_WEEK };

struct calendar {
    uint64_t length;       /* microseconds; 0: windows are not of time, unless ... */
    enum zone_window zone; /* ... they are days or weeks in the process's time zone */
};

static inline bool calendar_is_set(const struct calendar *c) { return c->length || c->zone; }

/* The window that holds t: [begin, end). */
void calendar_window(const struct calendar *, seen_time t, seen_time *begin, seen_time *end);

#endif
