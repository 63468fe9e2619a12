/* counting_queue_plan.c - how large queue and table of the sliding counting filter must be
 * (counting_queue.c says what it is). */
#include "sliding/counting_queue.h"

#include "base/base.h"
#include "spec/spec.h"
#include "theory/bloom.h"
#include "window/window.h"

#include <math.h>

/* -- geometry ----------------------------------------------------------------------------- */

/* Records of one shard among others have numbers that tell nothing, so they are kept. */
bool counting_queue_clocked(const struct seen_spec *spec) {
    return spec->unit == SEEN_UNIT_MICROSECONDS || options_get(spec, OPTION_SHARDS) > 1;
}

/* Each shard has room for as many records as a window may hold, because any one key may bring them
 * all.  Where nothing says how many, the queue takes what lines leave of the memory. */
uint64_t counting_queue_room(const struct seen_spec *spec) {
    if (spec->unit == SEEN_UNIT_RECORDS) return spec->length;
    if (options_has(spec, OPTION_RATE))
        return (uint64_t)fmin(
            1e15, fmax(1, ceil(options_real(spec, OPTION_RATE) * (double)spec->length / 1e6)));
    uint64_t fixed =
        detector_fixed(spec, COUNTING_QUEUE_BYTES + options_get(spec, OPTION_BLOCKS) * 64);
    return options_get(spec, OPTION_MEM) > fixed
               ? (options_get(spec, OPTION_MEM) - fixed) / options_get(spec, OPTION_SHARDS) / 64 * 4
               : 0;
}

static uint64_t queue_bytes(const struct seen_spec *spec, uint64_t room) {
    return bits_ceil_div(room * (counting_queue_clocked(spec) ? 16 : 8), 64) * 64;
}

uint64_t counting_queue_size(const struct seen_spec *spec) {
    return COUNTING_QUEUE_BYTES + options_get(spec, OPTION_BLOCKS) * 64 +
           queue_bytes(spec, counting_queue_room(spec));
}

/* -- how large ---------------------------------------------------------------------------- */

static double fp(const struct filter_shape *s, double keys) {
    return theory_bloom((double)recount_cells(s), keys, s->k);
}

static double touches(const struct filter_shape *s) { return 2 * s->k + 2; }

static uint64_t granule(const struct filter_shape *s) {
    (void)s;
    return 2;
}

static const struct filter_theory theory = {.name = "counting",
                                            .traits = SEEN_NO_FN | SEEN_NO_AGES,
                                            .k_most = COUNTING_QUEUE_MAX_K,
                                            .live_most = 1,
                                            .fp = fp,
                                            .touches = touches,
                                            .size = table_size,
                                            .granule = granule};

static uint64_t fixed_bytes(const struct seen_spec *spec, uint64_t room) {
    return detector_fixed(spec, COUNTING_QUEUE_BYTES + queue_bytes(spec, room));
}

/* -- counters that stick -------------------------------------------------------------------- */

/* Windows for which a stuck counter may outlive its keys: 17 regions are walked, four entries a
 * record, and then taken over, a line a record. */
#define STUCK_WINDOWS 4.5

/* Records that a window may hold, however its memory is shared out. */
static double records_most(const struct seen_spec *spec) {
    bool told = spec->unit == SEEN_UNIT_RECORDS || options_has(spec, OPTION_RATE);
    return told ? (double)counting_queue_room(spec) : (double)options_get(spec, OPTION_MEM) / 16;
}

/* How many times the keys of a window a table of such counters is to hold: those whose counters
 * still stick as well.  A counter sticks where a key comes 2^width-1 times in a window, while each
 * other key comes once at least. */
static double held_for(const struct seen_spec *spec, uint64_t keys) {
    double each = (double)keys / (double)options_get(spec, OPTION_SHARDS);
    double often = fmax(0, records_most(spec) - (double)keys) /
                   (counters_top((uint32_t)options_get(spec, OPTION_WIDTH)) - 1.);
    return 1 + STUCK_WINDOWS * fmin(1, often / fmax(1, each));
}

/* Bits of a counter: few stick if it is wide, and many find room if it is narrow. */
static void choose_width(struct seen_spec *spec, uint64_t keys) {
    double least = INFINITY;
    struct seen_spec tried = *spec;
    for (uint64_t width = COUNTERS_WIDTH; width <= COUNTERS_MAX_WIDTH; width++) {
        options_assume(&tried, OPTION_WIDTH, width);
        double bits = (double)width * held_for(&tried, keys);
        if (bits >= least * .999) continue;
        least = bits;
        options_assume(spec, OPTION_WIDTH, width);
    }
}

/* -- how many keys, and records ------------------------------------------------------------- */

/* Bytes of a whole detector whose queue holds each of `keys` keys once; infinite if no size is
 * large enough. */
static double bytes_for(const struct seen_spec *asked, const struct fit *any, double keys) {
    struct seen_spec tried = *asked, *spec = &tried;
    struct fit held = *any, *fit = &held;
    if (!options_has(&tried, OPTION_WIDTH)) choose_width(&tried, (uint64_t)keys);
    held.generation = held_for(&tried, (uint64_t)keys);
    struct filter_shape shape = plan_shape(spec, 1);
    double allowed = options_has(spec, OPTION_FP) ? options_real(spec, OPTION_FP) : PLAN_FP_DEFAULT;
    uint32_t k = options_has(spec, OPTION_K) ? (uint32_t)options_get(spec, OPTION_K) : 0;
    if (!options_has(spec, OPTION_BLOCKS) &&
        !fit_lines(fit, &shape, keys / (double)options_get(spec, OPTION_SHARDS), allowed, k, 0))
        return INFINITY;
    return (double)fixed_bytes(spec, (uint64_t)keys) +
           (double)(options_get(spec, OPTION_SHARDS) * shape.lines) * 64;
}

#define RECORDS_A_KEY 4. /* where items= alone is given; the plan says so as rate= */

/* What a window of time holds, where rate= does not say it: mem= bounds the queue, and as many
 * keys as records fit are planned for if items= does not say. */
static int plan_items(struct seen_plan *plan, const struct fit *fit, struct seen_error *e) {
    struct seen_spec *spec = &plan->spec;
    if (spec->unit == SEEN_UNIT_RECORDS || options_has(spec, OPTION_RATE)) return 0;
    bool items = options_has(spec, OPTION_ITEMS);
    if (items && !options_has(spec, OPTION_MEM)) {
        options_set_real(spec, OPTION_RATE,
                         fmin(9e11, RECORDS_A_KEY * (double)options_get(spec, OPTION_ITEMS) * 1e6 /
                                        (double)spec->length));
        return 0;
    }
    if (!options_has(spec, OPTION_MEM)) {
        if (options_has(spec, OPTION_BLOCKS))
            return error_set(
                e, SEEN_EREFUSED, 0,
                "nothing says how many records this window holds, and filter=%s keeps each; "
                "give rate= or mem=",
                plan->filter);
        options_set(spec, OPTION_MEM, PLAN_MEM_DEFAULT);
    }
    if (!items) {
        double none = (double)fixed_bytes(spec, 0), mem = (double)options_get(spec, OPTION_MEM);
        double keys = fmax(1, (mem - none) / (16. * (double)options_get(spec, OPTION_SHARDS))),
               takes;
        for (int i = 0; i < 16 && keys > 1 && (takes = bytes_for(spec, fit, keys)) > mem; i++)
            keys = isinf(takes)
                       ? fmax(1, keys / 16)
                       : fmax(1, floor(keys * .998 * fmax(0, mem - none) / (takes - none)));
        options_set(spec, OPTION_ITEMS, (uint64_t)keys);
    }
    return 0;
}

int counting_queue_plan(struct seen_plan *plan, struct seen_error *e) {
    struct seen_spec *spec = &plan->spec;
    struct fit fit = {&theory, 1, 1, options_get(spec, OPTION_SHARDS), false, 1};
    bool time = spec->unit == SEEN_UNIT_MICROSECONDS, width = options_has(spec, OPTION_WIDTH);
    uint64_t keys = 0;
    plan->traits = theory.traits;
    int bad = counters_settle(spec, 1, e);
    if (bad) return bad;
    if (options_get(spec, OPTION_WIDTH) < 3)
        return error_set(
            e, SEEN_EREFUSED, 0,
            "counters of width=2 stick faster than a sliding window counts them again; "
            "use width=3 or more");
    bad = plan_overload(plan, time ? SEEN_OVERLOAD_SHRINK : SEEN_OVERLOAD_KEEP, e);
    if (!width) spec->given &= ~((uint64_t)1 << OPTION_WIDTH); /* decided below */
    if (!bad) bad = plan_items(plan, &fit, e);
    if (!bad) bad = plan_keys(&keys, spec, e);
    if (bad) return bad;
    if (!width) choose_width(spec, keys);
    options_mark(spec, OPTION_WIDTH);
    fit.generation = held_for(spec, keys);
    struct filter_shape shape = plan_shape(spec, 1);
    struct seen_spec sized = *spec;
    double allowed = options_has(spec, OPTION_FP) ? options_real(spec, OPTION_FP) : PLAN_FP_DEFAULT;
    uint32_t k = options_has(spec, OPTION_K) ? (uint32_t)options_get(spec, OPTION_K) : 0;
    bool told = spec->unit == SEEN_UNIT_RECORDS || options_has(spec, OPTION_RATE);
    if (!told && !options_has(spec, OPTION_BLOCKS) &&
        fit_lines(&fit, &shape, (double)keys / (double)options_get(spec, OPTION_SHARDS), allowed, k,
                  0))
        options_assume(&sized, OPTION_BLOCKS, shape.lines);
    uint64_t room = counting_queue_room(&sized);
    if (room < bits_ceil_div(keys, options_get(spec, OPTION_SHARDS)))
        return error_set(e, SEEN_EREFUSED, 0,
                         "mem= has no room for %llu keys and their records with filter=%s; give "
                         "rate=, or more mem=",
                         (unsigned long long)keys, plan->filter);
    bad = plan_filter(plan, &fit, fixed_bytes(spec, room), e);
    if (bad) return bad;
    plan->capacity =
        bits_min(plan->capacity, counting_queue_room(spec) * options_get(spec, OPTION_SHARDS));
    return 0;
}
