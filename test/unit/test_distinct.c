/* test_distinct.c - distinct counters against counts that are known: over many seeds, bias and
 * standard error lie where the formulas put them, at five sigma. */
#include "seen.h"
#include "seen_counter.h"
#include "short_memory.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SEEDS = 40 };

static uint64_t first_seed(void) {
    const char *given = getenv("SEEN_SEED");
    return given ? strtoull(given, NULL, 0) : 1;
}

static seen_digest key_of(uint64_t i, uint64_t seed) { return seen_hash(&i, sizeof i, seed); }

static seen_counter *counter_of(uint32_t kind, double error, uint64_t seed) {
    seen_counter *c;
    struct seen_error e;
    if (seen_counter_new(&c, kind, error, seed, NULL, &e)) fail_msg("%s", e.text);
    return c;
}

static void add_range(seen_counter *c, uint64_t from, uint64_t to, uint64_t seed) {
    for (uint64_t i = from; i < to; i++) {
        seen_digest d = key_of(i, seed);
        seen_counter_add(c, 1, &d);
    }
}

/* Relative error of n distinct keys under one seed. */
static double off(uint32_t kind, double error, uint64_t n, uint64_t seed) {
    seen_counter *c = counter_of(kind, error, seed);
    add_range(c, 0, n, seed);
    double estimate = seen_counter_estimate(c, NULL);
    seen_counter_free(c);
    return estimate / (double)n - 1;
}

/* Mean 0 and standard deviation at most `sigma`, as far as SEEDS trials can tell; `bias` is what
 * the formula may be off by itself. */
static void check(uint32_t kind, double error, double sigma, double bias, uint64_t n) {
    double sum = 0, squares = 0;
    for (uint64_t s = 0; s < SEEDS; s++) {
        double x = off(kind, error, n, first_seed() + s);
        sum += x;
        squares += x * x;
    }
    double mean = sum / SEEDS, rms = sqrt(squares / SEEDS);
    if (fabs(mean) > bias + 5 * sigma / sqrt(SEEDS) ||
        rms > bias + sigma * (1 + 5 / sqrt(2.0 * SEEDS)))
        fail_msg("kind %u, %llu keys: mean %.4f, rms %.4f, not 0 and %.4f (SEEN_SEED=%llu)", kind,
                 (unsigned long long)n, mean, rms, sigma, (unsigned long long)first_seed());
}

static void hll_errs_by_1_04_over_root_m(void **state) {
    (void)state;
    static const uint64_t sizes[] = {1, 10, 100, 1000, 2500, 5000, 10000, 100000, 300000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        check(SEEN_COUNTER_HLL, 1.04 / sqrt(1024), 1.04 / sqrt(1024), 0, sizes[i]);
    check(SEEN_COUNTER_HLL, 1.04 / sqrt(65536), 1.04 / sqrt(65536), 0, 200000);
}

static void fm_errs_by_78_over_root_k(void **state) {
    (void)state;
    static const uint64_t mappings[] = {16, 64, 256};
    for (size_t i = 0; i < 3; i++) {
        double sigma = .78 / sqrt((double)mappings[i]);
        check(SEEN_COUNTER_FM, sigma, sigma, .01, 10000);
    }
    check(SEEN_COUNTER_FM, .78 / sqrt(64), .78 / sqrt(64), .01, 100000);
}

/* The lecture's estimate with hashes modulo 2^64 over the same keys, as a share of the truth. */
static double modulo_a_power_of_two(uint64_t n, uint64_t k, uint64_t seed) {
    double sum = 0;
    for (uint64_t i = 0; i < k; i++) {
        seen_digest map = key_of(i, ~seed);
        uint64_t mask = 0;
        for (uint64_t j = 0; j < n; j++) {
            uint64_t h = map.lo * key_of(j, seed).lo + map.hi;
            mask |= ~h & (h + 1);
        }
        sum += ~mask ? __builtin_ctzll(~mask) : 64;
    }
    return exp2(sum / (double)k) / (.77351 * (1 + .31 / (double)k)) / (double)n;
}

/* Half of all factors are even, and their mappings hardly count at all. */
static void fm_needs_a_prime_modulus(void **state) {
    (void)state;
    double at[2] = {0, 0}, sizes[2] = {300, 30000};
    for (int i = 0; i < 2; i++)
        for (uint64_t s = 0; s < 5; s++)
            at[i] += modulo_a_power_of_two((uint64_t)sizes[i], 64, first_seed() + s) / 5;
    if (at[0] > .5 || at[1] > .1 || at[1] > at[0] / 2)
        fail_msg("modulo 2^64 gave %.3f and %.3f of the truth", at[0], at[1]);
    check(SEEN_COUNTER_FM, .78 / 8, .78 / 8, .01, 300);
}

static void repeats_and_order_do_not_matter(void **state) {
    (void)state;
    for (uint32_t kind = SEEN_COUNTER_HLL; kind <= SEEN_COUNTER_FM; kind++) {
        seen_counter *a = counter_of(kind, .05, 1), *b = counter_of(kind, .05, 1);
        assert_true(seen_counter_estimate(a, NULL) == 0);
        add_range(a, 0, 3000, 1);
        for (uint64_t i = 3000; i-- > 0;) add_range(b, i, i + 1, 1);
        add_range(b, 0, 1500, 1);
        assert_true(seen_counter_estimate(a, NULL) == seen_counter_estimate(b, NULL));
        seen_counter_clear(a);
        assert_true(seen_counter_estimate(a, NULL) == 0);
        add_range(a, 0, 3000, 1);
        assert_true(seen_counter_estimate(a, NULL) == seen_counter_estimate(b, NULL));
        seen_counter_free(a);
        seen_counter_free(b);
    }
}

static void merged_is_both_streams_in_one(void **state) {
    (void)state;
    for (uint32_t kind = SEEN_COUNTER_HLL; kind <= SEEN_COUNTER_FM; kind++) {
        struct seen_error e;
        seen_counter *a = counter_of(kind, .05, 1), *b = counter_of(kind, .05, 1);
        seen_counter *both = counter_of(kind, .05, 1), *other = counter_of(kind, .05, 2);
        seen_counter *coarse = counter_of(kind, .1, 1);
        add_range(a, 0, 2000, 1);
        add_range(b, 1000, 5000, 1);
        add_range(both, 0, 5000, 1);
        assert_int_equal(seen_counter_merge(a, b, &e), 0);
        assert_true(seen_counter_estimate(a, NULL) == seen_counter_estimate(both, NULL));
        assert_int_equal(seen_counter_merge(a, other, &e), SEEN_EMISMATCH);
        assert_int_equal(seen_counter_merge(a, coarse, &e), SEEN_EMISMATCH);
        seen_counter_free(a), seen_counter_free(b), seen_counter_free(both);
        seen_counter_free(other), seen_counter_free(coarse);
    }
}

static void few_keys_are_counted_exactly_until_the_sketch_takes_over(void **state) {
    (void)state;
    for (uint32_t kind = SEEN_COUNTER_HLL; kind <= SEEN_COUNTER_SET; kind++) {
        seen_counter *c = counter_of(kind, .01, 1);
        uint64_t most = kind == SEEN_COUNTER_HLL ? 3072 : kind == SEEN_COUNTER_FM ? 24576 : 50000;
        double error;
        for (uint64_t i = 0; i < most; i++) {
            add_range(c, i, i + 1, 1);
            add_range(c, i / 2, i / 2 + 1, 1); /* a repeat */
            if (seen_counter_estimate(c, &error) != (double)(i + 1) || error != 0)
                fail_msg("kind %u, %llu keys", kind, (unsigned long long)i + 1);
        }
        add_range(c, most, most + 1, 1);
        seen_counter_estimate(c, &error);
        assert_int_equal(error == 0, kind == SEEN_COUNTER_SET);
        seen_counter_free(c);
    }
}

/* The sketch is the same whether the keys came to it one by one or all at once. */
static void the_sketch_takes_over_every_key(void **state) {
    (void)state;
    for (uint32_t kind = SEEN_COUNTER_HLL; kind <= SEEN_COUNTER_FM; kind++) {
        struct seen_error e;
        seen_counter *a = counter_of(kind, .1, 1), *b = counter_of(kind, .1, 1);
        seen_digest zero = {0, 0};
        seen_counter_add(a, 1, &zero);
        add_range(a, 0, 10000, 1);
        for (uint64_t i = 0; i < 10000; i += 7) {
            seen_counter *few = counter_of(kind, .1, 1);
            add_range(few, i, i + 7 < 10000 ? i + 7 : 10000, 1);
            if (i == 0) seen_counter_add(few, 1, &zero);
            assert_int_equal(seen_counter_merge(b, few, &e), 0);
            seen_counter_free(few);
        }
        assert_true(seen_counter_estimate(a, NULL) == seen_counter_estimate(b, NULL));
        seen_counter_free(a), seen_counter_free(b);
    }
}

static void without_memory_for_the_few_the_sketch_counts_and_a_set_says_so(void **state) {
    (void)state;
    for (uint32_t kind = SEEN_COUNTER_HLL; kind <= SEEN_COUNTER_SET; kind++) {
        seen_counter *c;
        double error;
        left = 20000;
        assert_int_equal(seen_counter_new(&c, kind, .05, 1, &short_memory, NULL), 0);
        left = 600;
        add_range(c, 0, 1000, 1);
        double n = seen_counter_estimate(c, &error);
        assert_true(kind == SEEN_COUNTER_SET ? isinf(error) && n < 1000 : error > 0 && n > 700);
        seen_counter_clear(c);
        assert_true(seen_counter_estimate(c, &error) == 0 && error == 0);
        seen_counter_free(c);
    }
}

static size_t asked_for;
static void *measuring(void *ctx, size_t size) {
    asked_for = size;
    return ctx ? NULL : aligned_alloc(64, (size + 63) / 64 * 64);
}
static void freeing(void *ctx, void *p, size_t size) {
    (void)ctx;
    if (size != asked_for) abort();
    free(p);
}
static void *zeroed(void *ctx, size_t size) {
    void *p = measuring(ctx, size);
    return p ? memset(p, 0, size) : NULL;
}

static void memory_is_what_is_said_and_errors_are_refused(void **state) {
    (void)state;
    struct seen_error e;
    struct seen_allocator memory = {zeroed, freeing, NULL}, none = {zeroed, freeing, &e};
    seen_counter *c;
    for (uint32_t kind = SEEN_COUNTER_HLL; kind <= SEEN_COUNTER_FM; kind++) {
        double error;
        assert_int_equal(seen_counter_new(&c, kind, .02, 1, &memory, &e), 0);
        assert_int_equal(seen_counter_bytes(c), asked_for);
        seen_counter_estimate(c, &error);
        assert_true(error == 0);
        seen_counter_free(c);
        c = counter_of(kind, .02, 1);
        add_range(c, 0, 50000, 1);
        seen_counter_estimate(c, &error);
        assert_true(error <= .02 && error > .01);
        seen_counter_free(c);
        assert_int_equal(seen_counter_new(&c, kind, .02, 1, &none, &e), SEEN_ENOMEM);
        assert_int_equal(seen_counter_new(&c, kind, 0, 1, NULL, &e), SEEN_EREFUSED);
        assert_int_equal(seen_counter_new(&c, kind, 1, 1, NULL, &e), SEEN_EREFUSED);
        assert_int_equal(seen_counter_new(&c, kind, NAN, 1, NULL, &e), SEEN_EREFUSED);
        assert_int_equal(seen_counter_new(&c, kind, 1e-5, 1, NULL, &e), SEEN_EREFUSED);
    }
    assert_int_equal(seen_counter_new(&c, SEEN_COUNTER_SET, .01, 1, &none, &e), SEEN_ENOMEM);
    assert_int_equal(seen_counter_new(&c, 7, .01, 1, NULL, &e), SEEN_EINVAL);
    seen_counter_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hll_errs_by_1_04_over_root_m),
        cmocka_unit_test(fm_errs_by_78_over_root_k),
        cmocka_unit_test(fm_needs_a_prime_modulus),
        cmocka_unit_test(repeats_and_order_do_not_matter),
        cmocka_unit_test(merged_is_both_streams_in_one),
        cmocka_unit_test(few_keys_are_counted_exactly_until_the_sketch_takes_over),
        cmocka_unit_test(the_sketch_takes_over_every_key),
        cmocka_unit_test(without_memory_for_the_few_the_sketch_counts_and_a_set_says_so),
        cmocka_unit_test(memory_is_what_is_said_and_errors_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
