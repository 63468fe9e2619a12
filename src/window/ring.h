/* ring.h - generations on one clock: when the next begins, and how long ago the others were.
 *
 *     ┤ ago 2 ┤ ago 1 ┤ current ──►├ boundary
 *     └ step ─┘       └ start
 *
 * They are numbered logically: a silence that outlasts them all moves the boundary, but not the
 * number by more than there are, so that 16-bit stamps of it cannot wrap unswept (table.h). */
#ifndef RING_H
#define RING_H

#include "seen.h"

#include <stdbool.h>

/* A snapshot keeps it. */
struct ring {
    uint64_t generation; /* logical number of the current one; as many as live exist before it */
    uint64_t boundary;   /* clock at which the next begins; UINT64_MAX: by landmark only */
    uint64_t begun;      /* generations (sliding: windows) begun after the first with something */
};

/* Generations that begin up to clock `at`, the last of them around it. */
uint64_t ring_steps(const struct ring *, uint64_t step, uint64_t at);

/* How many of n records, in order, from the first on are before the boundary. */
uint64_t ring_run(const struct ring *, uint64_t n, const uint64_t *at);

/* The clock at which the generation around `at` begins. */
uint64_t ring_start(const struct ring *, uint64_t step, uint64_t at);

/* The least age, for the record at `at`, of one `ago` generations before the one that began at
 * `start`. */
static inline uint64_t ring_age(const struct seen_spec *spec, uint64_t step, uint64_t start,
                                uint64_t at, uint32_t ago) {
    if (!ago) return spec->unit == SEEN_UNIT_MICROSECONDS ? 0 : 1;
    return at - start + 1 + (ago - 1) * step;
}

/* Checks a ring that was loaded, for `live` generations and a first boundary at `first`. */
bool ring_sane(const struct ring *, const struct seen_spec *, uint64_t step, uint64_t first,
               uint32_t live);

#endif
