/* gamma.c - series and continued fraction as in Abramowitz and Stegun 6.5.29 and 6.5.31;
 * the quantile starts from Wilson and Hilferty's cube and goes on by Newton's steps. */
#include "theory/gamma.h"

#include <math.h>

#define LARGE 1e4 /* shapes above: Wilson and Hilferty's cube is right to 1e-6 of a deviation */

static double log_factor(double a, double x) {
    int sign;
    return a * log(x) - x - lgamma_r(a, &sign);
}

/* gamma(a, x) / Gamma(a), for x < a + 1. */
static double lower(double a, double x) {
    double term = 1 / a, sum = term;
    for (double n = a + 1; term > sum * 1e-15; n++) sum += term *= x / n;
    return sum * exp(log_factor(a, x));
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
    return x < a + 1 ? lower(a, x) : 1 - upper(a, x);
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

static double wilson_hilferty(double a, double p) {
    double root = 1 - 1 / (9 * a) + normal_quantile(p) / (3 * sqrt(a));
    return root > 0 ? a * root * root * root : 0;
}

double theory_gamma_quantile(double a, double p) {
    int sign;
    double x = wilson_hilferty(a, p), small = exp((log(p) + lgamma_r(a + 1, &sign)) / a);
    if (a > LARGE) return x;
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
