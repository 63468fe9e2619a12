#include "theory/stable.h"

#include "theory/bloom.h"

#include <math.h>

/* -- one cell ----------------------------------------------------------------------------- */

/* P(not 0, and set within the last n records): Eqs. 1-3 and 9-11 turned around.  The sum over l of
 * k(1-k)^l P(Bin(l,p) = j) is k b^j/(1-a)^(j+1) of a negative binomial law, with a = (1-p)(1-k) and
 * b = p(1-k); its head up to l = n-1 is P(Bin(n, 1-a) > j). */
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

/* -- the filter --------------------------------------------------------------------------- */

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

struct gaps {
    const struct theory_stable *s;
    double most;
};

static double fn_at(const void *ctx, double u) {
    const struct gaps *g = ctx;
    return theory_stable_fn(g->s, pow(g->most, u));
}

double theory_stable_fn_mean(const struct theory_stable *s, double most) {
    struct gaps g = {s, most};
    return theory_mean(fn_at, &g, 1);
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

static double found_at(const void *ctx, double gap) {
    const struct theory_stable *s = ctx;
    return 1 - theory_stable_fn(s, gap);
}

double theory_stable_reach(const struct theory_stable *s) { return theory_reach(found_at, s); }
