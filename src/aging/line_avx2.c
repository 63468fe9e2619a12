/* line_avx2.c - fingerprints of up to 24 bits are compared eight at a time. */
#include "aging/line.h"
#include "aging/line_words.h"

#include <immintrin.h>

/* Four entries from the byte at which they begin, each in a 32-bit lane. */
ALWAYS_INLINE __m128i spread(const char *byte, uint32_t f) {
    __m128i lane = _mm_setr_epi32(0, (int)f, (int)(2 * f), (int)(3 * f));
    __m128i bytes = _mm_mullo_epi32(_mm_srli_epi32(lane, 3), _mm_set1_epi32(0x01010101));
    bytes = _mm_add_epi32(bytes, _mm_set1_epi32(0x03020100));
    __m128i entries = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)byte), bytes);
    return _mm_srlv_epi32(entries, _mm_and_si128(lane, _mm_set1_epi32(7)));
}

/* Eight entries take f bytes, and four of an even width f/2. */
ALWAYS_INLINE uint32_t entries_match(const uint64_t *line, uint64_t print, uint32_t f) {
    if (f > 24) return entries_match_words(line, print, f);
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

#include "aging/line_kernel.h"

line_observe_fn *line_kernel_avx2(uint32_t bits) { return observe_width(bits); }
