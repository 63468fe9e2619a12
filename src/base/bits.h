/* bits.h - the few arithmetic tricks that everything on the hot path shares. */
#ifndef BITS_H
#define BITS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* For code that is specialised by constant arguments. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* More than any stream has records or microseconds: no counter of a snapshot reaches it, so that
 * sums of them never overflow. */
#define COUNT_MOST ((uint64_t)1 << 62)

/* Some 36,000 years: sums of two times never overflow. */
#define TIME_MOST ((uint64_t)1 << 60)

__extension__ typedef unsigned __int128 bits_u128;

#define BITS_GOLDEN 0x9e3779b97f4a7c15u /* 2^64 over the golden ratio: steps that spread evenly */

/* Batches prefetch the memory of this many keys before they use the first. */
#define BITS_AHEAD 16

/* Purposes of bits_draw.  Probes draw 0 and up.  The other numbers are beyond all probes of the
 * structures that meet them, so that draws of one digest for different purposes are independent. */
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
    DRAW_HOME = 69  /* the sample of gaps: the key's slot */
};

/* High half of a product: maps a uniform 64-bit x to a uniform integer below n (Lemire 2019). */
static inline uint64_t bits_range(uint64_t x, uint64_t n) {
    return (uint64_t)(((bits_u128)x * n) >> 64);
}

/* Both halves of a product folded: one multiplication that mixes 128 bits into 64. */
static inline uint64_t bits_fold(uint64_t a, uint64_t b) {
    bits_u128 p = (bits_u128)a * b;
    return (uint64_t)p ^ (uint64_t)(p >> 64);
}

/* The i-th draw: 64 pseudo-random bits of a 128-bit value.  They are folded twice.  Folded once,
 * two values whose first draws agree in their top bits would agree in most other draws too, and a
 * filter would have about three independent probes only. */
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

/* The k-th 1 of x, from 0, alone; 0 where there are fewer. */
static inline uint64_t bits_nth(uint64_t x, uint64_t k) {
#ifdef __BMI2__
    return __builtin_ia32_pdep_di((uint64_t)1 << k % 64, x);
#else
    for (; k && x; k--) x &= x - 1;
    return x & -x;
#endif
}

/* The place of the lowest 1; 64 where there is none. */
static inline uint64_t bits_low(uint64_t x) {
#ifdef __BMI__
    return (uint64_t)__builtin_ia32_tzcnt_u64(x);
#else
    return x ? (uint64_t)__builtin_ctzll(x) : 64;
#endif
}

/* How many 0s are above the highest 1; 32 where there is none. */
static inline uint32_t bits_leading(uint32_t x) {
#ifdef __LZCNT__
    return __builtin_ia32_lzcnt_u32(x);
#else
    return x ? (uint32_t)__builtin_clz(x) : 32;
#endif
}

/* The place of the k-th 1 of x, from 0; 64 where there are fewer. */
static inline uint64_t bits_select(uint64_t x, uint64_t k) { return bits_low(bits_nth(x, k)); }

/* Fields of up to 56 bits anywhere in a table; eight bytes are touched, so it needs a tail. */
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

/* x without one of its bits, those above it moved down; x where that is 0. */
static inline uint64_t bits_without(uint64_t x, uint64_t bit) {
#ifdef __BMI2__
    return __builtin_ia32_pext_di(x, ~bit);
#else
    return (x & (bit - 1)) | (x >> 1 & ~(bit - 1));
#endif
}

/* How many bits are 1. */
static inline uint32_t bits_popcount(uint64_t x) {
#ifdef __POPCNT__
    return (uint32_t)__builtin_popcountll(x);
#else
    x -= x >> 1 & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
    return (uint32_t)(((x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u >> 56);
#endif
}

/* How many of n bytes, each 0 or 1, are 1. */
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
