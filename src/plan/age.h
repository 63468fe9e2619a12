/* age.h - how many slices, how large: the plan of an Age-Partitioned Bloom filter. */
#ifndef AGE_H
#define AGE_H

#include "filter/filter.h"
#include "plan/theory_age.h"

#define AGE_GENERATIONS 255 /* the most that a window spans */

uint32_t age_slices(const struct filter_shape *); /* k+l */
uint64_t age_step(const struct filter_shape *);   /* length of a generation on the clock */

/* Decides k=, lines=, generations= and overload=, where `fixed` bytes are needed besides lines; and
 * predicts. */
int age_plan(struct seen_plan *, uint64_t fixed, struct seen_error *);

#endif
