#include "theory/bloom.h"

#include <math.h>
#include <stdbool.h>

#define RARE 1e-18 /* a share that no double shows, nor the sum of all that are rarer */
#define PI   3.14159265358979323846

#define SCATTERED_FEW 200 /* Poisson numbers of such a mean are summed over, */
#define WAVES         40  /* with a stride that leaves e^-40 */
#define REACH_MOST    1e15
#define REACH_NEAR    1e-9
#define GROWING_MOST  800 /* keys, of a mean of THEORY_GROWING_MOST */

/* 1-(1-q)^x, exact for tiny q and for huge x. */
static double at_least_once(double q, double x) {
    return q >= 1 ? (x > 0 ? 1 : 0) : -expm1(x * log1p(-q));
}

/* x^k; whole numbers of probes are many, and multiplied out sooner. */
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

/* -- keys by chance ----------------------------------------------------------------------- */

/* Mean of rate[X] over a Poisson number X, while its mean grows from a to b: X is j for a share
 * (P(X_b > j) - P(X_a > j))/(b-a) of the time.  Summed downwards, so that small tails count. */
static double growing_mean(const double *rate, uint32_t end, double a, double b) {
    double at_a[GROWING_MOST], at_b[GROWING_MOST], tail_a = 0, tail_b = 0, sum = 0;
    at_a[0] = exp(-a), at_b[0] = exp(-b);
    for (uint32_t j = 1; j < end; j++) {
        at_a[j] = at_a[j - 1] * a / j;
        at_b[j] = at_b[j - 1] * b / j;
    }
    for (uint32_t j = end; j-- > 0;) {
        sum += rate[j] * (tail_b - tail_a);
        tail_a += at_a[j], tail_b += at_b[j];
    }
    return sum / (b - a);
}

/* Every how many keys a sum over a Poisson number of them may be taken, where what is summed is
 * smooth: of its wave of that length a mean n leaves exp(-n(1-cos(2 pi/stride))). */
static uint32_t stride_of(double n) {
    uint32_t stride = 1;
    while (n * (1 - cos(2 * PI / (stride + 1))) > WAVES) stride++;
    return stride;
}

double theory_scattered(double (*rate)(const void *ctx, double keys), const void *ctx, double n) {
    static const double x[4] = {1.0232556637891326, 2.0768479786778302, 3.2054290028564703,
                                4.5127458633997826};
    static const double w[4] = {0.2440975028949394, 0.0499164067652179, 0.0027891413212318,
                                2.2345844007746e-5};
    double sum = 0;
    if (n < SCATTERED_FEW) {
        uint32_t stride = stride_of(n), next = stride;
        double poisson = exp(-n), end = n + 12 * sqrt(n) + 30, term = 1;
        for (uint32_t j = 1; j < end && (j < n || term >= RARE * sum); j++) {
            poisson *= n / j;
            if (j < next) continue;
            next = j + stride;
            if (j < n && poisson < RARE) continue;
            sum += term = poisson * rate(ctx, j);
        }
        return sum * stride;
    }
    for (int i = 0; i < 4; i++)
        sum += w[i] * (rate(ctx, n - x[i] * sqrt(n)) + rate(ctx, n + x[i] * sqrt(n)));
    return sum + 0.4063492063492063 * rate(ctx, n);
}

double theory_scattered_growing(double (*rate)(const void *ctx, double keys), const void *ctx,
                                double a, double b) {
    double at[GROWING_MOST] = {0};
    uint32_t end = (uint32_t)(b + 12 * sqrt(b) + 30);
    for (uint32_t j = 1; j < end; j++) at[j] = rate(ctx, j);
    return growing_mean(at, end, a, b);
}

double theory_few(double n, double q, double limit) {
    struct theory_few few = theory_few_begin(n, q);
    double sum = 0;
    for (double i = 0; i < limit; i++) sum = theory_few_next(&few);
    return sum;
}

/* -- means and intervals ------------------------------------------------------------------ */

/* Gauss-Legendre of 2 `half` points on [from, from + width]; x, w: those on the right. */
static double quadrature(double (*rate)(const void *ctx, double keys), const void *ctx, double from,
                         double width, int half, const double *x, const double *w) {
    double sum = 0, middle = from + width / 2;
    for (int i = 0; i < half; i++)
        sum += w[i] / 2 *
               (rate(ctx, middle - width / 2 * x[i]) + rate(ctx, middle + width / 2 * x[i]));
    return sum;
}

/* 16 points on each quarter. */
double theory_mean(double (*rate)(const void *ctx, double keys), const void *ctx, double n) {
    static const double x[8] = {0.0950125098376374, 0.2816035507792589, 0.4580167776572274,
                                0.6178762444026438, 0.7554044083550030, 0.8656312023878318,
                                0.9445750230732326, 0.9894009349916499};
    static const double w[8] = {0.1894506104550685, 0.1826034150449236, 0.1691565193950025,
                                0.1495959888165767, 0.1246289712555339, 0.0951585116824928,
                                0.0622535239386479, 0.0271524594117541};
    double sum = 0;
    for (int quarter = 0; quarter < 4; quarter++)
        sum += quadrature(rate, ctx, n * quarter / 4, n / 4, 8, x, w) / 4;
    return sum;
}

double theory_mean_smooth(double (*rate)(const void *ctx, double keys), const void *ctx, double n) {
    static const double x[4] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136268,
                                0.9602898564975363};
    static const double w[4] = {0.3626837833783620, 0.3137066458778874, 0.2223810344533745,
                                0.1012285362903762};
    return quadrature(rate, ctx, 0, n, 4, x, w);
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

/* -- how far back ------------------------------------------------------------------------- */

struct half {
    double (*found)(const void *ctx, double gap);
    const void *ctx;
    double yes, no, above, below; /* gaps asked, and by how much there and there it is not 1/2 */
};

static bool half_found(struct half *h, double gap) {
    if (gap <= h->yes) return true;
    if (gap >= h->no) return false;
    double more = h->found(h->ctx, gap) - .5;
    if (more >= 0)
        h->yes = gap, h->above = more;
    else
        h->no = gap, h->below = more;
    return more >= 0;
}

/* Regula falsi between powers of two, halving what stays (Illinois): gaps as near as asked for. */
static void half_narrow(struct half *h) {
    for (int lo = 0, hi = 50; lo + 1 < hi;)
        *(half_found(h, exp2((lo + hi) / 2)) ? &lo : &hi) = (lo + hi) / 2;
    for (int i = 0, last = 0; i < 40 && h->no - h->yes > fmax(.25, h->no * REACH_NEAR / 4); i++) {
        double x = (h->no * h->above - h->yes * h->below) / (h->above - h->below);
        if (!(x > h->yes && x < h->no)) return;
        int side = half_found(h, x) ? 1 : -1;
        if (side == last) *(side > 0 ? &h->below : &h->above) /= 2;
        last = side;
    }
}

double theory_reach(double (*found)(const void *ctx, double gap), const void *ctx) {
    struct half h = {found, ctx, 0, INFINITY, .5, -.5};
    double lo = 0, hi = 1;
    if (!half_found(&h, 1)) return 0;
    half_narrow(&h);
    while (hi < REACH_MOST && half_found(&h, hi)) lo = hi, hi *= 2;
    while (hi - lo > .5 && hi - lo > hi * REACH_NEAR) {
        double middle = lo + (hi - lo) / 2;
        if (half_found(&h, middle))
            lo = middle;
        else
            hi = middle;
    }
    return floor(lo);
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
