/* blocked_avx2.c - a line in two 256-bit registers. */
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

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

static inline __m256i shifts(const void *four_bytes) {
    int32_t bytes;
    memcpy(&bytes, four_bytes, sizeof bytes);
    return _mm256_and_si256(_mm256_cvtepu8_epi64(_mm_cvtsi32_si128(bytes)), _mm256_set1_epi64x(63));
}

static inline vector probes(const uint64_t *word, vector once) {
    return (vector){_mm256_sllv_epi64(once.low, shifts(word)),
                    _mm256_sllv_epi64(once.high, shifts((const char *)word + 4))};
}

#include "filter/blocked_kernel.h"

size_t blocked_observe_avx2(struct filter *f, uint64_t generation, size_t n, const seen_digest *d,
                            uint8_t *verdict) {
    return observe_lines(f, generation, n, d, verdict);
}

void blocked_find_avx2(const struct filter *f, uint64_t generation, size_t n, const seen_digest *d,
                       uint32_t *age) {
    find_lines(f, generation, n, d, age);
}
