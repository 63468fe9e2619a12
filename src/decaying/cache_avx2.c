/* cache_avx2.c - the portable fingerprint cache, compiled for AVX2: the places of a batch are found
 * four at a time. */
#include "decaying/cache_wide.h"

void cache_observe_avx2(struct cache *c, const struct cache_shape *g, size_t n,
                        const seen_digest *d, uint8_t *verdict) {
    observe_any(c, g, n, d, verdict);
}
