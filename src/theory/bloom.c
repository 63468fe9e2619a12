/* bloom.c - false-positive rates of Bloom filters: plain, blocked, of substrings, age-partitioned.
 */
#include "theory/bloom.h"

#include "theory/numeric.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* 1-(1-q)^x, exact for tiny q and for huge x. */
static double at_least_once(double q, double x) {
    return q >= 1 ? (x > 0 ? 1 : 0) : -expm1(x * log1p(-q));
}

/* x^k.  Most numbers of probes are whole, and multiplication is faster than pow(). */
static double power(double x, double k) {
    uint32_t left = (uint32_t)k;
    double all = 1;
    if (left != k) return pow(x, k);
    for (; left; left /= 2, x *= x)
        if (left % 2) all *= x;
    return all;
}

double theory_bloom(double m, double n, double k) { return power(at_least_once(1 / m, k * n), k); }

double theory_bloom_keys(double m, double set, double k) {
    return -log1p(-fmin(set / m, 1 - 1 / (m + 1))) * m / k;
}

double theory_partitioned(double m, double n, double k) {
    return power(at_least_once(k / m, n), k);
}

double theory_odds(double p) { return p < .999999 ? p / (1 - p) : 1e6; }

double theory_union(double p, double count) { return at_least_once(p, count); }

struct mean_case {
    double a;
    uint32_t k;
};

static double landmark_rate(const void *ctx, double u) {
    const struct mean_case *c = ctx;
    return pow(-expm1(-c->a * u), c->k);
}

double theory_landmark_mean(double a, uint32_t k) {
    struct mean_case c = {a, k};
    return theory_mean(landmark_rate, &c, 1);
}

/* -- memory that waits -------------------------------------------------------------------- */

#define MAX_BALLS 64

double theory_latency_separate(double tau, uint32_t d, uint32_t modules) {
    return ceil((double)d / modules) * tau;
}

/* P(no bin holds more than `most`) after d balls fell into `bins` bins.  Bins are added one by one:
 * of the n balls in b bins, the last bin holds a Binomial(n, 1/b) number. */
static double none_above(uint32_t most, uint32_t d, uint32_t bins) {
    double fits[MAX_BALLS + 1], next[MAX_BALLS + 1]; /* fits[n]: n balls in the bins so far */
    for (uint32_t n = 0; n <= d; n++) fits[n] = n <= most;
    for (uint32_t b = 2; b <= bins; b++) {
        for (uint32_t n = 0; n <= d; n++) {
            double share = pow(1 - 1. / b, n);
            next[n] = 0;
            for (uint32_t j = 0; j <= n && j <= most; j++) {
                next[n] += share * fits[n - j];
                share *= (double)(n - j) / (j + 1) / (b - 1);
            }
        }
        for (uint32_t n = 0; n <= d; n++) fits[n] = next[n];
    }
    return fits[d];
}

struct theory_latency theory_latency_shared(double tau, uint32_t d, uint32_t modules) {
    double fullest = 0;
    for (uint32_t most = 0; most < d; most++) fullest += 1 - none_above(most, d, modules);
    return (struct theory_latency){theory_latency_separate(tau, d, modules), fullest * tau,
                                   d * tau};
}

/* -- blocked ------------------------------------------------------------------------------ */

#define RARE          1e-18 /* a share that no double shows */
#define LINE_MAX_MEAN 600   /* far beyond full: each bit of 496 is set */
#define LINE_MAX_KEYS 1041  /* in a line, of that mean */

/* A lane of `width` bits in which each of j keys sets b bits. */
struct lane {
    double width, miss[4], step[4]; /* miss[i] = P(i given bits are all 0) = (1-i/width)^(bj) */
    uint32_t b, power;              /* `power` lanes are alike */
};

static struct lane lane_empty(double width, uint32_t b, uint32_t power) {
    struct lane lane = {.width = width, .b = b, .power = power};
    for (int i = 0; i < 4; i++) {
        lane.miss[i] = 1;
        lane.step[i] = pow(1 - i / width, b);
    }
    return lane;
}

/* P(the b probes of another key all find 1s).  The probes ask for 1 to b different bits (Stirling
 * numbers); inclusion and exclusion over these bits gives the probability for each case. */
static double lane_hit(const struct lane *lane) {
    const double *m = lane->miss, w = lane->width;
    double one = 1 - m[1], two = 1 - 2 * m[1] + m[2], three = 1 - 3 * m[1] + 3 * m[2] - m[3],
           hit = 1;
    if (lane->b == 1) hit = one;
    if (lane->b == 2) hit = (one + (w - 1) * two) / w;
    if (lane->b == 3) hit = (one + 3 * (w - 1) * two + (w - 1) * (w - 2) * three) / (w * w);
    double all = 1;
    for (uint32_t i = 0; i < lane->power; i++) all *= hit > 0 ? hit : 0;
    return all;
}

/* A line of 8 lanes, to which keys are added one by one. */
struct line {
    struct lane lanes[3];
};

static struct line line_empty(uint32_t k) {
    uint32_t rounds = k / 8, more = k % 8;
    return (struct line){{lane_empty(64, rounds + 1, more), lane_empty(64, rounds, 7 - more),
                          lane_empty(48, rounds, 1)}};
}

/* Adds a key, and returns the false-positive rate of the line then. */
static double line_add_key(struct line *line) {
    double hit = 1;
    for (int i = 0; i < 3; i++) {
        struct lane *lane = &line->lanes[i];
        if (!lane->power || !lane->b) continue;
        for (int j = 0; j < 4; j++) lane->miss[j] *= lane->step[j];
        hit *= lane_hit(lane);
    }
    return hit;
}

/* -- all lines ---------------------------------------------------------------------------- */

struct blocked {
    double lines;
    uint32_t k;
    bool scattered;
    const double *hit; /* rates of lines of 1, 2, … keys, from [1] on; NULL: not yet known */
};

static double line_end(double mean) { return mean + 16 * sqrt(mean) + 48; }

/* The mean rate over the number of keys in a line.  A line with j keys is (first - fall (j-1)) / j
 * times as frequent as one with j-1.  The sums are scaled down when they are large, so that no term
 * that matters is lost. */
static double over_lines(const struct blocked *b, double first, double fall, double mean) {
    struct line line = line_empty(b->k);
    double often = 1, all = 1, sum = 0, last = line_end(mean);
    for (double j = 1; j < last && first > fall * (j - 1); j++) {
        often *= (first - fall * (j - 1)) / j;
        all += often;
        sum += often * (b->hit ? b->hit[(uint32_t)j] : line_add_key(&line));
        if (all > 1e200) often *= 1e-200, all *= 1e-200, sum *= 1e-200;
        if (j > mean && often < RARE * sum) break;
    }
    return sum / all;
}

/* The rate of a single line with all n keys, linear between whole numbers of keys. */
static double in_one_line(const struct blocked *b, double n) {
    struct line line = line_empty(b->k);
    double before = 0, hit = 0;
    for (double j = 0; j < n; j++)
        before = hit, hit = b->hit ? b->hit[(uint32_t)j + 1] : line_add_key(&line);
    return before + (hit - before) * (n - ceil(n) + 1);
}

static double rate(const void *ctx, double n) {
    const struct blocked *b = ctx;
    double others = b->lines - 1, mean = n / b->lines;
    if (mean > LINE_MAX_MEAN) return 1;
    if (b->scattered) return over_lines(b, mean, 0, mean);
    return others > 0 ? over_lines(b, n / others, 1 / others, mean) : in_one_line(b, n);
}

double theory_blocked(double lines, double n, uint32_t k) {
    return rate(&(struct blocked){lines, k, false, NULL}, n);
}

double theory_blocked_scattered(double lines, double n, uint32_t k) {
    return rate(&(struct blocked){lines, k, true, NULL}, n);
}

double theory_blocked_filling(double lines, double n, uint32_t k, bool scattered) {
    double hit[LINE_MAX_KEYS + 1];
    struct line line = line_empty(k);
    uint32_t end = (uint32_t)line_end(fmin(n / lines, LINE_MAX_MEAN)) + 1;
    for (uint32_t j = 1; j <= end; j++) hit[j] = line_add_key(&line);
    return theory_mean(rate, &(struct blocked){lines, k, scattered, hit}, n);
}

/* -- substrings --------------------------------------------------------------------------- */

#define MAX_TERMS 128

double theory_substring(uint32_t p, double n) { return -expm1(n * log1p(-ldexp(1, -(int)p))); }

/* P(`windows` windows in a row are covered).  The u_d of the header are sums of geometric series:
 * u_d - e^-a = sum over r >= 1 of w_r 2^-dr, with w_r = P(Poisson(a) = r).  So one number for each
 * r is enough to remember the past: t_r = sum of S_m 2^-r(i-m). */
static double all_covered(uint32_t windows, double a) {
    double w[MAX_TERMS], parts[MAX_TERMS], t[MAX_TERMS] = {0}, half[MAX_TERMS];
    double term = exp(-a), power = 1, largest = 0, covered = 1, rate = 0;
    uint32_t terms = 0;
    if (a > 40) return 1; /* an uncovered window is rarer than the last digit */
    for (double r = 1; r < a + 2 || term > 1e-17 * largest; r++, terms++) {
        w[terms] = term *= a / r;
        half[terms] = power /= 2;
        parts[terms] = term * (1 - power);
        if (term > largest) largest = term;
    }
    for (; windows > 0; windows--) {
        double next = 0;
        for (uint32_t r = 0; r < terms; r++) {
            t[r] = t[r] * half[r] + covered;
            next += parts[r] * t[r];
        }
        covered = next; /* S_1, S_2, … */
    }
    for (uint32_t r = 0; r < terms; r++) rate += w[r] * t[r];
    return rate < 1 ? rate : 1;
}

double theory_substrings_scattered(uint32_t b, uint32_t p, double n) {
    return all_covered(b - p + 1, ldexp(n, -(int)p));
}

/* The rate for a fixed number of keys is f(n) - n/2 f"(n).  Near n, f is close to a power of n. */
double theory_substrings(uint32_t b, uint32_t p, double n) {
    double a = ldexp(n, -(int)p), rate = all_covered(b - p + 1, a), near = .999;
    if (rate <= 0 || rate >= 1) return rate;
    double power = log(all_covered(b - p + 1, a * near) / rate) / log(near);
    return rate / (1 + power * (power - 1) / (2 * n));
}

/* -- age-partitioned ---------------------------------------------------------------------- */

/* a b, or 0 below THEORY_AGE_LEAST, because arithmetic with denormal numbers is slow. */
static double product(double a, double b) { return a * b < THEORY_AGE_LEAST ? 0 : a * b; }

void theory_age_fill(double *fill, uint32_t slices, uint32_t k, double m, double n, double most,
                     double lead) {
    double miss = log1p(-1 / m), whole = -expm1(fmin(k * n, most) * miss);
    for (uint32_t i = 0; i < slices; i++)
        fill[i] = i < k ? -expm1(fmin((i + lead) * n, most) * miss) : whole;
}

/* P(there is a run among the slices).  The slices are cut into blocks of k: a product of k fills in
 * a row is a suffix of one block times a prefix of the next.  From slice `alike` on all fills are
 * equal, and so are the products.  within[i]: P(a run is among the first i slices). */
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

/* reach[top][span] is the probability that the search comes to slice `top` with `span` slices to
 * test downwards from there.  After a miss at slice t it goes on at slice t+k and tests down to
 * top+1. Searches from one top go down together until their spans end; `at` is the share that has
 * not missed yet. */
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
