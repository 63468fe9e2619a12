/* formulas.h - the paper's equations (theory/stable.h) beside filters on streams of different
 * keys: figures 1 and 2, Observation 1, Eqs. 7, 8 and 17. */
#ifndef FORMULAS_H
#define FORMULAS_H

#include "seen.h"

enum { CELLS = 496 }; /* of one bit in a line */

double zeros_of(const seen_detector *); /* the fraction of a stable filter's cells that are 0 */

/* Experiments. */
void hashes(void);
void gaps(void);
void observation(void);
void bound(void);

#endif
