#include "theory/buffer.h"

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
