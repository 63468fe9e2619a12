/* scan.h - finds certain bytes in a buffer.  64 bytes at a time become a mask of 64 bits, and a
 * cursor walks over its ones.  The masks are the same with SSE2 and with plain 64-bit words.  Reads
 * up to READ_SLACK bytes beyond the end. */
#ifndef SEEN_SCAN_H
#define SEEN_SCAN_H

#include <stdint.h>
#include <string.h>

#if defined(__SSE2__) && !defined(SEEN_PORTABLE)
#include <emmintrin.h>

struct needles {
    __m128i a, b, c;
};

static inline struct needles needles(char a, char b, char c) {
    return (struct needles){_mm_set1_epi8(a), _mm_set1_epi8(b), _mm_set1_epi8(c)};
}

static inline uint64_t mask16(const char *p, const struct needles *x) {
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
    __m128i hit = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, x->a), _mm_cmpeq_epi8(v, x->b)),
                               _mm_cmpeq_epi8(v, x->c));
    return (uint32_t)_mm_movemask_epi8(hit);
}

static inline uint64_t mask64(const char *p, const struct needles *x) {
    return mask16(p, x) | mask16(p + 16, x) << 16 | mask16(p + 32, x) << 32 |
           mask16(p + 48, x) << 48;
}
#else
struct needles {
    uint64_t a, b, c; /* the byte, eight times */
};

static inline struct needles needles(char a, char b, char c) {
    const uint64_t ones = 0x0101010101010101;
    return (struct needles){ones * (uint8_t)a, ones * (uint8_t)b, ones * (uint8_t)c};
}

/* 0x80 in every byte of x that is zero, and nothing else. */
static inline uint64_t zero_bytes(uint64_t x) {
    const uint64_t low = 0x7f7f7f7f7f7f7f7f;
    return ~(((x & low) + low) | x | low);
}

static inline uint64_t mask8(const char *p, const struct needles *x) {
    uint64_t v;
    memcpy(&v, p, 8); /* little-endian: the first byte is the lowest bit */
    uint64_t hit = zero_bytes(v ^ x->a) | zero_bytes(v ^ x->b) | zero_bytes(v ^ x->c);
    return (hit >> 7) * 0x0102040810204080 >> 56;
}

static inline uint64_t mask64(const char *p, const struct needles *x) {
    uint64_t m = 0;
    for (int i = 0; i < 64; i += 8) m |= mask8(p + i, x) << i;
    return m;
}
#endif

struct cursor {
    const char *block, *end; /* `mask` is of the 64 bytes at `block` */
    uint64_t mask;           /* those not yet visited */
    struct needles needles;
};

static inline void cursor_load(struct cursor *c) {
    c->mask = mask64(c->block, &c->needles);
    size_t left = (size_t)(c->end - c->block);
    if (left < 64) c->mask &= (UINT64_C(1) << left) - 1;
}

static inline struct cursor cursor_at(const char *p, const char *end, struct needles x) {
    struct cursor c = {p, end, 0, x};
    if (p < end) cursor_load(&c);
    return c;
}

/* The next place where one of the bytes stands, or `end`. */
static inline const char *cursor_next(struct cursor *c) {
    while (!c->mask) {
        if (c->end - c->block <= 64) return c->end;
        c->block += 64;
        cursor_load(c);
    }
    const char *at = c->block + __builtin_ctzll(c->mask);
    c->mask &= c->mask - 1;
    return at;
}

#endif
