/* hll - HyperLogLog: counts different keys with a standard error of 1.04/sqrt(m) in m bytes.
 *
 * Guarantee  Relative standard error 1.04/sqrt(m) at every size from 1 to 2^64, without bias and
 *            without switching between formulas.  Order and repetition do not matter, and merging
 *            is the maximum, so a union of streams is counted exactly as if it were one.
 * Paper      Flajolet, Fusy, Gandouet, Meunier 2007; the estimator is Ertl's, "New cardinality
 *            estimation algorithms for HyperLogLog sketches", 2017, algorithm 6, which corrects
 *            the raw one for registers that are still 0 (sigma) or full (tau).
 * Layout     A key's 64 bits: p choose a register, the others are looked at from the top.
 *
 *                |  p bits: which of m = 2^p  |  q = 64-p bits: 0 0 0 1 …  |
 *                                                rank 4: zeros before the first 1, plus 1
 *                register = greatest rank that came by, 0 (none) to q+1, a byte each
 *
 * Example    Ranks 1, 3, 1, 2 in one register leave 3: about 2^3 different keys came there.
 * Cost       One multiplication pair and one cache line a record; an estimate reads all registers.
 */
#include "sketch/counter.h"

#include <math.h>

enum { P_LEAST = 4, MAX_P = 20 };

static double error_of(uint64_t m) { return 1.04 / sqrt((double)m); }

static uint64_t size(double error) {
    for (int p = P_LEAST; p <= MAX_P; p++)
        if (error_of((uint64_t)1 << p) <= error * (1 + 1e-9)) return (uint64_t)1 << p;
    return 0;
}

static uint64_t bytes(uint64_t m) { return m; }

static void init(void *state, uint64_t m, uint64_t seed) { (void)state, (void)m, (void)seed; }

static void add(void *state, uint64_t m, size_t n, const seen_digest *d) {
    uint8_t *reg = state;
    int p = __builtin_ctzll(m);
    for (size_t i = 0; i < n; i++) {
        uint8_t rank, *r = &reg[hll_place(d[i], p, &rank)];
        if (rank > *r) *r = rank;
    }
}

/* Ertl 2017, eqs. (for sigma and tau) in algorithm 6: series that converge quadratically. */
static double sigma(double x) {
    if (x == 1) return INFINITY;
    double y = 1, z = x, before;
    do {
        x *= x;
        before = z;
        z += x * y;
        y += y;
    } while (z != before);
    return z;
}

static double tau(double x) {
    if (x == 0 || x == 1) return 0;
    double y = 1, z = 1 - x, before;
    do {
        x = sqrt(x);
        before = z;
        y /= 2;
        z -= (1 - x) * (1 - x) * y;
    } while (z != before);
    return z / 3;
}

double hll_estimate(const uint64_t count[HLL_RANKS + 2], uint64_t m) {
    int q = 64 - __builtin_ctzll(m);
    double all = (double)m, z = all * tau(1 - (double)count[q + 1] / all);
    for (int k = q; k >= 1; k--) z = (z + (double)count[k]) / 2;
    z += all * sigma((double)count[0] / all);
    return all * all / (2 * log(2) * z); /* alpha for m without bound */
}

static double estimate(const void *state, uint64_t m) {
    const uint8_t *reg = state;
    uint64_t count[HLL_RANKS + 2] = {0};
    for (uint64_t i = 0; i < m; i++) count[reg[i]]++;
    return hll_estimate(count, m);
}

static void merge(void *into, const void *from, uint64_t m) {
    uint8_t *a = into;
    const uint8_t *b = from;
    for (uint64_t i = 0; i < m; i++)
        if (b[i] > a[i]) a[i] = b[i];
}

static bool valid(uint64_t m) {
    return !(m & (m - 1)) && m >= (uint64_t)1 << P_LEAST && m <= (uint64_t)1 << MAX_P;
}

static bool sound(const void *state, uint64_t m, uint64_t seed) {
    const uint8_t *reg = state;
    uint8_t most = hll_rank_most(m);
    (void)seed;
    for (uint64_t i = 0; i < m; i++)
        if (reg[i] > most) return false;
    return true;
}

const struct counter_ops counter_hll = {.name = "hll",
                                        .size = size,
                                        .error = error_of,
                                        .bytes = bytes,
                                        .init = init,
                                        .add = add,
                                        .estimate = estimate,
                                        .merge = merge,
                                        .valid = valid,
                                        .sound = sound};
