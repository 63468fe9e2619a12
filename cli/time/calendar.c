/* calendar.c - finds where landmark windows of time begin and end. */
#include "time/calendar.h"

#include "time/time.h"

#define DAY UINT64_C(86400000000)

void calendar_window(const struct calendar *c, seen_time t, seen_time *begin, seen_time *end) {
    if (c->zone) {
        *begin = time_boundary(t, c->zone == ZONE_WEEK);
        *end = time_next_boundary(t, c->zone == ZONE_WEEK);
        return;
    }
    /* Weeks begin on Mondays; 1970-01-01 was a Thursday. */
    uint64_t shift = c->length % (7 * DAY) == 0 ? 3 * DAY : 0;
    uint64_t from = (t + shift) / c->length * c->length;
    *begin = from > shift ? from - shift : 0;
    *end = from + c->length - shift;
}
