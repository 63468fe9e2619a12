/* stable.h - the Stable Bloom filter as formulas.
 *
 *   [DR06]  Deng, Rafiei: Approximately Detecting Duplicates for Streaming Data using Stable Bloom
 *           Filters, SIGMOD 2006
 *
 * m cells of 0 … Max; each record decrements P of them, then sets K to Max.  So a cell is
 * decremented with probability p = P/m and set with probability k = K/m (uniform streams). */
#ifndef THEORY_STABLE_H
#define THEORY_STABLE_H

#include <stdint.h>

struct theory_stable {
    double m, K, P, Max;
};

/* P(a cell that began at 0 is 0 after n records): Eqs. 1-5; its limit for n to infinity: Eq. 7. */
double theory_stable_zero_after(double n, double Max, double p, double k);
double theory_stable_zero(double Max, double p, double k);

/* What the n-th record takes from it, never above 0: Eq. 6. */
double theory_stable_step(double n, double Max, double p, double k);

/* Least expected fraction of zeros, the stable point (Theorem 3), and the bound of the
 * false-positive rate at all times that follows (Eq. 8, Corollary 5). */
double theory_stable_zeros(const struct theory_stable *);
double theory_stable_fp(const struct theory_stable *);

/* P(a cell set `gap` records ago, and set in each with probability k, is 0): Eqs. 9-13.  A gap
 * counts the records between two of a key. */
double theory_stable_lost(double gap, double Max, double p, double k);

/* P(a key seen `gap` records ago is missed), were k = K/m: Eqs. 14, 16. */
double theory_stable_fn(const struct theory_stable *, double gap);

/* The k of a key that makes up `share` of the stream, phi being the stream's: Eq. 18 turned around;
 * with it Eq. 14 is Eq. 19.  As printed: the share is in k, though no record in the gap before a
 * duplicate is of its key, so a frequent key is missed as often as share = 0 says. */
double theory_stable_set(const struct theory_stable *, double share, double phi);
double theory_stable_fn_of(const struct theory_stable *, double gap, double share, double phi);

/* Mean of theory_stable_fn over gaps from 1 to `most`, all orders of magnitude alike: Eq. 15 over
 * its number of duplicates, under that distribution. */
double theory_stable_fn_mean(const struct theory_stable *, double most);

/* Max = 1: P(found) = [pi + (1-pi) e^(-(K+P)gap/m)]^K, pi = K/(K+P). */
double theory_stable_found_one(const struct theory_stable *, double gap);

/* The real P that gives Eq. 8 the value fp (Eq. 17), and the smallest whole one that keeps
 * Eq. 8 <= fp(1+1e-12); 0 where none below m does. */
double theory_stable_p(double m, double K, double Max, double fp);
double theory_stable_p_whole(double m, double K, double Max, double fp);

/* The K of 1 … 64 with the least theory_stable_fn_mean, P being as small as fp allows, whole or
 * real; the smallest of equals; 0 where no K will do. */
double theory_stable_best_k(double m, double Max, double fp, double most, int whole);

/* The gap at which half the keys are still found; 0 where even gap 1 is not. */
double theory_stable_reach(const struct theory_stable *);

#endif
