/* fm - Flajolet-Martin counting with linear hashing, as the lecture has it.
 *
 * Guarantee  Relative standard error 0.78/sqrt(k) for k >= 16 mappings, once there are many more
 *            keys than one (below some ten, hll is the better).  Mergeable: the bit masks are
 *            or-ed.
 * Paper      Flajolet, Martin 1985, as in Kang's lecture on mining data streams: mapping i sends a
 *            key x to h = a_i x + b_i, that sets the bit at the index of h's least 0; with b the
 *            average, over k masks, of the index of a mask's least 0, the count is
 *            2^b / (0.77351 bias), bias = 1 + .31/k.
 * Layout     k triples of 64 bits:
 *
 *                | a_0 | b_0 | mask_0 | a_1 | b_1 | mask_1 | …
 *
 *            mask_i  …0 0 1 0 1 1 1    least 0 at index 3: some 2^3/.77 keys
 * Example    h = …0111 has its least 0 at index 3, as one key in 16 has.
 * Cost       k multiplications modulo 2^61-1 a record.
 *
 * The modulus must be a prime.  Modulo 2^w the lowest bit of a x + b is that of b whenever a is
 * even, so half of all mappings never get past index 0 or 1 and the estimate falls ever farther
 * below the truth as the stream grows; the tests show it.
 */
#include "base/bits.h"
#include "sketch/counter.h"

#include <math.h>
#include <stdbool.h>

#define PRIME (((uint64_t)1 << 61) - 1)

enum { K_LEAST = 16, MAX_K = 1 << 20 };

struct mapping {
    uint64_t a, b, mask;
};

static double error_of(uint64_t k) { return 0.78 / sqrt((double)k); }

static uint64_t size(double error) {
    double k = ceil(0.78 / error * (0.78 / error) * (1 - 1e-9));
    if (k > MAX_K) return 0;
    return bits_max((uint64_t)k, K_LEAST);
}

static uint64_t bytes(uint64_t k) { return k * sizeof(struct mapping); }

/* a from 1 to PRIME-1, b from 0. */
static struct mapping mapping_of(uint64_t i, uint64_t seed) {
    return (struct mapping){.a = 1 + bits_range(bits_draw(seed, ~seed, 2 * i), PRIME - 1),
                            .b = bits_range(bits_draw(seed, ~seed, 2 * i + 1), PRIME)};
}

static void init(void *state, uint64_t k, uint64_t seed) {
    struct mapping *map = state;
    for (uint64_t i = 0; i < k; i++) map[i] = mapping_of(i, seed);
}

static uint64_t reduce(uint64_t x) {
    x = (x & PRIME) + (x >> 61);
    return x >= PRIME ? x - PRIME : x;
}

static void add(void *state, uint64_t k, size_t n, const seen_digest *d) {
    struct mapping *map = state;
    for (size_t j = 0; j < n; j++) {
        uint64_t x = reduce(d[j].lo);
        for (uint64_t i = 0; i < k; i++) {
            bits_u128 p = (bits_u128)map[i].a * x + map[i].b;
            uint64_t h = reduce((uint64_t)(p & PRIME) + (uint64_t)(p >> 61));
            map[i].mask |= ~h & (h + 1); /* the least 0 of h, as a bit */
        }
    }
}

static double estimate(const void *state, uint64_t k) {
    const struct mapping *map = state;
    double sum = 0, mappings = (double)k;
    bool none = true;
    for (uint64_t i = 0; i < k; i++) {
        sum += __builtin_ctzll(~map[i].mask);
        none = none && map[i].mask == 0;
    }
    if (none) return 0;
    return exp2(sum / mappings) / (0.77351 * (1 + .31 / mappings));
}

static void merge(void *into, const void *from, uint64_t k) {
    struct mapping *a = into;
    const struct mapping *b = from;
    for (uint64_t i = 0; i < k; i++) a[i].mask |= b[i].mask;
}

static bool valid(uint64_t k) { return k >= K_LEAST && k <= MAX_K; }

/* The mappings are those of the seed; h is below 2^61, so its least 0 is at 61 at most. */
static bool sound(const void *state, uint64_t k, uint64_t seed) {
    const struct mapping *map = state;
    for (uint64_t i = 0; i < k; i++) {
        struct mapping fresh = mapping_of(i, seed);
        if (map[i].a != fresh.a || map[i].b != fresh.b || map[i].mask >> 62) return false;
    }
    return true;
}

const struct counter_ops counter_fm = {.name = "fm",
                                       .size = size,
                                       .error = error_of,
                                       .bytes = bytes,
                                       .init = init,
                                       .add = add,
                                       .estimate = estimate,
                                       .merge = merge,
                                       .valid = valid,
                                       .sound = sound};
