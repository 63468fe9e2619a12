#include "plan/theory.h"

#include <math.h>

/* 1-(1-q)^x, exact for tiny q and for huge x. */
static double at_least_once(double q, double x) {
    return q >= 1 ? (x > 0 ? 1 : 0) : -expm1(x * log1p(-q));
}

double theory_bloom(double m, double n, double k) { return pow(at_least_once(1 / m, k * n), k); }

double theory_bloom_keys(double m, double set, double k) {
    return -log1p(-fmin(set / m, 1 - 1 / (m + 1))) * m / k;
}

double theory_partitioned(double m, double n, double k) { return pow(at_least_once(k / m, n), k); }

double theory_odds(double p) { return p < .999999 ? p / (1 - p) : 1e6; }

double theory_union(double p, double count) { return at_least_once(p, count); }

/* -- one line a key ----------------------------------------------------------------------- */

/* A lane of `width` bits into which each of j keys throws b bits. */
struct lane {
    double width, miss[4], step[4]; /* miss[i] = P(no throw hits i given bits) = (1-i/width)^(bj) */
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

static void lane_add_key(struct lane *lane) {
    for (int i = 0; i < 4; i++) lane->miss[i] *= lane->step[i];
}

/* P(the b probes of another key are all set): by how many different bits they ask for (Stirling),
 * and by inclusion and exclusion over those bits. */
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

/* A line of 8 lanes, its keys coming one by one. */
struct blocked_line {
    struct lane lanes[3];
};

static struct blocked_line line_empty(uint32_t k) {
    uint32_t rounds = k / 8, more = k % 8;
    return (struct blocked_line){{lane_empty(64, rounds + 1, more),
                                  lane_empty(64, rounds, 7 - more), lane_empty(48, rounds, 1)}};
}

/* Its rate with one key more. */
static double line_add_key(struct blocked_line *line) {
    double hit = 1;
    for (int i = 0; i < 3; i++) {
        lane_add_key(&line->lanes[i]);
        if (line->lanes[i].power && line->lanes[i].b) hit *= lane_hit(&line->lanes[i]);
    }
    return hit;
}

#define LINE_KEYS_MOST 600 /* on average: far beyond full, each bit of 496 is set */

/* The mean over how many keys a line has: of j as often as of j-1 (first - fall (j-1)) / j times.
 * Where the sum of all is large it is scaled down, so that no term of weight is lost. */
static double over_lines(double first, double fall, double mean, uint32_t k) {
    struct blocked_line line = line_empty(k);
    double often = 1, all = 1, sum = 0, last = mean + 16 * sqrt(mean) + 48;
    for (double j = 1; j < last && first > fall * (j - 1); j++) {
        often *= (first - fall * (j - 1)) / j;
        all += often;
        sum += often * line_add_key(&line);
        if (all > 1e200) often *= 1e-200, all *= 1e-200, sum *= 1e-200;
    }
    return sum / all;
}

/* All in one line: of a fraction of a key, that fraction of the step. */
static double in_one_line(double n, uint32_t k) {
    struct blocked_line line = line_empty(k);
    double before = 0, hit = 0;
    for (double j = 0; j < n; j++) before = hit, hit = line_add_key(&line);
    return before + (hit - before) * (n - ceil(n) + 1);
}

double theory_blocked(double lines, double n, uint32_t k) {
    if (n > LINE_KEYS_MOST * lines) return 1;
    if (lines <= 1) return in_one_line(n, k);
    return over_lines(n / (lines - 1), 1 / (lines - 1), n / lines, k);
}

double theory_blocked_scattered(double lines, double n, uint32_t k) {
    return n > LINE_KEYS_MOST * lines ? 1 : over_lines(n / lines, 0, n / lines, k);
}

/* Sums upwards; where the first term is below all doubles, so is the sum for any limit below 256.
 */
double theory_few(double n, double q, double limit) {
    if (q >= 1) return n < limit;
    double term = exp(n * log1p(-q)), odds = q / (1 - q), sum = 0;
    for (double j = 0; j < limit && j <= n; j++) {
        sum += term;
        term *= (n - j) / (j + 1) * odds;
    }
    return sum < 1 ? sum : 1;
}

/* -- means and intervals ------------------------------------------------------------------ */

/* 16-point Gauss-Legendre on each quarter of [0,1]. */
double theory_mean(double (*rate)(const void *ctx, double keys), const void *ctx, double n) {
    static const double x[8] = {0.0950125098376374, 0.2816035507792589, 0.4580167776572274,
                                0.6178762444026438, 0.7554044083550030, 0.8656312023878318,
                                0.9445750230732326, 0.9894009349916499};
    static const double w[8] = {0.1894506104550685, 0.1826034150449236, 0.1691565193950025,
                                0.1495959888165767, 0.1246289712555339, 0.0951585116824928,
                                0.0622535239386479, 0.0271524594117541};
    double sum = 0;
    for (int panel = 0; panel < 4; panel++) {
        double middle = (panel + .5) / 4, half = 1. / 8;
        for (int i = 0; i < 8; i++)
            sum += half * w[i] *
                   (rate(ctx, n * (middle - half * x[i])) + rate(ctx, n * (middle + half * x[i])));
    }
    return sum;
}

double theory_scattered(double (*rate)(const void *ctx, double keys), const void *ctx, double n) {
    static const double x[4] = {1.0232556637891326, 2.0768479786778302, 3.2054290028564703,
                                4.5127458633997826};
    static const double w[4] = {0.2440975028949394, 0.0499164067652179, 0.0027891413212318,
                                2.2345844007746e-5};
    double sum = 0;
    if (n < 200) {
        double poisson = exp(-n), end = n + 12 * sqrt(n) + 30;
        for (double j = 1; j < end; j++) {
            poisson *= n / j;
            sum += poisson * rate(ctx, j);
        }
        return sum;
    }
    for (int i = 0; i < 4; i++)
        sum += w[i] * (rate(ctx, n - x[i] * sqrt(n)) + rate(ctx, n + x[i] * sqrt(n)));
    return sum + 0.4063492063492063 * rate(ctx, n);
}

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

/* Smallest c with P(X <= c) >= tail, by summing; normal where the sum would be long. */
static uint64_t poisson_quantile(double mean, double tail, double z) {
    if (mean > 500) return (uint64_t)fmax(0, floor(mean + z * sqrt(mean) + .5));
    double p = exp(-mean), sum = p;
    uint64_t c = 0;
    while (sum < tail && c < 2000) {
        c++;
        p *= mean / (double)c;
        sum += p;
    }
    return c;
}

void theory_poisson(double mean, uint64_t *lo, uint64_t *hi) {
    *lo = poisson_quantile(mean, .025, -1.959964);
    *hi = poisson_quantile(mean, .975, 1.959964);
}

/* -- memory that waits -------------------------------------------------------------------- */

#define BALLS_MOST 64

double theory_latency_separate(double tau, uint32_t d, uint32_t modules) {
    return ceil((double)d / modules) * tau;
}

/* P(no bin holds more than `most`), d balls thrown into `bins`: bin by bin, of n balls that are
 * left to it and the b-1 others it holds a Binomial(n, 1/b) number. */
static double none_above(uint32_t most, uint32_t d, uint32_t bins) {
    double fits[BALLS_MOST + 1], next[BALLS_MOST + 1]; /* fits[n]: n balls in the bins so far */
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
