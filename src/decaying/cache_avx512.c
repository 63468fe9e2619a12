/* cache_avx512.c - wide sets of the fingerprint cache: a line in one 512-bit register. */
#include "decaying/cache_kernel.h"

#include <immintrin.h>

/* The bits of a line below `bit`. */
static inline __m512i below(__m512i first, uint32_t bit) {
    __m512i left = _mm512_sub_epi64(_mm512_set1_epi64(bit), first);
    left = _mm512_max_epi64(left, _mm512_setzero_si512());
    return _mm512_andnot_si512(_mm512_sllv_epi64(_mm512_set1_epi64(-1), left),
                               _mm512_set1_epi64(-1));
}

/* The eight entries from `bit` on, a lane each; what lies beyond the line is of no use. */
static inline __m512i entries(__m512i line, uint32_t bit, uint32_t bits) {
    __m512i lane = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    __m512i at =
        _mm512_add_epi64(_mm512_mullo_epi32(lane, _mm512_set1_epi64(bits)), _mm512_set1_epi64(bit));
    __m512i word = _mm512_srli_epi64(at, 6), shift = _mm512_and_si512(at, _mm512_set1_epi64(63));
    __m512i next = _mm512_add_epi64(word, _mm512_set1_epi64(1));
    __m512i low = _mm512_srlv_epi64(_mm512_permutexvar_epi64(word, line), shift);
    __m512i high = _mm512_sllv_epi64(_mm512_permutexvar_epi64(next, line),
                                     _mm512_sub_epi64(_mm512_set1_epi64(64), shift));
    return _mm512_and_si512(_mm512_or_si512(low, high),
                            _mm512_set1_epi64((int64_t)cache_values(bits)));
}

/* A fingerprint at `bit` of a line of zeros; shifts by 64 or more give 0. */
static inline __m512i placed(__m512i first, uint32_t bit, uint64_t fingerprint) {
    __m512i up = _mm512_sub_epi64(_mm512_set1_epi64(bit), first);
    __m512i down = _mm512_sub_epi64(first, _mm512_set1_epi64(bit));
    __m512i all = _mm512_set1_epi64((int64_t)fingerprint);
    return _mm512_or_si512(_mm512_sllv_epi64(all, up), _mm512_srlv_epi64(all, down));
}

ALWAYS_INLINE bool touch_wide(struct cache *c, const struct cache_shape *g, uint64_t *at,
                              uint32_t bit, uint64_t fingerprint) {
    __m512i line = _mm512_load_si512(at),
            first = _mm512_setr_epi64(0, 64, 128, 192, 256, 320, 384, 448);
    __m512i wanted = _mm512_set1_epi64((int64_t)fingerprint), e = entries(line, bit, g->bits);
    uint32_t same = _mm512_cmpeq_epi64_mask(e, wanted), held = _mm512_test_epi64_mask(e, e);
    if (g->ways > 8) {
        e = entries(line, bit + 8 * g->bits, g->bits);
        same |= (uint32_t)_mm512_cmpeq_epi64_mask(e, wanted) << 8;
        held |= (uint32_t)_mm512_test_epi64_mask(e, e) << 8;
    }
    same &= (1u << g->ways) - 1;
    held &= (1u << g->ways) - 1;
    if (same && !g->renew) return true;
    c->stored += !same && !(held >> (g->ways - 1));
    uint32_t newer = (uint32_t)__builtin_ctz(same | 1u << (g->ways - 1)) + 1;
    __m512i before = _mm512_alignr_epi64(line, _mm512_setzero_si512(), 7);
    __m512i up =
        _mm512_or_si512(_mm512_slli_epi64(line, g->bits), _mm512_srli_epi64(before, 64 - g->bits));
    __m512i from = below(first, bit), enter = below(first, bit + g->bits);
    __m512i to = below(first, bit + newer * g->bits);
    __m512i moved =
        _mm512_or_si512(_mm512_andnot_si512(enter, up), placed(first, bit, fingerprint));
    __m512i mask = _mm512_andnot_si512(from, to);
    _mm512_store_si512(
        at, _mm512_or_si512(_mm512_and_si512(mask, moved), _mm512_andnot_si512(mask, line)));
    return same != 0;
}

void cache_observe_avx512(struct cache *c, const struct cache_shape *g, size_t n,
                          const seen_digest *d, uint8_t *verdict) {
    observe_any(c, g, n, d, verdict);
}
