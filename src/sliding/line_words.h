/* line_words.h - the entries of a line as seven words: for machines without wide vectors. */
#ifndef LINE_WORDS_H
#define LINE_WORDS_H

#include "sliding/line.h"

typedef struct {
    uint64_t w[7];
} vector;

/* Bits of word i that lie below bit `at` of the line. */
ALWAYS_INLINE uint64_t below(uint32_t at, uint32_t i) {
    if (at >= 64 * i + 64) return ~(uint64_t)0;
    return at <= 64 * i ? 0 : ((uint64_t)1 << (at - 64 * i)) - 1;
}

ALWAYS_INLINE uint64_t word_at(const uint64_t *w, uint32_t i, uint32_t bit) {
    uint32_t from = i + bit / 64;
    return w[from] >> bit % 64 | w[from + 1] << 1 << (63 - bit % 64);
}

ALWAYS_INLINE vector entries_shift(const uint64_t *line, uint32_t gone, uint32_t at, uint32_t count,
                                   uint32_t f) {
    (void)count;
    uint64_t w[16] = {0};
    memcpy(w, line, LINE_PAYLOAD / 8);
    vector v;
    for (uint32_t i = 0; i < 7; i++) {
        uint64_t keep = below(at * f, i);
        v.w[i] = (word_at(w, i, gone * f) & keep) | (word_at(w, i, gone * f + f) & ~keep);
    }
    return v;
}

ALWAYS_INLINE vector entries_put(vector v, uint32_t at, uint64_t print, uint32_t f) {
    uint32_t bit = at * f;
    v.w[bit / 64] |= print << bit % 64;
    if (bit % 64 + f > 64) v.w[bit / 64 + 1] |= print >> (64 - bit % 64);
    return v;
}

ALWAYS_INLINE void entries_store(uint64_t *line, vector v, uint64_t word6, uint64_t word7) {
    v.w[6] |= word6;
    memcpy(line, v.w, sizeof v.w);
    line[7] = word7;
}

/* An entry begins at a byte's bit 0 to 7 and ends within 8 bytes of it. */
ALWAYS_INLINE uint32_t entries_match(const uint64_t *line, uint64_t print, uint32_t f) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < LINE_PAYLOAD / f; i++) {
        uint64_t word;
        memcpy(&word, (const char *)line + i * f / 8, sizeof word);
        found |= (uint32_t)((word >> i * f % 8 & (((uint64_t)1 << f) - 1)) == print) << i;
    }
    return found;
}

#endif
