/* age.c - plans an Age-Partitioned Bloom filter. */
#include "plan/plan.h"

#include "base/base.h"
#include "base/bits.h"
#include "spec/spec.h"
#include "table/table.h"
#include "theory/bloom.h"
#include "theory/numeric.h"

_Static_assert(THEORY_AGE_K + AGE_GENERATIONS <= THEORY_AGE_SLICES, "slices are kept in arrays");

/* The number of generations: generations=, or 5k for a slack of about 1/5.  A generation is a whole
 * number of records or microseconds; if fewer generations of that length cover the window, the
 * number is lowered. */
static uint32_t generations_of(const struct filter_shape *shape) {
    uint64_t l = shape->generations ? shape->generations : bits_min(5 * shape->k, AGE_GENERATIONS);
    uint64_t step =
        bits_ceil_div(shape->spec->length, bits_max(1, bits_min(l, shape->spec->length)));
    return (uint32_t)bits_ceil_div(shape->spec->length, step);
}

uint64_t age_step(const struct filter_shape *shape) {
    return bits_ceil_div(shape->spec->length, generations_of(shape));
}

uint32_t age_slices(const struct filter_shape *shape) { return shape->k + generations_of(shape); }

static uint64_t granule(const struct filter_shape *shape) { return age_slices(shape); }

/* The share of a window's keys whose number varies between shards.  The planner computes rates for
 * this share and lets it scatter.  The fills of a run's k slices weigh 2k-1 generations in a
 * triangle, which scatters like 1.5k generations of equal weight: .3 of the window if l is 5k. */
#define SCATTER .3

struct filling {
    const struct filter_shape *shape;
    double keys; /* in SCATTER of a window */
    uint64_t shards;
    double lead; /* the part of the youngest generation that has come, 0 to 1 */
};

/* The keys that a slice holds at most.  It takes the keys of k generations, which may be longer
 * than the window. */
static double most_of(const struct filling *f, double keys) {
    double reach = (double)f->shape->k * (double)age_step(f->shape);
    return keys / SCATTER * ceil(reach / (double)f->shape->spec->length);
}

/* The keys of one generation. */
static double keys_of(const struct filling *f, double keys) {
    double share = f->shape->crowd * (double)age_step(f->shape) / (double)f->shape->spec->length;
    return keys / SCATTER * fmin(1, share);
}

/* The cells of a slice. */
static double cells_of(const struct filling *f) {
    return (double)f->shape->lines / age_slices(f->shape) * TABLE_BITS;
}

static double rate_with(const void *ctx, double keys) {
    const struct filling *f = ctx;
    return theory_age_steady(age_slices(f->shape), f->shape->k, cells_of(f), keys_of(f, keys),
                             most_of(f, keys), f->lead);
}

static double rate_at(const void *ctx, double lead) {
    struct filling f = *(const struct filling *)ctx;
    f.lead = lead;
    return f.shards > 1 ? theory_scattered(rate_with, &f, f.keys) : rate_with(&f, f.keys);
}

static double fp(const struct filter_shape *shape, double keys) {
    struct filling f = {.shape = shape, .lead = 1};
    return rate_with(&f, keys);
}

static double touches(const struct filter_shape *shape) { return shape->k; }

static const struct filter_theory theory = {.name = "age-partitioned",
                                            .traits = SEEN_NO_FN,
                                            .k_most = THEORY_AGE_K,
                                            .live_most = 1,
                                            .fp = fp,
                                            .touches = touches,
                                            .size = table_size,
                                            .granule = granule};

/* Predicts errors and costs of the chosen geometry. */
static int predict(struct seen_plan *plan, const struct fit *fit, struct seen_error *e) {
    struct seen_spec *spec = &plan->spec;
    struct filter_shape shape = plan_shape(spec, fit->live);
    uint32_t l = generations_of(&shape);
    double reach = (double)(options_get(spec, OPTION_K) + l) * (double)age_step(&shape);
    uint64_t keys;
    double fill[THEORY_AGE_SLICES];
    int bad = plan_keys(&keys, spec, e);
    if (bad) return bad;
    double each = keys ? (double)keys / (double)options_get(spec, OPTION_SHARDS)
                       : fit_keys(fit, &shape, options_real(spec, OPTION_FP), shape.k);
    struct filling f = {&shape, SCATTER * each, options_get(spec, OPTION_SHARDS), 1};
    plan->fp_mean = theory_mean_smooth(rate_at, &f, 1);
    if (spec->unit == SEEN_UNIT_RECORDS) reach--; /* the window ends before the record itself */
    plan->slack = reach / (double)spec->length - 1;
    uint32_t k = (uint32_t)options_get(spec, OPTION_K);
    theory_age_fill(fill, k + l, k, cells_of(&f), keys_of(&f, f.keys), most_of(&f, f.keys), f.lead);
    plan->touches = k + theory_age_probes(fill, k + l, k, k);
    options_set(spec, OPTION_GENERATIONS, l);
    return 0;
}

int age_plan(struct seen_plan *plan, uint64_t fixed, struct seen_error *e) {
    struct seen_spec *spec = &plan->spec;
    struct fit fit = {&theory, 1, SCATTER, options_get(spec, OPTION_SHARDS), false, SCATTER};
    plan->traits = theory.traits;
    int bad = plan_sliding(plan, SEEN_OVERLOAD_KEEP, e);
    if (bad) return bad;
    if (options_get(spec, OPTION_GENERATIONS) > spec->length)
        return error_set(e, SEEN_EREFUSED, 0,
                         "a window of %llu cannot be cut into generations=%llu; give fewer",
                         (unsigned long long)spec->length,
                         (unsigned long long)options_get(spec, OPTION_GENERATIONS));
    bad = plan_filter(plan, &fit, fixed, e);
    return bad ? bad : predict(plan, &fit, e);
}
