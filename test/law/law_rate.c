/* law_rate - measured false positives against the plan's closed forms, two-sided.
 *
 * Each measurement pools 20 seeds or more.  It may be off by five standard deviations, the larger
 * of Poisson's and of what the seeds themselves show, and by half a percent (the closed forms are
 * asymptotic, and the tables here have 1e5 cells). */
#include "../any_window.h"
#include "law.h"

#include "truth/truth.h"

#include "detector/block.h"
#include "filter/filter.h"
#include "spec/spec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEEDS 20
#define BATCH 256

/* -- counting ----------------------------------------------------------------------------- */

struct tally {
    double trials, hits, squares; /* squares: of the hits of each seed */
    int seeds;
};

static void add(struct tally *t, double trials, double hits) {
    t->trials += trials;
    t->hits += hits;
    t->squares += hits * hits;
    t->seeds++;
}

static double off(const struct tally *t, double rate, double tolerance) {
    double expected = t->trials * rate, mean = t->hits / t->seeds;
    double variance = (t->squares - t->hits * mean) * t->seeds / (t->seeds - 1);
    double sigma = sqrt(fmax(expected, variance));
    return fmax(0, fabs(t->hits - expected) - tolerance * expected) / fmax(sigma, 1);
}

static void agree(const char *what, const struct tally *t, double rate, double tolerance) {
    if (getenv("SEEN_VERBOSE"))
        fprintf(stderr, "%-24s measured %.4g predicted %.4g ratio %.4f off %.2f\n", what,
                t->hits / t->trials, rate, t->hits / t->trials / rate, off(t, rate, tolerance));
    law_check(off(t, rate, tolerance) < 5,
              "%s: measured %.5g (%.0f of %.3g), predicted %.5g, off by %.1f sigma", what,
              t->hits / t->trials, t->hits, t->trials, rate, off(t, rate, tolerance));
}

/* Keys never met before: random digests. */
static void fresh_keys(seen_digest *d, size_t n, uint64_t *rng) {
    for (size_t i = 0; i < n; i++) d[i] = (seen_digest){law_next(rng), law_next(rng)};
}

static double observe_fresh(seen_detector *d, uint64_t n, uint64_t *rng) {
    seen_digest digest[BATCH];
    uint8_t verdict[BATCH];
    seen_time time[BATCH] = {0};
    uint64_t hits = 0;
    for (uint64_t i = 0; i < n; i += BATCH) {
        size_t batch = n - i < BATCH ? n - i : BATCH;
        fresh_keys(digest, batch, rng);
        any_observe(d, batch, digest, time, verdict);
        for (size_t j = 0; j < batch; j++) hits += verdict[j];
    }
    return (double)hits;
}

static double query_fresh(const seen_detector *d, uint64_t n, uint64_t within, uint64_t *rng) {
    seen_digest digest[BATCH];
    uint8_t verdict[BATCH];
    uint64_t hits = 0;
    for (uint64_t i = 0; i < n; i += BATCH) {
        fresh_keys(digest, BATCH, rng);
        seen_query(d, BATCH, digest, within, verdict);
        for (size_t j = 0; j < BATCH; j++) hits += verdict[j];
    }
    return (double)hits;
}

/* -- one plan, measured ------------------------------------------------------------------- */

struct load {
    uint64_t before, filling; /* records before and in the measured window */
    uint64_t queries;         /* at its end */
};

/* Mean while the window fills (or in steady state), at its end, and what the detector says. */
static void measure(const struct seen_plan *plan, struct load load, int seeds, double tolerance) {
    struct tally mean = {0}, full = {0}, told = {0};
    double expected = 0, now = 0;
    for (int i = 0; i < seeds; i++) {
        struct seen_stats stats;
        uint64_t rng = law_seed() * 1000 + (uint64_t)i;
        seen_detector *d = law_new(plan, NULL);
        double before = observe_fresh(d, load.before, &rng), hits;
        hits = observe_fresh(d, load.filling, &rng);
        seen_stats(d, &stats);
        add(&mean, (double)load.filling, hits);
        add(&full, (double)((load.queries + BATCH - 1) / BATCH * BATCH),
            query_fresh(d, load.queries, 0, &rng));
        add(&told, (double)(load.before + load.filling), before + hits);
        expected += stats.expected_false;
        now += stats.fp_now / seeds;
        seen_free(d);
    }
    agree("mean", &mean, plan->fp_mean, tolerance);
    agree("full window", &full, plan->fp_full, tolerance);
    agree("fp_now", &full, now, tolerance + .025);
    /* Here every duplicate is false, and a figure above their number is cut to it. */
    double cut = .5 / sqrt(told.hits / seeds + 1);
    agree("expected_false", &told, expected / told.trials, tolerance + .03 + cut);
}

static bool measurable(const struct law_case *c) {
    return !(c->traits & SEEN_NO_FP) && c->window != SEEN_WINDOW_DECAYING;
}

#define ITEMS 25000

static void plan_for(struct seen_plan *plan, const struct law_case *c, const char *more) {
    static const char *const windows[] = {[SEEN_WINDOW_LANDMARK] = "landmark items=25000",
                                          [SEEN_WINDOW_JUMPING] = "jumping:25000/8",
                                          [SEEN_WINDOW_SLIDING] = "sliding:25000"};
    const char *window = windows[c->window];
    law_plan(plan, "%s filter=%s seed=1 %s", window, c->structure, more);
}

static struct load load_for(const struct law_case *c, const struct seen_plan *plan,
                            uint64_t queries) {
    if (c->window == SEEN_WINDOW_LANDMARK) return (struct load){0, ITEMS, queries};
    uint64_t q = seen_spec_get_count(&plan->spec, "generations")
                     ? seen_spec_get_count(&plan->spec, "generations")
                     : plan->spec.subwindows;
    if (!q) return (struct load){2 * ITEMS, ITEMS, queries};
    uint64_t step = (ITEMS + q - 1) / q;
    /* One record short of the end: the next would begin a generation and drop the oldest.  And of
     * those that `line` has, the last of an epoch (the epochs' first is one shorter). */
    return (struct load){(2 * q + 1) * step - 1, (q + 1) * step, queries};
}

static void measured_false_positives_are_the_predicted_ones(const struct law_case *c) {
    static const char *const rates[] = {"fp=.1", "fp=.01", "fp=.001", "fp=.0001"};
    static const uint64_t queries[] = {20000, 50000, 200000, 600000};
    bool all = getenv("SEEN_LONG") || !(law_is_variant(c) || c->traits & SEEN_ON_REQUEST);
    size_t n = all ? 4 : 2;
    for (size_t i = 0; measurable(c) && i < n; i++) {
        struct seen_plan plan;
        plan_for(&plan, c, rates[i]);
        measure(&plan, load_for(c, &plan, queries[i]), SEEDS, .005);
        plan_for(&plan, c, rates[i]);
        law_check(plan.fp_full <= seen_spec_get_real(&plan.spec, "fp") * (1 + 1e-9),
                  "fp_full %g is above fp= %g", plan.fp_full, seen_spec_get_real(&plan.spec, "fp"));
    }
}

/* Lines that leave 25,000 keys a rate worth measuring: counters are of 4 bits, stamps of 16; slices
 * of age are of bits. */
static uint64_t lines_for(const struct law_case *c, uint32_t k) {
    bool counting = !strcmp(c->name, "counting"), runs = options_serve(OPTION_GENERATIONS, c->name);
    uint64_t lines = c->window == SEEN_WINDOW_LANDMARK || runs ? 1008 : 16 * 504;
    if (counting) lines = c->window == SEEN_WINDOW_JUMPING ? 4 * lines : 4 * 1008;
    return strcmp(c->name, "partitioned") != 0 ? lines : lines / k * k;
}

/* It adds up its tables at each question. */
static bool is_slow(const struct law_case *c) {
    return !strcmp(c->name, "counting") && c->window == SEEN_WINDOW_JUMPING;
}

static uint32_t next_k(const struct law_case *c, uint32_t k) {
    if (!getenv("SEEN_LONG")) return is_slow(c) || c->traits & SEEN_ON_REQUEST ? 6 * k : 2 * k + 1;
    return k < 24 && c->window == SEEN_WINDOW_LANDMARK ? k + 1 : k + 1 + k / 3;
}

static void also_with_any_number_of_probes(const struct law_case *c) {
    struct registry_choice choice;
    if (!measurable(c) || law_is_variant(c)) return;
    registry_pick(c->window, c->name, 0, &choice);
    uint32_t most = choice.filter ? choice.filter->theory.k_most : 64;
    if (!options_serve(OPTION_K, c->name)) return;
    for (uint32_t k = 1; k <= most; k = next_k(c, k)) {
        struct seen_plan plan;
        char more[64];
        snprintf(more, sizeof more, "k=%u lines=%llu", k, (unsigned long long)lines_for(c, k));
        plan_for(&plan, c, more);
        measure(&plan, load_for(c, &plan, 100000), SEEDS, .01);
    }
}

static void also_in_shards(const struct law_case *c) {
    static const char *const more[] = {"fp=.0001 shards=16", "fp=.01 shards=2",
                                       "k=16 fp=.001 shards=8"};
    size_t n = options_serve(OPTION_K, c->name) ? 3 : 2;
    if (!getenv("SEEN_LONG") && (is_slow(c) || c->traits & SEEN_ON_REQUEST)) n = 1;
    for (size_t i = 0; measurable(c) && !law_is_variant(c) && i < n; i++) {
        struct seen_plan plan;
        plan_for(&plan, c, more[i]);
        measure(&plan, load_for(c, &plan, 300000), SEEDS, .02);
    }
}

/* 30 keys a shard: how they scatter is most of the rate.  So small a table errs more than the
 * asymptotic closed form says, by a tenth. */
static void also_in_many_small_shards(const struct law_case *c) {
    struct seen_plan plan;
    if (!measurable(c) || c->window != SEEN_WINDOW_LANDMARK) return;
    law_plan(&plan, "landmark items=30000 filter=%s seed=1 fp=.001 shards=1000", c->structure);
    measure(&plan, (struct load){0, 30000, 100000}, SEEDS, .12);
}

/* -- any stretch of a sliding window ------------------------------------------------------ */

/* A window of generations is asked about whole ones: makes w of them, current one included, and
 * `records` the end of one; returns how many full ones. */
static uint64_t whole_generations(const struct seen_spec *s, uint64_t *w, uint64_t *records) {
    uint64_t step = (ITEMS + seen_spec_get_count(s, "generations") - 1) /
                    seen_spec_get_count(s, "generations"),
             l = (*w + step - 1) / step;
    *w = (l + 1) * step - 1;
    *records = 2 * (seen_spec_get_count(s, "generations") + 1) * step - 1;
    return l;
}

/* The rate for the last w records.  One cut into fewer generations has fewer slices, each as large;
 * without slices (no k=) keys are as many in each generation, wherever they stand. */
static double stretch_rate(const struct law_case *c, const struct seen_plan *plan, uint64_t *w,
                           uint64_t *records) {
    const struct seen_spec *s = &plan->spec;
    struct seen_plan part;
    char spec[512];
    seen_spec_print(s, spec, sizeof spec);
    if (!seen_spec_get_count(s, "generations")) {
        law_plan(&part, "%s items=%llu", spec, (unsigned long long)*w);
    } else {
        uint64_t l = whole_generations(s, w, records);
        if (!seen_spec_get_count(s, "k"))
            return plan->fp_full * (double)(l + 1) /
                   (double)(seen_spec_get_count(s, "generations") + 1);
        law_plan(&part, "sliding:%llu filter=%s seed=1 k=%llu generations=%llu lines=%llu",
                 (unsigned long long)((*w + 1) / (l + 1) * l), plan->filter,
                 (unsigned long long)seen_spec_get_count(s, "k"), (unsigned long long)l,
                 (unsigned long long)(seen_spec_get_count(s, "blocks") /
                                      (seen_spec_get_count(s, "k") +
                                       seen_spec_get_count(s, "generations")) *
                                      (seen_spec_get_count(s, "k") + l)));
    }
    law_check(!strcmp(part.filter, c->name), "planned %s", part.filter);
    return part.fp_full;
}

/* A detector that is asked about its last w records errs as often as one that was planned for w
 * keys in the same geometry.  The age that it gives for a key is too low as often.  Structures that
 * tell ages by runs of slices are an exception, because younger slices may lengthen a run. */
static void stretch(const struct law_case *c, const struct seen_plan *plan, uint64_t w) {
    struct tally fresh = {0}, young = {0};
    uint64_t records = 2 * ITEMS;
    double rate = stretch_rate(c, plan, &w, &records);
    for (int i = 0; i < SEEDS; i++) {
        uint64_t rng = law_seed() * 2000 + (uint64_t)i, then, low = 0, age[BATCH];
        seen_digest digest[BATCH];
        seen_detector *d = law_new(plan, NULL);
        observe_fresh(d, records - w, &rng);
        then = rng;
        observe_fresh(d, w, &rng);
        add(&fresh, 40192, query_fresh(d, 40192, w, &rng));
        fresh_keys(digest, BATCH, &then);
        size_t n = w < BATCH ? w : BATCH;
        any_last_seen(d, n, digest, 0, age);
        for (size_t j = 0; j < n; j++) {
            law_check(age[j] <= w - j, "a key seen %llu ago is said to be %llu old",
                      (unsigned long long)(w - j), (unsigned long long)age[j]);
            low += age[j] < w - j;
        }
        add(&young, (double)n, (double)low);
        seen_free(d);
    }
    agree("stretch", &fresh, rate, .01);
    if (!seen_spec_get_count(&plan->spec, "generations") && young.trials * rate > 1000)
        agree("age too low", &young, rate, .04);
}

static void any_stretch_of_the_window_errs_as_predicted(const struct law_case *c) {
    static const uint64_t stretches[] = {250, 2500, 8000, 16000, 25000};
    static const char *const rates[] = {"fp=.3", "fp=.02"};
    if (c->window != SEEN_WINDOW_SLIDING || !measurable(c) || c->traits & SEEN_NO_AGES) return;
    for (size_t i = 0; i < 10; i++) {
        struct seen_plan plan;
        plan_for(&plan, c, rates[i / 5]);
        stretch(c, &plan, stretches[i % 5]);
    }
}

/* -- the statistics ----------------------------------------------------------------------- */

/* Streams with duplicates: truth from the oracle; the interval holds it 95 times in 100. */
static void the_statistics_know_how_many_were_false(const struct law_case *c) {
    int inside = 0, runs = 60;
    if (!measurable(c)) return;
    for (int i = 0; i < runs; i++) {
        struct seen_plan plan;
        struct seen_stats stats;
        uint64_t rng = law_seed() * 77 + (uint64_t)i, wrong = 0;
        bool all = i % 4 < 2; /* keys are sampled: then nothing is estimated */
        law_plan(&plan, "%s filter=%s fp=.02 seed=1 refresh=%s%s",
                 c->window == SEEN_WINDOW_LANDMARK  ? "landmark:6000"
                 : c->window == SEEN_WINDOW_JUMPING ? "jumping:6000/5"
                                                    : "sliding:6000",
                 c->structure, i % 2 ? "first" : "last", all ? " control=65536" : "");
        seen_detector *d = law_new(&plan, NULL);
        struct oracle *oracle = law_oracle(&plan);
        for (size_t j = 0; j < 15000; j++) {
            seen_digest key =
                law_digest(law_below(&rng, 12000) + law_below(&rng, 2) * j * 12000, 9);
            uint8_t verdict;
            enum oracle_truth is = oracle_judge(oracle, key, 0, NULL);
            seen_observe(d, 1, &key, &verdict);
            wrong += is == ORACLE_NEW && verdict;
            oracle_observe(oracle, key, 0, verdict);
        }
        seen_stats(d, &stats);
        if (all)
            law_check(stats.source == SEEN_FROM_SAMPLE && stats.expected_false == (double)wrong,
                      "%g of %llu false duplicates were seen", stats.expected_false,
                      (unsigned long long)wrong);
        inside += wrong >= stats.false_lo && wrong <= stats.false_hi;
        seen_free(d);
        oracle_free(oracle);
    }
    law_check(inside >= runs * 9 / 10, "the 95 %% interval held the truth %d times in %d", inside,
              runs);
}

/* -- the sample is not special -------------------------------------------------------------- */

/* Keys that the control sample takes err as often as others: an eighth of them, at its level 3. */
static void sampled_keys_err_as_others(const struct law_case *c) {
    const uint64_t mask = (uint64_t)7 << CONTROL_SHIFT, asked = 800000;
    double hits[2] = {0}, trials[2] = {0};
    struct seen_plan plan;
    if (!measurable(c)) return;
    plan_for(&plan, c, "fp=.05 control=0");
    seen_detector *d = law_new(&plan, NULL);
    uint64_t rng = law_seed();
    observe_fresh(d, 2 * ITEMS, &rng);
    for (uint64_t i = 0; i < asked; i += BATCH) {
        seen_digest digest[BATCH];
        uint8_t verdict[BATCH];
        fresh_keys(digest, BATCH, &rng);
        seen_query(d, BATCH, digest, 0, verdict);
        for (size_t j = 0; j < BATCH; j++) {
            bool sampled = pick_one(digest[j], mask);
            trials[sampled]++;
            hits[sampled] += verdict[j];
        }
    }
    seen_free(d);
    double all = (hits[0] + hits[1]) / (trials[0] + trials[1]);
    double sigma = sqrt(all * (1 - all) * (1 / trials[0] + 1 / trials[1])) + 1e-9;
    double off = fabs(hits[1] / trials[1] - hits[0] / trials[0]) / sigma;
    law_check(off < 5, "sampled keys err at %g, others at %g: %.1f sigma", hits[1] / trials[1],
              hits[0] / trials[0], off);
}

/* -- duplicates --------------------------------------------------------------------------- */

enum order { NO_DUPLICATES, FROM_ANYWHERE, OF_THE_LAST, IN_ONE_BURST, ORDERS };

/* How many duplicates come before the i-th new one of n keys, and from how many keys back. */
static uint64_t duplicates_before(enum order order, uint64_t i, uint64_t n, uint64_t *reach,
                                  uint64_t *rng) {
    *reach = order == OF_THE_LAST && i > 5 ? 5 : i;
    if (order == NO_DUPLICATES || i == 0) return 0;
    return order == IN_ONE_BURST ? (i == n / 2 ? n : 0) : law_below(rng, 4);
}

/* Which new keys are called duplicates hangs on the order in which keys come first, and not on
 * where duplicates lie between. */
static void duplicates_make_no_false_positives(const struct law_case *c) {
    enum { KEYS = 8000 };
    static uint8_t wrong[ORDERS][KEYS];
    struct seen_plan plan;
    if (c->window != SEEN_WINDOW_LANDMARK || !measurable(c)) return;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        for (enum order order = 0; order < ORDERS; order++) {
            uint64_t rng = law_seed() * 100 + seed, reach;
            law_plan(&plan, "landmark filter=%s items=8000 fp=.05 seed=%llu", c->structure,
                     (unsigned long long)seed);
            seen_detector *d = law_new(&plan, NULL);
            for (uint64_t i = 0; i < KEYS; i++) {
                uint64_t n = duplicates_before(order, i, KEYS, &reach, &rng);
                for (; n > 0; n--) {
                    seen_digest old = law_digest(i - 1 - law_below(&rng, reach), seed);
                    uint8_t verdict;
                    seen_observe(d, 1, &old, &verdict);
                    law_check(verdict, "a duplicate was missed");
                }
                seen_digest key = law_digest(i, seed);
                seen_observe(d, 1, &key, &wrong[order][i]);
            }
            seen_free(d);
            law_check(!memcmp(wrong[order], wrong[0], KEYS),
                      "duplicates in order %d make other false positives", order);
        }
        if (plan.fp_mean * KEYS > 30)
            law_check(memchr(wrong[0], SEEN_DUPLICATE, KEYS), "nothing was false");
    }
}

/* -- beyond 2^32 bits --------------------------------------------------------------------- */

static void a_filter_of_5e9_bits_errs_as_predicted(const struct law_case *c) {
    struct law_case big = *c;
    if (!getenv("SEEN_LONG") || c->window != SEEN_WINDOW_LANDMARK || !measurable(&big)) return;
    struct seen_plan plan;
    uint64_t rng = law_seed();
    struct tally full = {0};
    struct seen_spec spec;
    char text[80];
    snprintf(text, sizeof text, "landmark filter=%s mem=600MiB items=5e8 seed=1", c->structure);
    law_check(!seen_spec_parse(&spec, text, NULL), "%s", text);
    if (seen_plan_make(&plan, &spec, NULL)) return; /* too little memory for the keys */
    seen_detector *d = law_new(&plan, NULL);
    observe_fresh(d, 500000000, &rng);
    for (int i = 0; i < SEEDS; i++) add(&full, 1000192, query_fresh(d, 1000192, 0, &rng));
    seen_free(d);
    agree("5e9 bits", &full, plan.fp_full, .005);
}

int main(void) {
    static const struct law laws[] = {
        {"measured false positives are the predicted ones",
         measured_false_positives_are_the_predicted_ones, false},
        {"also with any number of probes", also_with_any_number_of_probes, false},
        {"also in shards", also_in_shards, false},
        {"also in many small shards", also_in_many_small_shards, false},
        {"any stretch of a sliding window errs as predicted",
         any_stretch_of_the_window_errs_as_predicted, false},
        {"the statistics know how many were false", the_statistics_know_how_many_were_false, false},
        {"sampled keys err as others", sampled_keys_err_as_others, false},
        {"duplicates make no false positives", duplicates_make_no_false_positives, false},
        {"a filter of 5e9 bits errs as predicted (SEEN_LONG=1)",
         a_filter_of_5e9_bits_errs_as_predicted, false},
    };
    return law_main("rates", laws, sizeof laws / sizeof *laws);
}
