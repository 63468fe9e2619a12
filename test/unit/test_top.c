/* test_top.c - Space-Saving against exact counts: its bounds hold after every stream. */
#include "seen.h"
#include "seen_top.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { KEYS = 5000, RECORDS = 60000 };

static uint64_t rng;

static uint64_t draw(uint64_t n) {
    rng = rng * 6364136223846793005u + 1442695040888963407u;
    return (rng >> 33) % n;
}

static uint64_t skewed(uint64_t i) { return (void)i, draw(1 + draw(1 + draw(KEYS))); }
static uint64_t uniform(uint64_t i) { return (void)i, draw(KEYS); }
static uint64_t in_turn(uint64_t i) { return i % 101; } /* one more than the counters */
static uint64_t fresh(uint64_t i) { return i % KEYS; }
static uint64_t one(uint64_t i) { return (void)i, 7; }

static seen_digest key_of(uint64_t i) { return (seen_digest){i, i * 3}; }

static void check(const seen_top *t, const uint64_t *truth, uint64_t n, uint64_t k) {
    static struct seen_heavy list[KEYS];
    static uint8_t held[KEYS];
    uint64_t sum = 0;
    size_t m = seen_top_list(t, list);
    memset(held, 0, sizeof held);
    assert_true(m <= k);
    for (size_t i = 0; i < m; i++) {
        uint64_t key = list[i].key.lo, bound = n / k;
        assert_true(!held[key] && list[i].counter < k);
        held[key] = 1;
        assert_true(list[i].error <= bound);
        assert_true(list[i].count - list[i].error <= truth[key] && truth[key] <= list[i].count);
        assert_true(i == 0 || list[i].count <= list[i - 1].count);
        sum += list[i].count;
    }
    assert_true(sum == n); /* nothing is counted twice or lost */
    for (uint64_t key = 0; key < KEYS; key++) assert_true(held[key] || truth[key] <= n / k);
}

static void counters_bound_the_truth(void **state) {
    (void)state;
    uint64_t (*const streams[])(uint64_t) = {skewed, uniform, in_turn, fresh, one};
    static const uint64_t sizes[] = {1, 2, 3, 100, 1000, 4999};
    static uint64_t truth[KEYS];
    struct seen_error e;
    seen_top *t;
    for (size_t s = 0; s < 5; s++) {
        for (size_t j = 0; j < 6; j++) {
            uint64_t k = sizes[j], name[KEYS];
            int taken;
            rng = 1 + s;
            memset(truth, 0, sizeof truth);
            assert_int_equal(seen_top_new(&t, k, NULL, &e), 0);
            for (uint64_t i = 0; i < RECORDS; i++) {
                uint64_t key = streams[s](i);
                truth[key]++;
                size_t c = seen_top_add(t, key_of(key), &taken);
                if (taken) name[c] = key;
                assert_true(name[c] == key);
                if (i < 300 || i % 9973 == 0) check(t, truth, i + 1, k);
            }
            check(t, truth, RECORDS, k);
            seen_top_clear(t);
            memset(truth, 0, sizeof truth);
            for (uint64_t i = 0; i < 1000; i++)
                truth[i % 77]++, seen_top_add(t, key_of(i % 77), &taken);
            check(t, truth, 1000, k);
            seen_top_free(t);
        }
    }
}

static size_t asked_for;
static void *none(void *ctx, size_t size) { return (void)ctx, asked_for = size, NULL; }

static void no_key_came_more_often_than_is_said(void **state) {
    (void)state;
    seen_top *t;
    uint64_t count[1000] = {0};
    int taken;
    assert_int_equal(seen_top_new(&t, 20, NULL, NULL), 0);
    for (uint64_t i = 0; i < 20000; i++) {
        uint64_t key = i * i % 1000 / (1 + i % 7);
        seen_top_add(t, seen_hash(&key, sizeof key, 1), &taken);
        count[key]++;
        if (i % 500 && i > 15) continue;
        for (key = 0; key < 1000; key++) {
            uint64_t most = seen_top_bound(t, seen_hash(&key, sizeof key, 1));
            assert_true(most >= count[key] && most <= count[key] + i / 20 + 1);
        }
    }
    seen_top_free(t);
}

static void refusals(void **state) {
    (void)state;
    struct seen_error e;
    struct seen_allocator empty = {none, NULL, NULL};
    seen_top *t;
    assert_int_equal(seen_top_new(&t, 0, NULL, &e), SEEN_EREFUSED);
    assert_int_equal(seen_top_new(&t, UINT64_MAX, NULL, &e), SEEN_EREFUSED);
    assert_int_equal(seen_top_new(&t, 1000, &empty, &e), SEEN_ENOMEM);
    size_t bytes = asked_for;
    assert_int_equal(seen_top_new(&t, 1000, NULL, &e), 0);
    assert_int_equal(seen_top_bytes(t), bytes);
    seen_top_free(t);
    seen_top_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_bound_the_truth),
        cmocka_unit_test(no_key_came_more_often_than_is_said),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
