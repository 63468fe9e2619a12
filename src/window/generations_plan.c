/* generations_plan.c - how many generations a window has, how long they are, and what they take. */
#include "base/base.h"
#include "base/bits.h"
#include "plan/plan.h"
#include "spec/options.h"
#include "window/generations.h"

#include <math.h>

uint64_t generations_step(const struct seen_spec *spec) {
    if (spec->unit == SEEN_UNIT_NONE) return 0;
    return spec->window == SEEN_WINDOW_JUMPING ? bits_ceil_div(spec->length, spec->subwindows)
                                               : spec->length;
}

uint32_t generations_live(const struct seen_spec *spec) {
    return spec->window == SEEN_WINDOW_JUMPING
               ? 1 + (uint32_t)bits_ceil_div(spec->length, generations_step(spec))
               : 1;
}

/* How far beyond its length a window of `full` sub-windows reaches, in units of the clock. */
static uint64_t excess(uint64_t length, uint64_t full) {
    uint64_t step = bits_ceil_div(length, full);
    return (bits_ceil_div(length, step) + 1) * step - length;
}

/* Q as asked reaches at most length/Q too far if it divides the length: otherwise look for the next
 * that does as well, then fill the cell's word if that is no worse. */
static uint64_t round_subwindows(const struct seen_spec *spec, const struct filter_theory *f) {
    uint64_t length = spec->length, most = bits_min(f->live_most - 1, length),
             best = spec->subwindows;
    for (uint64_t q = best; q <= most && excess(length, best) > length / spec->subwindows; q++)
        if (excess(length, q) < excess(length, best)) best = q;
    uint64_t filled = bits_min(f->columns((uint32_t)best + 1) - 1, most);
    if (excess(length, filled) <= excess(length, best)) best = filled;
    return bits_ceil_div(length, bits_ceil_div(length, best));
}

uint64_t generations_bytes(const struct filter_shape *s) {
    return (sizeof(struct generations) + generations_tallies(s) * sizeof(uint64_t) + 63) / 64 * 64;
}

uint64_t generations_size(const struct seen_spec *spec, const struct filter_theory *f) {
    struct filter_shape shape = plan_shape(spec, generations_live(spec));
    return generations_bytes(&shape) + (f->size(&shape, 0) + 63) / 64 * 64;
}

static int settle_overload(struct seen_plan *plan, const struct filter_theory *f,
                           struct seen_error *e) {
    struct seen_spec *spec = &plan->spec;
    bool grows = f->traits & SEEN_GROWS, mem = options_has(spec, OPTION_MEM);
    uint32_t does = !grows ? SEEN_OVERLOAD_KEEP : mem ? SEEN_OVERLOAD_SHRINK : SEEN_OVERLOAD_GROW;
    bool fine = options_get(spec, OPTION_OVERLOAD) == does ||
                (grows && options_get(spec, OPTION_OVERLOAD) == SEEN_OVERLOAD_GROW);
    if (options_has(spec, OPTION_OVERLOAD) && !fine)
        return error_set(e, SEEN_EREFUSED, 0, "filter=%s in this window does overload=%s%s",
                         f->name, grows ? "grow, or shrink with mem=" : "keep",
                         grows ? "" : " only: the false-positive rate rises");
    if (!options_has(spec, OPTION_OVERLOAD)) options_set(spec, OPTION_OVERLOAD, does);
    return 0;
}

int generations_plan(struct seen_plan *plan, const struct filter_theory *f, struct seen_error *e) {
    struct seen_spec *spec = &plan->spec;
    plan->traits = f->traits;
    if (spec->window == SEEN_WINDOW_JUMPING) {
        if (spec->subwindows >= f->live_most)
            return error_set(e, SEEN_EREFUSED, 0,
                             "filter=%s keeps at most %u sub-windows apart, not %llu", f->name,
                             f->live_most - 1, (unsigned long long)spec->subwindows);
        if (!options_has(spec, OPTION_BLOCKS)) spec->subwindows = round_subwindows(spec, f);
    }
    int bad = settle_overload(plan, f, e);
    if (bad) return bad;
    uint32_t live = generations_live(spec);
    uint64_t step = generations_step(spec);
    double share = fmin(1, step ? plan_crowd(spec) * (double)step / (double)spec->length : 1);
    double all = live > 1 ? 1 + plan_beyond(spec, (double)step * live) : 1;
    struct fit fit = {f, live, share, options_get(spec, OPTION_SHARDS), true, all};
    struct filter_shape none = {.live = live};
    uint64_t filter_fixed = f->size(&none, 0);
    struct seen_spec empty = *spec;
    options_assume(&empty, OPTION_BLOCKS, 0);
    uint64_t state = generations_size(&empty, f) - (filter_fixed + 63) / 64 * 64;
    bad = plan_filter(plan, &fit, detector_fixed(spec, state), e);
    if (bad) return bad;
    if (step) plan->slack = (double)(step * live) / (double)spec->length - 1;
    if (spec->window == SEEN_WINDOW_LANDMARK) plan->slack = 0;
    return 0;
}
