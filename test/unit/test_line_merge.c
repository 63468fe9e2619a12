/* Two windows of `line` made one: what either held is found, with its age. */
#include "../any_window.h"
#include "line_trial.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

/* Every record that `from` met must be known to `d`, which has gone on by `later` since. */
static void all_are_in(const seen_detector *d, struct trial *from, uint64_t now, uint64_t later) {
    const struct seen_spec *spec = &from->plan.spec;
    bool time = spec->unit == SEEN_UNIT_MICROSECONDS;
    struct seen_stats stats = trial_stats(d);
    for (uint64_t ago = 1; ago <= from->n && ago <= from->room - TRIAL_BATCH; ago++) {
        const struct past *then = trial_past(from, from->n - ago);
        uint64_t age = time ? now - then->clock : ago + later, said;
        if (age >= from->window + !time) continue;
        if (seen_spec_get_count(spec, "refresh") == SEEN_REFRESH_FIRST && !then->stored) continue;
        if (seen_spec_get_count(spec, "overload") == SEEN_OVERLOAD_SHRINK && stats.forgotten &&
            age >= stats.kept + !time)
            continue;
        any_last_seen(d, 1, &then->key, now, &said);
        law_check(said <= age, "%s digests: %llu ago, and said to be %llu",
                  trial_shapes[from->shape], (unsigned long long)age, (unsigned long long)said);
    }
}

/* In pieces of `most` lines (0: at once), between which there are some records. */
static void merge_meanwhile(struct trial *t, struct trial *other, uint64_t most, uint64_t *now,
                            uint64_t *later) {
    struct seen_merging m = {0};
    if (!most) {
        law_check(!seen_merge(t->d, other->d, NULL), "refused");
        return;
    }
    int more = 1;
    while (more) {
        more = seen_merge_some(t->d, other->d, most, &m, NULL);
        law_check(more >= 0, "refused half-way");
        for (int i = 0; i < 3; i++, ++*later) {
            seen_digest d = trial_fresh(other);
            any_observe(t->d, 1, &d, now, t->verdict);
        }
        *now += t->window / 500;
    }
}

static void merged_windows_miss_nothing(void **state) {
    (void)state;
    uint64_t seed = law_seed();
    for (size_t i = 0; i < 8 * TRIAL_WINDOWS; i++)
        for (enum shape shape = 0; shape < TRIAL_SHAPES; shape++) {
            char spec[100];
            snprintf(spec, sizeof spec, "%s refresh=%s", trial_windows[i / 8],
                     i % 2 ? "first" : "last");
            struct trial t = trial_begin(shape, law_next(&seed), spec);
            struct trial other = trial_begin(shape, law_next(&seed), spec);
            uint64_t most = i % 3 ? 6000 : 300;
            trial_play(&t, i % 8 ? law_below(&seed, most) : 0, 6);
            trial_play(&other, 1 + law_below(&seed, most), 6);
            if (i % 8 == 7) seen_landmark(t.d), t.n = 0;
            uint64_t now = t.clock > other.clock ? t.clock : other.clock, later = 0;
            merge_meanwhile(&t, &other, i % 2 ? law_below(&seed, 300) : 0, &now, &later);
            for (int j = 0; j < 5; j++) {
                law_reload(&t.d);
                all_are_in(t.d, &t, now, later);
                all_are_in(t.d, &other, now, later);
                uint64_t more = t.plan.spec.unit == SEEN_UNIT_RECORDS ? t.window / 7 : 30;
                now += t.window / 9;
                for (uint64_t k = 0; k <= more; k++, later++) {
                    seen_digest d = trial_fresh(&other);
                    any_observe(t.d, 1, &d, &now, t.verdict);
                }
            }
            trial_end(&t);
            trial_end(&other);
        }
}

/* What left the window while the other's generations were being emptied comes back with none. */
static void a_silence_while_lines_are_emptied_is_none_less(void **state) {
    (void)state;
    struct seen_plan plan;
    law_plan(&plan,
             "sliding:31s generations=31 items=2000 fp=1e-9 seed=1 filter=line refresh=first");
    seen_detector *into = law_new(&plan, NULL), *from = law_new(&plan, NULL);
    seen_digest old = law_digest(1, 1), other = law_digest(2, 1), last = law_digest(3, 1);
    struct seen_merging m = {0};
    uint8_t verdict;
    /* Generations last a second, and begin with the first record. */
    seen_time second = 1000000, begin = 1000 * second, later = begin + second * 9 / 10;
    any_observe(into, 1, &last, &begin, &verdict);
    any_observe(from, 1, &other, &later, &verdict);
    assert_int_equal(
        seen_merge_some(into, from, seen_spec_get_count(&plan.spec, "blocks") - 1, &m, NULL), 1);
    any_observe(into, 1, &old, &later, &verdict);
    seen_time after = begin + 32 * second;
    any_observe(into, 1, &last, &after, &verdict);
    int more = 1;
    while (more > 0) more = seen_merge_some(into, from, 100, &m, NULL);
    assert_int_equal(more, 0);
    any_query(into, 1, &old, after + 10 * second, 0, &verdict);
    assert_int_equal(verdict, SEEN_NEW);
    seen_free(into);
    seen_free(from);
}

/* A table of two lines has as much room beside it as in it. */
static void what_was_beside_the_lines_does_not_come_back(void **state) {
    (void)state;
    struct seen_plan plan;
    law_plan(&plan, "sliding:1h items=10 fp=1e-9 seed=1 filter=line");
    seen_detector *into = law_new(&plan, NULL), *from = law_new(&plan, NULL);
    seen_digest old[36], other = law_digest(100, 1);
    seen_time now = 1000000, times[36];
    uint8_t verdict[36];
    for (uint64_t i = 0; i < 36; i++) old[i] = law_digest(i, 1), times[i] = now;
    any_observe(into, 36, old, times, verdict);
    assert_true(trial_stats(into).listed > 4 && !trial_stats(into).saturated);
    seen_landmark(into);
    any_observe(from, 1, &other, &now, verdict);
    assert_int_equal(seen_merge(into, from, NULL), 0);
    assert_int_equal(trial_stats(into).listed, 0);
    any_observe(into, 36, old, times, verdict);
    for (int i = 0; i < 36; i++) assert_int_equal(verdict[i], SEEN_NEW);
    seen_free(into);
    seen_free(from);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merged_windows_miss_nothing),
        cmocka_unit_test(a_silence_while_lines_are_emptied_is_none_less),
        cmocka_unit_test(what_was_beside_the_lines_does_not_come_back),
    };
    return cmocka_run_group_tests_name("line_merge", tests, NULL, NULL);
}
