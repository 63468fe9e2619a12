#include "plan/theory_age.h"

#include <math.h>
#include <string.h>

void theory_age_fill(double *fill, uint32_t slices, uint32_t k, double m, double n, double lead) {
    double miss = log1p(-1 / m), once = -expm1(n * miss), whole = -expm1(k * n * miss);
    fill[0] = -expm1(lead * n * miss);
    for (uint32_t i = 1; i < slices; i++)
        fill[i] = i < k ? fill[i - 1] + (1 - fill[i - 1]) * once : whole;
}

/* Products of k fills in a row are a prefix of one block of k and a suffix of the one before. */
double theory_age(const double *fill, uint32_t slices, uint32_t k) {
    double within[THEORY_AGE_SLICES + 1] = {0}; /* a run is among the first i slices */
    double suffix[THEORY_AGE_K] = {0}, prefix = 1;
    for (uint32_t i = 1; i <= slices; i++) {
        uint32_t place = (i - 1) % k;
        if (!place) {
            double all = prefix = 1;
            for (uint32_t j = i > k ? k : 0; j > 0; j--) suffix[j - 1] = all *= fill[i - 2 - k + j];
        }
        prefix *= fill[i - 1];
        within[i] = within[i - 1];
        if (i < k) continue;
        double run = place + 1 == k ? prefix : prefix * suffix[place + 1];
        within[i] += i == k ? run : run * (1 - within[i - k - 1]) * (1 - fill[i - k - 1]);
    }
    return within[slices];
}

/* A search is at slice `top` with `span` slices to test down from there: reach[top][span] is how
 * probable that is.  A miss at slice t leads to top t+k, all down to top+1: some top of the next k.
 */
double theory_age_probes(const double *fill, uint32_t slices, uint32_t k, uint32_t first) {
    double reach[THEORY_AGE_K + 1][THEORY_AGE_K + 1] = {{0}}, sum = 0;
    reach[(k - 1) % (k + 1)][k] = 1;
    for (uint32_t top = k - 1; top < slices; top++) {
        double *here = reach[top % (k + 1)];
        for (uint32_t span = 1; span <= k; span++) {
            double at = here[span];
            for (uint32_t t = top; at > 0 && t + span > top; t--) {
                if (t >= first) sum += at;
                reach[(t + k) % (k + 1)][t + k - top] += at * (1 - fill[t]);
                at *= fill[t];
                if (!t) break;
            }
        }
        memset(here, 0, sizeof *reach);
    }
    return sum;
}
