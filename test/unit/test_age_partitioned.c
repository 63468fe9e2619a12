/* The Age-Partitioned Bloom filter: its formulas against enumeration and chance, and what happens
 * to keys that leave the window, which the law tests do not look at. */
#include "theory/bloom.h"

#include "seen.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chance.h"

#define SEEDS 20

static void near(double a, double b, double tolerance) {
    if (!(fabs(a - b) <= tolerance * fabs(b) + 1e-300)) {
        print_error("%.12g is not %.12g\n", a, b);
        fail();
    }
}

static uint64_t base(void) { return chance_seed(20200109); }

/* `hits` of `trials`, by binomial chance of p. */
static void likely(const char *what, double hits, double trials, double p) {
    double off = fabs(hits - trials * p) / sqrt(fmax(1, trials * p * (1 - p)));
    if (getenv("SEEN_VERBOSE"))
        print_message("%s: measured %.5g, predicted %.5g, off %.2f\n", what, hits / trials, p, off);
    if (off > 5) {
        print_error("%s: measured %.6g of %.3g, predicted %.6g, off by %.1f sigma; replay with "
                    "SEEN_SEED=%llu\n",
                    what, hits / trials, trials, p, off, (unsigned long long)base());
        fail();
    }
}

/* -- formulas ----------------------------------------------------------------------------- */

/* The search as the paper means it: looks up slices until a run of k is complete or impossible. */
static bool search(const bool *match, uint32_t slices, uint32_t k, uint32_t first, double *probes) {
    bool known[THEORY_AGE_SLICES] = {false};
    for (uint32_t start = 0; start + k <= slices;) {
        uint32_t i = start + k;
        for (; i > start; i--) {
            if (!known[i - 1] && i - 1 >= first) ++*probes;
            known[i - 1] = true;
            if (!match[i - 1]) break;
        }
        if (i == start) return true;
        start = i;
    }
    return false;
}

static bool run_of(const bool *match, uint32_t slices, uint32_t k) {
    uint32_t run = 0;
    for (uint32_t i = 0; i < slices; i++) {
        run = match[i] ? run + 1 : 0;
        if (run == k) return true;
    }
    return false;
}

static void enumerated(const double *fill, uint32_t slices, uint32_t k) {
    double rate = 0, probes = 0, beyond = 0;
    for (uint32_t set = 0; set < 1u << slices; set++) {
        bool match[THEORY_AGE_SLICES];
        double p = 1, all = 0, old = 0;
        for (uint32_t i = 0; i < slices; i++) {
            match[i] = set >> i & 1;
            p *= match[i] ? fill[i] : 1 - fill[i];
        }
        bool found = search(match, slices, k, 0, &all);
        search(match, slices, k, k, &old);
        assert_int_equal(found, run_of(match, slices, k));
        rate += found ? p : 0;
        probes += p * all;
        beyond += p * old;
    }
    near(theory_age(fill, slices, k), rate, 1e-12);
    near(theory_age_probes(fill, slices, k, 0), probes, 1e-12);
    near(theory_age_probes(fill, slices, k, k), beyond, 1e-12);
}

static void rate_and_probes_are_those_of_all_patterns_enumerated(void **state) {
    (void)state;
    uint64_t rng = base();
    for (uint32_t slices = 1; slices <= 11; slices++)
        for (uint32_t k = 1; k <= slices; k++)
            for (int i = 0; i < 4; i++) {
                double fill[THEORY_AGE_SLICES];
                for (uint32_t j = 0; j < slices; j++) /* none and all among them */
                    fill[j] = fmin(1, fmax(0, 1.2 * chance_uniform(&rng) - .1));
                enumerated(fill, slices, k);
            }
}

static void rate_and_probes_are_those_of_slices_drawn_at_random(void **state) {
    (void)state;
    static const uint32_t k[] = {1, 3, 8, 12}, l[] = {7, 20, 40, 255};
    for (int c = 0; c < 4; c++) {
        uint32_t slices = k[c] + l[c], draws = 2000000 / slices;
        double fill[THEORY_AGE_SLICES], hits = 0, probes = 0, squares = 0;
        uint64_t rng = base() + (uint64_t)c;
        theory_age_fill(fill, slices, k[c], 1e5, c ? .9e5 / k[c] : 1000, INFINITY, .4);
        for (uint32_t i = 0; i < draws; i++) {
            bool match[THEORY_AGE_SLICES];
            double one = 0;
            for (uint32_t j = 0; j < slices; j++) match[j] = chance_uniform(&rng) < fill[j];
            hits += search(match, slices, k[c], 0, &one);
            probes += one;
            squares += one * one;
        }
        likely("rate", hits, draws, theory_age(fill, slices, k[c]));
        double mean = probes / draws, sigma = sqrt((squares / draws - mean * mean) / draws);
        double told = theory_age_probes(fill, slices, k[c], 0);
        if (fabs(mean - told) > 5 * sigma) near(mean, told, 0);
    }
}

static void a_slice_fills_for_k_generations(void **state) {
    (void)state;
    double fill[THEORY_AGE_SLICES];
    for (double lead = 0; lead <= 1; lead += .25)
        for (uint32_t k = 1; k <= 64; k += 9) {
            theory_age_fill(fill, k + 5, k, 49600, 700, INFINITY, lead);
            for (uint32_t i = 0; i < k + 5; i++)
                near(fill[i], 1 - pow(1 - 1 / 49600., 700 * fmin(i + lead, k)), 1e-9);
        }
}

/* Nothing rounds away: a rate of 1e-200 is k fills multiplied, times the runs there are. */
static void the_smallest_rates_keep_their_digits(void **state) {
    (void)state;
    double fill[THEORY_AGE_SLICES];
    for (int i = 0; i < 300; i++) fill[i] = 1e-5;
    near(theory_age(fill, 300, 40), 1e-200 * (1 + 260 * (1 - 1e-5)), 1e-12);
}

/* -- keys that leave the window ----------------------------------------------------------- */

#define WINDOW 25000

struct subject {
    seen_detector *d;
    const struct seen_spec *spec;
    uint64_t step, m; /* records a generation; cells a slice, 1e5 and more in all */
    seen_digest *digest;
    uint64_t n;
};

/* After `n` records, all different, and the digests of all. */
static struct subject play(const char *text, uint64_t generations, uint64_t seed) {
    struct subject s = {0};
    struct seen_spec spec;
    struct seen_plan plan;
    struct seen_error e = {0};
    if (seen_spec_parse(&spec, text, &e) || seen_plan_make(&plan, &spec, &e) ||
        seen_new(&s.d, &plan, NULL, &e))
        fail_msg("%s", e.text);
    s.spec = seen_spec_of(s.d);
    s.step = (WINDOW + seen_spec_get_count(s.spec, "generations") - 1) /
             seen_spec_get_count(s.spec, "generations");
    s.m = seen_spec_get_count(s.spec, "blocks") /
          (seen_spec_get_count(s.spec, "k") + seen_spec_get_count(s.spec, "generations")) * 496;
    assert_true(
        s.m * (seen_spec_get_count(s.spec, "k") + seen_spec_get_count(s.spec, "generations")) >=
        100000);
    s.n = generations * s.step;
    s.digest = malloc(s.n * sizeof *s.digest);
    uint8_t *verdict = malloc(s.n);
    for (uint64_t i = 0; i < s.n; i++)
        s.digest[i] = (seen_digest){chance_next(&seed), chance_next(&seed)};
    seen_observe(s.d, s.n, s.digest, verdict);
    free(verdict);
    return s;
}

static void end(struct subject *s) {
    seen_free(s->d);
    free(s->digest);
}

/* Whether a run begins before slice `start`, or anywhere, where `own` from there match. */
static double rate_beside(const double *fill, uint32_t slices, uint32_t k, uint32_t start,
                          uint32_t own) {
    double with[THEORY_AGE_SLICES];
    for (uint32_t i = 0; i < slices; i++) with[i] = i >= start && i < start + own ? 1 : fill[i];
    return theory_age(with, slices, k);
}

/* All records of whole generations have been played, so the next begins one: its slices hold
 * nothing, and what was added g generations before has its youngest slice at g. */
static void a_key_is_found_for_l_generations_then_by_chance_until_k_more_are_over(void **state) {
    (void)state;
    static const char *const specs[] = {"sliding:25000 fp=.01 filter=age-partitioned",
                                        "sliding:25000 fp=.2 generations=9 k=3 "
                                        "filter=age-partitioned"};
    for (int c = 0; c < 2; c++) {
        double hits[THEORY_AGE_SLICES] = {0}, low[THEORY_AGE_SLICES] = {0}, trials = 0;
        double fill[THEORY_AGE_SLICES];
        uint32_t k = 0, l = 0, slices = 0;
        for (uint64_t i = 0; i < SEEDS; i++) {
            struct subject s = play(specs[c], 2 * THEORY_AGE_SLICES / 5, base() + i);
            k = (uint32_t)seen_spec_get_count(s.spec, "k"),
            l = (uint32_t)seen_spec_get_count(s.spec, "generations"), slices = k + l;
            theory_age_fill(fill, slices, k, (double)s.m, (double)s.step, INFINITY, 0);
            assert_true(s.n > (slices + 2) * s.step);
            for (uint32_t g = 1; g <= slices + 1; g++)
                for (uint64_t j = 0; j < 200; j++) {
                    uint64_t at = s.n - g * s.step + j, age, most = s.n - at;
                    seen_last_seen(s.d, 1, &s.digest[at], &age);
                    if (g <= l && age > most) fail_msg("a key %u generations old is gone", g);
                    hits[g] += age != SEEN_NEVER;
                    low[g] += age != SEEN_NEVER && age <= (g - 1) * s.step;
                }
            trials += 200;
            end(&s);
        }
        for (uint32_t g = 1; g <= slices + 1; g++) {
            char what[40];
            uint32_t own = g <= l ? k : g < slices ? slices - g : 0;
            snprintf(what, sizeof what, "found after %u generations", g);
            likely(what, hits[g], trials, rate_beside(fill, slices, k, g, own));
            if (g > l) continue;
            snprintf(what, sizeof what, "too young after %u", g);
            likely(what, low[g], trials, rate_beside(fill, g + k - 1, k, g, k - 1));
        }
        double fresh = theory_age(fill, slices, k);
        assert_true(hits[l + 1] > 2 * trials * fresh); /* the slack is really there */
    }
}

/* The bound that the plan states, in records. */
static void beyond_the_slack_a_key_is_new_and_within_the_window_never(void **state) {
    (void)state;
    static const uint64_t lengths[] = {1, 2, 7, 100, 101, 999, 5000};
    for (int c = 0; c < 7; c++)
        for (uint64_t l = 1; l <= 64 && l <= lengths[c]; l = 2 * l + 1) {
            struct seen_spec spec;
            struct seen_plan plan;
            seen_detector *d;
            struct seen_error e = {0};
            char text[120];
            snprintf(text, sizeof text,
                     "sliding:%llu filter=age-partitioned generations=%llu fp=1e-9",
                     (unsigned long long)lengths[c], (unsigned long long)l);
            if (seen_spec_parse(&spec, text, &e) || seen_plan_make(&plan, &spec, &e) ||
                seen_new(&d, &plan, NULL, &e))
                fail_msg("%s: %s", text, e.text);
            uint64_t band = (uint64_t)((double)lengths[c] * (1 + plan.slack) + .5);
            uint64_t rng = base();
            for (uint64_t gap = 1; gap < 3 * band + 3; gap++) {
                seen_digest key = {chance_next(&rng), chance_next(&rng)};
                uint8_t verdict = 0;
                uint64_t asked[] = {lengths[c], band + 1};
                seen_observe(d, 1, &key, &verdict);
                assert_int_equal(verdict, SEEN_NEW);
                for (int i = 0; i < 2; i++) { /* the gap from that key to the record to come */
                    uint64_t from = base() + (gap - asked[i]) * 2 * 0x9e3779b97f4a7c15u, age;
                    if (gap < asked[i]) continue;
                    key = (seen_digest){chance_next(&from), chance_next(&from)};
                    seen_last_seen(d, 1, &key, &age);
                    if ((age == SEEN_NEVER) != (i == 1))
                        fail_msg("%s: a key %llu records back has age %llu", text,
                                 (unsigned long long)asked[i], (unsigned long long)age);
                }
            }
            seen_free(d);
        }
}

/* The planner's own choice of k and l, for a window of different keys. */
static void a_fifth_of_slack_costs_so_many_bits_a_key(void **state) {
    (void)state;
    static const struct {
        const char *fp;
        double bits;
    } rows[] = {{"1e-2", 20.8}, {"1e-3", 28}, {"1e-4", 34.5}, {"1e-6", 47.7}};
    for (int i = 0; i < 4; i++) {
        struct seen_spec spec;
        struct seen_plan plan;
        char text[80];
        snprintf(text, sizeof text, "sliding:1e6 filter=age-partitioned fp=%s control=0",
                 rows[i].fp);
        assert_int_equal(seen_spec_parse(&spec, text, NULL), 0);
        assert_int_equal(seen_plan_make(&plan, &spec, NULL), 0);
        near((double)plan.bytes * 8 / 1e6, rows[i].bits, .01);
        near(plan.slack, .2, .001);
        assert_true(plan.touches >= (double)seen_spec_get_count(&plan.spec, "k"));
        assert_true(plan.touches <= 2.1 * (double)seen_spec_get_count(&plan.spec, "k"));
    }
}

static void slices_alike_are_reckoned_sooner(void **state) {
    (void)state;
    static const uint32_t cases[][2] = {{1, 5}, {2, 1}, {7, 3}, {10, 50}, {30, 150}, {64, 255}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (double n = 10; n < 5000; n *= 3) {
            double fill[THEORY_AGE_SLICES];
            uint32_t k = cases[c][0], slices = k + cases[c][1];
            theory_age_fill(fill, slices, k, 49600, n, INFINITY, .3);
            double rate = theory_age(fill, slices, k);
            double sooner = theory_age_steady(slices, k, 49600, n, INFINITY, .3);
            if (rate > THEORY_AGE_LEAST) near(sooner, rate, 1e-12);
        }
}

static void it_serves_by_name_or_by_its_option_only(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        int code;
        bool chosen;
    } rows[] = {{"sliding:1e6 fp=1e-3", SEEN_OK, false}, /* though it takes the least memory */
                {"sliding:1e6 fp=1e-3 filter=age-partitioned", SEEN_OK, true},
                {"sliding:1e6 fp=1e-3 k=10 generations=50", SEEN_OK, true},
                {"sliding:5 k=3 generations=9", SEEN_EREFUSED, false},
                {"sliding:1e6 overload=shrink generations=9", SEEN_OK, false},
                {"sliding:1h k=3 generations=9", SEEN_EREFUSED, false},
                {"jumping:100/5 filter=age-partitioned", SEEN_EREFUSED, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct seen_spec spec;
        struct seen_plan plan;
        struct seen_error e = {0};
        assert_int_equal(seen_spec_parse(&spec, rows[i].spec, &e), 0);
        int code = seen_plan_make(&plan, &spec, &e);
        if (code != rows[i].code) fail_msg("%s: %d, %s", rows[i].spec, code, e.text);
        if (!code) assert_int_equal(!strcmp(plan.filter, "age-partitioned"), rows[i].chosen);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rate_and_probes_are_those_of_all_patterns_enumerated),
        cmocka_unit_test(rate_and_probes_are_those_of_slices_drawn_at_random),
        cmocka_unit_test(a_slice_fills_for_k_generations),
        cmocka_unit_test(the_smallest_rates_keep_their_digits),
        cmocka_unit_test(a_key_is_found_for_l_generations_then_by_chance_until_k_more_are_over),
        cmocka_unit_test(beyond_the_slack_a_key_is_new_and_within_the_window_never),
        cmocka_unit_test(a_fifth_of_slack_costs_so_many_bits_a_key),
        cmocka_unit_test(slices_alike_are_reckoned_sooner),
        cmocka_unit_test(it_serves_by_name_or_by_its_option_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
