/* The formulas of buffers, against lru on streams whose stack distances follow a known law. */
#include "seen.h"
#include "theory/decaying.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { KEYS = 1500, RECORDS = 50000, SEEDS = 20 };

static double uniform(uint64_t *rng) { /* xorshift64* */
    *rng ^= *rng >> 12, *rng ^= *rng << 25, *rng ^= *rng >> 27;
    return (double)(*rng * 0x2545f4914f6cdd1du >> 11) * 0x1p-53;
}

static void the_share_beyond_the_capacity_is_missed(void **state) {
    (void)state;
    const double weight[] = {5, 0, 3, 2};
    assert_true(theory_buffer_fn(weight, 4, 1) == .5);
    assert_true(theory_buffer_fn(weight, 4, 2) == .5);
    assert_true(theory_buffer_fn(weight, 4, 3) == .2);
    assert_true(theory_buffer_fn(weight, 4, 4) == 0);
    assert_true(theory_buffer_fn(weight, 4, 0) == 1);
    assert_true(theory_buffer_fn(NULL, 0, 1) == 0);
    assert_true(theory_buffer_fn_coin(.5, .1) == .45);
}

/* Distances d with weight log((d+1)/d), up to a million. */
static void spread_distances_have_a_closed_form(void **state) {
    (void)state;
    static double weight[1000000];
    for (int d = 1; d < 1000000; d++) weight[d] = log1p(1.0 / d);
    for (double capacity = 1; capacity < 1e6; capacity *= 10) {
        double off =
            theory_buffer_fn_spread(capacity, 1e6) - theory_buffer_fn(weight, 1000000, capacity);
        assert_true(fabs(off) < 1e-9);
    }
    assert_true(theory_buffer_fn_spread(1e7, 1e6) == 0);
}

static seen_detector *buffer(const char *text, struct seen_plan *plan) {
    struct seen_spec spec;
    struct seen_error e = {0};
    seen_detector *d = NULL;
    assert_int_equal(seen_spec_parse(&spec, text, &e), 0);
    assert_int_equal(seen_plan_make(plan, &spec, &e), 0);
    assert_int_equal(seen_new(&d, plan, NULL, &e), 0);
    return d;
}

static uint8_t observe(seen_detector *d, uint16_t key) {
    seen_digest digest = seen_hash(&key, sizeof key, 1);
    uint8_t verdict;
    seen_observe(d, 1, &digest, &verdict);
    return verdict;
}

/* The LRU stack model: the next key is the one at a depth drawn from `tail`, weight above d. */
static double missed(seen_detector *d, const double *tail, uint64_t *rng) {
    static uint16_t stack[KEYS];
    uint64_t misses = 0;
    for (uint16_t i = 0; i < KEYS; i++) {
        observe(d, i);
        stack[KEYS - 1 - i] = i;
    }
    for (int i = 0; i < RECORDS; i++) {
        double u = uniform(rng) * tail[0];
        uint32_t lo = 0, hi = KEYS;
        while (lo + 1 < hi) { /* tail[lo] > u >= tail[hi] */
            uint32_t middle = (lo + hi) / 2;
            if (tail[middle] > u)
                lo = middle;
            else
                hi = middle;
        }
        uint16_t key = stack[lo];
        memmove(stack + 1, stack, lo * sizeof *stack);
        stack[0] = key;
        misses += !observe(d, key);
    }
    return (double)misses;
}

/* Even distances (keys drawn evenly have them), a power law, an exponential one. */
static double law_of(int law, int d) {
    return law == 0 ? 1 : law == 1 ? pow(d + 1, -1.1) : exp(-d / 200.0);
}

static void lru_misses_what_the_formula_says(void **state) {
    (void)state;
    static const char *const specs[] = {"decaying filter=lru items=100 seed=1",
                                        "decaying filter=lru items=700 seed=1",
                                        "decaying filter=fp-lru items=300 seed=1 fp=.2"};
    static double weight[KEYS], tail[KEYS + 1];
    for (int law = 0; law < 3; law++)
        for (int s = 0; s < 3; s++) {
            double hits = 0, n = (double)SEEDS * RECORDS, q = s == 2 ? .2 : 0;
            struct seen_plan plan;
            for (int d = KEYS - 1; d >= 0; d--)
                tail[d] = tail[d + 1] + (weight[d] = law_of(law, d));
            for (uint64_t seed = 1; seed <= SEEDS; seed++) {
                uint64_t rng = seed * 0x9e3779b97f4a7c15u;
                seen_detector *d = buffer(specs[s], &plan);
                hits += missed(d, tail, &rng);
                seen_free(d);
            }
            double fn =
                theory_buffer_fn_coin(theory_buffer_fn(weight, KEYS, (double)plan.capacity), q);
            double sigma = sqrt(fn * (1 - fn) / n);
            if (fabs(hits / n - fn) >= 5 * sigma)
                print_error("%s, law %d: missed %g, expected %g\n", specs[s], law, hits / n, fn);
            assert_true(fabs(hits / n - fn) < 5 * sigma);
        }
}

static void the_plan_predicts_lru_and_the_coin(void **state) {
    (void)state;
    struct seen_plan lru, coin;
    seen_free(buffer("decaying filter=lru items=10000", &lru));
    seen_free(buffer("decaying filter=fp-lru items=10000 fp=.1", &coin));
    assert_true(lru.fn == theory_buffer_fn_spread((double)lru.capacity, 1e9));
    assert_true(coin.fn == theory_buffer_fn_coin(lru.fn, .1));
    assert_true(coin.fp_full == .1 && coin.fp_mean == .1);
    assert_int_equal(coin.bytes, lru.bytes);
    assert_int_equal(coin.traits & (SEEN_NO_FP | SEEN_NO_FN | SEEN_ON_REQUEST), SEEN_ON_REQUEST);
    seen_free(buffer("decaying filter=fp-lru items=10000", &coin));
    assert_true(seen_spec_get_real(&coin.spec, "fp") == 1e-9);
}

static void nobody_gets_coins_unasked(void **state) {
    (void)state;
    struct seen_spec spec;
    struct seen_plan plan;
    struct seen_error e = {0};
    static const char *const specs[] = {"decaying", "decaying fp=.3", "decaying gaps=1e4",
                                        "decaying fp=.9 items=1000", "decaying hash=int"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        assert_int_equal(seen_spec_parse(&spec, specs[i], &e), 0);
        assert_int_equal(seen_plan_make(&plan, &spec, &e), 0);
        assert_string_not_equal(plan.filter, "fp-lru");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_share_beyond_the_capacity_is_missed),
        cmocka_unit_test(spread_distances_have_a_closed_form),
        cmocka_unit_test(lru_misses_what_the_formula_says),
        cmocka_unit_test(the_plan_predicts_lru_and_the_coin),
        cmocka_unit_test(nobody_gets_coins_unasked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
