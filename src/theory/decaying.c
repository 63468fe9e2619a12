/* decaying.c - what buffers, the fingerprint cache and the Stable Bloom filter miss, and how often
 * they err. */
#include "theory/decaying.h"

#include "theory/numeric.h"

#include <math.h>

double theory_buffer_fn(const double *weight, uint64_t n, double capacity) {
    double missed = 0, all = 0;
    for (uint64_t d = 0; d < n; d++) {
        all += weight[d];
        if ((double)d >= capacity) missed += weight[d];
    }
    return all > 0 ? missed / all : 0;
}

double theory_buffer_fn_spread(double capacity, double most) {
    return fmax(0, 1 - log(capacity) / log(most));
}

double theory_buffer_fn_coin(double fn, double q) { return fn * (1 - q); }

/* -- the fingerprint cache ---------------------------------------------------------------- */

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

double theory_cache_found(const struct theory_cache *c, double gap) {
    if (c->fifo) {
        double put = gap / c->sets * (1 - theory_cache_fp(c)), term = exp(-put), sum = 0;
        for (double j = 0; j < c->ways; term *= put / ++j) sum += term;
        return sum;
    }
    double kept = theory_few(c->values, came(c, gap), c->ways);
    return kept + (1 - kept) * theory_cache_fp(c);
}

struct cache_gaps {
    const struct theory_cache *c;
    double most;
};

static double cache_missed_at(const void *ctx, double u) {
    const struct cache_gaps *g = ctx;
    return 1 - theory_cache_found(g->c, pow(g->most, u));
}

double theory_cache_fn_mean(const struct theory_cache *c, double most) {
    struct cache_gaps g = {c, most};
    return theory_mean(cache_missed_at, &g, 1);
}

static double cache_found_at(const void *ctx, double gap) { return theory_cache_found(ctx, gap); }

double theory_cache_reach(const struct theory_cache *c) { return theory_reach(cache_found_at, c); }

/* -- the cells of a Stable Bloom filter --------------------------------------------------- */

/* P(the cell is not 0 and was set within the last n records), from Eqs. 1-3 and 9-11.  Let a be
 * (1-p)(1-k) and b be p(1-k).  The sum of k(1-k)^l P(Bin(l,p) = j) over all l is k b^j/(1-a)^(j+1),
 * by the negative binomial law.  The terms up to l = n-1 are the share P(Bin(n, 1-a) > j) of it. */
static double alive(double n, double Max, double p, double k) {
    double any = p + k - p * k, ratio = p * (1 - k) / any, term = k / any, sum = 0;
    struct theory_few few = theory_few_begin(n, any);
    for (double j = 0; j < Max; j++, term *= ratio) sum += term * (1 - theory_few_next(&few));
    return sum < 1 ? sum : 1;
}

double theory_stable_zero_after(double n, double Max, double p, double k) {
    return 1 - alive(n, Max, p, k);
}

double theory_stable_zero(double Max, double p, double k) {
    return pow(1 / (1 + 1 / (p * (1 / k - 1))), Max);
}

double theory_stable_step(double n, double Max, double p, double k) {
    return -k * exp((n - 1) * log1p(-k)) * theory_few(n - 1, p, Max);
}

double theory_stable_lost(double gap, double Max, double p, double k) {
    if (gap < Max) return 0;
    double kept = exp(gap * log1p(-k)) * theory_few(gap, p, Max); /* not set since, not yet 0 */
    double lost = 1 - alive(gap, Max, p, k) - kept;
    return lost > 0 ? lost : 0;
}

/* -- the Stable Bloom filter -------------------------------------------------------------- */

double theory_stable_zeros(const struct theory_stable *s) {
    return pow(1 / (1 + 1 / (s->P * (1 / s->K - 1 / s->m))), s->Max);
}

double theory_stable_fp(const struct theory_stable *s) {
    if (s->P <= 0) return 1;
    double x = 1 / (s->P * (1 / s->K - 1 / s->m));
    return pow(-expm1(-s->Max * log1p(x)), s->K);
}

double theory_stable_fn(const struct theory_stable *s, double gap) {
    return -expm1(s->K * log1p(-theory_stable_lost(gap, s->Max, s->P / s->m, s->K / s->m)));
}

double theory_stable_set(const struct theory_stable *s, double share, double phi) {
    double q = s->K / s->m;
    return phi * sqrt(q * (1 - q)) + share + q * (1 - share);
}

double theory_stable_fn_of(const struct theory_stable *s, double gap, double share, double phi) {
    double k = theory_stable_set(s, share, phi);
    return -expm1(s->K * log1p(-theory_stable_lost(gap, s->Max, s->P / s->m, k)));
}

struct stable_gaps {
    const struct theory_stable *s;
    double most;
};

static double stable_missed_at(const void *ctx, double u) {
    const struct stable_gaps *g = ctx;
    return theory_stable_fn(g->s, pow(g->most, u));
}

double theory_stable_fn_mean(const struct theory_stable *s, double most) {
    struct stable_gaps g = {s, most};
    return theory_mean(stable_missed_at, &g, 1);
}

double theory_stable_found_one(const struct theory_stable *s, double gap) {
    double pi = s->K / (s->K + s->P);
    return pow(pi + (1 - pi) * exp(-(s->K + s->P) * gap / s->m), s->K);
}

/* -- parameters, [DR06] 4.1 --------------------------------------------------------------- */

double theory_stable_p(double m, double K, double Max, double fp) {
    double zeros = log1p(-pow(fp, 1 / K)) / Max; /* logarithm of (1-fp^(1/K))^(1/Max) */
    return 1 / (expm1(-zeros) * (1 / K - 1 / m));
}

double theory_stable_p_whole(double m, double K, double Max, double fp) {
    if (m <= K) return 0;
    double P = ceil(theory_stable_p(m, K, Max, fp));
    if (!(P >= 1 && P < m)) return 0;
    struct theory_stable s = {m, K, P, Max};
    while (P > 1 && (s.P = P - 1, theory_stable_fp(&s) <= fp * (1 + 1e-12))) P--;
    while (P < m && (s.P = P, theory_stable_fp(&s) > fp * (1 + 1e-12))) P++;
    return P < m ? P : 0;
}

double theory_stable_best_k(double m, double Max, double fp, double most, int whole) {
    double best = 0, least = 2;
    for (double K = 1; K <= 64 && K < m; K++) {
        double P = whole ? theory_stable_p_whole(m, K, Max, fp) : theory_stable_p(m, K, Max, fp);
        struct theory_stable s = {m, K, P, Max};
        if (!(P > 0)) continue;
        double fn = theory_stable_fn_mean(&s, most);
        if (fn < least - 1e-12) least = fn, best = K;
    }
    return best;
}

static double stable_found_at(const void *ctx, double gap) {
    const struct theory_stable *s = ctx;
    return 1 - theory_stable_fn(s, gap);
}

double theory_stable_reach(const struct theory_stable *s) {
    return theory_reach(stable_found_at, s);
}
