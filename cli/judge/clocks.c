/* clocks.c - a time in the future is a mistake: a wrong clock, a wrong zone, a wrong unit.  Judged,
 * it would make each later record of its key a duplicate until that time has come. */
#include "judge/clocks.h"

#include "judge/time.h"

#include <inttypes.h>
#include <stdio.h>

void clocks_note(struct clocks *c, uint64_t before, uint64_t n, const struct future *f) {
    if (!c->records) c->first = f->now;
    c->records += n;
    c->last = f->now;
    c->unset |= source_clock_unset(f->now);
    if (f->n && !c->future.n) {
        c->number = before + f->at + 1;
        c->future.time = f->time;
        c->future.now = f->now;
    }
    c->future.n += f->n;
}

static const char *text_of(seen_time t, char buf[40]) {
    return time_text(t, buf, 40) ? buf : "beyond the year 9999";
}

static void tell_future(const struct clocks *c) {
    char time[40], now[40];
    uint64_t n = c->future.n;
    warn("%" PRIu64 " record%s not judged, for %s time is more than a day in the future: record "
         "%" PRIu64 " says %s, the clock %s; --allow-future takes such times, and --zone says "
         "where times without an offset were written",
         n, n == 1 ? " was" : "s were", n == 1 ? "its" : "their", c->number,
         text_of(c->future.time, time), text_of(c->future.now, now));
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

void clocks_tell_late(const struct lateness *l, const struct source *s, uint64_t later,
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

void clocks_tell(const struct clocks *c, const struct source *s) {
    char now[40];
    if (s->quiet) return;
    if (c->future.n) tell_future(c);
    tell_arrival(c);
    if (c->unset && s->time && !s->allow_future)
        warn("the clock says %s and is not set, so times in the future were judged like others; "
             "set the clock, or give --now TIME",
             text_of(source_clock(s), now));
}
