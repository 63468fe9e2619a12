#include "tally.h"

#include "law.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void tally_add(struct tally *t, double value) {
    t->sum += value;
    t->squares += value * value;
    t->n++;
}

double tally_mean(const struct tally *t) { return t->sum / t->n; }

double tally_error(const struct tally *t, double least) {
    double variance = (t->squares - t->sum * tally_mean(t)) / (t->n - 1);
    return fmax(sqrt(fmax(variance, 0) / t->n), least);
}

double tally_coins(double expected, double coins) {
    return sqrt(fmax(0, expected * (1 - expected)) / coins);
}

void tally_agree(const char *what, const struct tally *t, double expected, double least) {
    double off = fabs(tally_mean(t) - expected), sigma = tally_error(t, least);
    if (getenv("SEEN_VERBOSE"))
        fprintf(stderr, "%-28s measured %.6g expected %.6g off %.2f\n", what, tally_mean(t),
                expected, off / sigma);
    law_check(off < 5 * sigma + 1e-4 * expected,
              "%s: measured %.6g, expected %.6g, standard error %.2g", what, tally_mean(t),
              expected, sigma);
}
