#include "plan/theory_cache.h"

#include "plan/theory.h"

#include <math.h>

#define REACH_MOST 1e15

double theory_cache_fp(const struct theory_cache *c) { return c->ways / c->values; }

static double found_fifo(const struct theory_cache *c, double gap) {
    double came = gap / c->sets * (1 - theory_cache_fp(c)), term = exp(-came), sum = 0;
    for (double j = 0; j < c->ways; term *= came / ++j) sum += term;
    return sum;
}

double theory_cache_found(const struct theory_cache *c, double gap) {
    if (c->fifo) return found_fifo(c, gap);
    double kept = theory_few(c->values, -expm1(-gap / (c->sets * c->values)), c->ways);
    return kept + (1 - kept) * theory_cache_fp(c);
}

struct gaps {
    const struct theory_cache *c;
    double most;
};

static double missed_at(const void *ctx, double u) {
    const struct gaps *g = ctx;
    return 1 - theory_cache_found(g->c, pow(g->most, u));
}

double theory_cache_fn_mean(const struct theory_cache *c, double most) {
    struct gaps g = {c, most};
    return theory_mean(missed_at, &g, 1);
}

double theory_cache_reach(const struct theory_cache *c) {
    double lo = 0, hi = 1;
    if (theory_cache_found(c, 1) < .5) return 0;
    while (hi < REACH_MOST && theory_cache_found(c, hi) >= .5) lo = hi, hi *= 2;
    while (hi - lo > .5 && hi - lo > hi * 1e-9) {
        double middle = lo + (hi - lo) / 2;
        if (theory_cache_found(c, middle) >= .5)
            lo = middle;
        else
            hi = middle;
    }
    return floor(lo);
}
