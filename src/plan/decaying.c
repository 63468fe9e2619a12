/* decaying.c - settles the options that structures of decaying windows share. */
#include "plan/plan.h"

#include "base/base.h"
#include "base/bits.h"
#include "spec/spec.h"

#include <math.h>
#include <stdio.h>

#define MAX_LINES ((uint64_t)1 << 42)

double decaying_gaps(const struct seen_spec *spec) {
    return fmax(2, (double)options_get(spec, OPTION_GAP_MAX) /
                       (double)options_get(spec, OPTION_SHARDS));
}

int decaying_settle(struct seen_plan *plan, struct seen_error *e) {
    struct seen_spec *spec = &plan->spec;
    if (options_has(spec, OPTION_RATE))
        return error_set(e, SEEN_EREFUSED, 0,
                         "rate= sizes windows of time, and decaying has no length; give mem= or "
                         "items= instead");
    if (options_has(spec, OPTION_OVERLOAD) &&
        options_get(spec, OPTION_OVERLOAD) != SEEN_OVERLOAD_SHRINK)
        return error_set(e, SEEN_EREFUSED, 0,
                         "decaying windows do overload=shrink only: the old makes room for the "
                         "new");
    options_assume(spec, OPTION_OVERLOAD, SEEN_OVERLOAD_SHRINK);
    if (!options_has(spec, OPTION_GAP_MAX))
        options_assume(spec, OPTION_GAP_MAX, DECAYING_GAPS_DEFAULT);
    options_mark(spec, OPTION_OVERLOAD);
    options_mark(spec, OPTION_GAP_MAX);
    return 0;
}

static uint64_t bytes_of(const struct seen_spec *spec, const struct decaying *d, uint64_t lines) {
    return d->bytes(spec, d->state + lines * 64);
}

struct bracket {
    uint64_t lo, hi; /* lines that reach less far than asked; lines that reach as far */
};

/* Asks whether `lines` lines reach `keys` back, narrows the bracket, and returns the next guess. */
static double ask(struct bracket *b, const struct seen_spec *spec, const struct decaying *d,
                  double keys, double lines) {
    uint64_t at = (uint64_t)fmin(fmax(lines, (double)b->lo + 1), (double)b->hi - 1);
    double reach = d->reach(spec, at);
    *(reach < keys ? &b->lo : &b->hi) = at;
    return (double)at * (reach > 0 ? keys / reach : 1024); /* nearly proportional */
}

static int refuse_items(const struct seen_plan *plan, const struct decaying *d, uint64_t needed,
                        uint64_t budget, struct seen_error *e) {
    char takes[48], has[32];
    const struct seen_spec *spec = &plan->spec;
    double most = d->reach(spec, budget) *
                  (double)options_get(spec, OPTION_SHARDS); /* with k as it is for items */
    units_print_mem(bytes_of(spec, d, needed), takes, sizeof takes);
    seen_print_size(options_get(spec, OPTION_MEM), has, sizeof has);
    return error_set(e, SEEN_EREFUSED, 0,
                     "to reach %llu keys back needs %s with filter=%s; mem=%s allows items=%.0f",
                     (unsigned long long)options_get(spec, OPTION_ITEMS), takes, plan->filter, has,
                     floor(.9 * most));
}

int decaying_lines(struct seen_plan *plan, const struct decaying *d, struct seen_error *e) {
    struct seen_spec *spec = &plan->spec;
    bool items = options_has(spec, OPTION_ITEMS), given = options_has(spec, OPTION_BLOCKS);
    uint64_t budget = 0, needed = 0;
    if (!items && !given && !options_has(spec, OPTION_MEM)) {
        options_set(spec, OPTION_MEM, PLAN_MEM_DEFAULT);
    }
    if (options_has(spec, OPTION_MEM)) {
        uint64_t fixed = bytes_of(spec, d, 0);
        budget = options_get(spec, OPTION_MEM) > fixed ? (options_get(spec, OPTION_MEM) - fixed) /
                                                             options_get(spec, OPTION_SHARDS) / 64
                                                       : 0;
        if (budget < d->least) {
            char has[32], least[32];
            seen_print_size(options_get(&plan->spec, OPTION_MEM), has, sizeof has);
            units_print_need(bytes_of(&plan->spec, d, d->least), least, sizeof least);
            return error_set(e, SEEN_EREFUSED, 0,
                             "mem=%s is too small for filter=%s here, which takes %s empty", has,
                             plan->filter, least);
        }
    }
    if (items) { /* the least lines that reach this many keys back */
        struct bracket b = {d->least - 1, MAX_LINES};
        double lines = (double)d->least, last = 0;
        double keys =
            (double)options_get(spec, OPTION_ITEMS) / (double)options_get(spec, OPTION_SHARDS);
        for (int i = 0; i < 8 && b.lo + 1 < b.hi && fabs(lines - last) > 1e-9 * lines; i++) {
            last = lines;
            lines = ask(&b, spec, d, keys, lines);
        }
        for (int side = -1; side <= 1 && b.lo + 1 < b.hi; side += 2)
            ask(&b, spec, d, keys, floor(lines + side * (1 + 1e-9 * lines)));
        while (b.lo + 1 < b.hi) ask(&b, spec, d, keys, (double)(b.lo + (b.hi - b.lo) / 2));
        needed = b.hi;
    }
    if (given &&
        (options_get(spec, OPTION_BLOCKS) < d->least || options_get(spec, OPTION_BLOCKS) < needed ||
         (budget && options_get(spec, OPTION_BLOCKS) > budget)))
        return error_set(e, SEEN_EREFUSED, 0,
                         "blocks=%llu are not what filter=%s takes here; leave blocks= out",
                         (unsigned long long)options_get(spec, OPTION_BLOCKS), plan->filter);
    if (budget && needed > budget) return refuse_items(plan, d, needed, budget, e);
    if (needed >= MAX_LINES)
        return error_set(e, SEEN_EREFUSED, 0,
                         "no filter=%s is large enough to reach %llu keys back", plan->filter,
                         (unsigned long long)options_get(spec, OPTION_ITEMS));
    if (!given) options_set(spec, OPTION_BLOCKS, items ? needed : budget);
    return 0;
}
