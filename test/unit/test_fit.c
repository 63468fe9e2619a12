/* Formulas turned around: what is found soon is what trying everything finds. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "chance.h"
#include "detector/block.h"
#include "plan/plan.h"

#define DRAWS 40
#define MOST  ((uint64_t)1 << 42) /* lines */

static uint64_t base(void) { return chance_seed(20050510); }

/* -- trying everything -------------------------------------------------------------------- */

static uint64_t lines_tried(const struct fit *fit, struct filter_shape shape, double keys,
                            double fp) {
    uint64_t granule = fit->filter->granule ? fit->filter->granule(&shape) : 1, lo = 0, hi = 1;
    for (;; lo = hi, hi *= 2) {
        shape.lines = hi * granule;
        if (shape.lines > MOST) return 0;
        if (fit_fp(fit, &shape, keys) <= fp) break;
    }
    while (lo + 1 < hi && hi - lo > hi >> 12) {
        shape.lines = (lo + (hi - lo) / 2) * granule;
        *(fit_fp(fit, &shape, keys) <= fp ? &hi : &lo) = shape.lines / granule;
    }
    return hi * granule;
}

/* The fewest probes within 5 % of the fewest lines. */
static struct filter_shape all_tried(const struct fit *fit, struct filter_shape shape, double keys,
                                     double fp) {
    uint64_t lines[65], least = 0;
    for (shape.k = 1; shape.k <= fit->filter->k_most; shape.k++) {
        uint64_t l = lines[shape.k] = lines_tried(fit, shape, keys, fp);
        if (l && (!least || l < least)) least = l;
    }
    for (shape.k = 1; shape.k <= fit->filter->k_most; shape.k++) {
        shape.lines = lines[shape.k];
        if (shape.lines && (double)shape.lines <= 1.05 * (double)least) return shape;
    }
    return (struct filter_shape){0};
}

static double rate_tried(const struct fit *fit, struct filter_shape shape, double keys) {
    double least = 2;
    for (shape.k = 1; shape.k <= fit->filter->k_most; shape.k++) {
        struct filter_shape whole = fit_whole(fit, shape);
        if (whole.lines) least = fmin(least, fit_fp(fit, &whole, keys));
    }
    return least;
}

/* -- against it --------------------------------------------------------------------------- */

struct wish {
    struct fit fit;
    struct filter_shape shape;
    double keys, fp;
    char text[160];
};

static struct wish draw(const struct filter_theory *f, uint64_t *rng) {
    struct wish w = {.fit = {.filter = f, .live = 1, .generation = 1, .shards = 1, .fills = true},
                     .shape = {.width = 4}};
    if (chance_next(rng) % 2) w.fit.shards = 1 + chance_next(rng) % 100;
    if (chance_next(rng) % 2) w.fit.live = 2 + (uint32_t)(chance_next(rng) % 12);
    if (w.fit.live > f->live_most) w.fit.live = f->live_most;
    w.fit.generation = w.fit.live > 1 ? 1. / (w.fit.live - 1) : 1;
    w.shape.live = w.fit.live;
    w.keys = pow(10, 10 * chance_uniform(rng));
    w.fp = pow(10, -.2 - 14 * chance_uniform(rng));
    snprintf(w.text, sizeof w.text, "%s, %u live, %g shards: %.17g keys at %.17g", f->name,
             w.fit.live, (double)w.fit.shards, w.keys, w.fp);
    return w;
}

static bool has_k(const struct filter_theory *f) { return f->k_most && !f->form; }

/* Draws a shape that already has some lines. */
static struct wish draw_sized(const struct filter_theory *f, uint64_t *rng) {
    struct wish w = draw(f, rng);
    w.shape.lines = (uint64_t)(w.fit.live * (1 + w.keys * chance_uniform(rng) / 10));
    return w;
}

static void the_fewest_lines_are_those_that_trying_all_finds(void **state) {
    (void)state;
    const struct filter_theory *f;
    uint64_t rng = base();
    for (size_t i = 0; (f = registry_filter(i)); i++)
        for (int n = 0; n < DRAWS && has_k(f); n++) {
            struct wish w = draw(f, &rng);
            struct filter_shape all = all_tried(&w.fit, w.shape, w.keys, w.fp), one = w.shape;
            assert_true(fit_lines(&w.fit, &w.shape, w.keys, w.fp, 0, 0) == (all.lines > 0));
            if (all.lines && (w.shape.lines != all.lines || w.shape.k != all.k))
                fail_msg("%s: %g lines, k=%u, not %g, k=%u", w.text, (double)w.shape.lines,
                         w.shape.k, (double)all.lines, all.k);
            one.k = 1 + (uint32_t)(chance_next(&rng) % f->k_most);
            all = one;
            all.lines = lines_tried(&w.fit, one, w.keys, w.fp);
            assert_true(fit_lines(&w.fit, &one, w.keys, w.fp, one.k, 0) == (all.lines > 0));
            if (all.lines) assert_int_equal(one.lines, all.lines);
        }
}

static void the_least_rate_is_the_one_that_trying_all_finds(void **state) {
    (void)state;
    const struct filter_theory *f;
    uint64_t rng = base();
    for (size_t i = 0; (f = registry_filter(i)); i++)
        for (int n = 0; n < DRAWS && has_k(f); n++) {
            struct wish w = draw_sized(f, &rng);
            double all = rate_tried(&w.fit, w.shape, w.keys);
            double rate = fit_rate(&w.fit, &w.shape, w.keys, 0);
            if (!(rate <= all * (1 + 1e-12))) fail_msg("%s: %.17g, not %.17g", w.text, rate, all);
        }
}

static void the_most_keys_keep_the_rate_and_a_few_more_do_not(void **state) {
    (void)state;
    const struct filter_theory *f;
    uint64_t rng = base();
    for (size_t i = 0; (f = registry_filter(i)); i++)
        for (int n = 0; n < DRAWS && has_k(f); n++) {
            struct wish w = draw_sized(f, &rng);
            double keys = fit_keys(&w.fit, &w.shape, w.fp, 0);
            struct filter_shape whole = fit_whole(&w.fit, w.shape);
            if (keys > 0 && fit_fp(&w.fit, &whole, keys) > w.fp)
                fail_msg("%s: not with %g in %g lines", w.text, keys, (double)whole.lines);
            if (whole.lines && fit_fp(&w.fit, &whole, keys * (1 + 2e-5) + 1.5) <= w.fp)
                fail_msg("%s: more than %g in %g lines", w.text, keys, (double)whole.lines);
        }
}

/* -- soon --------------------------------------------------------------------------------- */

static unsigned asked;

static double asked_fp(const struct filter_shape *shape, double keys) {
    asked++;
    return registry_filter(0)->fp(shape, keys);
}

static void few_rates_are_computed_for_a_size(void **state) {
    (void)state;
    struct filter_theory counted = *registry_filter(0);
    uint64_t rng = base();
    unsigned all = 0;
    counted.fp = asked_fp;
    for (int n = 0; n < 10 * DRAWS; n++) {
        struct wish w = draw(&counted, &rng);
        w.fit.shards = asked = 1;
        assert_true(fit_lines(&w.fit, &w.shape, w.keys, w.fp, 0, 0));
        all += asked;
        if (asked > 250) fail_msg("%s: %u rates", w.text, asked);
    }
    if (all > 60 * 10 * DRAWS) fail_msg("%u rates on average", all / (10 * DRAWS));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fewest_lines_are_those_that_trying_all_finds),
        cmocka_unit_test(the_least_rate_is_the_one_that_trying_all_finds),
        cmocka_unit_test(the_most_keys_keep_the_rate_and_a_few_more_do_not),
        cmocka_unit_test(few_rates_are_computed_for_a_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
