#include "formulas.h"

#include "../lab.h"
#include "theory/decaying.h"

#include <math.h>
#include <stdio.h>

/* -- figures 1 and 2: streams of different keys, asked for what came `gap` records ago ----- */

double zeros_of(const seen_detector *d) {
    struct seen_stats stats;
    seen_stats(d, &stats);
    return 1 - pow(stats.fp_now, 1 / (double)seen_spec_get_count(seen_spec_of(d), "k"));
}

static double missed(const seen_detector *d, uint64_t first, uint64_t n, uint64_t seed) {
    uint64_t missed = 0;
    for (uint64_t i = 0; i < n; i++) {
        seen_digest digest = lab_digest(first + i, seed);
        uint8_t verdict;
        seen_query(d, 1, &digest, 0, &verdict);
        missed += !verdict;
    }
    return (double)missed / (double)n;
}

static struct theory_stable theory_of(const seen_detector *d) {
    const struct seen_spec *s = seen_spec_of(d);
    uint64_t a_line = CELLS / (seen_spec_get_count(s, "cell-max") < 2   ? 1
                               : seen_spec_get_count(s, "cell-max") < 4 ? 2
                                                                        : 3);
    return (struct theory_stable){
        (double)(seen_spec_get_count(s, "blocks") * a_line), (double)seen_spec_get_count(s, "k"),
        (double)seen_spec_get_count(s, "decrements"), (double)seen_spec_get_count(s, "cell-max")};
}

/* False negatives at each gap, of a filter that is stable. */
static void miss(const char *spec, const uint64_t *gap, size_t gaps, struct lab_mean *fn,
                 struct theory_stable *t, char *text, size_t cap) {
    enum { ROUNDS = 100, STEP = 64, WIDTH = 16 };
    uint64_t seeds = (uint64_t)lab_number("runs", 20);
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        seen_detector *d = lab_make("%s seed=%llu", spec, (unsigned long long)seed);
        *t = theory_of(d);
        uint64_t n = (uint64_t)(15 * t->m / (t->K + t->P)) + gap[gaps - 1] + WIDTH;
        lab_show(d, 0, n, seed);
        for (size_t g = 0; g < gaps; g++) {
            double sum = 0;
            for (uint64_t round = 0; round < ROUNDS; round++, n += STEP) {
                uint64_t width = gap[g] < 50 * WIDTH ? 1 : WIDTH; /* the gap, to a percent */
                lab_show(d, n, STEP, seed);
                sum += missed(d, n + STEP - 1 - gap[g] - width / 2, width, seed);
            }
            lab_add(&fn[g], sum / ROUNDS);
        }
        if (seed == 1) snprintf(text, cap, "%s", lab_spec(d));
        seen_free(d);
    }
}

/* Figure 1: Eq. 16 with a real P, as the paper computes, and with a whole one as filters have it.
 */
void hashes(void) {
    double max = lab_number("max", 1), fp = lab_number("fp", .1);
    uint64_t gap = (uint64_t)lab_number("gap", 1e4);
    for (int K = 1; K <= 10; K++) {
        char spec[128], text[512];
        struct lab_mean fn = {0};
        struct theory_stable whole, real;
        snprintf(spec, sizeof spec, "decaying filter=stable max=%g k=%d fp=%g lines=%g", max, K, fp,
                 lab_number("lines", 202));
        miss(spec, &gap, 1, &fn, &whole, text, sizeof text);
        real = whole;
        real.P = theory_stable_p(whole.m, K, max, fp);
        lab_row("measured", K, &fn, 1, text);
        lab_one("whole P", K, theory_stable_fn(&whole, (double)gap), 0, text);
        lab_one("real P", K, theory_stable_fn(&real, (double)gap), 0, "formula");
    }
}

enum { GAPS = 17 };

/* One Max in figure 2, with its best K (for real P, as in the paper). */
struct side {
    struct lab_mean fn[GAPS];
    struct theory_stable whole, real;
    char text[512];
};

static void take(struct side *s, double max, double bits, const uint64_t *gap) {
    char spec[128];
    double fp = lab_number("fp", .1), m = max < 2 ? bits : bits / 2;
    double K = theory_stable_best_k(m, max, fp, 1e9, 0);
    s->real = (struct theory_stable){m, K, theory_stable_p(m, K, max, fp), max};
    snprintf(spec, sizeof spec, "decaying filter=stable max=%g k=%g fp=%g lines=%.0f", max, K, fp,
             bits / CELLS);
    miss(spec, gap, GAPS, s->fn, &s->whole, s->text, sizeof s->text);
    lab_one("best K", max, K, 0, s->text);
}

/* Means subtract, variances add. */
static struct lab_mean less(const struct lab_mean *a, const struct lab_mean *b) {
    double n = (double)a->runs, sum = a->sum - b->sum;
    double variance = pow(lab_sd(a), 2) + pow(lab_sd(b), 2);
    return (struct lab_mean){sum, sum * sum / n + (n - 1) * variance, a->runs};
}

static double fn_less(const struct theory_stable *a, const struct theory_stable *b, double gap,
                      double phi) {
    return theory_stable_fn_of(a, gap, 0, phi) - theory_stable_fn_of(b, gap, 0, phi);
}

/* Figure 2: Max = 3 less Max = 1 in the same memory. */
void gaps(void) {
    static struct side one, three;
    double bits = lab_number("lines", 202) * CELLS;
    uint64_t gap[GAPS];
    for (int g = 0; g < GAPS; g++) gap[g] = (uint64_t)nearbyint(pow(10, 1 + g / 4.));
    take(&one, 1, bits, gap);
    take(&three, 3, bits, gap);
    for (int g = 0; g < GAPS; g++) {
        struct lab_mean measured = less(&three.fn[g], &one.fn[g]);
        lab_row("measured", (double)gap[g], &measured, 1, three.text);
        lab_one("whole P", (double)gap[g], fn_less(&three.whole, &one.whole, (double)gap[g], 0), 0,
                three.text);
    }
    for (double x = 0; x <= 4; x += .1) {
        double d = pow(10, 1 + x);
        lab_one("real P", d, fn_less(&three.real, &one.real, d, 0), 0, "formula");
        lab_one("real P phi=.01", d, fn_less(&three.real, &one.real, d, .01), 0, "formula");
    }
}

/* -- Observation 1: the best K depends on Max and the rate only ---------------------------- */

/* The false negatives that the best K of [from, to] adds to the best of all, at worst, over the
 * paper's grid of sizes, gaps, shares and phi. */
static double regret(double max, double fp, int from, int to) {
    enum { HASHES = 10 };
    static const double m[] = {1e3, 1e5, 1e7, 1e9}, gap[] = {10, 100, 1e3, 1e5, 1e7, 1e9};
    static const double share[] = {.5, .1, .01, 1e-4, 1e-6};
    static const double phi[] = {0, .001, .1, 1, 10, 100};
    double worst = 0;
    for (int i = 0; i < 4 * 6 * 5 * 6; i++) {
        double cells = m[i % 4], f = share[i / 24 % 5], ph = phi[i / 120], best = 1, among = 1;
        struct theory_stable last = {cells, HASHES, 0, max};
        if (!(theory_stable_set(&last, f, ph) < 1)) continue; /* no such stream */
        for (int K = 1; K <= HASHES; K++) {
            struct theory_stable s = {cells, K, theory_stable_p(cells, K, max, fp), max};
            if (s.P >= cells) continue;
            double fn = theory_stable_fn_of(&s, gap[i / 4 % 6], f, ph);
            best = fmin(best, fn);
            if (K >= from && K <= to) among = fmin(among, fn);
        }
        worst = fmax(worst, among - best);
    }
    return worst;
}

void observation(void) {
    static const struct {
        double max, fp;
        int from, to;
    } claim[] = {{1, .2, 1, 2}, {3, .1, 2, 3}, {3, .01, 4, 5}, {1, .1, 2, 2}};
    for (size_t i = 0; i < sizeof claim / sizeof *claim; i++) {
        char series[64];
        snprintf(series, sizeof series, "regret max=%g fp=%g", claim[i].max, claim[i].fp);
        for (int K = 1; K <= 8; K++)
            lab_one(series, K, regret(claim[i].max, claim[i].fp, K, K), 0, "formula");
        lab_one("regret of the claim", (double)i,
                regret(claim[i].max, claim[i].fp, claim[i].from, claim[i].to), 0, "formula");
    }
}

/* -- the bound: Eqs. 7, 8 and 17 ----------------------------------------------------------- */

void bound(void) {
    enum { SEEDS = 20, ASKED = 20000 };
    static const struct {
        unsigned max, k, p;
    } set[] = {{1, 2, 4}, {1, 2, 5}, {1, 3, 10}, {1, 3, 11}, {3, 4, 52}};
    double lines = lab_number("lines", 202);
    for (size_t i = 0; i < sizeof set / sizeof *set; i++) {
        struct lab_mean fp = {0}, zeros = {0};
        struct theory_stable t = {0};
        char text[512] = "";
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            seen_detector *d =
                lab_make("decaying filter=stable max=%u k=%u p=%u lines=%.0f "
                         "seed=%llu",
                         set[i].max, set[i].k, set[i].p, lines, (unsigned long long)seed);
            t = theory_of(d);
            lab_show(d, 0, (uint64_t)(15 * t.m / (t.K + t.P)), seed);
            lab_add(&zeros, zeros_of(d));
            lab_add(&fp, 1 - missed(d, (uint64_t)1 << 40, ASKED, seed));
            snprintf(text, sizeof text, "%s", lab_spec(d));
            seen_free(d);
        }
        lab_row("fp", (double)i, &fp, 1, text);
        lab_one("Eq. 8", (double)i, theory_stable_fp(&t), 0, text);
        lab_row("zeros", (double)i, &zeros, 1, text);
        lab_one("Eq. 7", (double)i, theory_stable_zeros(&t), 0, text);
    }
    for (double m = 1e3; m <= 1e9; m *= 10)
        lab_one("Eq. 17", m, theory_stable_p(m, 2, 1, .1), 0, "max=1 k=2 fp=0.1");
    lab_one("Eq. 17 max=1 k=3 fp=.01", 1e9, theory_stable_p(1e9, 3, 1, .01), 0, "formula");
    lab_one("Eq. 17 max=15 k=6 fp=.01", 1e9, theory_stable_p(1e9, 6, 15, .01), 0, "formula");
}
