/* The timed cuckoo table: its list L, and what happens when that is full. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "seen.h"

static seen_detector *make(const char *text, uint64_t seed) {
    struct seen_error e;
    struct seen_spec spec;
    struct seen_plan plan;
    seen_detector *d;
    char full[200];
    snprintf(full, sizeof full, "%s filter=timed-cuckoo seed=%llu", text, (unsigned long long)seed);
    if (seen_spec_parse(&spec, full, &e) || seen_plan_make(&plan, &spec, &e) ||
        seen_new(&d, &plan, NULL, &e))
        fail_msg("%s: %s", full, e.text);
    return d;
}

static uint8_t see(seen_detector *d, uint64_t key) {
    uint8_t verdict;
    seen_digest digest = seen_hash(&key, sizeof key, seen_seed(d));
    seen_observe(d, 1, &digest, NULL, &verdict);
    return verdict;
}

static struct seen_stats stats_of(const seen_detector *d) {
    struct seen_stats stats;
    seen_stats(d, &stats);
    return stats;
}

/* [I13] §IV.B: its insertion does not look into L, and would list such an item again each time. */
static void an_item_of_the_list_that_comes_again_is_refreshed_there(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        seen_detector *d = make("sliding:300 items=4 lambda=4 moves=2 signature=40", seed);
        for (uint64_t key = 0; key < 30; key++) assert_int_equal(see(d, key), SEEN_NEW);
        struct seen_stats once = stats_of(d), again;
        assert_true(once.listed >= 22 && once.stored == 30);
        for (int turn = 0; turn < 50; turn++)
            for (uint64_t key = 0; key < 30; key++) {
                uint64_t age;
                seen_digest digest = seen_hash(&key, sizeof key, seed);
                seen_last_seen(d, 1, &digest, 0, &age);
                assert_int_equal(age, 30);
                assert_int_equal(see(d, key), SEEN_DUPLICATE);
            }
        again = stats_of(d);
        assert_int_equal(again.listed, once.listed);
        assert_int_equal(again.saturated, 0);
        seen_free(d);
    }
}

/* At lambda = 2n, and still at 1.05 n, next to nothing is listed (Theorem 2: O(1) items). */
static void the_list_stays_short(void **state) {
    (void)state;
    static const char *const specs[] = {"sliding:100000 lambda=200000",
                                        "sliding:100000 lambda=120000"};
    for (int i = 0; i < 2; i++)
        for (uint64_t seed = 1; seed <= 20; seed++) {
            seen_detector *d = make(specs[i], seed);
            for (uint64_t key = 0; key < 150000; key++) see(d, key);
            struct seen_stats stats = stats_of(d);
            assert_int_equal(stats.saturated, 0);
            if (stats.listed > (i ? 8 : 1))
                fail_msg("seed %d: %d listed", (int)seed, (int)stats.listed);
            if (stats.stored < 99000 || stats.stored > 101000)
                fail_msg("%d stored", (int)stats.stored);
            seen_free(d);
        }
}

/* 1000 keys in 200 cells: none is missed, and it is said that the table was too small. */
static void when_the_list_is_full_nothing_is_missed(void **state) {
    (void)state;
    for (int first = 0; first < 2; first++) {
        seen_detector *d = make(first ? "sliding:1000 lambda=100 fp=.5 refresh=first"
                                      : "sliding:1000 lambda=100 fp=.5",
                                3);
        for (uint64_t key = 0; key < 20; key++) see(d, key);
        for (uint64_t i = 0; i < 3000; i++) {
            see(d, 1000 + i % 900);
            if (!first || i < 480) assert_int_equal(see(d, i % 20), SEEN_DUPLICATE);
        }
        struct seen_stats stats = stats_of(d);
        assert_true(stats.listed <= 64);
        assert_true(first || (stats.saturated > 0 && stats.fp_now == 1));
        seen_free(d);
    }
}

static void after_a_flood_the_window_is_clean_again(void **state) {
    (void)state;
    seen_detector *d = make("sliding:1000 lambda=100 signature=40", 5);
    for (uint64_t key = 0; key < 500; key++) see(d, key);
    assert_true(stats_of(d).fp_now == 1);
    for (int i = 0; i < 1001; i++) see(d, 0);
    assert_true(stats_of(d).fp_now < 1e-9);
    assert_int_equal(see(d, 12345), SEEN_NEW);
    assert_int_equal(see(d, 12345), SEEN_DUPLICATE);
    assert_int_equal(stats_of(d).listed, 0);
    seen_free(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_item_of_the_list_that_comes_again_is_refreshed_there),
        cmocka_unit_test(the_list_stays_short),
        cmocka_unit_test(when_the_list_is_full_nothing_is_missed),
        cmocka_unit_test(after_a_flood_the_window_is_clean_again),
    };
    return cmocka_run_group_tests_name("timed cuckoo", tests, NULL, NULL);
}
