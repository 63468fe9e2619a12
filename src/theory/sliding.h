/* sliding.h - sliding windows as pure formulas: structures that stamp, `line`, and lower bounds
 * of memory for every structure.
 *
 *   [Z08]  Zhang, Guan: Detecting Duplicates over Sliding Windows with Small Memory, INFOCOM 2008
 *   [I13]  Near-optimal Approximate Membership Query over Time-decaying Windows, INFOCOM 2013
 *   [E17]  Erlang: Solution of some problems in the theory of probabilities of significance in
 *          automatic telephone exchanges, 1917 (the loss formula)
 *   [C78]  Carter, Floyd, Gill, Markowsky, Wegman: Exact and Approximate Membership Testers, 1978
 *   [K24]  Kuszmaul, Walzer: Space Lower Bounds for Dynamic Filters, STOC 2024
 *   [N13]  Naor, Yogev: Sliding Bloom Filters, ISAAC 2013 */
#ifndef THEORY_SLIDING_H
#define THEORY_SLIDING_H

#include <stdint.h>

/* -- structures that stamp ---------------------------------------------------------------- */

/* The false-positive rate of a Timing Bloom filter of m cells, k of them stamped by each record,
 * for a window of w distinct keys: the cells they stamped are a Bloom filter's.  [Z08]; [I13] §II.
 */
double theory_timing(double m, double w, double k);

/* Its memory in bits: m cells with stamps that tell apart twice the window.  [I13] §II. */
double theory_timing_bits(double m, double window);

/* The false-positive rate of two tables of `lambda` cells that hold n keys together.  A match needs
 * the same place, the same other place and the same signature of s bits: 1-(1-2^-s/lambda^2)^n,
 * about n 2^-s/lambda^2.  [I13] Theorem 1 bounds it by 2^(1-s)/lambda, with n <= 2 lambda. */
double theory_timed_cuckoo(double lambda, double n, double s);

/* The number of signature bits, a real number, at which that rate is fp. */
double theory_timed_cuckoo_least(double lambda, double n, double fp);

/* The signature bits of [I13] Theorem 1: max(0, log2(1/fp) - log2 lambda + 1). */
double theory_timed_cuckoo_signature(double lambda, double fp);

/* The memory of its two tables in bits.  A cell has a stamp of 1 + log2(window) bits, a position
 * and a signature. [I13] Theorem 2 counts 2n cells for lambda = 2n; two tables of 2n are 4n. */
double theory_timed_cuckoo_bits(double window, double lambda, double s);

/* -- line --------------------------------------------------------------------------------- */

/* Derived for this project.  Keys enter a line of c entries at random, and each leaves after a
 * window.  So a line behaves as a telephone exchange with c circuits: the number of keys that it
 * holds is a Poisson number, cut off at c.  `mean` is the average of it: the keys in the window and
 * its slack, divided by the number of lines.  `room` is c. */

#define THEORY_LINE_CLASSES 6 /* of fingerprints, each with marks of its own */

/* P(a new key finds its line full), by [E17].  The load offered is the one that leaves `mean`
 * entries in a line. */
double theory_line_full(double mean, uint32_t room);

/* `epoch`: the part of an epoch that has passed.  Most marks are set at its end. */
#define THEORY_LINE_MEAN .5
#define THEORY_LINE_END  1.

/* P(the mark of a key's class is set), because a key of that class came while the line was full.
 * Marks of this epoch and the one before count.  Keys that find a line full come in clusters, so
 * the two epochs count as .86 of an epoch when one begins and as 1.74 when it ends.  Both factors
 * are fitted: with them the number of lines touched is right within 2 %. */
double theory_line_marked(double mean, uint32_t room, double epoch);

/* The number of lines in which a new record is searched: its first line and those behind marks. */
double theory_line_looked(double mean, uint32_t room, double epoch);

/* The number of lines that a new record touches: those searched, and the next one if the first was
 * full and not marked. */
double theory_line_touched(double mean, uint32_t room, double epoch);

/* The number of entries that a key is compared with.  Lines hold `held` entries now, and `mean` on
 * average over the epochs that set the marks.  A key is compared with all entries of its lines.  It
 * is also compared with entries that moved on from one of its lines to the same next line.  Their
 * number is fitted: twice those that moved on from its first line. */
double theory_line_alike(double held, double mean, uint32_t room, double epoch);

/* The false-positive rate with fingerprints of `bits` bits: 2^-bits for each such entry. */
double theory_line_fp(double held, double mean, uint32_t room, uint32_t bits, double epoch);

/* The mean number of entries in a line at which the share `full` of all keys finds its line full.
 */
double theory_line_mean(double full, uint32_t room);

/* -- lower bounds, bits ------------------------------------------------------------------- */

/* An exact set of at most n keys of a universe U: |U| H(n/|U|), or |U| if n is more than half of
 * it; about log2 n less.  [C78] */
double theory_bound_exact(double n, double universe);

double theory_bound_static(double n, double fp);  /* n log2(1/fp).  [C78] */
double theory_bound_dynamic(double n, double fp); /* n log2(1/fp) + n log2 e, 1.44n more.  [K24] */

/* A window of n keys that may be kept up to `slack` records too long: n log2(1/fp) + n
 * max(log2(n/slack), log2 log2(1/fp)), less O(n).  slack 0 counts as 1.  [N13] Theorem 1.2. */
double theory_bound_sliding(double n, double slack, double fp);

/* (n - fp |U|) log2(n - fp |U|); 0, which bounds nothing, for fp >= n/|U|.  [I13] Theorem 3. */
double theory_bound_decaying(double n, double universe, double fp);

#endif
