/* vectors.h - bit vectors over all substrings of a key: what Metwally, Agrawal, El Abbadi,
 * WWW 2005, §4 and figure 2 leave uncounted. */
#ifndef THEORY_VECTORS_H
#define THEORY_VECTORS_H

#include <stdint.h>

/* P(a window of p bits of a new key is one of n stored keys' there): 1-(1-2^-p)^n. */
double theory_substring(uint32_t p, double n);

/* P(all b-p+1 windows are): the false-positive rate, for keys of b uniform bits.
 *
 * Windows that overlap are not independent: a stored key that agrees with the new one in window j
 * agrees in window j+1 if one more bit does.  So the number M of stored keys that agree is a Markov
 * chain: half of them stay, and as many new ones come,
 *
 *     M_0 ~ Poisson(a),  M_{j+1} = Binomial(M_j, 1/2) + Poisson(a/2),  a = n 2^-p,
 *
 * and the rate is P(M_j >= 1 for all j).  Where M_j = 0 the chain forgets its past, so that this is
 * a renewal process: with u_d = P(M_{j+d} = 0 | M_j = 0) = exp(-a(1-2^-d)) and S_i the chance of i
 * covered windows after an uncovered one,
 *
 *     S_i = sum over m < i of S_m (u_{i-1-m} - u_{i-m}),
 *     P = sum over m <= b-p of S_m (u_{b-p-m} - e^-a).
 *
 * No term is negative: a rate of 1e-30 is as exact as one of 1e-3.  That is for a Poisson number of
 * keys; of exactly n keys it is P - n/2 P"(n), some percent less where 2^p is small.  Left out are
 * keys that agree, part, and agree again over p bits: one in 2^p. */
double theory_substrings(uint32_t b, uint32_t p, double n);
double theory_substrings_scattered(uint32_t b, uint32_t p, double n); /* P itself */

#endif
