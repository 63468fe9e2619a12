/* recent.c - counts the different keys of sliding windows. */
#include "commands/count/count.h"

#include "base/cli.h"
#include "seen_counter.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* -- records of a window of time ---------------------------------------------------------- */

static uint64_t cell_length(const struct recent *r) {
    return (r->window + RECENT_CELLS - 3) / (RECENT_CELLS - 2);
}

/* A record of a cell that has left the window is in no row. */
static void note(struct recent *r, seen_time t) {
    uint64_t number = t / cell_length(r), i = number % RECENT_CELLS;
    if (r->cell[i].records && r->cell[i].number > number) return;
    if (r->cell[i].number != number) r->cell[i].records = 0;
    r->cell[i].number = number;
    r->cell[i].records++;
}

static seen_time earliest(const struct recent *r) {
    seen_time begin = r->newest >= r->window ? r->newest - r->window + 1 : 0;
    return begin > r->first ? begin : r->first;
}

/* -- all windows -------------------------------------------------------------------------- */

void recent_add(struct recent *r, const seen_digest *digest, seen_time t) {
    r->records++;
    if (!r->timed) t = r->records;
    if (r->records == 1 || t < r->first) r->first = t;
    if (t > r->newest) r->newest = t;
    if (t + r->window <= r->newest)
        r->outside++;
    else if (t < r->told)
        r->late++;
    if (r->timed) note(r, t);
    seen_sliding_counter_add(r->counter, 1, digest, &t);
    counting_check(r->how);
}

static uint64_t records_of(const struct recent *r) {
    uint64_t n = 0;
    if (!r->timed) return r->records < r->window ? r->records : r->window;
    uint64_t first = earliest(r) / cell_length(r), last = r->newest / cell_length(r);
    for (size_t i = 0; i < RECENT_CELLS; i++)
        if (r->cell[i].number >= first && r->cell[i].number <= last) n += r->cell[i].records;
    return n;
}

/* -- periods: what is told at the end of each ---------------------------------------------- */

static void *on_begin(void *ctx) { return ctx; }

static void on_end(void *ctx, const struct window *w, size_t n) {
    struct recent *r = ctx;
    struct figures f = {.records = records_of(r)};
    char from[32];
    (void)w, (void)n;
    f.distinct = seen_sliding_counter_estimate(r->counter, 0, &f.error);
    counts_put(r->rows, windows_from(r->windows, earliest(r), from), NULL, 0, f);
    r->told = r->newest;
}

static void on_drop(void *ctx, void *own) { (void)ctx, (void)own; }

static void on_save(const void *ctx, const void *own, struct blocks_out *out) {
    (void)ctx, (void)own, (void)out;
}

static void *on_load(void *ctx, struct blocks_in *in) {
    (void)in;
    return ctx;
}

static const struct windows_events periods = {
    .begin = on_begin, .end = on_end, .drop = on_drop, .save = on_save, .load = on_load};

void recent_begin(struct recent *r, struct counting *how, struct windows *p, struct counts *rows) {
    *r = (struct recent){
        .window = p->slides, .timed = p->timed, .how = how, .windows = p, .rows = rows};
    r->counter = counting_new_sliding(how, r->window);
    windows_begin(p, &periods, r, 1);
}

void recent_free(struct recent *r) { seen_sliding_counter_free(r->counter); }

/* -- in a state --------------------------------------------------------------------------- */

void recent_save(const struct recent *r, struct blocks_out *out) {
    blocks_put_number(out, r->records);
    blocks_put_number(out, r->first);
    blocks_put_number(out, r->newest);
    blocks_put_number(out, r->told);
    if (r->timed) blocks_put(out, r->cell, sizeof r->cell);
    counting_save_sliding(r->counter, out);
}

bool recent_load(struct recent *r, struct blocks_in *in) {
    r->records = blocks_get_number(in);
    r->first = blocks_get_number(in);
    r->newest = blocks_get_number(in);
    r->told = blocks_get_number(in);
    if (r->timed && !blocks_get(in, r->cell, sizeof r->cell)) return false;
    for (size_t i = 0; r->timed && i < RECENT_CELLS; i++)
        if ((r->cell[i].number | r->cell[i].records) >> 62) return false;
    if ((r->records | r->first | r->newest | r->told) >> 62) return false;
    return counting_load_sliding(r->how, in, &r->counter);
}

/* -- what is told ------------------------------------------------------------------------- */

static bool one(uint64_t n) { return n == 1; }

void recent_tell(const struct recent *r, const struct input_options *s) {
    if (s->quiet || !r->timed) return;
    if (r->outside)
        warn("%" PRIu64 " record%s older than the window when %s came, and in no row; sort the "
             "input by time, or give a longer window",
             r->outside, one(r->outside) ? " was" : "s were", one(r->outside) ? "it" : "they");
    if (r->late)
        warn("%" PRIu64 " record%s came when a row that holds %s time was printed, and %s in later "
             "rows only; sort the input by time",
             r->late, one(r->late) ? "" : "s", one(r->late) ? "its" : "their",
             one(r->late) ? "is" : "are");
}
