/* clock.c - notes how the times of records compare with each other and with the clock. */
#include "judge/clock.h"

#include <inttypes.h>

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

void lateness_note(struct lateness *l, size_t n, const seen_time *time) {
    l->records += n;
    l->run_records += n;
    for (size_t i = 0; i < n; i++) {
        if (time[i] >= l->newest) {
            l->newest = time[i];
            if (time[i] >= l->end && calendar_is_set(&l->calendar))
                calendar_window(&l->calendar, time[i], &l->begin, &l->end);
            continue;
        }
        uint64_t by = l->newest - time[i];
        size_t span = 0;
        while (span < LATENESS_SPANS - 1 && by >= lateness_spans[span].below) span++;
        l->by[span]++;
        l->late++;
        l->run_late++;
        if (by > l->most) l->most = by;
        if (by > l->run_most) l->run_most = by;
        l->strayed += time[i] < l->begin;
    }
}

void clocks_note(struct clocks *c, uint64_t n, seen_time now) {
    if (!c->records) c->first = now;
    c->records += n;
    c->last = now;
    c->unset |= input_options_clock_unset(now);
}

void clocks_tell_late(const struct lateness *l, const struct input_options *s, uint64_t later,
                      uint64_t window) {
    char most[32];
    uint64_t by = l->run_most > 1000000 ? l->run_most / 1000000 * 1000000 : l->run_most;
    bool many = later * 100 >= l->run_records, far = l->run_most > window;
    if (s->quiet || !s->time || !later || (!many && !far)) return;
    seen_print_span(by, most, sizeof most);
    warn("%" PRIu64 " of %" PRIu64 " records came late, by %s at most, and were judged at a later "
         "time than their own; --reorder SPAN sorts them first, and --lateness SPAN judges them "
         "by their own time in sliding windows",
         later, l->run_records, most);
}

void clocks_tell(const struct clocks *c, const struct input_options *s) {
    uint64_t took = c->last > c->first ? c->last - c->first : 0;
    char window[32], now[40];
    if (s->quiet) return;
    if (c->window && c->records && took < c->window / 100) {
        /* The records were judged by when they arrived, but arrived all at once. */
        seen_print_span(c->window, window, sizeof window);
        warn("the input ended within %.1f s, and its records were judged by when they arrived, in "
             "a window of %s; --time FIELD goes by their own time, --arrival says that this is "
             "meant",
             (double)took / 1e6, window);
    }
    if (!c->unset || !s->time || s->allow_future) return;
    warn("the clock says %s and is not set, so times in the future were judged like others; set "
         "the clock, or give --now TIME",
         time_text(input_options_clock(s), now, sizeof now) ? now : "nothing");
}

/* -- in a state --------------------------------------------------------------------------- */

void lateness_pack(const struct lateness *l, struct packer *p) {
    pack_number(p, l->newest);
    pack_number(p, l->records);
    pack_number(p, l->late);
    pack_number(p, l->most);
    for (size_t i = 0; i < LATENESS_SPANS; i++) pack_number(p, l->by[i]);
}

void lateness_unpack(struct lateness *l, struct unpacker *u) {
    l->newest = unpack_number(u);
    l->records = unpack_number(u);
    l->late = unpack_number(u);
    l->most = unpack_number(u);
    for (size_t i = 0; i < LATENESS_SPANS; i++) l->by[i] = unpack_number(u);
    if (l->newest >> 62) u->bad = true;
}

/* -- of a window -------------------------------------------------------------------------- */

void window_clock_init(struct window_clock *c, const struct seen_spec *s, double slack) {
    bool timed = s->unit == SEEN_UNIT_MICROSECONDS;
    *c = (struct window_clock){.timed = timed,
                               .refresh_first =
                                   seen_spec_get_count(s, "refresh") == SEEN_REFRESH_FIRST,
                               .reach = UINT64_MAX};
    if (s->window == SEEN_WINDOW_SLIDING) c->reach = s->length - timed;
    if (s->window == SEEN_WINDOW_JUMPING)
        c->reach = s->length + (uint64_t)((double)s->length * slack) + 1;
}

void window_clock_step(struct window_clock *c, seen_time time) {
    if (!c->timed)
        c->now = c->noted;
    else if (time > c->now)
        c->now = time;
    c->noted++;
}
