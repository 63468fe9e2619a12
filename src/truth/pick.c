#include "truth/pick.h"

#include "base/base.h"

/* x - 1 has its top bit set for x = 0 alone: the mask leaves that bit out. */
size_t pick_portable(const seen_digest *d, size_t n, uint64_t mask, uint16_t *place) {
    size_t m = 0, i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t hit = 0;
        for (size_t j = 0; j < 8; j++) hit |= ((d[i + j].lo ^ d[i + j].hi) & mask) - 1;
        if (hit >> 63) m = pick_some(d, i, i + 8, mask, place, m);
    }
    return pick_some(d, i, n, mask, place, m);
}

pick_fn *pick_of(uint32_t cpu) {
#if defined __x86_64__
    if (cpu >= CPU_AVX512) return pick_avx512;
    if (cpu >= CPU_AVX2) return pick_avx2;
#endif
    (void)cpu;
    return pick_portable;
}
