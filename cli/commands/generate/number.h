/* number.h - the arithmetic of `seen generate`: integers only, so that a stream has the same bytes
 * on every machine (libm and floating-point contraction differ from one to the next). */
#ifndef SEEN_GENERATE_NUMBER_H
#define SEEN_GENERATE_NUMBER_H

#include <stdint.h>

__extension__ typedef unsigned __int128 u128;

/* A bijection on 64 bits that looks random: the finaliser of SplitMix64 (Steele, Lea and Flood). */
static inline uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* The i-th number of the random sequence `key`; any of them can be had without the others. */
static inline uint64_t draw(uint64_t key, uint64_t i) {
    return mix(key + (i + 1) * 0x9e3779b97f4a7c15u);
}

/* 64 random bits -> uniform in 0 .. n-1. */
static inline uint64_t below(uint64_t random, uint64_t n) {
    return (uint64_t)((u128)random * n >> 64);
}

/* Logarithms are in units of 2^-LOG_BITS: 6 bits before the point, 58 after it. */
#define LOG_BITS 58
uint64_t fixed_log2(uint64_t x);     /* x >= 1 */
uint64_t fixed_exp2(uint64_t log2x); /* floor; log2x < 62 */

#endif
