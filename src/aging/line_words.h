/* line_words.h - the entries of a line as seven words: for machines without wide vectors. */
#ifndef LINE_WORDS_H
#define LINE_WORDS_H

#include "bits.h"

typedef struct {
    uint64_t w[8]; /* the last is 0 */
} vector;

ALWAYS_INLINE vector entries_load(const uint64_t *line) {
    vector v;
    memcpy(v.w, line, sizeof v.w);
    v.w[6] &= ((uint64_t)1 << 48) - 1;
    v.w[7] = 0;
    return v;
}

ALWAYS_INLINE void entries_store(uint64_t *line, vector v, uint64_t word6, uint64_t word7) {
    v.w[6] |= word6;
    v.w[7] = word7;
    memcpy(line, v.w, sizeof v.w);
}

ALWAYS_INLINE vector entries_drop(vector v, uint32_t n) {
    vector out = {{0}};
    uint32_t words = n / 64, bits = n % 64;
    for (uint32_t i = 0; i + words < 7; i++)
        out.w[i] = v.w[i + words] >> bits | v.w[i + words + 1] << 1 << (63 - bits);
    return out;
}

/* Bits of word i that lie below bit `at` of the line. */
ALWAYS_INLINE uint64_t below(uint32_t at, uint32_t i) {
    if (at >= 64 * i + 64) return ~(uint64_t)0;
    return at <= 64 * i ? 0 : ((uint64_t)1 << (at - 64 * i)) - 1;
}

ALWAYS_INLINE vector entries_cut(vector v, uint32_t at, uint32_t f) {
    for (uint32_t i = at / 64; i < 7; i++) {
        uint64_t keep = below(at, i), shifted = v.w[i] >> f | v.w[i + 1] << (64 - f);
        v.w[i] = (v.w[i] & keep) | (shifted & ~keep);
    }
    return v;
}

ALWAYS_INLINE vector entries_put(vector v, uint32_t at, uint64_t print) {
    v.w[at / 64] |= print << at % 64;
    v.w[at / 64 + 1] |= print >> 1 >> (63 - at % 64);
    return v;
}

/* An entry begins at a byte's bit 0 to 7 and ends within 8 bytes of it. */
ALWAYS_INLINE uint32_t entries_match_words(const uint64_t *line, uint64_t print, uint32_t f) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < LINE_PAYLOAD / f; i++) {
        uint64_t word;
        memcpy(&word, (const char *)line + i * f / 8, sizeof word);
        found |= (uint32_t)((word >> i * f % 8 & (((uint64_t)1 << f) - 1)) == print) << i;
    }
    return found;
}

#endif
