#include "truth/pick.h"

#include <immintrin.h>

size_t pick_avx2(const seen_digest *d, size_t n, uint64_t mask, uint16_t *place) {
    const __m256i masks = _mm256_set1_epi64x((long long)mask), zero = _mm256_setzero_si256();
    size_t m = 0, i = 0;
    for (; i + 8 <= n; i += 8) {
        __m256i hit = zero;
        for (size_t j = 0; j < 8; j += 2) {
            __m256i two = _mm256_loadu_si256((const __m256i *)(const void *)(d + i + j));
            __m256i folded = _mm256_xor_si256(two, _mm256_shuffle_epi32(two, 0x4e));
            __m256i left = _mm256_and_si256(folded, masks);
            hit = _mm256_or_si256(hit, _mm256_cmpeq_epi64(left, zero));
        }
        if (!_mm256_testz_si256(hit, hit)) m = pick_some(d, i, i + 8, mask, place, m);
    }
    return pick_some(d, i, n, mask, place, m);
}
