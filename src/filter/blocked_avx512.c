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

/* Rotating counts modulo 64 by itself. */
static inline vector probes(const uint64_t *word, vector once) {
    return _mm512_rolv_epi64(once, _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)word)));
}

#include "filter/blocked_kernel.h"

size_t blocked_observe_avx512(struct filter *f, uint64_t generation, size_t n, const seen_digest *d,
                              uint8_t *verdict) {
    return observe_lines(f, generation, n, d, verdict);
}

void blocked_find_avx512(const struct filter *f, uint64_t generation, size_t n,
                         const seen_digest *d, uint32_t *age) {
    find_lines(f, generation, n, d, age);
}
