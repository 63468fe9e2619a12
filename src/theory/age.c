#include "theory/age.h"

#include <math.h>
#include <string.h>

/* Nearly the least double there is, and less, is taken as 0: such numbers are slow. */
static double product(double a, double b) { return a * b < THEORY_AGE_LEAST ? 0 : a * b; }

void theory_age_fill(double *fill, uint32_t slices, uint32_t k, double m, double n, double most,
                     double lead) {
    double miss = log1p(-1 / m), whole = -expm1(fmin(k * n, most) * miss);
    for (uint32_t i = 0; i < slices; i++)
        fill[i] = i < k ? -expm1(fmin((i + lead) * n, most) * miss) : whole;
}

/* Products of k fills in a row are a prefix of one block of k and a suffix of the one before; of
 * slices from `alike` on they are one number.  within[i]: a run is among the first i slices. */
static double run_among(const double *fill, uint32_t slices, uint32_t k, uint32_t alike) {
    double within[THEORY_AGE_SLICES + 1], suffix[THEORY_AGE_K + 1], run = 1, last;
    uint32_t end = slices < alike + k ? slices : alike + k, i = 0;
    for (; i < k; i++) within[i] = 0, run = product(run, fill[i]);
    last = within[k] = run;
    while (i < end) {
        double prefix = suffix[k] = 1;
        for (uint32_t j = k; j > 0; j--) suffix[j - 1] = product(suffix[j], fill[i - k + j - 1]);
        for (uint32_t place = 1; place <= k && i < end; place++, i++) {
            prefix = product(prefix, fill[i]);
            run = product(prefix, suffix[place]);
            last += run * (1 - within[i - k]) * (1 - fill[i - k]);
            within[i + 1] = last;
        }
    }
    run *= 1 - fill[end - 1];
    for (; i < slices; i++) within[i + 1] = last += run * (1 - within[i - k]);
    return last;
}

double theory_age(const double *fill, uint32_t slices, uint32_t k) {
    return run_among(fill, slices, k, slices);
}

double theory_age_steady(uint32_t slices, uint32_t k, double m, double n, double most,
                         double lead) {
    double fill[2 * THEORY_AGE_K];
    uint32_t filled = slices < 2 * k ? slices : 2 * k;
    theory_age_fill(fill, filled, k, m, n, most, lead);
    if (k * log(fill[filled - 1]) < log(THEORY_AGE_LEAST)) return 0;
    return run_among(fill, slices, k, k);
}

/* A search is at slice `top` with `span` slices to test down from there: reach[top][span] is how
 * probable that is.  A miss at slice t leads to top t+k, all down to top+1: some top of the next k.
 * Searches of one top go down together, `at` of each, until their spans end. */
double theory_age_probes(const double *fill, uint32_t slices, uint32_t k, uint32_t first) {
    double reach[THEORY_AGE_K + 1][THEORY_AGE_K + 1] = {{0}}, sum = 0;
    reach[(k - 1) % (k + 1)][k] = 1;
    for (uint32_t top = k - 1; top < slices; top++) {
        double *here = reach[top % (k + 1)], going[THEORY_AGE_K + 2] = {0}, at = 1;
        for (uint32_t span = k; span > 0; span--) going[span] = going[span + 1] + here[span];
        memset(here, 0, sizeof *reach);
        for (uint32_t down = 0; down < k && down <= top; down++) {
            uint32_t t = top - down;
            double searches = at * going[down + 1];
            if (t >= first) sum += searches;
            reach[(t + k) % (k + 1)][k - down] += searches * (1 - fill[t]);
            at = product(at, fill[t]);
        }
    }
    return sum;
}
