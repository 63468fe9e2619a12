#include "line_trial.h"
#include "../any_window.h"

#include "sliding/line.h"

#include <stdlib.h>

const char *const trial_shapes[TRIAL_SHAPES] = {"random",    "one line",   "one fingerprint",
                                                "one class", "few of all", "chained"};

const char *const trial_windows[TRIAL_WINDOWS] = {
    "sliding:1 lines=1",
    "sliding:2 lines=2 signature=16",
    "sliding:31 lines=2 signature=20 overload=saturate",
    "sliding:32 lines=3 signature=16 generations=7",
    "sliding:100 lines=1 signature=16 overload=saturate",
    "sliding:100 lines=8 signature=16",
    "sliding:100 lines=4 signature=43 generations=1",
    "sliding:1000 lines=5 signature=33 shards=3 overload=saturate",
    "sliding:1000 lines=50 signature=16",
    "sliding:1000 lines=48 signature=24 overload=saturate",
    "sliding:20000 items=20000 fp=5e-4",
    "sliding:20000 items=19000 fp=5e-4",
    "sliding:20000 items=16000 fp=1e-6",
    "sliding:20000 items=10000 fp=1e-9 generations=16",
    "sliding:1s lines=2 signature=16 overload=saturate",
    "sliding:1s lines=40 signature=18 overload=saturate",
    "sliding:1h items=3000 fp=1e-3",
    "sliding:1s lines=1 signature=16",
    "sliding:1s lines=7 signature=22 shards=2",
    "sliding:31 lines=2 signature=20",
    "sliding:1000 lines=5 signature=33 shards=3",
    "sliding:20000 items=5000 fp=1e-3",
    "sliding:20000 items=2000 fp=1e-3",
    "jumping:4000/8 items=500 fp=1e-6",
};

struct past *trial_past(struct trial *t, uint64_t i) {
    return &t->past[i & (t->room - 1)];
}

static uint64_t lo_on_line(uint64_t line, uint64_t lines) {
    return (uint64_t)(((bits_u128)line << 64) / lines) + 1;
}

static const struct line_state *state_of(const struct trial *t) { return t->d->shard[0].state; }

/* With the fingerprint of the last key, in the line to which that would go on. */
static seen_digest chained(struct trial *t, seen_digest d) {
    const struct line_state *s = state_of(t);
    if (!t->n || !law_below(&t->rng, 4)) return d;
    seen_digest last = trial_past(t, t->n - 1)->key;
    uint64_t print = line_fingerprint(last, s->bits);
    d.hi = (d.hi >> s->bits << s->bits) | print;
    d.lo = lo_on_line(line_next(s, line_home(s, last), print), s->lines);
    return d;
}

seen_digest trial_fresh(struct trial *t) {
    const struct seen_spec *s = &t->plan.spec;
    seen_digest d = law_fresh(&t->rng);
    switch (t->shape) {
    case ONE_LINE:
        d.lo = lo_on_line(seen_spec_get_count(s, "blocks") / 2, seen_spec_get_count(s, "blocks"));
        break;
    case ONE_PRINT:
        d.hi = d.hi >> seen_spec_get_count(s, "signature") << seen_spec_get_count(s, "signature");
        break;
    case ONE_CLASS: d.hi -= (d.hi & 0xffff) - (d.hi & 0xffff) / LINE_CLASSES; break;
    case FEW_OF_ALL:
        d.lo = lo_on_line(law_below(&t->rng, 3) % seen_spec_get_count(s, "blocks"),
                          seen_spec_get_count(s, "blocks"));
        d.hi =
            (d.hi >> seen_spec_get_count(s, "signature") << seen_spec_get_count(s, "signature")) +
            law_below(&t->rng, 40);
        break;
    case CHAINED: return chained(t, d);
    default: break;
    }
    return d;
}

/* -- a trial ------------------------------------------------------------------------------ */

struct trial trial_begin(enum shape shape, uint64_t seed, const char *spec) {
    struct trial t = {.shape = shape, .rng = seed, .batch = TRIAL_BATCH, .room = 1};
    law_plan(&t.plan, "%s filter=line seed=1", spec);
    t.d = law_new(&t.plan, NULL);
    t.window = t.plan.spec.length;
    uint64_t records = t.plan.spec.unit == SEEN_UNIT_RECORDS ? t.window : 4096;
    while (t.room < records + TRIAL_BATCH + 2) t.room *= 2;
    t.past = calloc(t.room, sizeof *t.past);
    return t;
}

void trial_end(struct trial *t) {
    seen_free(t->d);
    free(t->past);
}

/* Ties, small steps, and now and then a silence. */
static uint64_t step_clock(struct trial *t) {
    if (t->plan.spec.unit == SEEN_UNIT_RECORDS) return 1;
    uint64_t kind = law_below(&t->rng, 4000);
    if (kind == 0) return t->window * law_below(&t->rng, 4) + law_below(&t->rng, 3);
    if (kind < 20) return t->window / 31 + law_below(&t->rng, 3);
    return law_below(&t->rng, t->window / 500 + 2);
}

/* How many records ago the one was that is repeated: any, the eldest or the youngest there are. */
static uint64_t gap(struct trial *t) {
    uint64_t most = t->room - TRIAL_BATCH;
    if (t->plan.spec.unit == SEEN_UNIT_RECORDS && t->window < most) most = t->window;
    if (t->n < most) most = t->n;
    if (!most) return 0;
    switch (law_below(&t->rng, 8)) {
    case 0: return most;
    case 1: return most - law_below(&t->rng, most < 3 ? most : 3);
    case 2: return 1 + law_below(&t->rng, most < 3 ? most : 3);
    default: return 1 + law_below(&t->rng, most);
    }
}

void trial_draw(struct trial *t, uint64_t i, uint64_t repeats) {
    t->clock += step_clock(t);
    uint64_t ago = law_below(&t->rng, 16) < repeats ? gap(t) : 0;
    t->from[i] = t->n - ago;
    t->key[i] = ago ? trial_past(t, t->n - ago)->key : trial_fresh(t);
    t->time[i] = t->clock;
    *trial_past(t, t->n++) = (struct past){t->key[i], t->clock, false};
}

static bool must_be_seen(struct trial *t, uint64_t i, uint64_t record) {
    const struct past *then = trial_past(t, t->from[i]);
    bool time = t->plan.spec.unit == SEEN_UNIT_MICROSECONDS;
    if (t->from[i] == record || t->time[i] - then->clock >= t->window + !time) return false;
    return seen_spec_get_count(&t->plan.spec, "refresh") == SEEN_REFRESH_LAST || then->stored;
}

/* A window that was shrunk is still kept for as long as is said. */
static bool excused(struct trial *t, uint64_t i) {
    struct seen_stats stats;
    if (seen_spec_get_count(&t->plan.spec, "overload") != SEEN_OVERLOAD_SHRINK) return false;
    seen_stats(t->d, &stats);
    bool time = t->plan.spec.unit == SEEN_UNIT_MICROSECONDS;
    uint64_t age = t->time[i] - trial_past(t, t->from[i])->clock;
    return stats.forgotten && age >= stats.kept + !time;
}

static void judge(struct trial *t, uint64_t i, uint64_t record) {
    trial_past(t, record)->stored = !t->verdict[i];
    if (!must_be_seen(t, i, record)) return;
    t->duplicates++;
    if (t->verdict[i] || excused(t, i)) return;
    t->misses++;
    law_check(false, "%s digests: record %llu repeats number %llu and was called new",
              trial_shapes[t->shape], (unsigned long long)record, (unsigned long long)t->from[i]);
}

/* `repeats` in sixteen records repeat one. */
void trial_play(struct trial *t, uint64_t records, uint64_t repeats) {
    for (uint64_t end = t->n + records; t->n < end;) {
        uint64_t first = t->n, n = 1 + law_below(&t->rng, t->batch);
        for (uint64_t i = 0; i < n; i++) trial_draw(t, i, repeats);
        any_observe(t->d, n, t->key, t->time, t->verdict);
        for (uint64_t i = 0; i < n; i++) judge(t, i, first + i);
    }
}

struct seen_stats trial_stats(const seen_detector *d) {
    struct seen_stats stats;
    seen_stats(d, &stats);
    return stats;
}
