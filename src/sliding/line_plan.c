/* line_plan.c - plans `line`: the width of fingerprints, the number of lines, the generations. */
#include "base/base.h"
#include "plan/plan.h"
#include "sliding/line.h"
#include "spec/spec.h"

#include <math.h>
#include <stdio.h>

/* The share of keys that may find their line full.  With it a record touches 1.34 lines, and 16
 * bits keep fp=5e-4. */
#define MAX_FULL .066

/* Generations by the clock if keys may come in bursts.  A map then has six more ends, for
 * generations that begin by count. */
#define LIVE_BURSTS 25

static const uint32_t widths[] = {16, 18, 20, 22, 24, 27, 30, 33, 36, 43};
#define WIDTHS (sizeof widths / sizeof *widths)

/* -- geometry ----------------------------------------------------------------------------- */

uint64_t line_step(const struct seen_spec *s) {
    return bits_ceil_div(s->length, options_get(s, OPTION_GENERATIONS));
}
uint32_t line_live(const struct seen_spec *s) {
    return (uint32_t)bits_ceil_div(s->length, line_step(s));
}

uint32_t line_ends(const struct seen_spec *s) {
    return options_get(s, OPTION_OVERLOAD) == SEEN_OVERLOAD_SHRINK ? LINE_MAX_LIVE : line_live(s);
}

uint64_t line_spare_slots(uint64_t lines) { return 4 * (lines / 384 + 4); }

static uint64_t bytes_of(uint64_t lines) {
    return LINE_STATE_BYTES + lines * 64 + line_spare_slots(lines) * sizeof(struct line_spare);
}

uint64_t line_size(const struct seen_spec *spec) {
    return bytes_of(options_get(spec, OPTION_BLOCKS));
}

/* -- what a shard must hold --------------------------------------------------------------- */

struct demand {
    double keys;   /* in a window; 0 if unknown */
    double most;   /* the most keys that chance may give one shard: five standard deviations more */
    double longer; /* the most keys that are kept, over those of the window */
    double steadily; /* the average of that */
    uint64_t budget; /* lines; UINT64_MAX without mem= */
};

static double mean_of(const struct demand *d, double keys, uint64_t lines) {
    return keys * d->longer / (double)lines;
}

double line_planned(uint64_t lines, uint32_t bits) {
    return (double)lines * theory_line_mean(MAX_FULL, line_room(bits));
}

static uint64_t lines_for(const struct demand *d, double keys, uint32_t bits) {
    return (uint64_t)fmax(1, ceil(keys * d->longer / theory_line_mean(MAX_FULL, line_room(bits))));
}

/* The keys of a window for which `lines` lines are planned. */
static double keys_in(const struct demand *d, uint64_t lines, uint32_t bits) {
    return line_planned(lines, bits) / d->longer;
}

/* The rate at its worst: a full window at the end of an epoch.  The marks come from average loads.
 */
static double rate_of(const struct demand *d, double keys, uint64_t lines, uint32_t bits) {
    double held = fmin(mean_of(d, keys, lines), line_room(bits));
    return theory_line_fp(held, held * d->steadily / d->longer, line_room(bits), bits,
                          THEORY_LINE_END);
}

/* -- choosing ----------------------------------------------------------------------------- */

static uint64_t budget_of(const struct seen_spec *s) {
    uint64_t fixed = detector_fixed(s, 0);
    if (!options_has(s, OPTION_MEM)) return UINT64_MAX;
    uint64_t room = options_get(s, OPTION_MEM) > fixed
                        ? (options_get(s, OPTION_MEM) - fixed) / options_get(s, OPTION_SHARDS)
                        : 0,
             lines = room / 64;
    if (bytes_of(0) > room) return 0;
    while (bytes_of(lines) > room) lines -= bits_ceil_div(bytes_of(lines) - room, 65);
    return lines;
}

/* The narrowest fingerprints that keep fp=; 0: none do. */
static uint32_t width_for(const struct demand *d, double fp) {
    for (size_t i = 0; i < WIDTHS; i++) {
        uint64_t lines = d->keys > 0 ? lines_for(d, d->most, widths[i]) : 1;
        double keys = d->keys > 0 ? d->keys : keys_in(d, lines, widths[i]);
        if (rate_of(d, keys, lines, widths[i]) <= fp) return widths[i];
    }
    return 0;
}

/* The widest fingerprints that leave room for all keys; 0: none do. */
static uint32_t width_within(const struct demand *d) {
    for (size_t i = WIDTHS; i-- > 0;)
        if (lines_for(d, d->most, widths[i]) <= d->budget) return widths[i];
    return 0;
}

static int refuse(const struct seen_plan *plan, const struct demand *d, uint32_t bits,
                  struct seen_error *e) {
    const struct seen_spec *s = &plan->spec;
    char takes[48], has[32], rate[40] = "no fp", fp[32];
    if (!e) return SEEN_EREFUSED;
    uint32_t other = width_within(d);
    uint64_t need = detector_fixed(s, bytes_of(lines_for(d, d->most, bits) + 1));
    if (other)
        snprintf(rate, sizeof rate, "fp=%.2g",
                 1.1 * rate_of(d, d->keys, lines_for(d, d->most, other), other));
    units_print_real(options_real(s, OPTION_FP), fp, sizeof fp);
    units_print_mem(need, takes, sizeof takes);
    seen_print_size(options_get(s, OPTION_MEM), has, sizeof has);
    return error_set(e, SEEN_EREFUSED, 0,
                     "%.6g keys at fp=%s need %s with filter=line; mem=%s allows %s, or "
                     "items=%.0f",
                     d->keys * (double)options_get(s, OPTION_SHARDS), fp, takes, has, rate,
                     advise_items(&plan->asked, d->keys * (double)options_get(s, OPTION_SHARDS)));
}

/* Decides signature= and blocks=. */
static int choose(struct seen_plan *plan, const struct demand *d, struct seen_error *e) {
    struct seen_spec *s = &plan->spec;
    bool fp = options_has(s, OPTION_FP), given = options_has(s, OPTION_BLOCKS);
    uint32_t bits = (uint32_t)options_get(s, OPTION_SIGNATURE);
    if (!fp) options_assume_real(s, OPTION_FP, PLAN_FP_DEFAULT);
    if (!options_has(s, OPTION_SIGNATURE)) {
        bits = width_for(d, options_real(s, OPTION_FP));
        if (!fp && d->keys > 0 && d->budget < UINT64_MAX && !given &&
            (!bits || lines_for(d, d->most, bits) > d->budget))
            bits = width_within(d) ? width_within(d) : bits;
    }
    bool known = false;
    for (size_t i = 0; i < WIDTHS; i++) known |= widths[i] == bits;
    if (!bits)
        return error_set(
            e, SEEN_EREFUSED, 0,
            "filter=line has no fingerprints wide enough for fp=%g; filter=exact makes no "
            "errors",
            options_real(s, OPTION_FP));
    if (!known)
        return error_set(
            e, SEEN_EREFUSED, 0,
            "filter=line has fingerprints of signature=16, 18, 20, 22, 24, 27, 30, 33, "
            "36 or 43 bits, not %u",
            bits);
    options_assume(s, OPTION_SIGNATURE, bits);
    if (given) return 0;
    options_assume(s, OPTION_BLOCKS, d->keys > 0 ? lines_for(d, d->most, bits) : d->budget);
    if (d->budget == 0)
        return error_set(e, SEEN_EREFUSED, 0, "mem= is too small for filter=line here");
    return options_get(s, OPTION_BLOCKS) > d->budget ? refuse(plan, d, bits, e) : 0;
}

static int check_given(const struct seen_plan *plan, const struct demand *d, struct seen_error *e) {
    const struct seen_spec *s = &plan->spec;
    if (options_get(s, OPTION_BLOCKS) && options_get(s, OPTION_BLOCKS) <= d->budget) return 0;
    return error_set(e, SEEN_EREFUSED, 0,
                     "blocks=%llu are not what filter=line can have here; leave blocks= out",
                     (unsigned long long)options_get(s, OPTION_BLOCKS));
}

static int predict(struct seen_plan *plan, const struct demand *d, struct seen_error *e) {
    struct seen_spec *s = &plan->spec;
    uint32_t bits = (uint32_t)options_get(s, OPTION_SIGNATURE), room = line_room(bits);
    double keys = d->keys > 0 ? d->keys : keys_in(d, options_get(s, OPTION_BLOCKS), bits);
    double mean =
        fmin(mean_of(d, keys, options_get(s, OPTION_BLOCKS)), room) * d->steadily / d->longer;
    plan->fp_full = rate_of(d, keys, options_get(s, OPTION_BLOCKS), bits);
    plan->fp_mean = theory_line_fp(mean, mean, room, bits, THEORY_LINE_MEAN);
    if (plan->fp_full > options_real(s, OPTION_FP) * (1 + 1e-9)) {
        if (options_has(&plan->asked, OPTION_FP))
            return error_set(e, SEEN_EREFUSED, 0,
                             "signature=%u gives fp=%.3g here; leave it and blocks= out and they "
                             "follow from fp=",
                             bits, plan->fp_full);
        options_assume_real(s, OPTION_FP, plan_round_up(plan->fp_full));
    }
    plan->touches = theory_line_touched(mean, room, THEORY_LINE_MEAN);
    double most = keys_in(d, options_get(s, OPTION_BLOCKS), bits);
    bool given = options_has(&plan->asked, OPTION_BLOCKS); /* the given lines may be too few */
    if (!given || d->most <= most * (1 + 1e-9)) most = fmax(keys, most);
    plan->capacity = (uint64_t)fmax(1, ceil(most * (double)options_get(s, OPTION_SHARDS) - 1e-6));
    static const enum option decided[] = {OPTION_FP, OPTION_SIGNATURE, OPTION_BLOCKS,
                                          OPTION_GENERATIONS, OPTION_OVERLOAD};
    for (size_t i = 0; i < sizeof decided / sizeof *decided; i++) options_mark(s, decided[i]);
    return 0;
}

static int choose_overload(struct seen_plan *plan, struct seen_error *e) {
    struct seen_spec *s = &plan->spec;
    if (!options_has(s, OPTION_OVERLOAD)) options_assume(s, OPTION_OVERLOAD, SEEN_OVERLOAD_SHRINK);
    if (options_get(s, OPTION_OVERLOAD) == SEEN_OVERLOAD_SATURATE ||
        options_get(s, OPTION_OVERLOAD) == SEEN_OVERLOAD_SHRINK)
        return 0;
    return error_set(e, SEEN_EREFUSED, 0, "filter=line does overload=shrink or saturate");
}

/* The slack: how far the generations reach beyond the window, as a share of it. */
static double slack_of(const struct seen_spec *s) {
    double reach = (double)line_step(s) * (line_live(s) + 1.) - (s->unit == SEEN_UNIT_RECORDS);
    return reach / (double)s->length - 1;
}

/* Whether a large part of the planned keys may come in one generation of the clock, which must then
 * be split. */
static bool bursts(const struct seen_spec *s, uint64_t keys) {
    if (options_get(s, OPTION_OVERLOAD) != SEEN_OVERLOAD_SHRINK) return false;
    return s->unit == SEEN_UNIT_MICROSECONDS || (keys && keys < s->length / 4);
}

/* Decides generations=.  In a jumping window of Q sub-windows it is the largest number whose
 * generations reach no further than the Q sub-windows. */
static int choose_generations(struct seen_plan *plan, uint64_t keys, struct seen_error *e) {
    struct seen_spec *s = &plan->spec;
    bool some =
        bursts(s, keys) && !(s->window == SEEN_WINDOW_JUMPING && s->subwindows > LIVE_BURSTS);
    if (!options_has(s, OPTION_GENERATIONS))
        options_assume(s, OPTION_GENERATIONS, some ? LIVE_BURSTS : LINE_MAX_LIVE);
    if (options_get(s, OPTION_GENERATIONS) > LINE_MAX_LIVE)
        return error_set(e, SEEN_EREFUSED, 0, "filter=line keeps generations=%d at most, not %llu",
                         LINE_MAX_LIVE, (unsigned long long)options_get(s, OPTION_GENERATIONS));
    if (s->window != SEEN_WINDOW_JUMPING) return 0;
    struct seen_spec asked = *s;
    options_assume(&asked, OPTION_GENERATIONS, s->subwindows);
    double most = fmax(1 / (double)s->subwindows, slack_of(&asked)) * (1 + 1e-9);
    while (!options_has(s, OPTION_GENERATIONS) && options_get(s, OPTION_GENERATIONS) > 1 &&
           slack_of(s) > most)
        options_assume(s, OPTION_GENERATIONS, options_get(s, OPTION_GENERATIONS) - 1);
    if (slack_of(s) <= most) return 0;
    return error_set(e, SEEN_EREFUSED, 0,
                     "filter=line keeps at most %d sub-windows apart, not %llu", LINE_MAX_LIVE,
                     (unsigned long long)s->subwindows);
}

int line_plan(struct seen_plan *plan, struct seen_error *e) {
    struct seen_spec *s = &plan->spec;
    uint64_t keys;
    int bad = plan_keys(&keys, s, e);
    if (!bad) bad = choose_overload(plan, e);
    if (!bad) bad = choose_generations(plan, keys, e);
    if (bad) return bad;
    bool sized = options_has(s, OPTION_MEM) || options_has(s, OPTION_BLOCKS);
    if (!keys && !sized) {
        options_set(s, OPTION_MEM, PLAN_MEM_DEFAULT);
    }
    double step = (double)line_step(s), length = (double)s->length, live = line_live(s);
    double mean = (double)keys / (double)options_get(s, OPTION_SHARDS), crowd = plan_crowd(s);
    if (s->unit == SEEN_UNIT_MICROSECONDS && !options_has(s, OPTION_RATE)) crowd = 1;
    double beyond = fmin(1, crowd * ((live + 1) * step / length - 1));
    double mostly = fmin(beyond, crowd * ((live + .5) * step / length - 1));
    struct demand d = {
        mean,
        options_get(s, OPTION_SHARDS) > 1 && mean > 0 ? ceil(mean + 5 * sqrt(mean) + 5) : mean,
        1 + beyond, 1 + mostly, budget_of(s)};
    plan->traits = SEEN_NO_FN | SEEN_MERGEABLE;
    plan->slack = slack_of(s);
    bad = choose(plan, &d, e);
    if (!bad) bad = check_given(plan, &d, e);
    return bad ? bad : predict(plan, &d, e);
}
