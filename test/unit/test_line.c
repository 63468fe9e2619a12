/* line: no false negatives, for any stream.
 *
 * A trial remembers its last records and repeats some of them; a record that repeats one of its
 * window is a duplicate by construction, and must be called one.  The digests are an adversary's:
 * he knows lines, fingerprints, classes and chains.  SEEN_LONG=1 makes it 10^9 such duplicates. */
#include "../any_window.h"
#include "detector/block.h"
#include "line_trial.h"

#include "base/base.h"
#include "sliding/line.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* -- no false negatives ------------------------------------------------------------------- */

/* Checks the adversary itself: the tests below rely on its knowledge. */
static void the_adversary_knows_classes_and_chains(void **state) {
    (void)state;
    uint64_t alike = 0, goes_on = 0;
    struct trial one = trial_begin(ONE_CLASS, law_seed(), "sliding:1000 lines=48 signature=24");
    struct trial chain = trial_begin(CHAINED, law_seed(), "sliding:1000 lines=48 signature=24");
    const struct line_state *s = chain.d->shard[0].state;
    for (uint64_t i = 0; i < 4000; i++) {
        alike += line_class(line_fingerprint(trial_fresh(&one), 24)) == 0;
        trial_draw(&chain, 0, 0);
        if (!i) continue;
        seen_digest last = trial_past(&chain, i - 1)->key, next = trial_past(&chain, i)->key;
        goes_on +=
            line_home(s, next) == line_next(s, line_home(s, last), line_fingerprint(last, 24)) &&
            line_fingerprint(next, 24) == line_fingerprint(last, 24);
    }
    assert_int_equal(alike, 4000);
    assert_true(goes_on > 2800 && goes_on < 3200); /* three in four */
    trial_end(&one);
    trial_end(&chain);
}

static uint64_t scale(void) { return getenv("SEEN_LONG") ? 200 : 1; }

static void nothing_in_the_window_is_missed(void **state) {
    (void)state;
    uint64_t seed = law_seed(), duplicates = 0;
    for (size_t w = 0; w < TRIAL_WINDOWS; w++)
        for (enum shape shape = 0; shape < TRIAL_SHAPES; shape++)
            for (int first = 0; first < 2; first++) {
                char spec[100];
                snprintf(spec, sizeof spec, "%s refresh=%s", trial_windows[w],
                         first ? "first" : "last");
                struct trial t = trial_begin(shape, law_next(&seed), spec);
                if (seen_spec_get_count(&t.plan.spec, "overload") == SEEN_OVERLOAD_SHRINK)
                    t.batch = 1;
                for (uint64_t i = 0; i < scale(); i++) trial_play(&t, 10000, 4 + 10 * (i % 2));
                duplicates += t.duplicates;
                trial_end(&t);
            }
    print_message("%llu duplicates in the window, none missed\n", (unsigned long long)duplicates);
}

/* A window as large as those of the benchmarks, and one of several 2^10 generations. */
static void nothing_is_missed_in_a_large_table(void **state) {
    (void)state;
    uint64_t duplicates = 0;
    for (int first = 0; first < 2; first++) {
        struct trial t =
            trial_begin(RANDOM, law_seed() + first,
                        first ? "sliding:100000 fp=5e-4 refresh=first" : "sliding:100000");
        trial_play(&t, 300000 * (scale() > 1 ? 4200 : 1), 8);
        duplicates += t.duplicates;
        trial_end(&t);
    }
    print_message("%llu duplicates in the window, none missed\n", (unsigned long long)duplicates);
}

/* 5, 20 and 100 percent more keys than planned: from 20 on some find no place. */
static void overload_is_counted_and_nothing_is_missed(void **state) {
    (void)state;
    static const int more[] = {5, 20, 100};
    for (int i = 0; i < 3; i++) {
        char spec[100];
        snprintf(spec, sizeof spec, "sliding:50000 items=%d fp=1e-3 overload=saturate",
                 5000000 / (100 + more[i]));
        struct trial t = trial_begin(RANDOM, law_seed() + i, spec);
        trial_play(&t, 200000, 0);
        struct seen_stats crowded = trial_stats(t.d);
        uint64_t rng = law_seed();
        double found = law_query_fresh(t.d, 20000, &rng), wrong = (double)crowded.duplicates;
        law_check(fabs(found - crowded.fp_now) < .05,
                  "%d %% too many: %g of new keys found, not %g", more[i], found, crowded.fp_now);
        law_check(wrong >= (double)crowded.false_lo && wrong <= (double)crowded.false_hi &&
                      fabs(crowded.expected_false - wrong) < 5 * sqrt(wrong) + .25 * wrong,
                  "%d %% too many: %g false, expected %g", more[i], wrong, crowded.expected_false);
        trial_play(&t, 200000, 5);
        law_check(!crowded.saturated == (more[i] < 20), "%llu keys lost at %d %% too many",
                  (unsigned long long)crowded.saturated, more[i]);
        trial_end(&t);
    }
}

static void after_a_flood_the_window_is_clean_again(void **state) {
    (void)state;
    struct trial t =
        trial_begin(RANDOM, law_seed(), "sliding:1000 lines=4 signature=43 overload=saturate");
    uint64_t rng = 1;
    trial_play(&t, 5000, 0);
    assert_true(trial_stats(t.d).saturated > 0);
    assert_true(law_query_fresh(t.d, 2000, &rng) > .9);
    seen_digest one = law_fresh(&rng);
    uint8_t verdict;
    for (int i = 0; i < 2200; i++) seen_observe(t.d, 1, &one, &verdict);
    assert_int_equal(trial_stats(t.d).listed, 0);
    assert_int_equal(trial_stats(t.d).stored, 1);
    assert_true(law_query_fresh(t.d, 2000, &rng) == 0);
    trial_end(&t);
}

/* -- time --------------------------------------------------------------------------------- */

/* A line that is not touched until its stamp has wrapped, once or several times: its keys do not
 * come back. */
static void a_key_is_not_young_again_after_2_to_10_generations(void **state) {
    (void)state;
    enum { AWAY = 60 };
    for (uint64_t gap = 1; gap < 5 * 1024; gap += gap % 1024 < AWAY || gap % 1024 > 956 ? 1 : 53) {
        seen_detector *d = law_make("sliding:31 filter=line signature=43 lines=5000 seed=1");
        seen_digest key = law_digest(1, 1), other = law_digest(2, 1), others[TRIAL_BATCH];
        uint8_t verdict, verdicts[TRIAL_BATCH];
        for (int i = 0; i < TRIAL_BATCH; i++) others[i] = other;
        seen_observe(d, 1, &key, &verdict);
        for (uint64_t i = 1; i < gap; i += TRIAL_BATCH)
            seen_observe(d, gap - i < TRIAL_BATCH ? gap - i : TRIAL_BATCH, others, verdicts);
        seen_observe(d, 1, &key, &verdict);
        law_check(verdict == (gap <= 31), "gap %llu: called %d", (unsigned long long)gap, verdict);
        seen_free(d);
    }
}

/* The map of a full line of 27 entries with 31 ends has not a bit to spare. */
static void a_full_line_holds_all_its_generations(void **state) {
    (void)state;
    assert_int_equal(line_room(16) + LINE_MAX_LIVE, LINE_MAP_BITS);
    for (uint64_t apart = 1; apart <= 2; apart++) {
        seen_detector *d = law_make("sliding:31 filter=line signature=16 lines=1 seed=1");
        uint8_t verdict;
        for (uint64_t i = 0; i < 27 * apart; i++) {
            seen_digest key = {0, 1 + i / apart};
            seen_observe(d, 1, &key, &verdict);
            assert_int_equal(verdict, i % apart != 0);
        }
        uint64_t age;
        for (uint64_t i = 0; i < 27; i++) {
            seen_digest key = {0, 1 + i};
            uint64_t ago = (27 - i) * apart - (apart - 1);
            seen_last_seen(d, 1, &key, &age);
            assert_int_equal(age, ago <= 32 ? ago : SEEN_NEVER);
        }
        seen_free(d);
    }
}

/* -- bytes -------------------------------------------------------------------------------- */

static void saved_and_loaded_at_every_record(void **state) {
    (void)state;
    static const char *const specs[] = {
        "sliding:40 lines=1 signature=16", "sliding:300 lines=3 signature=27 refresh=first",
        "sliding:1s lines=2 signature=16", "sliding:3000 items=3000 fp=1e-3"};
    for (int i = 0; i < 4; i++)
        for (enum shape shape = 0; shape < TRIAL_SHAPES; shape++) {
            struct trial t = trial_begin(shape, law_seed() + i, specs[i]);
            t.batch = 1;
            trial_play(&t, i == 3 ? 6000 : 0, 4);
            for (int j = 0; j < 400; j++) {
                struct law_bytes before = law_save(t.d, NULL), after;
                struct seen_stats stats = trial_stats(t.d), loaded;
                seen_free(t.d);
                t.d = law_load(&before, NULL);
                after = law_save(t.d, NULL);
                loaded = trial_stats(t.d);
                law_check(law_bytes_equal(&before, &after), "other bytes after save and load");
                law_check(!memcmp(&stats, &loaded, sizeof stats), "other stats after load");
                law_bytes_free(&before);
                law_bytes_free(&after);
                trial_play(&t, 1, 8);
            }
            trial_end(&t);
        }
}

/* The same verdicts and bytes for every width of fingerprints. */
static void every_instruction_set_is_alike_in_every_width(void **state) {
    (void)state;
    static const int widths[] = {16, 18, 20, 22, 24, 27, 30, 33, 36, 43};
    for (int i = 0; i < 80; i++)
        for (enum shape shape = 0; shape < TRIAL_SHAPES; shape++) {
            struct law_bytes first = {0};
            for (uint32_t cpu = CPU_PORTABLE; cpu <= CPU_VBMI2; cpu++) {
                char spec[120];
                snprintf(spec, sizeof spec,
                         "sliding:%s signature=%d lines=25 refresh=%s overload=%s",
                         i % 4 < 2 ? "500" : "2s", widths[i / 8], i % 2 ? "first" : "last",
                         i % 8 < 4 ? "shrink" : "saturate");
                struct trial t = trial_begin(shape, law_seed() + i, spec);
                seen_free(t.d);
                t.d = law_new_on(&t.plan, cpu);
                trial_play(&t, 3000, 6);
                struct law_bytes bytes = law_save(t.d, NULL);
                law_check(cpu == CPU_PORTABLE || law_bytes_equal(&first, &bytes),
                          "%s digests: bytes differ on cpu %u", trial_shapes[shape], cpu);
                if (cpu == CPU_PORTABLE)
                    first = bytes;
                else
                    law_bytes_free(&bytes);
                trial_end(&t);
            }
            law_bytes_free(&first);
        }
}

/* Though what a batch leaves for later meets lines that its other records have changed. */
static void a_batch_is_its_records_one_by_one(void **state) {
    (void)state;
    uint64_t seed = law_seed();
    for (size_t i = 0; i < 2 * TRIAL_WINDOWS; i++)
        for (enum shape shape = 0; shape < TRIAL_SHAPES; shape++) {
            char spec[100];
            snprintf(spec, sizeof spec, "%s refresh=%s", trial_windows[i / 2],
                     i % 2 ? "first" : "last");
            struct trial t = trial_begin(shape, law_next(&seed), spec);
            seen_detector *one = law_new(&t.plan, NULL);
            for (int j = 0; j < 60; j++) {
                uint64_t n = 1 + law_below(&t.rng, TRIAL_BATCH);
                uint8_t verdict[TRIAL_BATCH];
                for (uint64_t k = 0; k < n; k++) trial_draw(&t, k, j % 8);
                any_observe(t.d, n, t.key, t.time, t.verdict);
                for (uint64_t k = 0; k < n; k++)
                    any_observe(one, 1, t.key + k, t.time + k, verdict + k);
                law_check(!memcmp(verdict, t.verdict, n), "%s digests: other verdicts in batches",
                          trial_shapes[shape]);
            }
            law_check(law_alike(t.d, one), "%s digests: other bytes after batches",
                      trial_shapes[shape]);
            seen_free(one);
            trial_end(&t);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_adversary_knows_classes_and_chains),
        cmocka_unit_test(nothing_in_the_window_is_missed),
        cmocka_unit_test(nothing_is_missed_in_a_large_table),
        cmocka_unit_test(overload_is_counted_and_nothing_is_missed),
        cmocka_unit_test(after_a_flood_the_window_is_clean_again),
        cmocka_unit_test(a_key_is_not_young_again_after_2_to_10_generations),
        cmocka_unit_test(a_full_line_holds_all_its_generations),
        cmocka_unit_test(saved_and_loaded_at_every_record),
        cmocka_unit_test(every_instruction_set_is_alike_in_every_width),
        cmocka_unit_test(a_batch_is_its_records_one_by_one),
    };
    return cmocka_run_group_tests_name("line", tests, NULL, NULL);
}
