/* clock_forecast - what clock misses on a stream whose gaps are known.  Derived for this project.
 *
 * The hand goes round in T records.  A key that was put in stands just behind the hand and is found
 * if it comes again within T.  A key that was found is marked: the hand, which comes by within T,
 * all times alike, takes the mark, and the key goes at the next passing, after T to 2T in all.
 *
 *     P(found | gap g) = (1 - f) [g < T] + f P(g < U(T, 2T))      f: the record before was found
 *
 * and f depends on the gap before, so that frequent keys stay: the sample has counted gaps in
 * pairs. T follows from what the buffer holds: each record leaves its key there until it comes
 * again or goes, and the mean of these times is C records (as C = W(T) for LRU: Denning, Schwartz
 * 1972). */
#include "decaying/recent.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 30 };

/* Rows and columns as of struct gap_counts' pairs. */
struct hand {
    const struct gap_counts *counts;
    double T;
    double found[GAP_PAIRED];  /* P(found | this gap); of a key's first record 0 */
    double column[GAP_PAIRED]; /* repeats with this gap */
};

static double from_of(size_t gap) { return gap_from(2 * (gap - 1)); }
static double share(double x) { return fmin(1, fmax(0, x)); }

static void learn_found(struct hand *h) {
    double next[GAP_PAIRED] = {0};
    for (size_t j = 1; j < GAP_PAIRED; j++) {
        double from = from_of(j), end = from_of(j + 1), marked = 0;
        if (!(h->column[j] > 0)) continue;
        for (size_t i = 0; i < GAP_PAIRED; i++) marked += h->counts->pairs[i][j] * h->found[i];
        marked /= h->column[j];
        next[j] = (1 - marked) * share((h->T - from) / (end - from)) +
                  marked * share(2 - (from + end - 1) / 2 / h->T);
    }
    memcpy(h->found, next, sizeof next);
}

/* How long a key stays that would come again after `gap` records, unmarked and marked. */
static double stays(double gap, double T) { return fmin(gap, T); }
static double stays_marked(double gap, double T) {
    double x = share((gap - T) / T);
    return gap < T ? gap : T * (1 + x - x * x / 2);
}

/* Keys in the buffer. */
static double held(const struct hand *h) {
    double sum = 0;
    for (size_t i = 0; i < GAP_PAIRED; i++) {
        double all = h->column[i], plain = 0, marked = 0, again = 0;
        for (size_t b = 0; i == 0 && b < GAP_BUCKETS; b++) all += h->counts->first[b];
        if (!(all > 0)) continue;
        for (size_t j = 1; j < GAP_PAIRED; j++) {
            double n = h->counts->pairs[i][j], gap = (from_of(j) + from_of(j + 1) + 1) / 2;
            again += n;
            plain += n * stays(gap, h->T);
            marked += n * stays_marked(gap, h->T);
        }
        plain += (all - again) * h->T;
        marked += (all - again) * h->T * 1.5;
        sum += (1 - h->found[i]) * plain + h->found[i] * marked;
    }
    return sum / h->counts->records;
}

static void turn(struct hand *h, double T) {
    h->T = T;
    for (int i = 0; i < ROUNDS; i++) learn_found(h);
}

struct forecast clock_forecast(const struct seen_plan *plan, const struct gap_law *law) {
    struct hand h = {.counts = law->counts};
    struct forecast f = {plan->fp_full, 0};
    double lo = 1, hi = 0x1p46;
    for (size_t i = 0; i < GAP_PAIRED; i++)
        for (size_t j = 1; j < GAP_PAIRED; j++) h.column[j] += law->counts->pairs[i][j];
    while (hi > lo * 1.001) {
        double middle = sqrt(lo * hi);
        turn(&h, middle);
        *(held(&h) < (double)plan->capacity ? &lo : &hi) = middle;
    }
    turn(&h, lo);
    for (size_t b = 0; b < GAP_BUCKETS; b++) f.fn += law->at_gap[b] * (1 - h.found[gap_paired(b)]);
    return f;
}
