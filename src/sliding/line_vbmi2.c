/* line_vbmi2.c - a line in one 512-bit register: AVX-512 with byte permutations and double shifts.
 */
#include "sliding/line.h"

#include <immintrin.h>

typedef __m512i vector;

/* The bit at which each word begins. */
ALWAYS_INLINE vector starts(void) { return _mm512_set_epi64(448, 384, 320, 256, 192, 128, 64, 0); }

ALWAYS_INLINE vector entries_load(const uint64_t *line) {
    vector payload = _mm512_set_epi64(0, ((int64_t)1 << 48) - 1, -1, -1, -1, -1, -1, -1);
    return _mm512_and_si512(_mm512_load_si512(line), payload);
}

/* Entries `from` to `from`+15 in 32-bit lanes, compared. */
ALWAYS_INLINE uint32_t match_narrow(vector line, uint64_t print, uint32_t f, int from) {
    vector lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    vector bit = _mm512_mullo_epi32(_mm512_add_epi32(lane, _mm512_set1_epi32(from)),
                                    _mm512_set1_epi32((int)f));
    vector byte = _mm512_mullo_epi32(_mm512_srli_epi32(bit, 3), _mm512_set1_epi32(0x01010101));
    vector entry =
        _mm512_permutexvar_epi8(_mm512_add_epi32(byte, _mm512_set1_epi32(0x03020100)), line);
    entry = _mm512_srlv_epi32(entry, _mm512_and_si512(bit, _mm512_set1_epi32(7)));
    entry = _mm512_and_si512(entry, _mm512_set1_epi32((int)(((uint32_t)1 << f) - 1)));
    return _mm512_cmpeq_epi32_mask(entry, _mm512_set1_epi32((int)print));
}

/* Entries `from` to `from`+7 in 64-bit lanes. */
ALWAYS_INLINE uint32_t match_wide(vector line, uint64_t print, uint32_t f, int from) {
    vector lane = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    vector bit =
        _mm512_mullo_epi64(_mm512_add_epi64(lane, _mm512_set1_epi64(from)), _mm512_set1_epi64(f));
    vector byte =
        _mm512_mullo_epi64(_mm512_srli_epi64(bit, 3), _mm512_set1_epi64(0x0101010101010101));
    vector entry = _mm512_permutexvar_epi8(
        _mm512_add_epi64(byte, _mm512_set1_epi64(0x0706050403020100)), line);
    entry = _mm512_srlv_epi64(entry, _mm512_and_si512(bit, _mm512_set1_epi64(7)));
    entry = _mm512_and_si512(entry, _mm512_set1_epi64((int64_t)(((uint64_t)1 << f) - 1)));
    return _mm512_cmpeq_epi64_mask(entry, _mm512_set1_epi64((int64_t)print));
}

ALWAYS_INLINE uint32_t entries_match(const uint64_t *line, uint64_t print, uint32_t f) {
    vector v = _mm512_load_si512(line);
    if (f == 16) return _mm512_cmpeq_epi16_mask(v, _mm512_set1_epi16((short)print));
    if (f <= 24) return match_narrow(v, print, f, 0) | match_narrow(v, print, f, 16) << 16;
    return match_wide(v, print, f, 0) | match_wide(v, print, f, 8) << 8;
}

/* -- entries of 16 bits are lanes --------------------------------------------------------- */

ALWAYS_INLINE vector shift_lanes(const uint64_t *line, uint32_t gone, uint32_t at, uint32_t count) {
    vector lane = _mm512_set_epi16(31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16,
                                   15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    vector from = _mm512_add_epi16(lane, _mm512_set1_epi16((short)gone));
    __mmask32 behind = _cvtu32_mask32(~(uint32_t)0 << at % 32);
    from = _mm512_mask_add_epi16(from, behind, from, _mm512_set1_epi16(1));
    __mmask32 there = _cvtu32_mask32(((uint32_t)1 << count) - 1);
    return _mm512_maskz_permutexvar_epi16(there, from, _mm512_load_si512(line));
}

/* -- entries of any width ----------------------------------------------------------------- */

/* Without the lowest n bits. */
ALWAYS_INLINE vector drop(vector v, uint32_t n) {
    vector last = _mm512_set1_epi64(7);
    vector from = _mm512_add_epi64(_mm512_srli_epi64(starts(), 6), _mm512_set1_epi64(n / 64));
    vector low = _mm512_permutexvar_epi64(_mm512_min_epu64(from, last), v);
    from = _mm512_add_epi64(from, _mm512_set1_epi64(1));
    vector high = _mm512_permutexvar_epi64(_mm512_min_epu64(from, last), v);
    return _mm512_shrdv_epi64(low, high, _mm512_set1_epi64(n % 64));
}

/* Without the f bits from `at` on. */
ALWAYS_INLINE vector cut(vector v, uint32_t at, uint32_t f) {
    vector into = _mm512_sub_epi64(_mm512_set1_epi64(at), starts());
    vector above =
        _mm512_sllv_epi64(_mm512_set1_epi64(-1), _mm512_max_epi64(into, _mm512_setzero_si512()));
    vector next = _mm512_alignr_epi64(_mm512_setzero_si512(), v, 1);
    vector shifted = _mm512_shrdv_epi64(v, next, _mm512_set1_epi64(f));
    return _mm512_ternarylogic_epi64(above, shifted, v, 0xca); /* above ? shifted : v */
}

ALWAYS_INLINE vector entries_shift(const uint64_t *line, uint32_t gone, uint32_t at, uint32_t count,
                                   uint32_t f) {
    if (f == 16) return shift_lanes(line, gone, at, count);
    return cut(drop(entries_load(line), gone * f), at * f, f);
}

ALWAYS_INLINE vector entries_put(vector v, uint32_t at, uint64_t print, uint32_t f) {
    __mmask32 lane = _cvtu32_mask32((uint32_t)1 << at % 32);
    if (f == 16) return _mm512_mask_mov_epi16(v, lane, _mm512_set1_epi16((short)print));
    vector value = _mm512_set1_epi64((int64_t)print);
    vector into = _mm512_sub_epi64(_mm512_set1_epi64(at * f), starts());
    vector low = _mm512_sllv_epi64(value, into);
    vector high = _mm512_srlv_epi64(value, _mm512_sub_epi64(_mm512_setzero_si512(), into));
    return _mm512_ternarylogic_epi64(v, low, high, 0xfe); /* all or-ed */
}

/* The last words by stores of their own: fewer steps than to bring them into the vector. */
ALWAYS_INLINE void entries_store(uint64_t *line, vector v, uint64_t word6, uint64_t word7) {
    uint16_t top = (uint16_t)(word6 >> 48);
    _mm512_store_si512(line, v);
    memcpy((char *)line + 54, &top, sizeof top);
    line[7] = word7;
}

#include "sliding/line_kernel.h"

line_observe_fn *line_kernel_vbmi2(uint32_t bits) { return observe_width(bits); }
