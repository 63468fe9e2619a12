/* buffer.h - buffers of the keys used most recently as formulas.
 *
 *   [DR06]   Deng, Rafiei: Approximately Detecting Duplicates for Streaming Data using Stable Bloom
 *            Filters, SIGMOD 2006
 *   [BNW03]  Broder, Najork, Wiener: Efficient URL Caching for World Wide Web Crawling, WWW 2003
 *
 * The stack distance of a duplicate is the number of different other keys since its own.  A buffer
 * of C keys under LRU holds the C used last, so it misses a duplicate if and only if its distance
 * is C or more: [DR06] 2.2 and 5.2, [BNW03]. */
#ifndef THEORY_BUFFER_H
#define THEORY_BUFFER_H

#include <stdint.h>

/* Share of the duplicates that are missed: weight[d], a count or a probability, are at distance d,
 * of 0 … n-1; 0 where there are none. */
double theory_buffer_fn(const double *weight, uint64_t n, double capacity);

/* The same where distances go up to `most`, every order of magnitude alike: 1 - log C / log most.
 */
double theory_buffer_fn_spread(double capacity, double most);

/* FPbuffering: what the buffer misses is found with probability q all the same.  [DR06] 5.2. */
double theory_buffer_fn_coin(double fn, double q);

#endif
