/* numeric.h - means of a rate over numbers of keys, and distributions; pure. */
#ifndef THEORY_NUMERIC_H
#define THEORY_NUMERIC_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* The mean of rate(ctx, u x n) for u uniform in [0,1], as of a landmark window that fills (Metwally
 * et al., WWW 2005, §5.2.2).  By Gauss-Legendre quadrature, because the closed alternating sum
 * loses all digits beyond k = 16. */
double theory_mean(double (*rate)(const void *ctx, double keys), const void *ctx, double n);

/* The same with 8 points instead of 64, for a rate that is close to a polynomial of low degree. */
double theory_mean_smooth(double (*rate)(const void *ctx, double keys), const void *ctx, double n);

/* The mean of rate(ctx, keys) for a Poisson number of keys of mean n, as a shard gets.  Up to
 * n = 200 it is a sum, with a stride where many terms count; then 9-point Gauss-Hermite quadrature.
 */
double theory_scattered(double (*rate)(const void *ctx, double keys), const void *ctx, double n);

/* The mean of theory_scattered while n grows from a to b <= THEORY_MAX_GROWING, as a sum. */
#define THEORY_MAX_GROWING 500
double theory_scattered_growing(double (*rate)(const void *ctx, double keys), const void *ctx,
                                double a, double b);

/* The gap at which found(ctx, gap) falls below 1/2, as a whole number or to nine digits, at most
 * 1e15.  found must never rise.  0: found(ctx, 1) is below 1/2 already. */
double theory_reach(double (*found)(const void *ctx, double gap), const void *ctx);

/* -- distributions ------------------------------------------------------------------------ */

/* P(fewer than `limit` successes in n trials of probability q), for limits below 256. */
double theory_few(double n, double q, double limit);

/* The same for limits of 1, 2, …, one after the other.  The sum runs upwards.  If its first term is
 * smaller than any double, so is the sum for every limit below 256. */
struct theory_few {
    double n, odds, term, sum, limit;
    bool certain;
};

static inline struct theory_few theory_few_begin(double n, double q) {
    return (struct theory_few){n, q / (1 - q), exp(n * log1p(-q)), 0, 0, q >= 1};
}

static inline double theory_few_next(struct theory_few *few) {
    if (few->certain) return few->n < ++few->limit;
    if (few->limit <= few->n) {
        few->sum += few->term;
        few->term *= (few->n - few->limit) / (few->limit + 1) * few->odds;
        few->limit++;
    }
    return few->sum < 1 ? few->sum : 1;
}

/* The central 95 % interval of a Poisson count of the given mean. */
void theory_poisson(double mean, uint64_t *lo, uint64_t *hi);

/* P(X <= x) for the gamma distribution of scale 1 and shape a > 0: the regularized incomplete gamma
 * function P(a, x). */
double theory_gamma(double a, double x);

/* Its quantile: the x with P(X <= x) = p, for 0 < p < 1; 0 if x is below 1e-300. */
double theory_gamma_quantile(double a, double p);

#endif
