/* age.h - the Age-Partitioned Bloom filter; pure.
 *
 *   [S20]  Shtul, Baquero, Almeida: Age-Partitioned Bloom Filters, arXiv:2001.03147, 2020
 *
 * Slices are numbered by age, 0 being the youngest; a key is there if k slices in a row match. */
#ifndef THEORY_AGE_H
#define THEORY_AGE_H

#include <stdint.h>

#define THEORY_AGE_K      64     /* the most that k may be, */
#define THEORY_AGE_SLICES 320    /* and that slices may */
#define THEORY_AGE_LEAST  1e-300 /* rates below are 0 */

/* Fill ratios of slices of m cells while the youngest is `lead` (0 to 1) through its generation of
 * n keys: each takes the keys of k generations, so slice i has had those of min(i + lead, k), but
 * `most` different ones at the most. */
void theory_age_fill(double *fill, uint32_t slices, uint32_t k, double m, double n, double most,
                     double lead);

/* False-positive rate of slices with these fills: the probability that k in a row match.  Slices
 * are independent.  [S20] computes it by a recursion over runs.  Here it is a sum over the end of
 * the first run, whose terms are all positive: slices i-k+1 to i match, i-k does not, and no run
 * comes before. */
double theory_age(const double *fill, uint32_t slices, uint32_t k);

/* The same with the fills of theory_age_fill, sooner: from slice k on they are alike. */
double theory_age_steady(uint32_t slices, uint32_t k, double m, double n, double most, double lead);

/* Slices from `first` on that a key never met is expected to be looked up in, where the youngest
 * run is searched, the oldest slice of a run first, and a miss passes over all runs with it. */
double theory_age_probes(const double *fill, uint32_t slices, uint32_t k, uint32_t first);

#endif
