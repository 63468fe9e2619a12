/* bloom.h - false-positive rates of Bloom filters as pure formulas.  Each cites its source.
 *
 *   [M05]  Metwally, Agrawal, El Abbadi: Duplicate Detection in Click Streams, WWW 2005
 *   [P07]  Putze, Sanders, Singler: Cache-, Hash- and Space-Efficient Bloom Filters, WEA 2007
 *   [S20]  Shtul, Baquero, Almeida: Age-Partitioned Bloom Filters, arXiv:2001.03147, 2020
 */
#ifndef THEORY_BLOOM_H
#define THEORY_BLOOM_H

#include <stdbool.h>
#include <stdint.h>

/* False-positive rate of a Bloom filter of m cells that holds n keys, k probes each in one space:
 * (1-(1-1/m)^(kn))^k.  [M05] §5.1. */
double theory_bloom(double m, double n, double k);

/* The number of keys in a Bloom filter if `set` of its m cells are set: -m/k ln(1-set/m).  This is
 * [M05] §5.1 solved for n.  A full filter counts as one with a single cell left. */
double theory_bloom_keys(double m, double set, double k);

/* The same with a space of m/k cells for each probe: (1-(1-k/m)^n)^k.  [M05] §5.1, figure 4. */
double theory_partitioned(double m, double n, double k);

/* Each key has one line of 496 bits in 8 lanes of 64 (the last has 48), and probe r goes to lane r
 * mod 8.  The number of keys in a line is binomial (n, 1/lines).  [P07] takes its limit, a Poisson
 * number, which errs more if there are few lines.  This rate is exact for the layout. */
double theory_blocked(double lines, double n, uint32_t k);

/* The same for a Poisson number of keys of mean n.  Each line then has a Poisson number too. */
double theory_blocked_scattered(double lines, double n, uint32_t k);

/* The mean of either while the number of keys grows from 0 to n. */
double theory_blocked_filling(double lines, double n, uint32_t k, bool scattered);

/* p/(1-p): at a false-positive rate p, the number of new records called duplicates for each record
 * called new.  At most 1e6. */
double theory_odds(double p);

/* Rate of a union of `count` independent sets that each err at rate p: 1-(1-p)^count. */
double theory_union(double p, double count);

/* The landmark mean of a Bloom filter with a = kn/m: integral over u of (1-e^(-au))^k. */
double theory_landmark_mean(double a, uint32_t k);

/* The time for d probes in D modules of memory that work in parallel.  A module is idle for `tau`
 * between two accesses, so the busiest module decides.  [M05] §5.1.
 *
 * Each probe has a space of its own, and the modules take the spaces in turn: ceil(d/D) tau. */
double theory_latency_separate(double tau, uint32_t d, uint32_t modules);

/* One space is spread over all modules.  At best the time is the same, at worst d tau.  The mean is
 * that of the fullest of D bins after d <= 64 balls, by counting. */
struct theory_latency {
    double least, mean, most;
};
struct theory_latency theory_latency_shared(double tau, uint32_t d, uint32_t modules);

/* -- substrings --------------------------------------------------------------------------- */

/* Bit vectors over all substrings of a key: what [M05] §4 and figure 2 leave uncounted. */

/* P(a window of p bits of a new key equals that window of one of n stored keys): 1-(1-2^-p)^n. */
double theory_substring(uint32_t p, double n);

/* P(all b-p+1 windows do): the false-positive rate, for keys of b uniform bits.
 *
 * Windows that overlap are not independent: a stored key that agrees with the new one in window j
 * agrees in window j+1 if one more bit does.  So the number M of stored keys that agree is a Markov
 * chain: half of them stay, and as many new ones come,
 *
 *     M_0 ~ Poisson(a),  M_{j+1} = Binomial(M_j, 1/2) + Poisson(a/2),  a = n 2^-p,
 *
 * and the rate is P(M_j >= 1 for all j).  If M_j = 0, the chain forgets its past: this is a renewal
 * process.  Let u_d = P(M_{j+d} = 0 | M_j = 0) = exp(-a(1-2^-d)), and S_i the probability of i
 * covered windows after an uncovered one.  Then
 *
 *     S_i = sum over m < i of S_m (u_{i-1-m} - u_{i-m}),
 *     P = sum over m <= b-p of S_m (u_{b-p-m} - e^-a).
 *
 * No term is negative, so a rate of 1e-30 is as exact as one of 1e-3.  P is the rate for a Poisson
 * number of keys.  For exactly n keys it is P - n/2 P"(n), some percent less if 2^p is small.  Keys
 * that agree, differ and agree again over p bits, one in 2^p, are left out. */
double theory_substrings(uint32_t b, uint32_t p, double n);
double theory_substrings_scattered(uint32_t b, uint32_t p, double n); /* P itself */

/* -- age-partitioned ---------------------------------------------------------------------- */

/* Slices are numbered by age, 0 being the youngest; a key is there if k slices in a row match. */

#define THEORY_AGE_K      64     /* the most that k may be, */
#define THEORY_AGE_SLICES 320    /* and that slices may */
#define THEORY_AGE_LEAST  1e-300 /* rates below are 0 */

/* The fill ratios of slices of m cells.  `lead` (0 to 1) is the part of the youngest generation, of
 * n keys, that has come.  Each slice takes the keys of k generations, so slice i has taken those of
 * min(i + lead, k) generations, but at most `most` different keys. */
void theory_age_fill(double *fill, uint32_t slices, uint32_t k, double m, double n, double most,
                     double lead);

/* The false-positive rate of slices with these fills: the probability that k in a row match.
 * Slices are independent.  [S20] computes it by a recursion over runs.  This is a sum of positive
 * terms over the end i of the first run: slices i-k+1 to i match, i-k does not, and no run comes
 * before. */
double theory_age(const double *fill, uint32_t slices, uint32_t k);

/* The same with the fills of theory_age_fill, in less time, because slices from k on have equal
 * fills. */
double theory_age_steady(uint32_t slices, uint32_t k, double m, double n, double most, double lead);

/* The expected number of slices from `first` on in which a new key is looked up.  The search is for
 * the youngest run.  It begins with the oldest slice of a run, and a miss skips all runs with that
 * slice. */
double theory_age_probes(const double *fill, uint32_t slices, uint32_t k, uint32_t first);

#endif
