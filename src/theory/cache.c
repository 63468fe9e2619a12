#include "theory/cache.h"

#include "theory/bloom.h"

#include <math.h>

double theory_cache_fp(const struct theory_cache *c) { return c->ways / c->values; }

/* The probability that one of `keys` different keys brought a given value to a given set. */
static double came(const struct theory_cache *c, double keys) {
    return -expm1(-keys / (c->sets * c->values));
}

double theory_cache_fp_after(const struct theory_cache *c, double keys) {
    struct theory_few few = theory_few_begin(c->values, came(c, keys));
    double held = 0;
    for (double i = 0; i < c->ways; i++) held += 1 - theory_few_next(&few);
    return held / c->values;
}

static double found_fifo(const struct theory_cache *c, double gap) {
    double put = gap / c->sets * (1 - theory_cache_fp(c)), term = exp(-put), sum = 0;
    for (double j = 0; j < c->ways; term *= put / ++j) sum += term;
    return sum;
}

double theory_cache_found(const struct theory_cache *c, double gap) {
    if (c->fifo) return found_fifo(c, gap);
    double kept = theory_few(c->values, came(c, gap), c->ways);
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
