/* share.c - what one of n shards has to be, for all of them together to be what was asked.
 *
 *     memory          mem/n
 *     records         N/n of a window of N: a shard's window slides with the shard's own records
 *     keys, rate      their share, and room for the luck of the draw: of n keys thrown into shards,
 *                     one with the mean m gets more than m + 4 sqrt(m) in 3 of 100,000 cases
 *
 * fp= is a rate, and the same for all.  Windows of time are as they are. */
#include "judge/redis/share.h"

#include "base/cli.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { MICROSECONDS = 1000000 };

static const uint64_t usual_memory = UINT64_C(64) << 20;

static double share(double whole, double n) { return whole / n + 4 * sqrt(whole / n); }

static void set(struct seen_spec *spec, const char *name, const char *format, double value) {
    char text[64];
    struct seen_error e;
    snprintf(text, sizeof text, format, value);
    if (seen_spec_set(spec, name, text, &e)) die("%s for each shard: %s", name, e.text);
}

/* By where options are unset, for they have no value of their own then. */
static void share_room(struct seen_spec *spec, const struct seen_spec *asked, double n) {
    double keys = ceil(share((double)asked->items, n));
    double seconds = (double)asked->length / MICROSECONDS;
    bool bounded = asked->items || asked->rate > 0 || asked->unit == SEEN_RECORDS;
    uint64_t memory = asked->mem || bounded ? asked->mem : usual_memory;
    if (memory) set(spec, "mem", "%.0fKiB", floor((double)memory / n / 1024));
    if (asked->items) set(spec, "items", "%.0f", keys);
    if (asked->rate > 0) set(spec, "rate", "%.6g", share(asked->rate * seconds, n) / seconds);
}

/* No more keys than records. */
static void share_window(struct seen_spec *spec, uint64_t n) {
    spec->length = (spec->length + n - 1) / n;
    if (spec->items > spec->length) spec->items = spec->length;
}

void share_plan(struct seen_plan *one, const struct seen_plan *whole) {
    struct seen_spec spec = whole->asked;
    struct seen_error e;
    double n = (double)whole->spec.shards;
    if (whole->spec.shards == 1) {
        *one = *whole;
        return;
    }
    share_room(&spec, &whole->asked, n);
    set(&spec, "shards", "%.0f", 1);
    if (spec.unit == SEEN_RECORDS) share_window(&spec, whole->spec.shards);
    if (seen_plan_make(one, &spec, &e)) die("one of %.0f shards: %s", n, e.text);
}
