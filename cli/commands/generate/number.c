/* number.c - logarithms and powers of two in fixed-point integers. */
#include "number.h"

/* Squaring a number in [1, 2) doubles its logarithm: each time it passes 2, the next bit is 1. */
uint64_t fixed_log2(uint64_t x) {
    int whole = 63 - __builtin_clzll(x);
    uint64_t m = x << (63 - whole); /* 1 <= m < 2, with 63 bits after the point */
    uint64_t log = (uint64_t)whole;
    for (int bit = 0; bit < LOG_BITS; bit++) {
        u128 square = (u128)m * m >> 63;
        uint64_t two = (uint64_t)(square >> 64);
        log = log << 1 | two;
        m = (uint64_t)(square >> two);
    }
    return log;
}

/* 2^f = e^(f ln 2) = 1 + x/1 (1 + x/2 (1 + x/3 (...))); twenty terms are beyond 62 bits. */
uint64_t fixed_exp2(uint64_t log2x) {
    const uint64_t ln2 = 0xb17217f7d1cf79acu, one = (uint64_t)1 << 62;
    int whole = (int)(log2x >> LOG_BITS);
    uint64_t x = (uint64_t)((u128)(log2x << (64 - LOG_BITS)) * ln2 >> 64);
    uint64_t y = one;
    for (unsigned k = 20; k > 0; k--) y = one + (uint64_t)((u128)x * y >> 64) / k;
    return y >> (62 - whole);
}
