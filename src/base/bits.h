/* bits.h - arithmetic on bits and hashed values that the hot path shares. */
#ifndef BITS_H
#define BITS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* For code that is specialised by constant arguments. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* No stream has as many records or microseconds.  Loaders refuse counters that reach it, so sums of
 * counters never overflow. */
#define MAX_COUNT ((uint64_t)1 << 62)

/* About 36,000 years.  Sums of two times never overflow. */
#define MAX_TIME ((uint64_t)1 << 60)

__extension__ typedef unsigned __int128 bits_u128;

#define BITS_GOLDEN 0x9e3779b97f4a7c15u /* 2^64 divided by the golden ratio */

/* Batches prefetch the memory of this many keys before they use the first. */
#define BITS_AHEAD 16

/* Numbers of draws (bits_draw) for purposes other than probes.  Probes use 0 and up.  The numbers
 * here are higher than those of the probes of the same digest, so draws for different purposes are
 * independent. */
enum bits_draws {
    DRAW_SHARD = 64,  /* probes of age-partitioned follow it */
    DRAW_SAMPLE = 65, /* the control sample: is the key in it? */
    DRAW_TAG = 66,    /* the control sample: the key's tag */
    DRAW_COIN = 65,
    DRAW_HLL = 65,
    DRAW_TOP = 66,
    DRAW_DIGESTS = 67,
    DRAW_LATEST = 68,
    DRAW_PICK = 68, /* the sample of gaps: is the key in it? */
    DRAW_HOME = 69, /* the sample of gaps: the key's slot */
    DRAW_CLAIMS = 70
};

/* The high half of a product: maps a uniform 64-bit x to a uniform integer below n (Lemire 2019).
 */
static inline uint64_t bits_range(uint64_t x, uint64_t n) {
    return (uint64_t)(((bits_u128)x * n) >> 64);
}

/* The two halves of a product, combined by xor: one multiplication mixes 128 bits into 64. */
static inline uint64_t bits_fold(uint64_t a, uint64_t b) {
    bits_u128 p = (bits_u128)a * b;
    return (uint64_t)p ^ (uint64_t)(p >> 64);
}

/* The i-th draw: 64 pseudo-random bits that depend on a 128-bit value.  The value is folded twice.
 * After one fold, two values whose first draws agree in their top bits would agree in most other
 * draws too: a filter would have only about three independent probes. */
static inline uint64_t bits_draw(uint64_t lo, uint64_t hi, uint64_t i) {
    uint64_t once =
        bits_fold(lo + (i + 1) * BITS_GOLDEN, (hi ^ 0xd6e8feb86659fd93u) + i * 0xa0761d6478bd642fu);
    return bits_fold(once, 0x8ebc6af09c88c6e3u);
}

static inline uint64_t bits_min(uint64_t a, uint64_t b) { return a < b ? a : b; }
static inline uint64_t bits_max(uint64_t a, uint64_t b) { return a > b ? a : b; }
static inline uint64_t bits_ceil_div(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }

/* Returns x and hides its value from the compiler.  A choice that depends on x then compiles to
 * code without a branch, which is faster where a branch would often be mispredicted. */
static inline uint64_t bits_opaque(uint64_t x) {
    __asm__("" : "+r"(x));
    return x;
}

/* x with only its k-th 1 left, counted from 0; 0 if x has fewer. */
static inline uint64_t bits_nth(uint64_t x, uint64_t k) {
#ifdef __BMI2__
    return __builtin_ia32_pdep_di((uint64_t)1 << k % 64, x);
#else
    for (; k && x; k--) x &= x - 1;
    return x & -x;
#endif
}

/* The place of the lowest 1; 64 if x is 0. */
static inline uint64_t bits_low(uint64_t x) {
#ifdef __BMI__
    return (uint64_t)__builtin_ia32_tzcnt_u64(x);
#else
    return x ? (uint64_t)__builtin_ctzll(x) : 64;
#endif
}

/* The number of 0s above the highest 1; 32 if x is 0. */
static inline uint32_t bits_leading(uint32_t x) {
#ifdef __LZCNT__
    return __builtin_ia32_lzcnt_u32(x);
#else
    return x ? (uint32_t)__builtin_clz(x) : 32;
#endif
}

/* The place of the k-th 1 of x, counted from 0; 64 if x has fewer. */
static inline uint64_t bits_select(uint64_t x, uint64_t k) { return bits_low(bits_nth(x, k)); }

/* Read and write a field of up to 56 bits anywhere in a table.  Both touch eight bytes, so a table
 * needs seven spare bytes at its end. */
static inline uint64_t bits_field(const unsigned char *table, uint64_t bit, uint32_t bits) {
    uint64_t word;
    memcpy(&word, table + bit / 8, 8);
    return word >> bit % 8 & (((uint64_t)1 << bits) - 1);
}

static inline void bits_field_set(unsigned char *table, uint64_t bit, uint32_t bits,
                                  uint64_t value) {
    uint64_t word, mask = ((uint64_t)1 << bits) - 1;
    memcpy(&word, table + bit / 8, 8);
    word = (word & ~(mask << bit % 8)) | value << bit % 8;
    memcpy(table + bit / 8, &word, 8);
}

/* x with one bit removed and the bits above it moved down by one place; x if `bit` is 0. */
static inline uint64_t bits_without(uint64_t x, uint64_t bit) {
#ifdef __BMI2__
    return __builtin_ia32_pext_di(x, ~bit);
#else
    return (x & (bit - 1)) | (x >> 1 & ~(bit - 1));
#endif
}

/* The number of 1s in x. */
static inline uint32_t bits_popcount(uint64_t x) {
#ifdef __POPCNT__
    return (uint32_t)__builtin_popcountll(x);
#else
    x -= x >> 1 & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
    return (uint32_t)(((x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u >> 56);
#endif
}

/* The number of 1s among n bytes, each 0 or 1. */
static inline size_t bits_count(const uint8_t *bytes, size_t n) {
    size_t i = 0, sum = 0;
    for (uint64_t eight; i + 8 <= n; i += 8) {
        memcpy(&eight, bytes + i, 8);
        sum += eight * 0x0101010101010101u >> 56;
    }
    for (; i < n; i++) sum += bytes[i];
    return sum;
}

#endif
