/* lateness.c - counts late records by spans of time. */
#include "judge/lateness.h"

#define SECOND UINT64_C(1000000)

const struct lateness_span lateness_spans[LATENESS_SPANS] = {
    {"1s", SECOND},
    {"10s", 10 * SECOND},
    {"1m", 60 * SECOND},
    {"10m", 600 * SECOND},
    {"1h", 3600 * SECOND},
    {"6h", 6 * 3600 * SECOND},
    {"1d", 24 * 3600 * SECOND},
    {"more", SEEN_NEVER},
};

static void note_late(struct lateness *l, uint64_t by) {
    size_t i = 0;
    l->late++;
    if (by > l->most) l->most = by;
    if (by > l->run_most) l->run_most = by;
    l->run_late++;
    while (by >= lateness_spans[i].below && i < LATENESS_SPANS - 1) i++;
    l->by[i]++;
}

static void note_newest(struct lateness *l, seen_time t) {
    l->newest = t;
    if (t >= l->end && calendar_is_set(&l->calendar))
        calendar_window(&l->calendar, t, &l->begin, &l->end);
}

void lateness_note(struct lateness *l, size_t n, const seen_time *time) {
    l->records += n;
    l->run_records += n;
    for (size_t i = 0; i < n; i++) {
        if (time[i] >= l->newest) {
            note_newest(l, time[i]);
            continue;
        }
        note_late(l, l->newest - time[i]);
        l->strayed += time[i] < l->begin;
    }
}
