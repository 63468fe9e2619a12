/* blocked_avx2.c - a line in two 256-bit registers. */
#include <immintrin.h>
#include <stdint.h>

typedef struct {
    __m256i low, high;
} vector;

static inline vector load(const uint64_t *p) {
    return (vector){_mm256_load_si256((const __m256i *)p),
                    _mm256_load_si256((const __m256i *)p + 1)};
}

static inline void store(uint64_t *p, vector v) {
    _mm256_store_si256((__m256i *)p, v.low);
    _mm256_store_si256((__m256i *)p + 1, v.high);
}

static inline vector either(vector a, vector b) {
    return (vector){_mm256_or_si256(a.low, b.low), _mm256_or_si256(a.high, b.high)};
}

static inline int covers(vector a, vector b) {
    __m256i missing =
        _mm256_or_si256(_mm256_andnot_si256(a.low, b.low), _mm256_andnot_si256(a.high, b.high));
    return _mm256_testz_si256(missing, missing);
}

static inline vector probes(uint64_t word, vector once) {
    __m256i all = _mm256_set1_epi64x((long long)word);
    __m256i low = _mm256_srlv_epi64(all, _mm256_setr_epi64x(0, 6, 12, 18));
    __m256i high = _mm256_srlv_epi64(all, _mm256_setr_epi64x(24, 30, 36, 42));
    low = _mm256_and_si256(low, _mm256_set1_epi64x(63));
    high = _mm256_and_si256(high, _mm256_setr_epi64x(63, 63, 63, 0x3fffff));
    high = _mm256_mul_epu32(high, _mm256_setr_epi64x(1, 1, 1, 48));
    high = _mm256_srlv_epi64(high, _mm256_setr_epi64x(0, 0, 0, 22));
    return (vector){_mm256_sllv_epi64(once.low, low), _mm256_sllv_epi64(once.high, high)};
}

#include "filter/blocked_kernel.h"

size_t blocked_observe_avx2(struct filter *f, uint64_t generation, size_t n, const seen_digest *d,
                            uint8_t *verdict) {
    return observe_lines(f, generation, n, d, verdict);
}
