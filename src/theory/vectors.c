#include "theory/vectors.h"

#include <math.h>

#define TERMS_MOST 128

double theory_substring(uint32_t p, double n) { return -expm1(n * log1p(-ldexp(1, -(int)p))); }

/* P(`windows` of them are covered).  The u_d of the header are sums of geometric series,
 * u_d - e^-a = sum over r >= 1 of w_r 2^-dr with w_r = P(Poisson(a) = r), so that a number t_r for
 * each r carries all that has been: t_r = sum of S_m 2^-r(i-m). */
static double all_covered(uint32_t windows, double a) {
    double w[TERMS_MOST], parts[TERMS_MOST], t[TERMS_MOST] = {0}, half[TERMS_MOST];
    double term = exp(-a), power = 1, largest = 0, covered = 1, rate = 0;
    uint32_t terms = 0;
    if (a > 40) return 1; /* an uncovered window is rarer than the last digit */
    for (double r = 1; r < a + 2 || term > 1e-17 * largest; r++, terms++) {
        w[terms] = term *= a / r;
        half[terms] = power /= 2;
        parts[terms] = term * (1 - power);
        if (term > largest) largest = term;
    }
    for (; windows > 0; windows--) {
        double next = 0;
        for (uint32_t r = 0; r < terms; r++) {
            t[r] = t[r] * half[r] + covered;
            next += parts[r] * t[r];
        }
        covered = next; /* S_1, S_2, … */
    }
    for (uint32_t r = 0; r < terms; r++) rate += w[r] * t[r];
    return rate < 1 ? rate : 1;
}

double theory_substrings_scattered(uint32_t b, uint32_t p, double n) {
    return all_covered(b - p + 1, ldexp(n, -(int)p));
}

/* The rate for a fixed number of keys: f(n) - n/2 f"(n), where f is close to a power of n. */
double theory_substrings(uint32_t b, uint32_t p, double n) {
    double a = ldexp(n, -(int)p), rate = all_covered(b - p + 1, a), near = .999;
    if (rate <= 0 || rate >= 1) return rate;
    double power = log(all_covered(b - p + 1, a * near) / rate) / log(near);
    return rate / (1 + power * (power - 1) / (2 * n));
}
