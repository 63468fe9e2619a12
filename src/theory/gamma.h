/* gamma.h - the gamma distribution of scale 1. */
#ifndef THEORY_GAMMA_H
#define THEORY_GAMMA_H

/* P(X <= x) for shape a > 0: the regularized incomplete gamma function P(a, x). */
double theory_gamma(double a, double x);

/* The x with P(X <= x) = p, 0 < p < 1; 0 where it is below 1e-300. */
double theory_gamma_quantile(double a, double p);

#endif
