#include "plan/theory_cache.h"

#include "plan/theory.h"

#include <math.h>

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

static double found_at(const void *ctx, double gap) { return theory_cache_found(ctx, gap); }

double theory_cache_reach(const struct theory_cache *c) { return theory_reach(found_at, c); }
