/* bloom.h - what the papers promise, as pure formulas.  Each cites its source; none allocates.
 *
 *   [M05]  Metwally, Agrawal, El Abbadi: Duplicate Detection in Click Streams, WWW 2005
 *   [P07]  Putze, Sanders, Singler: Cache-, Hash- and Space-Efficient Bloom Filters, WEA 2007
 */
#ifndef THEORY_H
#define THEORY_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* False-positive rate of a Bloom filter of m cells that holds n keys, k probes each in one space:
 * (1-(1-1/m)^(kn))^k.  [M05] §5.1. */
double theory_bloom(double m, double n, double k);

/* Keys that a Bloom filter holds if `set` of its m cells are set: -m/k ln(1-set/m).  [M05] §5.1,
 * turned around; of a full one what all but a cell would mean. */
double theory_bloom_keys(double m, double set, double k);

/* The same with a space of m/k cells for each probe: (1-(1-k/m)^n)^k.  [M05] §5.1, figure 4. */
double theory_partitioned(double m, double n, double k);

/* One line of 496 bits a key: its bits are 8 lanes of 64 (the last of 48), probe r goes to lane
 * r mod 8, and the keys of a line are binomial (n, 1/lines): [P07] takes their limit, Poisson's,
 * which in a few lines errs more.  Exact for that layout. */
double theory_blocked(double lines, double n, uint32_t k);

/* The same for a Poisson number of keys, n on average: then each line has a Poisson number too. */
double theory_blocked_scattered(double lines, double n, uint32_t k);

/* The mean of either while keys come, up to n. */
double theory_blocked_filling(double lines, double n, uint32_t k, bool scattered);

/* P(fewer than `limit` successes in n trials of probability q), for limits below 256. */
double theory_few(double n, double q, double limit);

/* The same for limits of 1, 2, …, one after the other.  Sums upwards; where the first term is below
 * all doubles, so is the sum for any limit below 256. */
struct theory_few {
    double n, odds, term, sum, limit;
    bool certain;
};

static inline struct theory_few theory_few_begin(double n, double q) {
    return (struct theory_few){n, q / (1 - q), exp(n * log1p(-q)), 0, 0, q >= 1};
}

static inline double theory_few_next(struct theory_few *few) {
    if (few->certain) return few->n < ++few->limit;
    if (few->limit <= few->n) {
        few->sum += few->term;
        few->term *= (few->n - few->limit) / (few->limit + 1) * few->odds;
        few->limit++;
    }
    return few->sum < 1 ? few->sum : 1;
}

/* p/(1-p): at a false-positive rate p, the number of new records called duplicates for each record
 * called new.  At most 1e6. */
double theory_odds(double p);

/* Rate of a union of `count` independent sets that each err at rate p: 1-(1-p)^count. */
double theory_union(double p, double count);

/* Mean of rate(ctx, u x n) for u uniform in [0,1]: a landmark window that fills.  [M05] §5.2.2.
 * By Gauss-Legendre quadrature: the closed alternating sum loses all digits past k = 16. */
double theory_mean(double (*rate)(const void *ctx, double keys), const void *ctx, double n);

/* The same of a rate that is as a polynomial of low degree: by 8 points instead of 64. */
double theory_mean_smooth(double (*rate)(const void *ctx, double keys), const void *ctx, double n);

/* Mean of rate(ctx, keys) for a Poisson number of keys of mean n: what a shard gets.  Summed up to
 * n = 200, with a stride where there are many; then by 9-point Gauss-Hermite quadrature. */
double theory_scattered(double (*rate)(const void *ctx, double keys), const void *ctx, double n);

/* The mean of that while n grows from a to b <= THEORY_GROWING_MOST: summed. */
#define THEORY_GROWING_MOST 500
double theory_scattered_growing(double (*rate)(const void *ctx, double keys), const void *ctx,
                                double a, double b);

/* The gap at which found(ctx, gap), which never rises, falls below 1/2, in whole numbers or to nine
 * digits, at most 1e15; 0 where it is below at 1. */
double theory_reach(double (*found)(const void *ctx, double gap), const void *ctx);

/* The landmark mean of a Bloom filter with a = kn/m: integral over u of (1-e^(-au))^k. */
double theory_landmark_mean(double a, uint32_t k);

/* Time wasted when d probes wait for D modules of memory, where a module is idle for `tau` between
 * two accesses and all work at once: the busiest module's accesses, in tau.  [M05] §5.1.
 *
 * With a space for each probe, dealt out to the modules in turn: ceil(d/D) tau. */
double theory_latency_separate(double tau, uint32_t d, uint32_t modules);

/* With one space spread over all: that at best, d tau at worst; the mean for probes that fall on
 * each module alike, which is that of the fullest of D bins after d <= 64 balls, by counting. */
struct theory_latency {
    double least, mean, most;
};
struct theory_latency theory_latency_shared(double tau, uint32_t d, uint32_t modules);

/* Central 95 % interval of a Poisson count of the given mean. */
void theory_poisson(double mean, uint64_t *lo, uint64_t *hi);

#endif
