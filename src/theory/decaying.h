/* decaying.h - structures that forget as they fill, as pure formulas: buffers, the fingerprint
 * cache, the Stable Bloom filter.
 *
 *   [DR06]   Deng, Rafiei: Approximately Detecting Duplicates for Streaming Data using Stable Bloom
 *            Filters, SIGMOD 2006
 *   [BNW03]  Broder, Najork, Wiener: Efficient URL Caching for World Wide Web Crawling, WWW 2003 */
#ifndef THEORY_DECAYING_H
#define THEORY_DECAYING_H

#include <stdbool.h>
#include <stdint.h>

/* -- buffers ------------------------------------------------------------------------------ */

/* The stack distance of a duplicate is the number of different other keys since its own.  A buffer
 * of C keys under LRU holds the C used last, so it misses a duplicate if and only if its distance
 * is C or more: [DR06] 2.2 and 5.2, [BNW03]. */

/* The share of the duplicates that a buffer misses.  weight[d] is the number, or the probability,
 * of duplicates at stack distance d, for d from 0 to n-1.  0: there are none. */
double theory_buffer_fn(const double *weight, uint64_t n, double capacity);

/* The same for distances from 1 to `most` whose orders of magnitude are all equally frequent:
 * 1 - log C / log most. */
double theory_buffer_fn_spread(double capacity, double most);

/* The same for FPbuffering, which calls a key that the buffer misses a duplicate with probability
 * q. [DR06] 5.2. */
double theory_buffer_fn_coin(double fn, double q);

/* -- the fingerprint cache ---------------------------------------------------------------- */

/* Derived for this project.  `sets` sets have `ways` entries each, and each entry is one of
 * `values` fingerprints; a key's set and fingerprint are uniform.  The fingerprints of a set all
 * differ, in the order of their last use, and a set that has once filled stays full. */

struct theory_cache {
    double sets, ways, values;
    bool fifo; /* in the order of their first use (refresh=first) */
};

/* P(a full cache calls a new key a duplicate), exactly: ways/values.  No stream has a higher rate.
 */
double theory_cache_fp(const struct theory_cache *);

/* The same for a cache that was empty before `keys` different keys came.  A set then holds as many
 * entries as different values came to it, but at most `ways`. */
double theory_cache_fp_after(const struct theory_cache *, double keys);

/* P(a key is called a duplicate after `gap` records of other keys, all different).
 *
 * A set holds the `ways` values used last.  Let D be the number of different values that came to
 * the set.  D is binomial: each of `values` came with probability 1-exp(-gap/(sets values)).  If D
 * < ways, the key's value is still there; else it is there as often as any other value.  So the
 * result is f + (1-f) ways/values with f = P(D < ways).
 *
 * fifo: the key leaves when `ways` values have entered the set.  A Poisson number of records, of
 * mean gap/sets, comes to the set, and each enters with probability 1-ways/values.  Chance matches,
 * which would add at most ways/values, are left out. */
double theory_cache_found(const struct theory_cache *, double gap);

/* The mean of 1 - theory_cache_found over gaps from 1 to `most` whose orders of magnitude are all
 * equally frequent (plan/plan.h). */
double theory_cache_fn_mean(const struct theory_cache *, double most);

/* The gap at which half of the keys are still found; 0 if fewer are at gap 1. */
double theory_cache_reach(const struct theory_cache *);

/* -- the Stable Bloom filter -------------------------------------------------------------- */

/* m cells of 0 … Max; each record decrements P of them, then sets K to Max.  So a cell is
 * decremented with probability p = P/m and set with probability k = K/m (uniform streams). */

struct theory_stable {
    double m, K, P, Max;
};

/* P(a cell that began at 0 is 0 after n records): Eqs. 1-5; its limit for n to infinity: Eq. 7. */
double theory_stable_zero_after(double n, double Max, double p, double k);
double theory_stable_zero(double Max, double p, double k);

/* The change of this probability by the n-th record, never above 0: Eq. 6. */
double theory_stable_step(double n, double Max, double p, double k);

/* The least expected fraction of zeros, the stable point (Theorem 3), and the bound of the
 * false-positive rate at all times that follows from it (Eq. 8, Corollary 5). */
double theory_stable_zeros(const struct theory_stable *);
double theory_stable_fp(const struct theory_stable *);

/* P(a cell set `gap` records ago, and set in each with probability k, is 0): Eqs. 9-13.  A gap
 * counts the records between two of a key. */
double theory_stable_lost(double gap, double Max, double p, double k);

/* P(a key seen `gap` records ago is missed), with k = K/m: Eqs. 14, 16. */
double theory_stable_fn(const struct theory_stable *, double gap);

/* The k of a key that makes up `share` of a stream with the given phi: Eq. 18 solved for k.  Eq. 14
 * with this k is Eq. 19.  These are the equations as printed.  They include the share in k,
 * although no record in the gap before a duplicate has its key: in truth a frequent key is missed
 * as often as share = 0 says. */
double theory_stable_set(const struct theory_stable *, double share, double phi);
double theory_stable_fn_of(const struct theory_stable *, double gap, double share, double phi);

/* The mean of theory_stable_fn over gaps from 1 to `most` whose orders of magnitude are all equally
 * frequent: Eq. 15 over its number of duplicates, for this distribution. */
double theory_stable_fn_mean(const struct theory_stable *, double most);

/* Max = 1: P(found) = [pi + (1-pi) e^(-(K+P)gap/m)]^K, pi = K/(K+P). */
double theory_stable_found_one(const struct theory_stable *, double gap);

/* The real P at which Eq. 8 is fp (Eq. 17), and the smallest whole P that keeps
 * Eq. 8 <= fp(1+1e-12); 0 if none below m does. */
double theory_stable_p(double m, double K, double Max, double fp);
double theory_stable_p_whole(double m, double K, double Max, double fp);

/* The smallest K of 1 … 64 with the least theory_stable_fn_mean.  P is as small as fp allows, whole
 * or real.  0: no K fits. */
double theory_stable_best_k(double m, double Max, double fp, double most, int whole);

/* The gap at which half of the keys are still found; 0 if fewer are at gap 1. */
double theory_stable_reach(const struct theory_stable *);

#endif
