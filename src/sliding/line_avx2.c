/* line_avx2.c - a line in two 256-bit registers. */
#include "sliding/line.h"

#include <immintrin.h>

typedef struct {
    __m256i low, high; /* words 0 to 3, and 4 to 7 */
} vector;

/* -- comparing: entries of up to 24 bits eight at a time, others four ---------------------- */

/* Four entries from the byte at which they begin, each in a 32-bit lane. */
ALWAYS_INLINE __m128i spread(const char *byte, uint32_t f) {
    __m128i lane = _mm_setr_epi32(0, (int)f, (int)(2 * f), (int)(3 * f));
    __m128i bytes = _mm_mullo_epi32(_mm_srli_epi32(lane, 3), _mm_set1_epi32(0x01010101));
    bytes = _mm_add_epi32(bytes, _mm_set1_epi32(0x03020100));
    __m128i entries = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)byte), bytes);
    return _mm_srlv_epi32(entries, _mm_and_si128(lane, _mm_set1_epi32(7)));
}

/* Eight entries take f bytes, and four of an even width f/2. */
ALWAYS_INLINE uint32_t match_narrow(const uint64_t *line, uint64_t print, uint32_t f) {
    __m256i wanted = _mm256_set1_epi32((int)print), mask = _mm256_set1_epi32((1 << f) - 1);
    uint32_t found = 0;
    for (uint32_t i = 0; i < (LINE_PAYLOAD / f + 7) / 8; i++) {
        const char *byte = (const char *)line + i * f;
        __m256i entries = _mm256_set_m128i(spread(byte + f / 2, f), spread(byte, f));
        __m256i same = _mm256_cmpeq_epi32(_mm256_and_si256(entries, mask), wanted);
        found |= (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(same)) << 8 * i;
    }
    return found;
}

/* Lanes of 16 bits are compared in place. */
ALWAYS_INLINE uint32_t match_lanes(const uint64_t *line, uint64_t print) {
    const __m256i *half = (const __m256i *)(const void *)line;
    __m256i wanted = _mm256_set1_epi16((short)print);
    __m256i same = _mm256_packs_epi16(_mm256_cmpeq_epi16(half[0], wanted),
                                      _mm256_cmpeq_epi16(half[1], wanted));
    return (uint32_t)_mm256_movemask_epi8(_mm256_permute4x64_epi64(same, 0xd8));
}

/* The word whose lowest bits are what begins at a bit; the line ends in it. */
ALWAYS_INLINE int64_t word_from(const uint64_t *line, uint32_t bit) {
    int64_t word;
    uint32_t byte = bit / 8 > 56 ? 56 : bit / 8;
    memcpy(&word, (const char *)line + byte, sizeof word);
    return word;
}

ALWAYS_INLINE uint32_t match_wide(const uint64_t *line, uint64_t print, uint32_t f) {
    __m256i wanted = _mm256_set1_epi64x((int64_t)print);
    __m256i mask = _mm256_set1_epi64x((int64_t)(((uint64_t)1 << f) - 1));
    uint32_t found = 0;
    for (uint32_t i = 0; i < LINE_PAYLOAD / f; i += 4) {
        uint32_t bit = i * f;
        __m256i entries =
            _mm256_set_epi64x(word_from(line, bit + 3 * f), word_from(line, bit + 2 * f),
                              word_from(line, bit + f), word_from(line, bit));
        __m256i shift =
            _mm256_set_epi64x((bit + 3 * f) % 8, (bit + 2 * f) % 8, (bit + f) % 8, bit % 8);
        entries = _mm256_and_si256(_mm256_srlv_epi64(entries, shift), mask);
        __m256i same = _mm256_cmpeq_epi64(entries, wanted);
        found |= (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(same)) << i;
    }
    return found;
}

ALWAYS_INLINE uint32_t entries_match(const uint64_t *line, uint64_t print, uint32_t f) {
    if (f == 16) return match_lanes(line, print);
    return f <= 24 ? match_narrow(line, print, f) : match_wide(line, print, f);
}

/* -- moving ------------------------------------------------------------------------------- */

ALWAYS_INLINE vector entries_load(const uint64_t *line) {
    const __m256i *half = (const __m256i *)(const void *)line;
    __m256i payload = _mm256_set_epi64x(0, ((int64_t)1 << 48) - 1, -1, -1);
    return (vector){half[0], _mm256_and_si256(half[1], payload)};
}

/* Words n, n+1, ... of v, and zeros. */
ALWAYS_INLINE vector drop_words(vector v, uint32_t n) {
    __m256i lane = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0), eight = _mm256_set1_epi32(8);
    __m256i from = _mm256_add_epi32(lane, _mm256_set1_epi32((int)(2 * n)));
    __m256i low = _mm256_permutevar8x32_epi32(v.low, from);
    __m256i high = _mm256_permutevar8x32_epi32(v.high, from);
    __m256i in_low = _mm256_cmpgt_epi32(eight, from);
    __m256i in_high = _mm256_cmpgt_epi32(_mm256_add_epi32(eight, eight), from);
    high = _mm256_and_si256(high, in_high);
    return (vector){_mm256_blendv_epi8(high, low, in_low), _mm256_and_si256(high, in_low)};
}

/* Words 1, 2, ... of v, and a zero. */
ALWAYS_INLINE vector next_words(vector v) {
    __m256i low = _mm256_blend_epi32(v.low, v.high, 0x03);
    __m256i high = _mm256_blend_epi32(v.high, _mm256_setzero_si256(), 0x03);
    return (vector){_mm256_permute4x64_epi64(low, 0x39), _mm256_permute4x64_epi64(high, 0x39)};
}

/* Without the lowest n < 64 bits. */
ALWAYS_INLINE vector drop_bits(vector v, uint32_t n) {
    __m128i down = _mm_cvtsi32_si128((int)n), up = _mm_cvtsi32_si128((int)(64 - n));
    vector next = next_words(v);
    return (vector){
        _mm256_or_si256(_mm256_srl_epi64(v.low, down), _mm256_sll_epi64(next.low, up)),
        _mm256_or_si256(_mm256_srl_epi64(v.high, down), _mm256_sll_epi64(next.high, up))};
}

/* Bit `at` as seen from the beginning of each word. */
ALWAYS_INLINE __m256i from_low(uint32_t at) {
    return _mm256_sub_epi64(_mm256_set1_epi64x(at), _mm256_set_epi64x(192, 128, 64, 0));
}
ALWAYS_INLINE __m256i from_high(uint32_t at) {
    return _mm256_sub_epi64(_mm256_set1_epi64x(at), _mm256_set_epi64x(448, 384, 320, 256));
}

/* v below a bit of each word, which may be far off, and w from there on. */
ALWAYS_INLINE __m256i join(__m256i v, __m256i w, __m256i bit) {
    __m256i all = _mm256_set1_epi64x(-1), before = _mm256_cmpgt_epi64(_mm256_setzero_si256(), bit);
    __m256i above = _mm256_or_si256(_mm256_sllv_epi64(all, bit), before);
    return _mm256_xor_si256(v, _mm256_and_si256(_mm256_xor_si256(v, w), above));
}

ALWAYS_INLINE vector entries_shift(const uint64_t *line, uint32_t gone, uint32_t at, uint32_t count,
                                   uint32_t f) {
    (void)count;
    vector v = drop_bits(drop_words(entries_load(line), gone * f / 64), gone * f % 64);
    vector w = drop_bits(v, f);
    return (vector){join(v.low, w.low, from_low(at * f)), join(v.high, w.high, from_high(at * f))};
}

/* Shifted by more than a word, or by less than nothing, nothing is left. */
ALWAYS_INLINE __m256i place(__m256i v, uint64_t print, __m256i bit) {
    __m256i value = _mm256_set1_epi64x((int64_t)print);
    __m256i back = _mm256_sub_epi64(_mm256_setzero_si256(), bit);
    v = _mm256_or_si256(v, _mm256_sllv_epi64(value, bit));
    return _mm256_or_si256(v, _mm256_srlv_epi64(value, back));
}

ALWAYS_INLINE vector entries_put(vector v, uint32_t at, uint64_t print, uint32_t f) {
    return (vector){place(v.low, print, from_low(at * f)), place(v.high, print, from_high(at * f))};
}

ALWAYS_INLINE void entries_store(uint64_t *line, vector v, uint64_t word6, uint64_t word7) {
    uint16_t top = (uint16_t)(word6 >> 48);
    _mm256_store_si256((__m256i *)(void *)line, v.low);
    _mm256_store_si256((__m256i *)(void *)(line + 4), v.high);
    memcpy((char *)line + 54, &top, sizeof top);
    line[7] = word7;
}

#include "sliding/line_kernel.h"

line_observe_fn *line_kernel_avx2(uint32_t bits) { return observe_width(bits); }
