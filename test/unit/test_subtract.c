/* by=subtract: the sum of the sub-windows' counters is their sum at all times, the verdicts are
 * those of the ring (by=or) where neither errs, and a key counts once however often it came. */
#include "../any_window.h"
#include "detectors.h"

#include "detector/block.h"
#include "table/table.h"
#include "theory/bloom.h"

static seen_detector *make_by(const char *spec, const char *by) {
    char text[200];
    snprintf(text, sizeof text, "%s by=%s filter=counting seed=1", spec, by);
    return make(text);
}

/* -- the sum ------------------------------------------------------------------------------ */

/* Cells of all lines: the sum, and how many of them are at their top. */
static uint64_t check_sums(const seen_detector *d) {
    const struct filter *f = &d->shard[0].filter;
    uint32_t width = f->shape.width, top = counters_top(width), full = 0;
    uint32_t cell_bits = (f->shape.live + 1) * width;
    for (uint64_t i = 0; i < f->shape.lines; i++)
        for (uint32_t cell = 0; cell + cell_bits <= TABLE_BITS; cell += cell_bits) {
            uint32_t sum = 0, said = counters_get(table_line(f, i), cell, top);
            for (uint32_t g = 1; g <= f->shape.live; g++)
                sum += counters_get(table_line(f, i), cell + g * width, top);
            assert_int_equal(said, sum < top ? sum : top);
            full += said == top;
        }
    return full;
}

static void the_sum_is_the_sum_at_all_times(void **state) {
    (void)state;
    static const char *const specs[] = {
        "jumping:600/5 k=4 lines=60 width=2", "jumping:600/5 k=4 lines=60 width=3 refresh=first",
        "jumping:600/5 k=4 lines=60 width=16", "jumping:7/7 k=2 lines=8 width=4",
        "jumping:3000/60 k=3 lines=200 width=4"};
    for (size_t s = 0; s < 5; s++) {
        seen_detector *d = make_by(specs[s], "subtract");
        uint64_t rng = s, full = 0;
        for (int i = 0; i < 6000; i++) {
            seen_digest one = key(random64(&rng) % 3 ? random64(&rng) % 900 : random64(&rng));
            uint8_t verdict;
            seen_observe(d, 1, &one, &verdict);
            one = key(random64(&rng) % 900);
            if (i % 7 == 0) seen_query(d, 1, &one, 0, &verdict);
            if (i % 7 == 0 && verdict) seen_forget(d, 1, &one, NULL);
            if (i % 1500 == 1499) seen_landmark(d);
            if (i % 50 == 0) full += check_sums(d);
        }
        assert_true(s > 0 || full > 1000); /* of two bits: many were at their top */
        seen_free(d);
    }
}

static void merged_sums_are_sums_too(void **state) {
    (void)state;
    seen_detector *a = make_by("jumping:600/5 k=4 lines=60 width=3", "subtract");
    seen_detector *b = make_by("jumping:600/5 k=4 lines=60 width=3", "subtract");
    uint64_t rng = 3;
    for (int i = 0; i < 900; i++) {
        seen_digest one = key(random64(&rng) % 900);
        uint8_t verdict;
        seen_observe(i % 3 ? a : b, 1, &one, &verdict);
    }
    assert_int_equal(seen_merge(a, b, NULL), 0);
    assert_true(check_sums(a) > 0);
    seen_free(a);
    seen_free(b);
}

/* -- as the ring -------------------------------------------------------------------------- */

static void without_false_positives_the_verdicts_are_those_of_the_ring(void **state) {
    (void)state;
    static const char *const specs[] = {
        "jumping:1000/8 fp=1e-9", "jumping:1000/8 fp=1e-9 refresh=first", "jumping:50/50 fp=1e-9",
        "jumping:1h/12 fp=1e-9 items=1000 refresh=first", "jumping:1h/12 fp=1e-9 items=1000"};
    for (size_t s = 0; s < 5; s++) {
        seen_detector *ring = make_by(specs[s], "or"), *sum = make_by(specs[s], "subtract");
        uint64_t rng = s, hits = 0;
        seen_time now = 0;
        for (int i = 0; i < 20000; i++) {
            seen_digest one = key(random64(&rng) % 2 ? random64(&rng) % 2000 : random64(&rng));
            uint8_t a, b;
            uint64_t age_a, age_b;
            now += random64(&rng) % 8000000;
            if (i % 3000 == 2999) now += 7200000000;
            any_last_seen(ring, 1, &one, now, &age_a);
            any_last_seen(sum, 1, &one, now, &age_b);
            assert_int_equal(age_a, age_b);
            any_observe(ring, 1, &one, &now, &a);
            any_observe(sum, 1, &one, &now, &b);
            assert_int_equal(a, b);
            hits += a;
        }
        assert_true(hits > 100 && hits < 12000);
        seen_free(ring);
        seen_free(sum);
    }
}

/* -- the account -------------------------------------------------------------------------- */

/* 300 keys that all come in each of five sub-windows, and 999 that come once: one record short of
 * the sixth, which would drop the first. */
static void a_key_of_several_sub_windows_counts_once(void **state) {
    (void)state;
    seen_detector *ring = make_by("jumping:2000/4 fp=1e-6", "or");
    seen_detector *sum = make_by("jumping:2000/4 fp=1e-6", "subtract");
    struct seen_stats r, s;
    for (uint64_t i = 0; i < 2499; i++) {
        seen_digest one = key(i % 500 < 300 ? i % 500 : 1000 + i);
        uint8_t verdict;
        seen_observe(ring, 1, &one, &verdict);
        seen_observe(sum, 1, &one, &verdict);
    }
    seen_stats(ring, &r);
    seen_stats(sum, &s);
    assert_int_equal(r.stored, 2499);
    assert_int_equal(s.stored, 1299);
    const struct filter *f = &sum->shard[0].filter;
    double expected = f->ops->theory.fp(&f->shape, 1299);
    assert_true(s.fp_now > expected * .999 && s.fp_now < expected * 1.001);
    seen_digest one = key(7); /* taken out of all five */
    seen_forget(sum, 1, &one, NULL);
    seen_stats(sum, &s);
    assert_int_equal(s.stored, 1298);
    seen_free(ring);
    seen_free(sum);
}

/* -- plans -------------------------------------------------------------------------------- */

static void by_is_for_sub_windows_of_counters(void **state) {
    (void)state;
    struct seen_plan p;
    char text[600];
    refused("landmark:1000 filter=counting by=subtract", "this window has none");
    refused("landmark filter=counting by=or", "this window has none");
    refused("sliding:1000 filter=counting by=subtract", "this window has none");
    refused("jumping:1000/8 filter=bloom by=subtract", "combine= is for filter=counting only");
    refused("jumping:1000/40 filter=counting width=16 by=subtract", "29 sub-windows at most");
    assert_int_equal(plan(&p, "jumping:1000/8 filter=counting", NULL), 0);
    seen_spec_print(&p.spec, text, sizeof text);
    assert_non_null(strstr(text, " combine=or"));
    assert_int_equal(plan(&p, "landmark:1000 filter=counting", NULL), 0);
    seen_spec_print(&p.spec, text, sizeof text);
    assert_null(strstr(text, "by="));
}

/* One filter of all keys of the window, four full sub-windows and the current one. */
static void the_plan_errs_as_one_bloom_filter(void **state) {
    (void)state;
    struct seen_plan p;
    assert_int_equal(
        plan(&p, "jumping:1000/4 filter=counting by=subtract k=3 lines=300 width=4", NULL), 0);
    double cells = (double)seen_spec_get_count(&p.spec, "blocks") * (496 / 24),
           full = theory_bloom(cells, 1250, 3);
    assert_int_equal(p.spec.subwindows, 4);
    assert_true(p.fp_full > full * .999999 && p.fp_full < full * 1.000001);
    assert_true(p.fp_mean < full && p.fp_mean > theory_bloom(cells, 1000, 3));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sum_is_the_sum_at_all_times),
        cmocka_unit_test(merged_sums_are_sums_too),
        cmocka_unit_test(without_false_positives_the_verdicts_are_those_of_the_ring),
        cmocka_unit_test(a_key_of_several_sub_windows_counts_once),
        cmocka_unit_test(by_is_for_sub_windows_of_counters),
        cmocka_unit_test(the_plan_errs_as_one_bloom_filter),
    };
    return cmocka_run_group_tests_name("subtract", tests, NULL, NULL);
}
