/* pick.c - finds the records of a batch that belong to the control sample, with each instruction
 * set.  All write the same places. */
#include "truth/control.h"

#include "base/base.h"

#if defined __x86_64__
#include <immintrin.h>
#endif

/* A key is sampled if all bits of `mask` are 0 in lo ^ hi of its digest.  This appends the places
 * of those among [from, to). */
ALWAYS_INLINE size_t pick_some(const seen_digest *d, size_t from, size_t to, uint64_t mask,
                               uint16_t *place, size_t m) {
    for (size_t i = from; i < to; i++) {
        place[m] = (uint16_t)i;
        m += pick_one(d[i], mask);
    }
    return m;
}

/* x - 1 has its top bit set for x = 0 alone: the mask leaves that bit out. */
static size_t pick_portable(const seen_digest *d, size_t n, uint64_t mask, uint16_t *place) {
    size_t m = 0, i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t hit = 0;
        for (size_t j = 0; j < 8; j++) hit |= ((d[i + j].lo ^ d[i + j].hi) & mask) - 1;
        if (hit >> 63) m = pick_some(d, i, i + 8, mask, place, m);
    }
    return pick_some(d, i, n, mask, place, m);
}

#if defined __x86_64__
__attribute__((target("avx2"))) static size_t pick_avx2(const seen_digest *d, size_t n,
                                                        uint64_t mask, uint16_t *place) {
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

__attribute__((target("avx512f,avx512dq"))) static inline __mmask8 sampled_of_four(
    const seen_digest *d, __m512i masks) {
    __m512i four = _mm512_loadu_si512(d);
    __m512i folded = _mm512_xor_si512(four, _mm512_shuffle_epi32(four, 0x4e));
    return _mm512_testn_epi64_mask(folded, masks);
}

__attribute__((target("avx512f,avx512dq"))) static size_t pick_avx512(const seen_digest *d,
                                                                      size_t n, uint64_t mask,
                                                                      uint16_t *place) {
    const __m512i masks = _mm512_set1_epi64((long long)mask);
    size_t m = 0, i = 0;
    for (; i + 8 <= n; i += 8)
        if (sampled_of_four(d + i, masks) | sampled_of_four(d + i + 4, masks))
            m = pick_some(d, i, i + 8, mask, place, m);
    return pick_some(d, i, n, mask, place, m);
}
#endif

pick_fn *pick_of(uint32_t cpu) {
#if defined __x86_64__
    if (cpu >= CPU_AVX512) return pick_avx512;
    if (cpu >= CPU_AVX2) return pick_avx2;
#endif
    (void)cpu;
    return pick_portable;
}
