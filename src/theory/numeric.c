/* numeric.c - means over numbers of keys, the place at which a rate falls below 1/2, quantiles. */
#include "theory/numeric.h"

#include <math.h>
#include <stdbool.h>

#define RARE 1e-18 /* too small a share to change a double, even summed over all rarer terms */
#define PI   3.14159265358979323846

#define SCATTERED_FEW 200 /* Poisson numbers of such a mean are summed over, ... */
#define WAVES         40  /* ... with a stride that leaves e^-40 */
#define MAX_REACH     1e15
#define REACH_NEAR    1e-9
#define GAMMA_LARGE   1e4 /* above: Wilson and Hilferty's cube errs by 1e-6 of a deviation */
#define MAX_GROWING   800 /* keys, at a mean of THEORY_MAX_GROWING */

/* -- keys by chance ----------------------------------------------------------------------- */

double theory_scattered(double (*rate)(const void *ctx, double keys), const void *ctx, double n) {
    static const double x[4] = {1.0232556637891326, 2.0768479786778302, 3.2054290028564703,
                                4.5127458633997826};
    static const double w[4] = {0.2440975028949394, 0.0499164067652179, 0.0027891413212318,
                                2.2345844007746e-5};
    double sum = 0;
    if (n < SCATTERED_FEW) {
        /* The rate is smooth, so every stride-th term is enough.  The error of a wave of that
         * length is exp(-n(1-cos(2 pi/stride))). */
        uint32_t stride = 1;
        while (n * (1 - cos(2 * PI / (stride + 1))) > WAVES) stride++;
        uint32_t next = stride;
        double poisson = exp(-n), end = n + 12 * sqrt(n) + 30, term = 1;
        for (uint32_t j = 1; j < end && (j < n || term >= RARE * sum); j++) {
            poisson *= n / j;
            if (j < next) continue;
            next = j + stride;
            if (j < n && poisson < RARE) continue;
            sum += term = poisson * rate(ctx, j);
        }
        return sum * stride;
    }
    for (int i = 0; i < 4; i++)
        sum += w[i] * (rate(ctx, n - x[i] * sqrt(n)) + rate(ctx, n + x[i] * sqrt(n)));
    return sum + 0.4063492063492063 * rate(ctx, n);
}

double theory_scattered_growing(double (*rate)(const void *ctx, double keys), const void *ctx,
                                double a, double b) {
    double at[MAX_GROWING] = {0};
    uint32_t end = (uint32_t)(b + 12 * sqrt(b) + 30);
    for (uint32_t j = 1; j < end; j++) at[j] = rate(ctx, j);
    /* While the mean grows from a to b, the Poisson number is j for a share of
     * (P(X_b > j) - P(X_a > j))/(b-a) of the time.  The sum runs downwards, so that small tails
     * count. */
    double at_a[MAX_GROWING], at_b[MAX_GROWING], tail_a = 0, tail_b = 0, sum = 0;
    at_a[0] = exp(-a), at_b[0] = exp(-b);
    for (uint32_t j = 1; j < end; j++) {
        at_a[j] = at_a[j - 1] * a / j;
        at_b[j] = at_b[j - 1] * b / j;
    }
    for (uint32_t j = end; j-- > 0;) {
        sum += at[j] * (tail_b - tail_a);
        tail_a += at_a[j], tail_b += at_b[j];
    }
    return sum / (b - a);
}

double theory_few(double n, double q, double limit) {
    struct theory_few few = theory_few_begin(n, q);
    double sum = 0;
    for (double i = 0; i < limit; i++) sum = theory_few_next(&few);
    return sum;
}

/* -- means over a range ------------------------------------------------------------------- */

/* The mean over [from, from + width] by Gauss-Legendre quadrature with 2 `half` points; x and w are
 * the places and weights on the right half. */
static double quadrature(double (*rate)(const void *ctx, double keys), const void *ctx, double from,
                         double width, int half, const double *x, const double *w) {
    double sum = 0, middle = from + width / 2;
    for (int i = 0; i < half; i++)
        sum += w[i] / 2 *
               (rate(ctx, middle - width / 2 * x[i]) + rate(ctx, middle + width / 2 * x[i]));
    return sum;
}

/* 16 points on each quarter. */
double theory_mean(double (*rate)(const void *ctx, double keys), const void *ctx, double n) {
    static const double x[8] = {0.0950125098376374, 0.2816035507792589, 0.4580167776572274,
                                0.6178762444026438, 0.7554044083550030, 0.8656312023878318,
                                0.9445750230732326, 0.9894009349916499};
    static const double w[8] = {0.1894506104550685, 0.1826034150449236, 0.1691565193950025,
                                0.1495959888165767, 0.1246289712555339, 0.0951585116824928,
                                0.0622535239386479, 0.0271524594117541};
    double sum = 0;
    for (int quarter = 0; quarter < 4; quarter++)
        sum += quadrature(rate, ctx, n * quarter / 4, n / 4, 8, x, w) / 4;
    return sum;
}

double theory_mean_smooth(double (*rate)(const void *ctx, double keys), const void *ctx, double n) {
    static const double x[4] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136268,
                                0.9602898564975363};
    static const double w[4] = {0.3626837833783620, 0.3137066458778874, 0.2223810344533745,
                                0.1012285362903762};
    return quadrature(rate, ctx, 0, n, 4, x, w);
}

/* -- how far back ------------------------------------------------------------------------- */

struct half {
    double (*found)(const void *ctx, double gap);
    const void *ctx;
    double yes, no, above, below; /* the longest gap found, the shortest not found,
                                     and how far `found` is from 1/2 at each */
};

static bool half_found(struct half *h, double gap) {
    if (gap <= h->yes) return true;
    if (gap >= h->no) return false;
    double more = h->found(h->ctx, gap) - .5;
    if (more >= 0)
        h->yes = gap, h->above = more;
    else
        h->no = gap, h->below = more;
    return more >= 0;
}

/* Narrows the interval first to a power of two, then by the regula falsi with the Illinois rule. */
static void half_narrow(struct half *h) {
    for (int lo = 0, hi = 50; lo + 1 < hi;)
        *(half_found(h, exp2((lo + hi) / 2)) ? &lo : &hi) = (lo + hi) / 2;
    for (int i = 0, last = 0; i < 40 && h->no - h->yes > fmax(.25, h->no * REACH_NEAR / 4); i++) {
        double x = (h->no * h->above - h->yes * h->below) / (h->above - h->below);
        if (!(x > h->yes && x < h->no)) return;
        int side = half_found(h, x) ? 1 : -1;
        if (side == last) *(side > 0 ? &h->below : &h->above) /= 2;
        last = side;
    }
}

double theory_reach(double (*found)(const void *ctx, double gap), const void *ctx) {
    struct half h = {found, ctx, 0, INFINITY, .5, -.5};
    double lo = 0, hi = 1;
    if (!half_found(&h, 1)) return 0;
    half_narrow(&h);
    while (hi < MAX_REACH && half_found(&h, hi)) lo = hi, hi *= 2;
    while (hi - lo > .5 && hi - lo > hi * REACH_NEAR) {
        double middle = lo + (hi - lo) / 2;
        if (half_found(&h, middle))
            lo = middle;
        else
            hi = middle;
    }
    return floor(lo);
}

/* -- quantiles ---------------------------------------------------------------------------- */

/* The smallest c with P(X <= c) >= tail: a sum, or for large means the normal approximation, whose
 * quantile is z. */
static uint64_t poisson_quantile(double mean, double tail, double z) {
    if (mean > 500) return (uint64_t)fmax(0, floor(mean + z * sqrt(mean) + .5));
    double p = exp(-mean), sum = p;
    uint64_t c = 0;
    while (sum < tail && c < 2000) {
        c++;
        p *= mean / (double)c;
        sum += p;
    }
    return c;
}

void theory_poisson(double mean, uint64_t *lo, uint64_t *hi) {
    *lo = poisson_quantile(mean, .025, -1.959964);
    *hi = poisson_quantile(mean, .975, 1.959964);
}

/* The factor x^a e^-x / Gamma(a) of the series (Abramowitz and Stegun 6.5.29) and of the continued
 * fraction (6.5.31), as a logarithm. */
static double log_factor(double a, double x) {
    int sign;
    return a * log(x) - x - lgamma_r(a, &sign);
}

/* Gamma(a, x) / Gamma(a), for x >= a + 1, by Lentz's method. */
static double upper(double a, double x) {
    const double tiny = 1e-300;
    double b = x + 1 - a, c = 1 / tiny, d = 1 / b, h = d;
    for (int i = 1; i < 100000; i++) {
        double an = i * (a - i);
        b += 2;
        d = an * d + b;
        c = b + an / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        h *= d * c;
        if (fabs(d * c - 1) < 1e-14) break;
    }
    return h * exp(log_factor(a, x));
}

double theory_gamma(double a, double x) {
    if (x <= 0) return 0;
    if (x >= a + 1) return 1 - upper(a, x);
    double term = 1 / a, sum = term;
    for (double n = a + 1; term > sum * 1e-15; n++) sum += term *= x / n;
    return sum * exp(log_factor(a, x));
}

/* Quantiles of the normal distribution (Acklam's rational approximation, relative error < 1.2e-9).
 */
static double normal_quantile(double p) {
    static const double a[] = {-3.969683028665376e+01, 2.209460984245205e+02,
                               -2.759285104469687e+02, 1.383577518672690e+02,
                               -3.066479806614716e+01, 2.506628277459239e+00};
    static const double b[] = {-5.447609879822406e+01, 1.615858368580409e+02,
                               -1.556989798598866e+02, 6.680131188771972e+01,
                               -1.328068155288572e+01};
    static const double c[] = {-7.784894002430293e-03, -3.223964580411365e-01,
                               -2.400758277161838e+00, -2.549732539343734e+00,
                               4.374664141464968e+00,  2.938163982698783e+00};
    static const double d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                               3.754408661907416e+00};
    if (p > .5) return -normal_quantile(1 - p);
    if (p < .02425) {
        double q = sqrt(-2 * log(p));
        return (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
               ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1);
    }
    double q = p - .5, r = q * q;
    return (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
           (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1);
}

double theory_gamma_quantile(double a, double p) {
    int sign;
    double root = 1 - 1 / (9 * a) + normal_quantile(p) / (3 * sqrt(a)); /* Wilson and Hilferty */
    double x = root > 0 ? a * root * root * root : 0;
    double small = exp((log(p) + lgamma_r(a + 1, &sign)) / a);
    if (a > GAMMA_LARGE) return x;
    if (x <= 0 || a < 1) x = small; /* P(a, x) is about x^a / Gamma(a + 1) */
    if (x < 1e-300) return 0;
    double lo = 0, hi = INFINITY;
    for (int i = 0; i < 100; i++) {
        double above = theory_gamma(a, x) - p;
        *(above > 0 ? &hi : &lo) = x;
        double slope = exp(log_factor(a, x)) / x, next = x - above / slope;
        if (!(next > lo && next < hi)) next = isinf(hi) ? 2 * x : (lo + hi) / 2;
        if (fabs(next - x) <= 1e-10 * x) return next;
        x = next;
    }
    return x;
}
