/* cache_wide.h - the portable touch_wide of cache_kernel.h: wide sets of the fingerprint cache by
 * words of 64 bits; and its sets read entry by entry. */
#ifndef CACHE_WIDE_H
#define CACHE_WIDE_H

#include "decaying/cache_kernel.h"

/* The entry of a set that holds the fingerprint; `ways` if none does. */
static inline uint32_t position(const struct cache_shape *g, const uint64_t *line, uint32_t bit,
                                uint64_t fingerprint) {
    for (uint32_t i = 0; i < g->ways; i++, bit += g->bits)
        if (entry(line, bit, g->bits) == fingerprint) return i;
    return g->ways;
}

static inline uint32_t held(const struct cache_shape *g, const uint64_t *line, uint32_t bit) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->ways; i++, bit += g->bits) n += entry(line, bit, g->bits) != 0;
    return n;
}

/* The bits of the word that begins at `first`, below `bit`. */
static inline uint64_t below(uint32_t first, uint32_t bit) {
    if (bit <= first) return 0;
    return bit - first >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << (bit - first)) - 1;
}

/* From the highest word down, as each takes bits from the one below. */
static bool touch_wide(struct cache *c, const struct cache_shape *g, uint64_t *line, uint32_t bit,
                       uint64_t fingerprint) {
    uint32_t at = position(g, line, bit, fingerprint), last = g->ways - 1;
    bool found = at < g->ways;
    if (found && !g->renew) return true;
    c->stored += !found && !entry(line, bit + last * g->bits, g->bits);
    uint32_t enter = bit + g->bits, to = enter + (found ? at : last) * g->bits;
    for (uint32_t i = (to - 1) / 64 + 1; i-- > bit / 64;) {
        uint32_t first = i * 64;
        uint64_t up = line[i] << g->bits | (i ? line[i - 1] >> (64 - g->bits) : 0);
        uint64_t mask = below(first, to) & ~below(first, bit);
        uint64_t own = first <= bit    ? fingerprint << (bit - first)
                       : first < enter ? fingerprint >> (first - bit)
                                       : 0;
        line[i] = (line[i] & ~mask) | (up & mask & ~below(first, enter)) | own;
    }
    return found;
}

#endif
