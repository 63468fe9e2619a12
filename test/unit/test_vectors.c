/* Vectors of bits: the bit vector is a set of integers, and the rates of substrings are those of
 * the chain that theory/vectors.h describes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chance.h"
#include "seen.h"
#include "theory/bloom.h"

#define SEEDS 20

static uint64_t base(void) { return chance_seed(20050510); }

static int plan(struct seen_plan *p, const char *text, struct seen_error *e) {
    struct seen_spec spec;
    if (seen_spec_parse(&spec, text, e)) fail_msg("%s: %s", text, e->text);
    return seen_plan_make(p, &spec, e);
}

static struct seen_plan planned(const char *text) {
    struct seen_error e = {0};
    struct seen_plan p;
    if (plan(&p, text, &e)) fail_msg("%s: %s", text, e.text);
    return p;
}

static seen_detector *make(const char *text) {
    struct seen_error e = {0};
    struct seen_plan p = planned(text);
    seen_detector *d;
    if (seen_new(&d, &p, NULL, &e)) fail_msg("%s: %s", text, e.text);
    return d;
}

static uint8_t observe(seen_detector *d, uint64_t lo) {
    seen_digest digest = {lo, 0};
    uint8_t verdict;
    seen_observe(d, 1, &digest, &verdict);
    return verdict;
}

/* -- the bit vector ----------------------------------------------------------------------- */

enum { RANDOM, SEQUENTIAL, STRIDES, EDGES, KINDS };

/* Adversarial: strides that hit one line or one cell of each, and the ends of lines and words. */
static uint64_t integer(int kind, uint64_t i, uint64_t bits, uint64_t *rng) {
    static const uint64_t strides[] = {496, 64, 31, 512, 65536, 62};
    uint64_t edge =
        chance_next(rng) % 300 * (chance_next(rng) & 1 ? 496 : 64) + chance_next(rng) % 3 - 1;
    uint64_t x = kind == RANDOM       ? chance_next(rng)
                 : kind == SEQUENTIAL ? i
                 : kind == STRIDES    ? i * strides[chance_next(rng) % 6]
                                      : edge;
    return x & (((uint64_t)1 << bits) - 1);
}

static void judge(uint64_t seed, int kind) {
    enum { BITS = 17, KEYS = 1 << BITS, LANDMARK = 40000 };
    static uint8_t seen[KEYS];
    uint64_t rng = seed;
    seen_detector *d = make("landmark:40000 filter=bitvector bits=17 seed=1");
    for (uint64_t i = 0; i < 2 * LANDMARK; i++) {
        if (i % LANDMARK == 0) memset(seen, 0, sizeof seen);
        uint64_t key = integer(kind, i, BITS, &rng);
        if (chance_next(&rng) % 16 == 0) {
            seen_digest gone = {key, 0};
            assert_int_equal(seen_forget(d, 1, &gone, NULL), 0);
            seen[key] = 0;
        }
        if (observe(d, key) != seen[key])
            fail_msg("SEEN_SEED=%llu: kind %d, record %llu, key %llu", (unsigned long long)base(),
                     kind, (unsigned long long)i, (unsigned long long)key);
        seen[key] = 1;
    }
    seen_free(d);
}

static void a_bit_vector_is_the_set_of_integers(void **state) {
    (void)state;
    for (uint64_t i = 0; i < SEEDS; i++)
        for (int kind = 0; kind < KINDS; kind++) judge(base() + i, kind);
}

static void what_is_forgotten_is_gone_from_every_sub_window(void **state) {
    (void)state;
    seen_detector *d = make("jumping:40/4 filter=bitvector bits=12");
    seen_digest key = {7, 0};
    for (uint64_t i = 0; i < 30; i++) observe(d, i % 3 ? 100 + i : 7);
    seen_forget(d, 1, &key, NULL);
    assert_int_equal(observe(d, 101), 1);
    assert_int_equal(observe(d, 7), 0);
    assert_int_equal(observe(d, 7), 1);
    seen_free(d);
}

static void digests_that_are_too_long_count_by_their_low_bits(void **state) {
    (void)state;
    seen_detector *d = make("landmark filter=bitvector bits=12");
    assert_int_equal(observe(d, 5), 0);
    assert_int_equal(observe(d, 5 + 4096), 1);
    assert_int_equal(observe(d, UINT64_MAX), 0);
    assert_int_equal(observe(d, 4095), 1);
    seen_free(d);
}

static void the_number_of_cells_follows_from_what_is_given(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        uint64_t bits, lines;
    } cases[] = {
        {"landmark filter=bitvector bits=20", 20, 2115}, /* 2^20 / 496 */
        {"landmark filter=bitvector items=1000", 10, 3},
        {"landmark filter=bitvector items=1", 10, 3},
        {"landmark filter=bitvector items=1025", 11, 5},
        {"landmark:65536 filter=bitvector", 16, 133},
        {"landmark:65537 filter=bitvector", 17, 265},
        {"landmark:65537 filter=bitvector shards=4", 17, 265}, /* the keys there are, in each */
        {"landmark filter=bitvector mem=1MiB", 22, 8457},
        {"landmark filter=bitvector mem=1MiB items=1000", 22, 8457},
        {"landmark filter=bitvector mem=1MiB items=1000 fp=1e-3", 22, 8457},
        {"landmark filter=bitvector mem=100GiB", 32, 8659209}, /* at most */
        {"landmark filter=bitvector bits=33", 33, 17318417},   /* unless asked for */
        {"landmark filter=bitvector", 28, 541201},             /* 64 MiB */
        {"jumping:1500/15 filter=bitvector bits=20", 20, 33826},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct seen_plan p = planned(cases[i].spec);
        if (seen_spec_get_count(&p.spec, "bits") != cases[i].bits ||
            seen_spec_get_count(&p.spec, "blocks") != cases[i].lines)
            fail_msg("%s: bits=%llu lines=%llu", cases[i].spec,
                     (unsigned long long)seen_spec_get_count(&p.spec, "bits"),
                     (unsigned long long)seen_spec_get_count(&p.spec, "blocks"));
        assert_int_equal(seen_spec_get_count(&p.spec, "hash"), SEEN_HASH_INT);
        assert_int_equal(p.capacity, (uint64_t)1 << cases[i].bits);
        assert_true(p.fp_full == 0);
    }
}

/* -- substrings --------------------------------------------------------------------------- */

static void vectors_take_two_to_the_p_bits_each(void **state) {
    (void)state;
    for (uint64_t b = 1; b <= 128; b += b < 4 ? 1 : 9)
        for (uint64_t p = 1; p <= b && p <= 24; p++) {
            char spec[80];
            uint64_t cells = (uint64_t)1 << p;
            snprintf(spec, sizeof spec, "landmark filter=substrings bits=%llu substring=%llu fp=.5",
                     (unsigned long long)b, (unsigned long long)p);
            struct seen_plan plan = planned(spec);
            assert_int_equal(seen_spec_get_count(&plan.spec, "blocks"),
                             (b - p + 1) * ((cells + 495) / 496));
            assert_int_equal((int)plan.touches, b - p + 1);
        }
}

/* The chain itself, state by state, as an independent reckoning. */
static double chain(uint32_t b, uint32_t p, double n) {
    enum { STATES = 60 };
    double a = ldexp(n, -(int)p), now[STATES], kept[STATES], rate = 0;
    for (int m = 0; m < STATES; m++) now[m] = exp(m * log(a) - a - lgamma(m + 1));
    for (uint32_t j = p; j < b; j++) {
        now[0] = 0;
        for (int s = 0; s < STATES; s++) {
            kept[s] = 0;
            for (int m = s; m < STATES; m++)
                kept[s] +=
                    now[m] * exp(lgamma(m + 1) - lgamma(s + 1) - lgamma(m - s + 1) - m * M_LN2);
        }
        for (int m = 0; m < STATES; m++) {
            now[m] = 0;
            for (int s = 0; s <= m; s++)
                now[m] += kept[s] * exp((m - s) * log(a / 2) - a / 2 - lgamma(m - s + 1));
        }
    }
    for (int m = 1; m < STATES; m++) rate += now[m];
    return rate;
}

static void near(double value, double expected, double relative) {
    if (!(fabs(value - expected) <= relative * expected))
        fail_msg("%.9g is not %.9g", value, expected);
}

static void the_rate_is_the_chains_down_to_nothing(void **state) {
    (void)state;
    static const double loads[] = {1e-6, .001, .03, .1, .3, .6, 1, 2, 5, 10};
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++)
        for (uint32_t b = 30; b <= 128; b += 49) /* enough keys for Poisson to be exact */
            near(theory_substrings(b, 30, loads[i] * 0x1p30), chain(b, 30, loads[i] * 0x1p30),
                 loads[i] < .01 ? 2e-3 : 1e-6);
    assert_true(theory_substrings(128, 20, 3e5) < 1e-12 && theory_substrings(128, 20, 3e5) > 0);
    near(theory_substrings(20, 20, 1e5), theory_substring(20, 1e5), 1e-6);
    near(theory_substrings(64, 64, 1), 0x1p-64, 1e-9);
    assert_true(theory_substrings(64, 20, 0) == 0 && theory_substrings(64, 5, 1e9) == 1);
}

static void more_bits_a_substring_err_less_and_more_keys_err_more(void **state) {
    (void)state;
    for (uint32_t p = 8; p < 40; p++)
        for (double n = 100; n < 1e9; n *= 3) {
            assert_true(theory_substrings(64, p + 1, n) <= theory_substrings(64, p, n));
            assert_true(theory_substrings(64, p, n) <= theory_substrings(64, p, n * 1.1));
        }
}

struct tally {
    double trials, hits, squares;
};

/* Five standard deviations, the larger of Poisson's and of what the seeds show. */
static void agree(const char *what, const struct tally *t, double rate, double tolerance) {
    double expected = t->trials * rate, mean = t->hits / SEEDS;
    double variance = (t->squares - t->hits * mean) * SEEDS / (SEEDS - 1);
    double off = fabs(t->hits - expected) - tolerance * expected;
    if (off > 5 * sqrt(fmax(fmax(expected, variance), 1)))
        fail_msg("SEEN_SEED=%llu: %s: measured %.5g (%.0f), predicted %.5g",
                 (unsigned long long)base(), what, t->hits / t->trials, t->hits, rate);
}

/* One vector only (p = b) is the first substring alone. */
static void measure(const char *more, uint32_t b, uint32_t p, uint64_t n, double rate,
                    double tolerance) {
    struct tally t = {0};
    char spec[120];
    snprintf(spec, sizeof spec,
             "landmark filter=substrings bits=%u substring=%u items=%llu seed=1 %s", b, p,
             (unsigned long long)n, more);
    for (uint64_t i = 0; i < SEEDS; i++) {
        uint64_t rng = base() * 1000 + i;
        seen_detector *d = make(spec);
        double hits = 0;
        for (uint64_t j = 0; j < n; j++) { /* a new key each: also one that is called a duplicate */
            seen_digest key = {chance_next(&rng), chance_next(&rng)};
            uint8_t verdict;
            seen_observe(d, 1, &key, &verdict);
        }
        enum { QUERIES = 20000 };
        for (int j = 0; j < QUERIES; j++) {
            seen_digest key = {chance_next(&rng), chance_next(&rng)};
            uint8_t verdict;
            seen_query(d, 1, &key, 0, &verdict);
            hits += verdict;
        }
        t.trials += QUERIES;
        t.hits += hits;
        t.squares += hits * hits;
        seen_free(d);
    }
    agree(spec, &t, rate, tolerance);
}

static void first_substrings_collide_as_the_formula_says(void **state) {
    (void)state;
    static const uint64_t keys[] = {1, 1000, 30000, 131072};
    for (size_t i = 0; i < 4; i++)
        measure("", 17, 17, keys[i], theory_substring(17, (double)keys[i]), .002);
}

static void whole_keys_collide_as_the_chain_says(void **state) {
    (void)state;
    static const struct {
        uint32_t b, p;
        uint64_t n;
    } cases[] = {{20, 17, 60000},   {32, 17, 90000},  {64, 17, 200000},
                 {128, 17, 300000}, {64, 17, 300000}, {40, 17, 100000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double n = (double)cases[i].n, rate = theory_substrings(cases[i].b, cases[i].p, n);
        assert_true(rate > 1e-4);
        measure("", cases[i].b, cases[i].p, cases[i].n, rate, .01);
        if (i == 0) measure("hash=int", cases[i].b, cases[i].p, cases[i].n, rate, .01);
    }
}

/* The share of wrong verdicts on n ids in turn, `step` apart, all different. */
static double wrong(const char *spec, uint64_t first, uint64_t step, uint64_t n) {
    seen_detector *d = make(spec);
    double wrong = 0;
    for (uint64_t i = 0; i < n; i++) wrong += observe(d, first + i * step);
    seen_free(d);
    return wrong / (double)n;
}

/* No formula for uniform keys holds for them: far more of them collide, or none at all. */
static void ids_that_count_up_err_by_their_own_law(void **state) {
    (void)state;
    assert_true(wrong("landmark filter=substrings hash=int bits=24 substring=12 items=1e4", 0, 256,
                      60000) > .7);
    assert_true(wrong("landmark filter=substrings hash=int bits=24 substring=20 items=1e5", 1000000,
                      1, 100000) == 0);
    assert_true(theory_substrings(24, 20, 1e5) > .005);
}

/* -- refusals ----------------------------------------------------------------------------- */

static void refused(const char *spec, const char *words) {
    struct seen_error e = {0};
    struct seen_plan p;
    int bad = plan(&p, spec, &e);
    if (bad != SEEN_EREFUSED || !strstr(e.text, words)) fail_msg("%s: %d %s", spec, bad, e.text);
}

static void what_cannot_be_had_is_refused(void **state) {
    (void)state;
    refused("landmark filter=bitvector hash=xxh3", "leave hash= out");
    refused("landmark filter=bitvector bits=64", "2^64 cells");
    refused("landmark filter=bitvector bits=30 mem=1MiB",
            "needs mem=133MiB; mem=1MiB allows bits=22");
    refused("landmark filter=bitvector items=1e6 mem=16KiB", "need mem=134KiB");
    refused("landmark filter=bitvector items=1e10", "more bits=");
    refused("landmark filter=bitvector bits=20 lines=3", "give 2115");
    refused("landmark filter=bitvector substring=4", "substring=");
    refused("landmark filter=substrings bits=16 substring=17", "longer than the key");
    refused("landmark filter=substrings bits=20", "more bits=");
    refused("landmark:1e6 filter=substrings substring=10 fp=1e-6", "leave substring= out");
    refused("landmark:1e6 filter=substrings bits=20 fp=1e-6", "more bits=");
    refused("landmark filter=substrings substring=20 mem=10KiB", "allows substring=9");
    refused("landmark filter=bloom bits=20", "bits= is for");
    struct seen_plan p = planned("landmark:1e6 hash=int"); /* neither is chosen unnamed */
    assert_string_equal(p.filter, "exact");
}

static void key(const seen_detector *d, const char *text, const char *words) {
    struct seen_error e = {0};
    seen_digest digest;
    int bad = seen_key(d, text, strlen(text), &digest, &e);
    if (bad != (words ? SEEN_EINVAL : 0) || (words && !strstr(e.text, words)))
        fail_msg("%s: %d %s", text, bad, e.text);
}

static void keys_that_are_too_long_are_refused(void **state) {
    (void)state;
    seen_detector *d = make("landmark filter=bitvector bits=20");
    key(d, "0", NULL);
    key(d, "1048575", NULL);
    key(d, "1048576", "key 1048576 takes 21 bits, and the plan says bits=20");
    key(d, "340282366920938463463374607431768211455", "takes 128 bits");
    key(d, "ann", "decimal integers");
    seen_free(d);
    d = make("landmark filter=bitvector bits=16 hash=raw");
    key(d, "ab", NULL);
    key(d, "abc", "a key of 3 bytes takes 23 bits, and the plan says bits=16");
    key(d, "abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz01", "2^512 bits");
    seen_free(d);
    d = make("landmark filter=substrings bits=40 substring=12 hash=int");
    key(d, "1099511627776", "takes 41 bits");
    seen_free(d);
    d = make("landmark filter=substrings bits=40 substring=12"); /* hashed: of any length */
    key(d, "109951162777600000000", NULL);
    seen_free(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bit_vector_is_the_set_of_integers),
        cmocka_unit_test(what_is_forgotten_is_gone_from_every_sub_window),
        cmocka_unit_test(digests_that_are_too_long_count_by_their_low_bits),
        cmocka_unit_test(the_number_of_cells_follows_from_what_is_given),
        cmocka_unit_test(vectors_take_two_to_the_p_bits_each),
        cmocka_unit_test(the_rate_is_the_chains_down_to_nothing),
        cmocka_unit_test(more_bits_a_substring_err_less_and_more_keys_err_more),
        cmocka_unit_test(first_substrings_collide_as_the_formula_says),
        cmocka_unit_test(whole_keys_collide_as_the_chain_says),
        cmocka_unit_test(ids_that_count_up_err_by_their_own_law),
        cmocka_unit_test(what_cannot_be_had_is_refused),
        cmocka_unit_test(keys_that_are_too_long_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
