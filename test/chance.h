/* chance.h - what tests draw: the same in every run, unless SEEN_SEED names another. */
#ifndef CHANCE_H
#define CHANCE_H

#include <stdint.h>
#include <stdlib.h>

static inline uint64_t chance_seed(uint64_t usual) {
    const char *text = getenv("SEEN_SEED");
    return text ? strtoull(text, NULL, 0) : usual;
}

/* SplitMix64. */
static inline uint64_t chance_next(uint64_t *rng) {
    uint64_t z = *rng += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static inline double chance_uniform(uint64_t *rng) {
    return (double)(chance_next(rng) >> 11) * 0x1p-53;
}

#endif
