/* contender.c - one detector's verdicts against the truth. */
#include "contender.h"

#include <math.h>

void contender_judge(struct contender *c, struct batch *b, seen_time now) {
    size_t n = judge_read(&c->judge, b, now);
    double begun = time_monotonic();
    judge_observe(&c->judge, b, n);
    c->seconds += time_monotonic() - begun;
    for (size_t i = 0; i < b->n; i++) c->verdict[i] = b->verdict[i];
}

static unsigned decade(uint64_t gap) {
    unsigned d = 0;
    for (; gap >= 10 && d < DECADES - 1; gap /= 10) d++;
    return d;
}

void contender_count(struct contender *c, const struct batch *b, const struct twin *ever) {
    for (size_t i = 0; i < b->n; i++) {
        if (!c->twin->read[i]) continue;
        enum truth truth = twin_truth(&c->plan, c->twin->age[i]);
        bool missed = c->verdict[i] == SEEN_NEW, duplicate = !missed;
        c->truths[truth]++;
        bool confirmed = c->verdict[i] == SEEN_CONFIRMED;
        c->confirmed += confirmed;
        c->duplicates += duplicate;
        if (truth == TRUTH_NEW) c->fp += duplicate, c->confirmed_fp += confirmed;
        if (truth != TRUTH_DUPLICATE) continue;
        c->fn += missed;
        unsigned d = decade(ever->age[i]);
        c->gap[d].duplicates++;
        c->gap[d].missed += missed;
    }
}

struct rate rate_of(uint64_t x, uint64_t n) {
    if (n == 0) return (struct rate){0, 0, 1};
    const double z = 1.959963984540054;
    double trials = (double)n, p = (double)x / trials, zz = z * z / trials;
    double middle = (p + zz / 2) / (1 + zz);
    double half = z * sqrt(p * (1 - p) / trials + zz / (4 * trials)) / (1 + zz);
    double low = x == 0 ? 0 : middle - half, high = x == n ? 1 : middle + half;
    return (struct rate){p, low > 0 ? low : 0, high < 1 ? high : 1};
}

double contender_expected(const struct contender *c) {
    struct seen_stats s;
    seen_stats(c->detector, &s);
    double trials = s.expected_false + (double)s.unique;
    return trials > 0 ? s.expected_false / trials : 0;
}
