/* stable.h - the geometry of the Stable Bloom filter, which its work (stable.c) and its plan share.
 */
#ifndef STABLE_H
#define STABLE_H

#include "spec/spec.h"
#include "table/table.h"
#include "window/window.h"

#define STABLE_STATE 128 /* bytes a shard takes besides its lines */

/* The most cells that spread=each picks.  It compares all of them, so none is picked twice. */
#define STABLE_MAX_EACH 256

/* Bits of a cell of 0 … max, and how many such cells a line has. */
static inline uint32_t stable_bits(uint64_t max) { return 64 - (uint32_t)__builtin_clzll(max); }
static inline uint32_t stable_a_line(uint64_t max) { return TABLE_BITS / stable_bits(max); }

static inline double stable_cells(const struct seen_spec *spec, uint64_t lines) {
    return (double)lines * stable_a_line(options_get(spec, OPTION_CELL_MAX));
}

int stable_plan(struct seen_plan *, struct seen_error *);

/* For streams whose gaps are known (stable_plan.c). */
struct forecast stable_forecast(const struct seen_plan *, const struct gap_law *);
bool stable_variant(struct seen_spec *, size_t i);

#endif
