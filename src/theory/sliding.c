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
