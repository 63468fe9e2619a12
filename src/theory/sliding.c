/* sliding.c - rates of timing, timed-cuckoo and line, and lower bounds of memory. */
#include "theory/sliding.h"

#include "theory/bloom.h"

#include <math.h>

double theory_timing(double m, double w, double k) { return theory_bloom(m, w, k); }

double theory_timing_bits(double m, double window) { return m * ceil(log2(2 * window + 2)); }

double theory_timed_cuckoo(double lambda, double n, double s) {
    return -expm1(n * log1p(-exp2(-s) / lambda / lambda));
}

double theory_timed_cuckoo_least(double lambda, double n, double fp) {
    return -log2(-expm1(log1p(-fp) / n) * lambda * lambda);
}

double theory_timed_cuckoo_signature(double lambda, double fp) {
    return fmax(0, -log2(fp) - log2(lambda) + 1);
}

double theory_timed_cuckoo_bits(double window, double lambda, double s) {
    return 2 * lambda * (ceil(log2(2 * window + 1)) + ceil(log2(lambda)) + ceil(s));
}

double theory_bound_exact(double n, double universe) {
    if (n > universe / 2) return universe;
    return n * (log2(universe / n) - (universe / n - 1) * log1p(-n / universe) / log(2));
}

double theory_bound_static(double n, double fp) { return -n * log2(fp); }

double theory_bound_dynamic(double n, double fp) { return n * (1 / log(2) - log2(fp)); }

double theory_bound_sliding(double n, double slack, double fp) {
    double order = log2(n / fmax(slack, 1)), least = log2(fmax(1, -log2(fp)));
    return theory_bound_static(n, fp) + n * fmax(fmax(order, least), 0);
}

double theory_bound_decaying(double n, double universe, double fp) {
    double told = n - fp * universe;
    return told > 1 ? told * log2(told) : 0;
}

/* -- line --------------------------------------------------------------------------------- */

#define NEWTON 64 /* steps at most; about six are enough */
#define EXACT  1e-15

/* The loss formula, by its recursion over the number of circuits. */
static double loss(double offered, uint32_t room) {
    double b = 1;
    for (uint32_t i = 1; i <= room; i++) b = offered * b / (i + offered * b);
    return b;
}

/* Finds the load offered by Newton's method, from below: the mean number of entries is a concave
 * function of it. */
double theory_line_full(double mean, uint32_t room) {
    double most = 4 * room + 4., offered = mean, step = 1, lost = 0;
    if (mean <= 0) return 0;
    if (mean >= room) return 1;
    for (int i = 0; i < NEWTON && step > offered * EXACT && offered < most; i++) {
        lost = loss(offered, room);
        double inside = offered * (1 - lost);
        step = (mean - inside) / (1 - lost * (1 + room - inside));
        offered = fmin(offered + step, most);
    }
    return loss(offered, room);
}

static double marked(double mean, double full, double epoch) {
    double epochs = .86 + .88 * epoch;
    return 1 - exp(-epochs * mean * full / THEORY_LINE_CLASSES);
}

static double looked(double marked) { return 1 + marked * (1 + marked * (1 + marked)); }

double theory_line_marked(double mean, uint32_t room, double epoch) {
    return marked(mean, theory_line_full(mean, room), epoch);
}

double theory_line_looked(double mean, uint32_t room, double epoch) {
    return looked(theory_line_marked(mean, room, epoch));
}

double theory_line_touched(double mean, uint32_t room, double epoch) {
    double full = theory_line_full(mean, room), marks = marked(mean, full, epoch);
    return looked(marks) + full * (1 - marks);
}

double theory_line_alike(double held, double mean, uint32_t room, double epoch) {
    double full = theory_line_full(mean, room);
    return held * (looked(marked(mean, full, epoch)) + 2 * full);
}

double theory_line_fp(double held, double mean, uint32_t room, uint32_t bits, double epoch) {
    return -expm1(theory_line_alike(held, mean, room, epoch) * log1p(-ldexp(1, -(int)bits)));
}

/* Finds the load offered as above.  The logarithm of the loss is a concave function of its
 * logarithm. */
double theory_line_mean(double full, uint32_t room) {
    double offered = room, step = 1;
    for (int i = 0; i < NEWTON && fabs(step) > EXACT; i++) {
        double lost = loss(offered, room);
        step = log(full / lost) / (room - offered * (1 - lost));
        offered *= exp(step);
    }
    return offered * (1 - full);
}
