/* clocks.c - a time in the future is a mistake: a wrong clock, a wrong zone, a wrong unit.  Judged,
 * it would make each later record of its key a duplicate until that time has come. */
#include "judge/clocks.h"

#include "judge/time.h"

#include <inttypes.h>
#include <stdio.h>

void clocks_note(struct clocks *c, uint64_t before, const struct future *f) {
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

void clocks_tell(const struct clocks *c, const struct source *s) {
    char now[40];
    if (s->quiet) return;
    if (c->future.n) tell_future(c);
    if (c->unset && s->time && !s->allow_future)
        warn("the clock says %s and is not set, so times in the future were judged like others; "
             "set the clock, or give --now TIME",
             text_of(source_clock(s), now));
}
