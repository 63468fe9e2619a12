/* The formulas of the Stable Bloom filter, against the sums they close and the paper's figures. */
#include "seen.h"
#include "theory/decaying.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static void near(double a, double b, double tolerance) {
    if (!(fabs(a - b) <= tolerance)) print_error("%.12g is not %.12g\n", a, b);
    assert_true(fabs(a - b) <= tolerance);
}

/* P(Bin(n, p) >= least), term by term. */
static double at_least(int n, int least, double p) {
    double sum = 0;
    for (int j = least; j <= n; j++)
        sum += exp(lgamma(n + 1) - lgamma(j + 1) - lgamma(n - j + 1) + j * log(p) +
                   (n - j) * log1p(-p));
    return sum;
}

static void closed_forms_are_the_papers_sums(void **state) {
    (void)state;
    for (int Max = 1; Max <= 7; Max += 2)
        for (int n = 1; n <= 400; n += 57) {
            double p = .02, k = .011, zero = 0, before = 0;
            for (int l = Max; l < n; l++) zero += at_least(l, Max, p) * pow(1 - k, l) * k;
            double lost = zero + at_least(n, Max, p) * pow(1 - k, n); /* Eqs. 9-13 */
            zero += pow(1 - k, n);                                    /* Eqs. 1-5 */
            near(theory_stable_zero_after(n, Max, p, k), zero, 1e-10);
            near(theory_stable_lost(n, Max, p, k), lost, 1e-10);
            before = n > 1 ? theory_stable_zero_after(n - 1, Max, p, k) : 1;
            near(theory_stable_step(n, Max, p, k), zero - before, 1e-10); /* Eq. 6 */
            assert_true(zero <= before + 1e-12);
        }
}

static void the_limit_is_the_stable_point(void **state) {
    (void)state;
    for (double Max = 1; Max <= 15; Max += 2) {
        struct theory_stable s = {1e4, 3, 20, Max};
        double limit = theory_stable_zero(Max, s.P / s.m, s.K / s.m);
        near(theory_stable_zero_after(1e7, Max, s.P / s.m, s.K / s.m), limit, 1e-9);
        near(theory_stable_zeros(&s), limit, 1e-9);
        near(theory_stable_fp(&s), pow(1 - limit, 3), 1e-9);
        for (double gap = 0; gap < Max; gap++) assert_true(theory_stable_fn(&s, gap) == 0);
        near(1 - theory_stable_fn(&s, 1e9), theory_stable_fp(&s), 1e-9);
    }
}

/* Corollary 2: what is still to come is at most (1-k)^n. */
static void zeros_fall_exponentially_to_the_stable_point(void **state) {
    (void)state;
    for (double Max = 1; Max <= 7; Max += 2)
        for (double n = 1; n < 3000; n += 50) {
            double p = .02, k = .004, before = theory_stable_zero_after(n, Max, p, k);
            double left = before - theory_stable_zero(Max, p, k);
            assert_true(left > -1e-12 && left <= exp(n * log1p(-k)));
            assert_true(theory_stable_step(n, Max, p, k) <= 0);
            assert_true(-theory_stable_step(n, Max, p, k) <= k * exp((n - 1) * log1p(-k)));
            assert_true(theory_stable_zero_after(n + 50, Max, p, k) <= before);
        }
}

static void with_max_1_the_chance_to_be_found_is_closed(void **state) {
    (void)state;
    struct theory_stable s = {1e6, 3, 11, 1};
    for (double gap = 1; gap < 1e7; gap *= 3)
        near(1 - theory_stable_fn(&s, gap), theory_stable_found_one(&s, gap), 2e-5);
}

static void the_real_p_gives_the_asked_rate(void **state) {
    (void)state;
    for (double fp = .3; fp > 1e-9; fp *= .3)
        for (double K = 1; K < 20; K += 3)
            for (double Max = 1; Max < 16; Max = 2 * Max + 1) {
                struct theory_stable s = {1e7, K, theory_stable_p(1e7, K, Max, fp), Max};
                near(theory_stable_fp(&s) / fp, 1, 1e-9);
            }
}

static void p_is_rounded_up(void **state) {
    (void)state;
    struct theory_stable s = {1e6, 3, 10, 1};
    near(theory_stable_p(1e6, 3, 1, .01), 10.92, .01);
    assert_true(theory_stable_p_whole(1e6, 3, 1, .01) == 11);
    near(theory_stable_fp(&s), .0123, 5e-5); /* what truncating would give */
    near(theory_stable_p(1e6, 2, 1, .1), 4.32, .01);
    s = (struct theory_stable){1e6, 2, 4, 1};
    near(theory_stable_fp(&s), .111, 2e-4); /* the setting of the paper's Table 2 */
    for (double fp = .3; fp > 1e-9; fp *= .61)
        for (double K = 1; K < 30; K += 4) {
            s = (struct theory_stable){1e7, K, theory_stable_p_whole(1e7, K, 3, fp), 3};
            if (s.P == 0) continue; /* none below m */
            assert_true(theory_stable_fp(&s) <= fp * (1 + 1e-12));
            s.P--;
            assert_true(s.P == 0 || theory_stable_fp(&s) > fp * (1 + 1e-12));
        }
}

/* Theorem 4 calls P inversely proportional to m. */
static void p_does_not_depend_on_m(void **state) {
    (void)state;
    for (double m = 1e5; m <= 1e12; m *= 10) assert_true(theory_stable_p_whole(m, 3, 1, .01) == 11);
}

static const double rates[7] = {.2, .1, .05, .01, .005, .001, 1e-4};

static void best_k(double Max, double most, int whole, const int *expected) {
    for (int i = 0; i < 7; i++) {
        double k = theory_stable_best_k(1e6, Max, rates[i], most, whole);
        if (k != expected[i]) print_error("Max %g, fp %g: K %g\n", Max, rates[i], k);
        assert_true(k == expected[i]);
    }
}

/* Gaps up to 1e9, m = 1e6; whole P shifts the minimum, and so does another range. */
static void the_best_k(void **state) {
    (void)state;
    best_k(1, 1e9, 0, (const int[]){1, 2, 2, 3, 4, 4, 6});
    best_k(3, 1e9, 0, (const int[]){2, 2, 3, 5, 5, 7, 9});
    best_k(7, 1e9, 0, (const int[]){2, 3, 4, 5, 6, 8, 11});
    best_k(1, 1e9, 1, (const int[]){1, 1, 2, 3, 3, 5, 6});
    best_k(3, 1e9, 1, (const int[]){1, 3, 4, 4, 5, 8, 11});
    best_k(7, 1e9, 1, (const int[]){2, 2, 4, 5, 6, 8, 10});
    best_k(1, 1e5, 1, (const int[]){1, 2, 2, 3, 3, 5, 6});
}

/* Max 1, .001: next to nothing decides between 4 and 5. */
static void near_the_best_k_others_are_nearly_as_good(void **state) {
    (void)state;
    double fn[6];
    for (double K = 4; K < 6; K++) {
        struct theory_stable s = {1e6, K, theory_stable_p(1e6, K, 1, .001), 1};
        fn[(int)K] = theory_stable_fn_mean(&s, 1e9);
    }
    assert_true(fn[4] < fn[5] && fn[5] < fn[4] + 2e-5);
}

static void the_mean_is_that_over_all_gaps(void **state) {
    (void)state;
    for (double Max = 1; Max < 8; Max = 2 * Max + 1)
        for (double most = 1e3; most < 1e10; most *= 1e3) {
            struct theory_stable s = {1e6, 3, theory_stable_p_whole(1e6, 3, Max, .01), Max};
            double sum = 0;
            enum { STEPS = 4000 };
            for (int i = 0; i < STEPS; i++)
                sum += theory_stable_fn(&s, pow(most, (i + .5) / STEPS));
            near(theory_stable_fn_mean(&s, most), sum / STEPS, 1e-3);
        }
}

/* Figure 2: Max = 3 is better up to some gap, Max = 1 beyond, and far out neither. */
static void a_larger_max_is_for_smaller_gaps(void **state) {
    (void)state;
    for (int i = 0; i < 7; i++)
        for (double Max = 1; Max < 7; Max = 2 * Max + 1) {
            double more = 2 * Max + 1, K = theory_stable_best_k(1e6, Max, rates[i], 1e9, 0);
            double L = theory_stable_best_k(1e6, more, rates[i], 1e9, 0), last = 0;
            struct theory_stable a = {1e6, K, theory_stable_p(1e6, K, Max, rates[i]), Max};
            struct theory_stable b = {1e6, L, theory_stable_p(1e6, L, more, rates[i]), more};
            int turns = 0;
            for (double gap = more; gap < 1e9; gap *= 1.2) {
                double better = theory_stable_fn(&b, gap) - theory_stable_fn(&a, gap);
                if (fabs(better) < 1e-6) continue;
                turns += last * better < 0;
                assert_true(last != 0 || better < 0); /* at small gaps the larger */
                last = better;
            }
            assert_int_equal(turns, 1);
        }
}

/* Eq. 18: mean and variance of k over which of the other keys share the cell, all 2^n ways. */
static void phi_has_the_mean_and_variance_of_the_paper(void **state) {
    (void)state;
    enum { N = 6 };
    static const double others[N] = {.3, .2, .2, .1, .04, .01};
    struct theory_stable s = {50, 3, 11, 1};
    double share = .15, q = s.K / s.m, mean = 0, square = 0, expected = 0;
    for (int i = 0; i < N; i++) expected += others[i] * others[i];
    for (int ways = 0; ways < 1 << N; ways++) {
        double chance = 1, k = share;
        for (int i = 0; i < N; i++) {
            chance *= ways >> i & 1 ? q : 1 - q;
            k += ways >> i & 1 ? others[i] : 0;
        }
        double phi = (k - theory_stable_set(&s, share, 0)) / sqrt(q * (1 - q));
        near(theory_stable_set(&s, share, phi), k, 1e-12);
        mean += chance * phi;
        square += chance * phi * phi;
    }
    near(mean, 0, 1e-12);
    near(square, expected, 1e-12);
}

static void a_frequent_key_keeps_its_cells(void **state) {
    (void)state;
    struct theory_stable s = {1e6, 3, 11, 1};
    near(theory_stable_set(&s, 0, 0), 3e-6, 1e-18);
    near(theory_stable_fn_of(&s, 1e5, 0, 0), theory_stable_fn(&s, 1e5), 1e-12);
    assert_true(theory_stable_fn_of(&s, 1e5, 1e-4, 0) < theory_stable_fn(&s, 1e5));
    assert_true(theory_stable_fn_of(&s, 1e5, 0, .1) < theory_stable_fn(&s, 1e5));
    double reach = theory_stable_reach(&s);
    assert_true(theory_stable_fn(&s, reach) <= .5 && theory_stable_fn(&s, reach + 1) > .5);
}

static void the_plan_takes_them(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        uint64_t max, k, p;
    } rows[] = {{"decaying filter=stable fp=.01 mem=1MiB", 1, 3, 11},
                {"decaying filter=stable fp=.1 mem=1MiB k=2", 1, 2, 5},
                {"decaying filter=stable k=2 p=4 mem=1MiB", 1, 2, 4},
                {"decaying filter=stable fp=.01 mem=1MiB gaps=1e4", 7, 6, 65}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct seen_spec spec;
        struct seen_plan plan;
        struct seen_error e = {0};
        assert_int_equal(seen_spec_parse(&spec, rows[i].spec, &e), 0);
        assert_int_equal(seen_plan_make(&plan, &spec, &e), 0);
        assert_int_equal(seen_spec_get_count(&plan.spec, "cell-max"), rows[i].max);
        assert_int_equal(seen_spec_get_count(&plan.spec, "k"), rows[i].k);
        assert_int_equal(seen_spec_get_count(&plan.spec, "decrements"), rows[i].p);
    }
}

static double planned_fn(double fp, double gaps, int max) {
    char text[128];
    struct seen_spec spec;
    struct seen_plan plan;
    struct seen_error e = {0};
    int n = snprintf(text, sizeof text, "decaying filter=stable mem=1MiB fp=%g gaps=%g", fp, gaps);
    if (max) snprintf(text + n, sizeof text - (size_t)n, " max=%d", max);
    assert_int_equal(seen_spec_parse(&spec, text, &e), 0);
    assert_int_equal(seen_plan_make(&plan, &spec, &e), 0);
    assert_true(seen_spec_get_count(&plan.spec, "cell-max") == 1 ||
                seen_spec_get_count(&plan.spec, "cell-max") == 3 ||
                seen_spec_get_count(&plan.spec, "cell-max") == 7);
    return plan.fn;
}

/* 4.1: of 1, 3 and 7 that with the fewest false negatives under the gaps given. */
static void the_plan_takes_the_max_with_the_fewest_misses(void **state) {
    (void)state;
    for (double fp = .1; fp > 5e-4; fp /= 10)
        for (double gaps = 1e3; gaps < 1e10; gaps *= 10) {
            double chosen = planned_fn(fp, gaps, 0);
            for (int max = 1; max < 8; max = 2 * max + 1)
                assert_true(chosen <= planned_fn(fp, gaps, max) + 1e-4);
        }
}

static void senseless_specs_are_refused(void **state) {
    (void)state;
    static const char *const specs[] = {"decaying filter=stable fp=.01 k=3 p=10",
                                        "decaying filter=stable fp=1e-9 spread=each k=2",
                                        "decaying rate=5",
                                        "decaying overload=grow",
                                        "landmark max=3",
                                        "sliding:10 gaps=100",
                                        "decaying filter=stable mem=1KiB shards=8"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        struct seen_spec spec;
        struct seen_plan plan;
        struct seen_error e = {0};
        assert_int_equal(seen_spec_parse(&spec, specs[i], &e), 0);
        if (seen_plan_make(&plan, &spec, &e) != SEEN_EREFUSED) print_error("%s\n", specs[i]);
        assert_int_equal(e.code, SEEN_EREFUSED);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_forms_are_the_papers_sums),
        cmocka_unit_test(the_limit_is_the_stable_point),
        cmocka_unit_test(zeros_fall_exponentially_to_the_stable_point),
        cmocka_unit_test(with_max_1_the_chance_to_be_found_is_closed),
        cmocka_unit_test(the_real_p_gives_the_asked_rate),
        cmocka_unit_test(p_is_rounded_up),
        cmocka_unit_test(p_does_not_depend_on_m),
        cmocka_unit_test(the_best_k),
        cmocka_unit_test(near_the_best_k_others_are_nearly_as_good),
        cmocka_unit_test(the_mean_is_that_over_all_gaps),
        cmocka_unit_test(a_larger_max_is_for_smaller_gaps),
        cmocka_unit_test(phi_has_the_mean_and_variance_of_the_paper),
        cmocka_unit_test(a_frequent_key_keeps_its_cells),
        cmocka_unit_test(the_plan_takes_them),
        cmocka_unit_test(the_plan_takes_the_max_with_the_fewest_misses),
        cmocka_unit_test(senseless_specs_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
