/* clocks.c - warns if the times of records do not fit the machine's clock or the window. */
#include "judge/clocks.h"

#include "time/time.h"

#include <inttypes.h>
#include <stdio.h>

void clocks_note(struct clocks *c, uint64_t n, seen_time now) {
    if (!c->records) c->first = now;
    c->records += n;
    c->last = now;
    c->unset |= input_options_clock_unset(now);
}

/* Records that come all at once say nothing by when they come. */
static void tell_arrival(const struct clocks *c) {
    uint64_t took = c->last > c->first ? c->last - c->first : 0;
    char window[32];
    if (!c->window || !c->records || took >= c->window / 100) return;
    seen_print_span(c->window, window, sizeof window);
    warn("the input ended within %.1f s, and its records were judged by when they arrived, in a "
         "window of %s; --time FIELD goes by their own time, --arrival says that this is meant",
         (double)took / 1e6, window);
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
    char now[40];
    if (s->quiet) return;
    tell_arrival(c);
    if (!c->unset || !s->time || s->allow_future) return;
    warn("the clock says %s and is not set, so times in the future were judged like others; set "
         "the clock, or give --now TIME",
         time_text(input_options_clock(s), now, sizeof now) ? now : "nothing");
}
