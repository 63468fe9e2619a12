/* sliding.h - structures that stamp, and what no structure can go below; pure.
 *
 *   [Z08]  Zhang, Guan: Detecting Duplicates over Sliding Windows with Small Memory, INFOCOM 2008
 *   [I13]  Near-optimal Approximate Membership Query over Time-decaying Windows, INFOCOM 2013
 *   [C78]  Carter, Floyd, Gill, Markowsky, Wegman: Exact and Approximate Membership Testers, 1978
 *   [K24]  Kuszmaul, Walzer: Space Lower Bounds for Dynamic Filters, STOC 2024
 *   [N13]  Naor, Yogev: Sliding Bloom Filters, ISAAC 2013 */
#ifndef THEORY_SLIDING_H
#define THEORY_SLIDING_H

/* False-positive rate of a Timing Bloom filter of m cells, k a record, asked about a stretch of w
 * distinct keys: the cells they stamped are a Bloom filter's.  [Z08]; [I13] §II. */
double theory_timing(double m, double w, double k);

/* Its bits: m cells whose stamps tell apart the window and as much again.  [I13] §II. */
double theory_timing_bits(double m, double window);

/* False-positive rate of two tables of `lambda` cells that hold n keys in all, where a match is a
 * signature of s bits in one place and the other place with it: 1-(1-2^-s/lambda^2)^n, about
 * n 2^-s/lambda^2.  [I13] Theorem 1 bounds it by 2^(1-s)/lambda, with n <= 2 lambda. */
double theory_timed_cuckoo(double lambda, double n, double s);

/* Signature bits, a real number, that give it the value fp. */
double theory_timed_cuckoo_least(double lambda, double n, double fp);

/* Signature bits that [I13] Theorem 1 asks for: max(0, log2(1/fp) - log2 lambda + 1). */
double theory_timed_cuckoo_signature(double lambda, double fp);

/* Bits of its two tables, each cell a stamp of 1 + log2 of the window, a position and a signature.
 * [I13] Theorem 2 counts 2n cells for lambda = 2n; two tables of 2n are 4n. */
double theory_timed_cuckoo_bits(double window, double lambda, double s);

/* -- lower bounds, bits ------------------------------------------------------------------- */

/* An exact set of at most n keys of a universe: |U| H(n/|U|), or |U| where n is more than half;
 * some log2 n less.  [C78] */
double theory_bound_exact(double n, double universe);

double theory_bound_static(double n, double fp);  /* n log2(1/fp).  [C78] */
double theory_bound_dynamic(double n, double fp); /* n log2(1/fp) + n log2 e, 1.44n more.  [K24] */

/* Window n that may be kept up to `slack` records too long: n log2(1/fp) + n max(log2(n/slack),
 * log2 log2(1/fp)), less O(n).  slack 0 counts as 1.  [N13] Theorem 1.2. */
double theory_bound_sliding(double n, double slack, double fp);

/* (n - fp |U|) log2(n - fp |U|): 0, so says nothing, as soon as fp >= n/|U|.  [I13] Theorem 3. */
double theory_bound_decaying(double n, double universe, double fp);

#endif
