/* age.h - plans an Age-Partitioned Bloom filter: the number of slices and their size. */
#ifndef AGE_H
#define AGE_H

#include "theory/bloom.h"
#include "theory/shape.h"

#define AGE_GENERATIONS 255 /* the most in a window */

uint32_t age_slices(const struct filter_shape *); /* k+l */
uint64_t age_step(const struct filter_shape *);   /* length of a generation on the clock */

/* Decides k=, blocks=, generations= and overload=, and predicts errors.  `fixed` is the number of
 * bytes needed besides lines. */
int age_plan(struct seen_plan *, uint64_t fixed, struct seen_error *);

#endif
