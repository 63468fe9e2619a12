/* rotation.h - generations on one clock: when the next begins, and how long ago the others were.
 *
 *     ┤ ago 2 ┤ ago 1 ┤ current ──►├ boundary
 *     └ step ─┘       └ start
 *
 * They are numbered logically: a silence that outlasts them all moves the boundary, but not the
 * number by more than there are, so that 16-bit stamps of it cannot wrap unswept (table.h). */
#ifndef ROTATION_H
#define ROTATION_H

#include "base/bits.h"
#include "seen.h"

#include <stdbool.h>

/* A snapshot keeps it. */
struct rotation {
    uint64_t generation; /* logical number of the current one; as many as live exist before it */
    uint64_t boundary;   /* clock at which the next begins; UINT64_MAX: by landmark only */
    uint64_t begun;      /* generations (sliding: windows) begun after the first with something */
};

/* Generations that begin up to clock `at`, the last of them around it. */
static inline uint64_t rotation_steps(const struct rotation *r, uint64_t step, uint64_t at) {
    return at < r->boundary ? 0 : (at - r->boundary) / step + 1;
}

/* How many of n records, in order, from the first on are before the boundary. */
static inline uint64_t rotation_run(const struct rotation *r, uint64_t n, const uint64_t *at) {
    uint64_t run = n;
    if (at[n - 1] >= r->boundary)
        for (run = 0; at[run] < r->boundary;) run++;
    return run;
}

/* The clock at which the generation around `at` begins. */
static inline uint64_t rotation_start(const struct rotation *r, uint64_t step, uint64_t at) {
    uint64_t boundary = r->boundary + rotation_steps(r, step, at) * step;
    return step && boundary > step ? boundary - step : 0;
}

/* The least age, for the record at `at`, of one `ago` generations before the one that began at
 * `start`. */
static inline uint64_t rotation_age(const struct seen_spec *spec, uint64_t step, uint64_t start,
                                    uint64_t at, uint32_t ago) {
    if (!ago) return spec->unit == SEEN_UNIT_MICROSECONDS ? 0 : 1;
    return at - start + 1 + (ago - 1) * step;
}

/* Checks a rotation that was loaded, for `live` generations and a first boundary at `first`. */
static inline bool rotation_sane(const struct rotation *r, const struct seen_spec *spec,
                                 uint64_t step, uint64_t first, uint32_t live) {
    bool clocked = step ? r->boundary >= bits_min(first, step) && r->boundary < MAX_COUNT
                        : r->boundary == UINT64_MAX;
    bool aligned = !step || spec->unit == SEEN_UNIT_RECORDS || (r->boundary - first) % step == 0;
    return clocked && aligned && r->generation >= live && r->generation < MAX_COUNT &&
           r->begun < MAX_COUNT;
}

#endif
