/* counting_queue_plan.c - how large queue and table of the sliding counting filter must be
 * (counting_queue.c says what it is). */
#include "aging/counting_queue.h"

#include "detector.h"
#include "error.h"
#include "plan/theory.h"

#include <math.h>

/* -- geometry ----------------------------------------------------------------------------- */

/* Records of one shard among others have numbers that tell nothing, so they are kept. */
bool counting_queue_clocked(const struct seen_spec *spec) {
    return spec->unit == SEEN_MICROSECONDS || spec->shards > 1;
}

/* Any one key may bring all the records of a window: each shard has room for them. */
uint64_t counting_queue_room(const struct seen_spec *spec) {
    if (spec->unit == SEEN_RECORDS) return spec->length;
    if (!options_has(spec, OPTION_RATE)) return spec->items;
    return (uint64_t)fmin(1e15, fmax(1, ceil(spec->rate * (double)spec->length / 1e6)));
}

static uint64_t queue_bytes(const struct seen_spec *spec, uint64_t room) {
    return bits_ceil_div(room * (counting_queue_clocked(spec) ? 16 : 8), 64) * 64;
}

uint64_t counting_queue_size(const struct seen_plan *plan, const struct filter_ops *none) {
    (void)none;
    const struct seen_spec *spec = &plan->spec;
    return COUNTING_QUEUE_BYTES + spec->lines * 64 + queue_bytes(spec, counting_queue_room(spec));
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

static const struct filter_ops sizing = {.name = "counting",
                                         .traits = SEEN_NO_FN | SEEN_NO_AGES,
                                         .k_most = COUNTING_QUEUE_K_MOST,
                                         .live_most = 1,
                                         .fp = fp,
                                         .touches = touches,
                                         .size = table_size,
                                         .granule = granule};

static uint64_t fixed_bytes(const struct seen_spec *spec, uint64_t room) {
    return detector_fixed(spec, COUNTING_QUEUE_BYTES + queue_bytes(spec, room));
}

/* Bytes of a whole detector for so many keys, queue and filter; infinite if none is large enough.
 */
static double bytes_for(const struct seen_spec *spec, const struct fit *fit, double keys) {
    struct filter_shape shape = plan_shape(spec, 1);
    double allowed = options_has(spec, OPTION_FP) ? spec->fp : PLAN_FP_DEFAULT;
    uint32_t k = options_has(spec, OPTION_K) ? (uint32_t)spec->k : 0;
    if (!options_has(spec, OPTION_LINES) &&
        !fit_lines(fit, &shape, keys / (double)spec->shards, allowed, k, 0))
        return INFINITY;
    return (double)fixed_bytes(spec, (uint64_t)keys) + (double)(spec->shards * shape.lines) * 64;
}

/* Where memory alone says how many records a window of time holds: about as many as fill it. */
static void choose_items(struct seen_spec *spec, const struct fit *fit) {
    double none = (double)fixed_bytes(spec, 0), mem = (double)spec->mem;
    double keys = fmax(1, (mem - none) / (16. * (double)spec->shards)), takes;
    for (int i = 0; i < 16 && keys > 1 && (takes = bytes_for(spec, fit, keys)) > mem; i++)
        keys = isinf(takes) ? fmax(1, keys / 16)
                            : fmax(1, floor(keys * .998 * fmax(0, mem - none) / (takes - none)));
    spec->items = (uint64_t)keys;
    options_mark(spec, OPTION_ITEMS);
}

static int plan_room(struct seen_plan *plan, const struct fit *fit, struct seen_error *e) {
    struct seen_spec *spec = &plan->spec;
    uint64_t keys;
    int bad = plan_keys(&keys, spec, e);
    if (bad || keys) return bad;
    if (!options_has(spec, OPTION_MEM)) {
        if (options_has(spec, OPTION_LINES))
            return error_set(e, SEEN_EREFUSED, 0,
                             "nothing says how many records this window holds; give rate=, items= "
                             "or mem=");
        spec->mem = PLAN_MEM_DEFAULT;
        options_mark(spec, OPTION_MEM);
    }
    choose_items(spec, fit);
    return 0;
}

int counting_queue_plan(struct seen_plan *plan, const struct filter_ops *none,
                        struct seen_error *e) {
    (void)none;
    struct seen_spec *spec = &plan->spec;
    struct fit fit = {&sizing, 1, 1, spec->shards, false};
    plan->traits = sizing.traits;
    int bad = counters_settle(spec, 1, e);
    if (bad) return bad;
    if (spec->width < 3)
        return error_set(e, SEEN_EREFUSED, 0,
                         "counters of width=2 stick faster than a sliding window counts them anew; "
                         "use width=3 or more");
    bool time = spec->unit == SEEN_MICROSECONDS;
    bad = plan_overload(plan, time ? SEEN_SHRINK : SEEN_KEEP, e);
    if (!bad) bad = plan_room(plan, &fit, e);
    if (!bad) bad = plan_filter(plan, &fit, fixed_bytes(spec, counting_queue_room(spec)), e);
    if (bad) return bad;
    plan->capacity = bits_min(plan->capacity, counting_queue_room(spec));
    return 0;
}
