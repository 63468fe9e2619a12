/* The formulas of the fingerprint cache against sums without a closed form, and its plans. */
#include "decaying/cache.h"
#include "theory/decaying.h"

#include "detectors.h"

#include <math.h>

static void near(double a, double b, double tolerance) {
    if (!(fabs(a - b) <= tolerance)) print_error("%.12g is not %.12g\n", a, b);
    assert_true(fabs(a - b) <= tolerance);
}

/* One key's place in its full set, B for out, as keys arrive there: a chain of B+1 states, taken
 * after a Poisson number of steps.  In fifo order a key that is out stays out. */
static double found_by_chain(const struct theory_cache *c, double gap) {
    double at[17] = {1}, mean = gap / c->sets, poisson = exp(-mean), found = 0;
    int B = (int)c->ways;
    for (int n = 0; n < mean + 20 * sqrt(mean) + 60; n++) {
        double next[17] = {0};
        for (int i = 0; i < B; i++) found += poisson * at[i];
        for (int i = 0; i <= B; i++) {
            double newer = i < B ? i : 0, own = 1 / c->values; /* of what is in front; its own */
            if (i == B) newer = c->values - 1;
            if (c->fifo) newer = i < B ? B - 1 : c->values - 1;
            double stay = newer / c->values + (c->fifo ? own : 0);
            next[i] += at[i] * stay;
            if (!c->fifo) next[0] += at[i] * own;
            if (i < B) next[i + 1] += at[i] * (1 - newer / c->values - own);
        }
        memcpy(at, next, sizeof at);
        poisson *= mean / (n + 1);
    }
    return found;
}

static const struct theory_cache caches[] = {
    {100, 1, 3, false},   {100, 2, 31, false},      {1000, 3, 31, false}, {77, 5, 511, false},
    {50, 16, 127, false}, {300, 4, 1048575, false}, {100, 2, 31, true},   {80, 5, 511, true}};
#define CACHES (sizeof caches / sizeof *caches)

static void the_closed_form_is_the_chain_of_a_set(void **state) {
    (void)state;
    for (size_t i = 0; i < CACHES; i++)
        for (double gap = 1; gap < 60 * caches[i].sets; gap *= 3)
            near(theory_cache_found(&caches[i], gap), found_by_chain(&caches[i], gap), 1e-11);
}

static void far_away_only_chance_finds(void **state) {
    (void)state;
    for (size_t i = 0; i < CACHES; i++) {
        double chance = caches[i].fifo ? 0 : theory_cache_fp(&caches[i]);
        near(theory_cache_found(&caches[i], 1e9), chance, 1e-12);
        near(theory_cache_found(&caches[i], 0), 1, 0);
    }
}

static void reach_is_where_half_is_found(void **state) {
    (void)state;
    for (size_t i = 1; i < CACHES; i++) {
        double reach = theory_cache_reach(&caches[i]);
        assert_true(theory_cache_found(&caches[i], reach) >= .5);
        assert_true(theory_cache_found(&caches[i], reach + 1) < .5);
    }
}

static void the_mean_is_the_sum_over_gaps(void **state) {
    (void)state;
    for (size_t i = 0; i < CACHES; i++) {
        double sum = 0, most = 1e6; /* steps so small that the sum is the integral */
        for (int j = 0; j < 20000; j++)
            sum += 1 - theory_cache_found(&caches[i], pow(most, (j + .5) / 20000));
        near(theory_cache_fn_mean(&caches[i], most), sum / 20000, 1e-6);
    }
}

/* -- places ------------------------------------------------------------------------------- */

/* By chi-squared at five sigma: every set of every sixteenth of the lines, and every sixteenth of
 * the fingerprints there, gets as many keys as another. */
static void keys_spread_evenly_however_large_the_cache(void **state) {
    (void)state;
    enum { KEYS = 200000, PARTS = 16 };
    const uint64_t large = (uint64_t)1 << 24;
    const uint64_t lines[] = {16, 1008, large, large + 1, large << 10, large << 18};
    static const uint32_t sizes[][2] = {{2, 5}, {5, 9}, {9, 11}, {5, 33}};
    uint64_t rng = 1;
    for (size_t l = 0; l < sizeof lines / sizeof *lines; l++)
        for (size_t s = 0; s < 4; s++) {
            uint32_t ways = sizes[s][0], bits = sizes[s][1], sets = cache_sets(ways, bits);
            struct cache_shape g = {lines[l], ways, bits, sets, true};
            static uint32_t count[PARTS * 64], pairs[PARTS * PARTS];
            double chi = 0, chi_pairs = 0, cells = PARTS * sets, expected = KEYS / cells;
            memset(count, 0, sizeof count);
            memset(pairs, 0, sizeof pairs);
            for (int i = 0; i < KEYS; i++) {
                seen_digest d = {random64(&rng), random64(&rng)};
                struct cache_place p = cache_place(&g, d);
                assert_true(p.line < g.lines && p.bit % (ways * bits) == 0);
                assert_true(p.bit / (ways * bits) < sets);
                assert_true(p.fingerprint >= 1 && p.fingerprint <= cache_values(bits));
                size_t line = (size_t)((double)p.line / (double)g.lines * PARTS);
                size_t print = (size_t)((double)(p.fingerprint - 1) / ldexp(1, (int)bits) * PARTS);
                count[line * sets + p.bit / (ways * bits)]++;
                pairs[line * PARTS + print]++;
            }
            for (size_t i = 0; i < (size_t)cells; i++)
                chi += pow(count[i] - expected, 2) / expected;
            for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
                chi_pairs += pow(pairs[i] - (double)KEYS / 256, 2) / ((double)KEYS / 256);
            near(chi, cells, 5 * sqrt(2 * cells));
            if (bits > 9) near(chi_pairs, 256, 5 * sqrt(2 * 256));
        }
}

/* -- plans -------------------------------------------------------------------------------- */

/* Its own sums, over all there are. */
static void the_plan_misses_least_of_all_that_keep_fp(void **state) {
    (void)state;
    static const double rates[] = {.3, .1, .0836, .0311, .01, .0049, 1e-3, 1e-4, 1e-6, 1e-9, 1e-13};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        struct seen_plan p;
        struct seen_error e;
        char text[96];
        double least = 1;
        snprintf(text, sizeof text, "decaying filter=cache fp=%g mem=100KiB gaps=1e7", rates[i]);
        assert_int_equal(plan(&p, text, &e), 0);
        for (int f = 2; f <= 48; f++)
            for (int B = 1; B <= 16 && B * f <= 496; B++) {
                struct theory_cache c = {(double)seen_spec_get_count(&p.spec, "blocks") *
                                             (496 / (B * f)),
                                         B, ldexp(1, f) - 1, false};
                if (B / c.values > rates[i]) continue;
                double fn = theory_cache_fn_mean(&c, 1e7);
                if (fn < least) least = fn;
            }
        near(p.fn, least, 1e-9);
        assert_true(p.fp_full <= rates[i]);
    }
}

static void by_default_decaying_is_a_cache(void **state) {
    (void)state;
    static const char *const asked[] = {"decaying", "decaying fp=.1", "decaying mem=1MiB fp=1e-2",
                                        "decaying items=1e5 fp=1e-6", "decaying refresh=first"};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        struct seen_plan p;
        struct seen_error e;
        assert_int_equal(plan(&p, asked[i], &e), 0);
        assert_string_equal(p.filter, "cache");
    }
}

static void ways_and_signature_are_kept_or_refused(void **state) {
    (void)state;
    struct seen_plan p;
    struct seen_error e;
    assert_int_equal(plan(&p, "decaying filter=cache ways=4 signature=9", &e), 0);
    assert_true(seen_spec_get_count(&p.spec, "set-size") == 4 &&
                seen_spec_get_count(&p.spec, "signature") == 9);
    near(p.fp_full, 4. / 511, 1e-15);
    assert_true(seen_spec_get_real(&p.spec, "fp") >= p.fp_full &&
                seen_spec_get_real(&p.spec, "fp") < p.fp_full * 1.01);
    assert_int_equal(plan(&p, "decaying ways=4 fp=.01", &e), 0);
    assert_true(seen_spec_get_count(&p.spec, "set-size") == 4 &&
                seen_spec_get_count(&p.spec, "signature") == 9);
    static const char *const none[] = {"ways=4 signature=9 fp=.001",
                                       "ways=4 signature=2",
                                       "ways=16 signature=32",
                                       "fp=1e-15",
                                       "signature=1",
                                       "signature=0"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        char text[96];
        snprintf(text, sizeof text, "decaying filter=cache %s", none[i]);
        refused(text, "with filter=cache here");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_closed_form_is_the_chain_of_a_set),
        cmocka_unit_test(far_away_only_chance_finds),
        cmocka_unit_test(reach_is_where_half_is_found),
        cmocka_unit_test(the_mean_is_the_sum_over_gaps),
        cmocka_unit_test(keys_spread_evenly_however_large_the_cache),
        cmocka_unit_test(the_plan_misses_least_of_all_that_keep_fp),
        cmocka_unit_test(by_default_decaying_is_a_cache),
        cmocka_unit_test(ways_and_signature_are_kept_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
