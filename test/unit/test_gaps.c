/* test_gaps.c - gaps learnt from a sample: stack distances against a list searched in full, the law
 * against streams whose law is known, predictions against the formulas they generalise. */
#include "base/bits.h"
#include "decaying/cache.h"
#include "decaying/stable.h"
#include "detector/block.h"
#include "seen_gaps.h"
#include "theory/decaying.h"
#include "theory/gaps.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MEM = 2 << 20 };

static uint64_t rng = 1;

static uint64_t draw(uint64_t n) { return bits_range(bits_draw(rng++, 7, 0), n); }
static seen_digest key_of(uint64_t i) { return (seen_digest){i, i * 3}; }

static seen_gaps *learner(uint64_t mem) {
    seen_gaps *g;
    struct seen_error e;
    if (seen_gaps_new(&g, mem, NULL, &e)) fail_msg("%s", e.text);
    return g;
}

static void add(seen_gaps *g, uint64_t key) {
    seen_digest d = key_of(key);
    seen_gaps_add(g, 1, &d);
}

/* -- distances ---------------------------------------------------------------------------- */

/* Keys by last use, the newest first, in `list`; the depth of `key`, or n. */
static size_t use(uint64_t *list, size_t n, uint64_t key) {
    size_t depth = 0;
    while (depth < n && list[depth] != key) depth++;
    memmove(list + 1, list, (depth < n ? depth : n) * sizeof *list);
    list[0] = key;
    return depth;
}

/* More records than the log has places, so that it is squeezed several times. */
static void stack_distances_are_those_of_a_list(void **state) {
    (void)state;
    enum { KEYS = 300, RECORDS = 200000 };
    static struct gap_counts naive;
    uint64_t list[KEYS + 1], last[KEYS];
    size_t n = 0;
    seen_gaps *g = learner(MEM);
    for (uint64_t i = 0; i < RECORDS; i++) {
        uint64_t key = draw(1 + draw(KEYS));
        size_t depth = use(list, n, key);
        if (depth == n)
            naive.first[gap_bucket(i)]++, n++;
        else
            naive.repeats[gap_bucket(i - last[key] - 1)][gap_bucket(depth)]++;
        last[key] = i;
        add(g, key);
    }
    const struct gap_counts *found = sample_counts(g);
    assert_true(found->records == RECORDS);
    assert_memory_equal(found->first, naive.first, sizeof naive.first);
    assert_memory_equal(found->repeats, naive.repeats, sizeof naive.repeats);
    seen_gaps_free(g);
}

static void decades_count_records_ago(void **state) {
    (void)state;
    struct seen_gaps_stats s;
    seen_gaps *g = learner(MEM);
    add(g, 0), add(g, 0);                       /* 1 record ago */
    for (uint64_t i = 1; i < 9; i++) add(g, i); /* 0 comes 9 records ago */
    add(g, 0);
    for (uint64_t i = 100; i < 109; i++) add(g, i); /* and 10 */
    add(g, 0);
    seen_gaps_stats(g, &s);
    assert_true(s.decade[0] == 2 && s.decade[1] == 1 && s.repeats == 3 && s.keys == 18);
    assert_true(s.records == 21 && s.followed == 1 && s.bytes <= MEM);
    seen_gaps_free(g);
}

/* -- buckets ------------------------------------------------------------------------------ */

static void buckets_have_the_numbers_they_say(void **state) {
    (void)state;
    for (size_t b = 0; b + 1 < GAP_BUCKETS; b++) {
        uint64_t from = (uint64_t)gap_from(b), end = (uint64_t)gap_from(b + 1);
        assert_true(from < end && gap_bucket(from) == b && gap_bucket(end - 1) == b);
    }
    assert_true(gap_bucket(UINT64_MAX) == GAP_BUCKETS - 1);
}

/* -- the law ------------------------------------------------------------------------------ */

/* With N keys of equal probability gaps are geometric.  The sample is too short for them: only the
 * law tells that the keys of many first occurrences came before. */
static void gaps_that_the_sample_cuts_are_estimated(void **state) {
    (void)state;
    enum { N = 20000, RECORDS = 2 * N };
    struct gap_law law;
    struct seen_gaps_stats s;
    seen_gaps *g = learner(4 * MEM);
    for (uint64_t i = 0; i < RECORDS; i++) add(g, draw(N));
    seen_gaps_stats(g, &s);
    double known = 1 - exp(-(double)s.reach / N), seen = s.repeats / RECORDS;
    assert_true((double)s.reach > .8 * RECORDS &&
                seen < known - .2); /* the count itself is far off */
    assert_true(fabs(s.within - known) < .01);
    gap_law_make(&law, sample_counts(g), INFINITY);
    for (double l = 100; l < .8 * RECORDS; l *= 1.7)
        assert_true(fabs(gap_law_keys(&law, l) / (N * (1 - exp(-l / N))) - 1) < .02);
    /* Depths are alike from 0 to N - 1, those of longer gaps left out. */
    for (double d = .1; d < .8; d += .1)
        assert_true(fabs(gap_law_deeper(&law, d * N) - (1 - d / known)) < .015);
    seen_gaps_free(g);
}

/* What a run shows depends on its length: that of the sample shows what was counted. */
static void shorter_runs_see_fewer_long_gaps(void **state) {
    (void)state;
    enum { N = 5000, RECORDS = 20000 };
    struct gap_law law;
    seen_gaps *g = learner(MEM);
    for (uint64_t i = 0; i < RECORDS; i++) add(g, draw(N));
    for (double run = 500; run <= RECORDS; run *= 2) {
        double repeats = 0, deep = 0;
        gap_law_make(&law, sample_counts(g), run);
        for (double gap = 0; gap < run - 1;
             gap++) { /* positions that can show it, times its share */
            double share = (run - 1 - gap) * exp(-gap / N);
            repeats += share;
            if (N * (1 - exp(-gap / N)) >= N / 20) deep += share;
        }
        assert_true(fabs(gap_law_deeper(&law, N / 20) - deep / repeats) < .025);
    }
    gap_law_make(&law, sample_counts(g), RECORDS);
    double sum = 0;
    for (size_t b = 0; b < GAP_BUCKETS; b++) sum += law.at_gap[b];
    assert_true(fabs(sum - 1) < 1e-9);
    seen_gaps_free(g);
}

/* -- bounded memory ----------------------------------------------------------------------- */

/* A tenth of the records are of one key, the others of many: whether it is followed must not
 * matter. */
static void sampled_keys_stand_for_all(void **state) {
    (void)state;
    enum { N = 200000, RECORDS = 600000 };
    for (uint64_t hot = N; hot < N + 4; hot++) {
        seen_gaps *all = learner(64 << 20), *some = learner(MEM);
        struct seen_gaps_stats a, s;
        struct gap_law la, ls;
        for (uint64_t i = 0; i < RECORDS; i++) {
            uint64_t key = draw(10) ? draw(N) : hot;
            add(all, key), add(some, key);
        }
        seen_gaps_stats(all, &a), seen_gaps_stats(some, &s);
        assert_true(a.followed == 1 && s.followed <= .125 && s.bytes <= MEM);
        assert_true(fabs(s.keys / a.keys - 1) < .03 && fabs(s.within - a.within) < .01);
        gap_law_make(&la, sample_counts(all), INFINITY);
        gap_law_make(&ls, sample_counts(some), INFINITY);
        for (double d = 1000; d < N; d *= 2)
            assert_true(fabs(gap_law_deeper(&la, d) - gap_law_deeper(&ls, d)) < .02);
        seen_gaps_free(all), seen_gaps_free(some);
    }
}

static void too_little_memory_is_refused(void **state) {
    (void)state;
    seen_gaps *g;
    struct seen_error e;
    assert_int_equal(seen_gaps_new(&g, MEM - 1, NULL, &e), SEEN_EREFUSED);
    assert_null(g);
    assert_non_null(strstr(e.text, "2MiB"));
    seen_gaps_free(NULL);
}

static void *none(void *ctx, size_t size) { return (void)ctx, (void)size, NULL; }

static void no_memory_is_told(void **state) {
    (void)state;
    seen_gaps *g;
    struct seen_error e;
    const struct seen_allocator broke = {none, NULL, NULL};
    assert_int_equal(seen_gaps_new(&g, MEM, &broke, &e), SEEN_ENOMEM);
}

/* -- predictions -------------------------------------------------------------------------- */

static struct seen_plan plan_of(const char *text) {
    struct seen_spec spec;
    struct seen_plan plan = {0};
    struct seen_error e;
    if (seen_spec_parse(&spec, text, &e) || seen_plan_make(&plan, &spec, &e))
        fail_msg("%s", e.text);
    return plan;
}

/* All records between are of different keys, and all repeats come at one gap. */
static struct gap_law different(size_t bucket) {
    struct gap_law law = {.run = INFINITY};
    for (size_t b = 0; b <= GAP_BUCKETS; b++) law.keys[b] = gap_from(b);
    for (size_t b = 0; b < GAP_BUCKETS; b++)
        law.centre[b] = (gap_from(b) + gap_from(b + 1) - 1) / 2;
    law.at_gap[bucket] = law.at_depth[bucket] = 1;
    return law;
}

static void different_keys_give_the_formulas_of_the_paper(void **state) {
    (void)state;
    static const char *const specs[] = {"max=1 fp=.1", "max=3 fp=.1", "max=7 fp=.01",
                                        "max=1 fp=.01"};
    for (size_t i = 0; i < 4; i++) {
        char text[128];
        snprintf(text, sizeof text, "decaying filter=stable lines=40 %s", specs[i]);
        struct seen_plan plan = plan_of(text);
        const struct seen_spec *s = &plan.spec;
        struct theory_stable t = {stable_cells(s, seen_spec_get_count(s, "blocks")),
                                  (double)seen_spec_get_count(s, "k"),
                                  (double)seen_spec_get_count(s, "decrements"),
                                  (double)seen_spec_get_count(s, "cell-max")};
        for (size_t b = 0; b < gap_bucket(1 << 20); b += 3) {
            struct gap_law law = different(b);
            struct forecast f = stable_forecast(&plan, &law);
            assert_true(fabs(f.fn - theory_stable_fn(&t, law.centre[b])) < .003);
            assert_true(fabs(f.fp / theory_stable_fp(&t) - 1) < .01);
        }
    }
}

static void a_cache_fills_up_to_its_bound(void **state) {
    (void)state;
    struct theory_cache c = {100, 4, 255, false};
    assert_true(theory_cache_fp_after(&c, 0) == 0);
    assert_true(fabs(theory_cache_fp_after(&c, 100) - .9937 / 255) < 4e-6);
    assert_true(fabs(theory_cache_fp_after(&c, 1e6) / theory_cache_fp(&c) - 1) < 1e-9);
}

/* On the sample itself a buffer misses what its stack distances say, but for buckets. */
static void a_buffer_misses_what_lies_deeper(void **state) {
    (void)state;
    enum { RECORDS = 60000, KEYS = 30000 };
    for (int kib = 8; kib <= 256; kib *= 2) {
        char text[64];
        uint64_t missed = 0, repeats = 0;
        double fp, fn;
        seen_detector *d;
        seen_gaps *g = learner(4 * MEM);
        snprintf(text, sizeof text, "decaying mem=%dKiB filter=lru seed=1", kib);
        struct seen_plan plan = plan_of(text);
        uint8_t *was = calloc(KEYS, 1);
        assert_int_equal(seen_new(&d, &plan, NULL, NULL), 0);
        for (uint64_t i = 0; i < RECORDS; i++) {
            uint8_t verdict;
            uint64_t key = (uint64_t)pow(KEYS, (double)draw(1 << 30) / (1 << 30));
            seen_digest digest = seen_hash(&key, sizeof key, 1);
            add(g, key);
            seen_observe(d, 1, &digest, &verdict);
            repeats += was[key];
            missed += was[key] && !verdict;
            was[key] = 1;
        }
        assert_int_equal(seen_gaps_predict(g, &plan, RECORDS, &fp, &fn, NULL), 0);
        assert_true(fabs((double)missed / (double)repeats - fn) < .002);
        free(was);
        seen_free(d);
        seen_gaps_free(g);
    }
}

/* Zipf-like streams, each structure: the predictions for a run against what is counted. */
static void predictions_are_what_detectors_do(void **state) {
    (void)state;
    enum { RECORDS = 100000, KEYS = 60000, SEEDS = 3 };
    static const char *const specs[] = {"stable max=1", "stable max=3",          "stable max=7",
                                        "lru",          "second-chance",         "cache",
                                        "fp-lru",       "stable max=3 shards=3", "cache shards=4"};
    static uint64_t stream[2 * RECORDS];
    static uint8_t before[KEYS];
    for (size_t i = 0; i < 9; i++)
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            char text[128];
            uint64_t count[2] = {0, 0}, wrong[2] = {0, 0};
            double fp, fn;
            seen_detector *d;
            snprintf(text, sizeof text, "decaying mem=24KiB fp=.05 seed=%d filter=%s", (int)seed,
                     specs[i]);
            struct seen_plan plan = plan_of(text);
            seen_gaps *g = learner(4 * MEM);
            for (uint64_t r = 0; r < 2 * RECORDS; r++)
                stream[r] = (uint64_t)pow(KEYS, (double)draw(1 << 30) / (1 << 30));
            for (uint64_t r = 0; r < RECORDS; r++) add(g, stream[r]);
            assert_int_equal(seen_gaps_predict(g, &plan, RECORDS, &fp, &fn, NULL), 0);
            assert_int_equal(seen_new(&d, &plan, NULL, NULL), 0);
            memset(before, 0, sizeof before);
            for (uint64_t r = RECORDS; r < 2 * RECORDS; r++) {
                uint8_t verdict, *was = &before[stream[r]];
                seen_digest key = key_of(stream[r]);
                key = seen_hash(&key, sizeof key, seed);
                seen_observe(d, 1, &key, &verdict);
                count[*was]++;
                wrong[*was] += *was ? !verdict : verdict;
                *was = 1;
            }
            double fps = (double)wrong[0] / (double)count[0],
                   fns = (double)wrong[1] / (double)count[1];
            assert_true(fabs(fns - fn) < .01);
            assert_true(fabs(fps - fp) < .004 + .05 * fp);
            seen_free(d);
            seen_gaps_free(g);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stack_distances_are_those_of_a_list),
        cmocka_unit_test(decades_count_records_ago),
        cmocka_unit_test(buckets_have_the_numbers_they_say),
        cmocka_unit_test(gaps_that_the_sample_cuts_are_estimated),
        cmocka_unit_test(shorter_runs_see_fewer_long_gaps),
        cmocka_unit_test(sampled_keys_stand_for_all),
        cmocka_unit_test(too_little_memory_is_refused),
        cmocka_unit_test(no_memory_is_told),
        cmocka_unit_test(different_keys_give_the_formulas_of_the_paper),
        cmocka_unit_test(a_cache_fills_up_to_its_bound),
        cmocka_unit_test(a_buffer_misses_what_lies_deeper),
        cmocka_unit_test(predictions_are_what_detectors_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
