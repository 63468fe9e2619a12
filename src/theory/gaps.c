/* gaps.c - estimates the law of gaps from a sample. */
#include "theory/gaps.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define REACH .9 /* of the sample: longer gaps do not count in an endless run */

double gap_from(size_t bucket) {
    if (bucket < GAP_EXACT) return (double)bucket;
    size_t i = bucket - GAP_EXACT;
    return ldexp((double)(GAP_STEPS + i % GAP_STEPS), (int)(i / GAP_STEPS) + 1);
}

/* -- counts ------------------------------------------------------------------------------- */

struct sums {
    double gap[GAP_BUCKETS]; /* repeats by the number of records between, after gap_law_absorb */
    double row[GAP_BUCKETS]; /* the same as counted */
};

void gap_law_absorb(double *shortest, size_t n, double surplus) {
    if (surplus < 0) shortest[0] -= surplus;
    for (size_t i = 0; i < n && surplus > 0; i++) {
        double less = fmin(surplus, shortest[i]);
        shortest[i] -= less;
        surplus -= less;
    }
}

static void correct(struct sums *s, const struct gap_counts *c) {
    double counted = 0;
    for (size_t b = 0; b < GAP_BUCKETS; b++) {
        for (size_t d = 0; d <= b; d++) s->row[b] += c->repeats[b][d];
        s->gap[b] = s->row[b];
        counted += s->row[b] + c->first[b];
    }
    gap_law_absorb(s->gap, GAP_BUCKETS, counted - c->records);
}

/* -- the law ------------------------------------------------------------------------------ */

/* Estimates the share of gaps in each bucket (Kaplan, Meier), and from it the number of keys among
 * neighbouring records: one more record adds a key if its gap is longer than their number (Denning,
 * Schwartz 1972). */
static void estimate(struct gap_law *law, const struct sums *s, const struct gap_counts *c,
                     double *share) {
    double longer = 1, risk = c->records;
    for (size_t b = 0; b < GAP_BUCKETS; b++) {
        double from = gap_from(b), width = gap_from(b + 1) - from, asked = risk - c->first[b] / 2;
        bool counts = from + width <= law->reach && asked > 0;
        share[b] = counts ? longer * fmin(1, s->gap[b] / asked) : 0;
        law->keys[b + 1] = law->keys[b] + width * (longer - share[b] * (width - 1) / (2 * width));
        longer -= share[b];
        risk -= s->gap[b] + c->first[b];
    }
    law->within = 1 - longer;
}

void gap_law_make(struct gap_law *law, const struct gap_counts *c, double run) {
    double share[GAP_BUCKETS], all = 0;
    struct sums s;
    memset(&s, 0, sizeof s);
    memset(law, 0, sizeof *law);
    law->counts = c;
    law->run = run;
    double reach = run == c->records ? run : REACH * c->records;
    law->reach = gap_from(gap_bucket((uint64_t)reach) + (run == c->records));
    correct(&s, c);
    estimate(law, &s, c, share);
    for (size_t b = 0; b < GAP_BUCKETS; b++) {
        /* The middle of the bucket, as far as numbers are below c->records. */
        double from = gap_from(b), end = gap_from(b + 1);
        if (from < c->records && end > c->records) end = c->records;
        law->centre[b] = (from + end - 1) / 2;
        double seen = isinf(run) ? 1 : fmax(0, 1 - (law->centre[b] + 1) / run);
        law->at_gap[b] = run == c->records ? s.gap[b] : share[b] * seen;
        all += law->at_gap[b];
    }
    for (size_t b = 0; b < GAP_BUCKETS && all > 0; b++) law->at_gap[b] /= all;
    for (size_t b = 0; b < GAP_BUCKETS; b++) {
        if (s.row[b] > 0)
            for (size_t d = 0; d <= b; d++)
                law->at_depth[d] += law->at_gap[b] * c->repeats[b][d] / s.row[b];
        else
            law->at_depth[b] += law->at_gap[b]; /* b = 0, of keys that were not followed */
    }
}

/* -- questions ---------------------------------------------------------------------------- */

double gap_law_keys(const struct gap_law *law, double records) {
    size_t b = gap_bucket((uint64_t)records);
    double from = gap_from(b), width = gap_from(b + 1) - from;
    return law->keys[b] + (law->keys[b + 1] - law->keys[b]) * (records - from) / width;
}

double gap_law_deeper(const struct gap_law *law, double depth) {
    double sum = 0;
    for (size_t b = 0; b < GAP_BUCKETS; b++) {
        double from = gap_from(b), end = gap_from(b + 1);
        if (end <= depth) continue;
        sum += law->at_depth[b] * fmin(1, (end - depth) / (end - from));
    }
    return fmin(1, sum);
}
