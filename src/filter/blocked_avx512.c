/* blocked_avx512.c - a line in one 512-bit register. */
#include <immintrin.h>
#include <stdint.h>

typedef __m512i vector;

static inline vector load(const uint64_t *p) { return _mm512_load_si512(p); }
static inline void store(uint64_t *p, vector v) { _mm512_store_si512(p, v); }
static inline vector either(vector a, vector b) { return _mm512_or_si512(a, b); }

static inline int covers(vector a, vector b) {
    vector missing = _mm512_andnot_si512(a, b);
    return _mm512_test_epi64_mask(missing, missing) == 0;
}

static inline vector probes(uint64_t word, vector once) {
    vector from = _mm512_setr_epi64(0, 6, 12, 18, 24, 30, 36, 42);
    vector mask = _mm512_setr_epi64(63, 63, 63, 63, 63, 63, 63, 0x3fffff);
    vector times = _mm512_setr_epi64(1, 1, 1, 1, 1, 1, 1, 48);
    vector down = _mm512_setr_epi64(0, 0, 0, 0, 0, 0, 0, 22);
    vector field =
        _mm512_and_si512(_mm512_srlv_epi64(_mm512_set1_epi64((long long)word), from), mask);
    return _mm512_sllv_epi64(once, _mm512_srlv_epi64(_mm512_mul_epu32(field, times), down));
}

#include "filter/blocked_kernel.h"

size_t blocked_observe_avx512(struct filter *f, uint64_t generation, size_t n, const seen_digest *d,
                              uint8_t *verdict) {
    return observe_lines(f, generation, n, d, verdict);
}
