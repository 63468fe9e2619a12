/* generations.h - what planning a window of generations and running one share (generations.c tells
 * the idea). */
#ifndef GENERATIONS_H
#define GENERATIONS_H

#include "detector/detector.h"
#include "window/ring.h"

struct generations {
    struct ring ring;
    double others; /* rate of the full generations; where the filter is summed none errs apart: 0 */
    double unnoticed; /* part of a key, below 1, that is still to be added to the current load */
    uint64_t step;    /* length of a generation on the clock; 0: by landmark only */
    uint64_t load[];  /* keys stored in each live generation, at generation mod live; after them,
                         where the filter is summed, those of each that came again in a younger */
};

static inline uint64_t generations_tallies(const struct filter_shape *s) {
    return (uint64_t)s->live * (s->summed ? 2 : 1);
}

/* -- planning ----------------------------------------------------------------------------- */

uint64_t generations_step(const struct seen_spec *);
uint32_t generations_live(const struct seen_spec *);     /* how many are kept apart */
uint64_t generations_bytes(const struct filter_shape *); /* of the state, without the filter's */
uint64_t generations_size(const struct seen_spec *, const struct filter_theory *);
int generations_plan(struct seen_plan *, const struct filter_theory *, struct seen_error *);

#endif
