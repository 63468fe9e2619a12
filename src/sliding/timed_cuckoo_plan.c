/* timed_cuckoo_plan.c - how large a timed cuckoo table must be (timed_cuckoo.c says what it is).
 *
 * Each table has two cells a key.  With less memory flat tables shrink, down to 1.05 cells a key;
 * with packed=1 keys fill the lines, not cells, and fewer cells would gain nothing. */
#include "base/base.h"
#include "sliding/timed_cuckoo.h"
#include "spec/spec.h"
#include "theory/sliding.h"

#include <math.h>
#include <stdio.h>

static uint64_t cells_bytes(const struct seen_spec *spec) { return cuckoo_lines(spec) * 64; }

uint64_t timed_cuckoo_size(const struct seen_spec *spec) {
    return TIMED_CUCKOO_BYTES + cells_bytes(spec);
}

struct demand {
    double mean, keys; /* a shard's on average; and as many as chance may give it */
    uint64_t room;     /* bytes for a shard's cells */
};

/* Sets lambda and the signature that fp asks for; whether that fits. */
static bool fits(struct seen_spec *spec, const struct demand *d, double lambda, double keys) {
    double least = theory_timed_cuckoo_least(lambda, keys, options_real(spec, OPTION_FP));
    uint64_t bits = (uint64_t)fmin(fmax(0, floor(least) - 1), CUCKOO_MAX_KEY);
    options_assume(spec, OPTION_LAMBDA, (uint64_t)lambda);
    while (theory_timed_cuckoo(lambda, keys, (double)bits) > options_real(spec, OPTION_FP) &&
           bits < CUCKOO_MAX_KEY)
        bits++;
    if (!options_has(spec, OPTION_SIGNATURE)) options_assume(spec, OPTION_SIGNATURE, bits);
    return cells_bytes(spec) <= d->room;
}

static double least_lambda(const struct seen_spec *spec, double keys) {
    return options_get(spec, OPTION_PACKED) ? fmax(4, 2 * keys) : ceil(1.05 * keys) + 2;
}

/* As many of all keys as chance may give one shard: up to five standard deviations more. */
static double with_chance(double keys, double shards) {
    double mean = keys / shards;
    return shards > 1 ? fmin(keys, ceil(mean + 5 * sqrt(mean) + 5)) : ceil(mean);
}

static int refuse(struct seen_plan *plan, const struct demand *d, uint64_t fixed,
                  struct seen_error *e) {
    struct seen_spec *spec = &plan->spec;
    char takes[48], has[32];
    double shards = (double)options_get(spec, OPTION_SHARDS);
    if (!e) return SEEN_EREFUSED;
    fits(spec, d, least_lambda(spec, d->keys), d->keys);
    uint64_t need = fixed + options_get(spec, OPTION_SHARDS) * cells_bytes(spec);
    units_print_mem(need, takes, sizeof takes);
    seen_print_size(options_get(spec, OPTION_MEM), has, sizeof has);
    double items = d->mean * shards, keys;
    do {
        items = floor(items * .97);
        keys = with_chance(items, shards);
    } while (items >= 1 && !fits(spec, d, least_lambda(spec, keys), keys));
    if (items < 1)
        return error_set(e, SEEN_EREFUSED, 0, "mem=%s is too small for filter=%s here", has,
                         plan->filter);
    return error_set(e, SEEN_EREFUSED, 0,
                     "%.6g keys need %s with filter=%s; mem=%s allows items=%.0f", d->mean * shards,
                     takes, plan->filter, has, items);
}

static int choose_tables(struct seen_plan *plan, const struct demand *d, uint64_t fixed,
                         struct seen_error *e) {
    struct seen_spec *spec = &plan->spec;
    if (options_has(spec, OPTION_LAMBDA)) {
        double lambda = (double)options_get(spec, OPTION_LAMBDA),
               keys = d->keys > 0 ? d->keys : ceil(lambda / 2);
        if (options_get(spec, OPTION_PACKED) && lambda < 2 * d->mean)
            return error_set(e, SEEN_EREFUSED, 0,
                             "with packed=1 lambda=%.0f holds %.0f keys, and %.6g need lambda=%.0f",
                             lambda, floor(lambda / 2), d->mean, ceil(2 * d->mean));
        if (fits(spec, d, lambda, keys)) return 0;
        return error_set(e, SEEN_EREFUSED, 0, "lambda=%.0f does not fit into mem=", lambda);
    }
    if (d->keys > 0) {
        double lambda = 2 * d->keys, least = least_lambda(spec, d->keys);
        if (lambda < least) lambda = least;
        while (lambda > least && !fits(spec, d, lambda, d->keys))
            lambda = fmax(least, floor(lambda * .995));
        return fits(spec, d, lambda, d->keys) ? 0 : refuse(plan, d, fixed, e);
    }
    double lambda =
        floor(4. * (double)d->room /
              (double)(options_get(spec, OPTION_PACKED) ? 8 : options_get(spec, OPTION_STAMP) + 1));
    while (lambda >= 4 && !fits(spec, d, lambda, ceil(lambda / 2))) lambda = floor(lambda * .995);
    if (lambda >= 4) return 0;
    return error_set(e, SEEN_EREFUSED, 0, "mem= is too small for filter=%s here", plan->filter);
}

static int predict(struct seen_plan *plan, const struct demand *d, struct seen_error *e) {
    struct seen_spec *spec = &plan->spec;
    double lambda = (double)options_get(spec, OPTION_LAMBDA),
           s = (double)options_get(spec, OPTION_SIGNATURE);
    double keys = d->mean > 0 ? d->mean : ceil(lambda / 2),
           shards = (double)options_get(spec, OPTION_SHARDS);
    plan->fp_full = plan->fp_mean = theory_timed_cuckoo(lambda, keys, s);
    if (cuckoo_place_bits(options_get(spec, OPTION_LAMBDA)) + options_get(spec, OPTION_SIGNATURE) >
        CUCKOO_MAX_KEY)
        return error_set(e, SEEN_EREFUSED, 0, "filter=%s has no cells wide enough for fp=%g",
                         plan->filter, options_real(spec, OPTION_FP));
    if (plan->fp_full > options_real(spec, OPTION_FP) * (1 + 1e-9)) {
        if (options_has(&plan->asked, OPTION_FP))
            return error_set(e, SEEN_EREFUSED, 0,
                             "signature=%llu gives fp=%.3g; leave it out and it follows from fp=",
                             (unsigned long long)options_get(spec, OPTION_SIGNATURE),
                             plan->fp_full);
        options_assume_real(spec, OPTION_FP, fmin(plan->fp_full * 1.0001, 1 - 1e-9));
    }
    double most =
        fmax(d->mean, fmin(options_real(spec, OPTION_FP) * lambda * lambda * exp2(s), lambda / 2));
    plan->capacity = (uint64_t)fmax(1, ceil(most * shards - 1e-6));
    plan->touches = 2 + (double)cells_bytes(spec) / 64 * stamps_swept(spec);
    uint64_t lines = cells_bytes(spec) / 64;
    if (options_has(spec, OPTION_BLOCKS) && options_get(spec, OPTION_BLOCKS) != lines)
        return error_set(e, SEEN_EREFUSED, 0, "lambda=%llu takes blocks=%llu; leave blocks= out",
                         (unsigned long long)options_get(spec, OPTION_LAMBDA),
                         (unsigned long long)lines);
    options_assume(spec, OPTION_BLOCKS, lines);
    static const enum option decided[] = {OPTION_FP,    OPTION_LAMBDA, OPTION_SIGNATURE,
                                          OPTION_MOVES, OPTION_PACKED, OPTION_BLOCKS};
    for (size_t i = 0; i < sizeof decided / sizeof *decided; i++) options_mark(spec, decided[i]);
    return 0;
}

int timed_cuckoo_plan(struct seen_plan *plan, struct seen_error *e) {
    struct seen_spec *spec = &plan->spec;
    uint64_t keys;
    plan->traits = SEEN_NO_FN;
    int bad = stamps_plan(plan, SEEN_OVERLOAD_SATURATE, e);
    if (!bad) bad = plan_keys(&keys, spec, e);
    if (bad) return bad;
    if (options_has(spec, OPTION_BLOCKS) && !options_has(spec, OPTION_LAMBDA))
        return error_set(e, SEEN_EREFUSED, 0,
                         "filter=%s is sized by lambda=, not by blocks=", plan->filter);
    if (!options_has(spec, OPTION_FP)) options_assume_real(spec, OPTION_FP, PLAN_FP_DEFAULT);
    if (!options_has(spec, OPTION_MOVES)) options_assume(spec, OPTION_MOVES, TIMED_CUCKOO_MOVES);
    if (!keys && !options_has(spec, OPTION_MEM) && !options_has(spec, OPTION_LAMBDA)) {
        options_set(spec, OPTION_MEM, PLAN_MEM_DEFAULT);
    }
    double mean = (double)keys / (double)options_get(spec, OPTION_SHARDS);
    struct demand d = {
        mean, keys ? with_chance((double)keys, (double)options_get(spec, OPTION_SHARDS)) : 0,
        UINT64_MAX};
    uint64_t fixed = detector_fixed(spec, TIMED_CUCKOO_BYTES);
    if (options_has(spec, OPTION_MEM))
        d.room = options_get(spec, OPTION_MEM) > fixed
                     ? (options_get(spec, OPTION_MEM) - fixed) / options_get(spec, OPTION_SHARDS)
                     : 0;
    bad = choose_tables(plan, &d, fixed, e);
    return bad ? bad : predict(plan, &d, e);
}
