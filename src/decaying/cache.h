/* cache.h - the geometry of the fingerprint cache (cache.c), which its kernels and its plan share.
 */
#ifndef CACHE_H
#define CACHE_H

#include "table/table.h"
#include "window/window.h"

#define CACHE_MAX_WAYS 16
#define CACHE_STATE    64 /* bytes a shard takes besides its lines */
#define CACHE_NARROW   57 /* bits of a set that one load reaches, wherever it begins */

struct cache {
    uint64_t generation; /* landmarks before, and 1 */
    uint64_t landmarks;  /* counted */
    uint64_t stored;     /* entries since the last landmark */
    uint64_t reserved[5];
    uint64_t line[][8];
};

_Static_assert(sizeof(struct cache) == CACHE_STATE, "what the plan counts with");

struct cache_shape {
    uint64_t lines;
    uint32_t ways, bits, sets; /* entries a set, bits an entry, sets a line */
    bool renew;                /* a hit moves to the front */
};

/* Where a key belongs: the first bit of its set in a line, and its fingerprint, never 0. */
struct cache_place {
    uint64_t line;
    uint32_t bit;
    uint64_t fingerprint;
};

static inline uint32_t cache_sets(uint64_t ways, uint64_t bits) {
    return TABLE_BITS / (uint32_t)(ways * bits);
}

static inline uint64_t cache_values(uint64_t bits) { return ((uint64_t)1 << bits) - 1; }

/* The digest's low half gives the set, its high half the fingerprint.  For usual numbers of lines
 * and values 32 bits are uniform enough, and vector instructions compute several such places at
 * once. */
static inline struct cache_place cache_place(const struct cache_shape *g, seen_digest d) {
    uint64_t values = cache_values(g->bits);
    uint64_t fingerprint =
        1 + (g->bits <= 24 ? (d.hi >> 32) * values >> 32 : bits_range(d.hi, values));
    uint32_t set = (uint32_t)((d.lo & UINT32_MAX) * g->sets >> 32), wide = g->ways * g->bits;
    if (g->lines <= (uint64_t)1 << 24)
        return (struct cache_place){table_place(d.lo, g->lines), set * wide, fingerprint};
    struct cells_probe at = cells_place(d.lo, g->lines, g->sets);
    return (struct cache_place){at.line, at.cell * wide, fingerprint};
}

int cache_plan(struct seen_plan *, struct seen_error *);
struct forecast cache_forecast(const struct seen_plan *, const struct gap_law *);
bool cache_variant(struct seen_spec *, size_t i);

/* Tests and adds at most DETECTOR_BATCH records in order, with 512-bit registers. */
void cache_observe_avx512(struct cache *, const struct cache_shape *, size_t n, const seen_digest *,
                          uint8_t *verdict);

#endif
