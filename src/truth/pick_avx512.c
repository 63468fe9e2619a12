#include "truth/pick.h"

#include <immintrin.h>

static inline __mmask8 hits(const seen_digest *d, __m512i masks) {
    __m512i four = _mm512_loadu_si512(d);
    __m512i folded = _mm512_xor_si512(four, _mm512_shuffle_epi32(four, 0x4e));
    return _mm512_testn_epi64_mask(folded, masks);
}

size_t pick_avx512(const seen_digest *d, size_t n, uint64_t mask, uint16_t *place) {
    const __m512i masks = _mm512_set1_epi64((long long)mask);
    size_t m = 0, i = 0;
    for (; i + 8 <= n; i += 8)
        if (hits(d + i, masks) | hits(d + i + 4, masks)) m = pick_some(d, i, i + 8, mask, place, m);
    return pick_some(d, i, n, mask, place, m);
}
