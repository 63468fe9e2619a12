/* The experiments of Near-optimal Approximate Membership Query over Time-decaying Windows, INFOCOM
 * 2013, §VI.
 *
 *     paper-infocom-2013 tables n=1000 z=0          figures 4 to 7, against the number of counters
 *     paper-infocom-2013 windows counters=20000     figures 8 to 10, against the window
 *     paper-infocom-2013 signatures counters=10000  figures 11 and 12, against K
 *     paper-infocom-2013 bits n=1000                figure 4 in equal bytes
 *     paper-infocom-2013 within n=10000 counters=60000   any window up to n
 *     paper-infocom-2013 bound n=1000 lambda=2000 signature=0    theorems 1 and 2
 *     paper-infocom-2013 memory n=100000            other structures, in equal memory
 *     xz -dc FILE | paper-infocom-2013 caching …    figure 13, streams.c
 *     xz -dc FILE | paper-infocom-2013 replay …
 *     xz -dc FILE | paper-infocom-2013 wall …       figures 13 and 14
 *
 * `counters` are the paper's: a cell of the filter is one, a position in a table two, or three
 * where it has a signature. */
#include "contenders.h"
#include "streams.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 20, PASSES = 5, LOOK = 10 };

/* -- items: Zipf's law with exponent z over a universe; z=0: all alike -------------------- */

struct source {
    uint64_t rng, seed, size;
    double *below; /* share of the items up to each; NULL: all alike */
};

static struct source source_new(double z) {
    struct source s = {.size = (uint64_t)lab_number("universe", 1e5)};
    if (z <= 0) return s;
    double sum = 0;
    s.below = lab_alloc(s.size, sizeof *s.below);
    for (uint64_t i = 0; i < s.size; i++) s.below[i] = sum += pow((double)(i + 1), -z);
    for (uint64_t i = 0; i < s.size; i++) s.below[i] /= sum;
    return s;
}

static seen_digest source_draw(struct source *s) {
    if (!s->below) return lab_digest(lab_below(&s->rng, s->size), s->seed);
    double u = lab_uniform(&s->rng);
    uint64_t low = 0, high = s->size - 1;
    while (low < high) {
        uint64_t mid = (low + high) / 2;
        if (s->below[mid] > u)
            high = mid;
        else
            low = mid + 1;
    }
    return lab_digest(low, s->seed);
}

/* -- one run of one contender ------------------------------------------------------------- */

struct outcome {
    struct lab_mean fp, update, query, listed, lost; /* seconds; the longest list */
};

/* Keeps the most that the list held, looking there now and then. */
static void feed(struct contender *c, struct source *s, uint64_t n, uint64_t *most) {
    seen_digest digest[LOOK];
    for (uint64_t i = 0; i < n; i += LOOK) {
        for (int j = 0; j < LOOK; j++) digest[j] = source_draw(s);
        contender_observe(c, LOOK, digest, NULL);
        uint64_t listed = contender_stats(c).listed;
        if (listed > *most) *most = listed;
    }
}

/* Share of `n` items that never were that are found. */
static double wrong(const struct contender *c, uint64_t first, uint64_t n, uint64_t seed) {
    seen_digest digest[BATCH];
    uint8_t verdict[BATCH];
    uint64_t found = 0;
    for (uint64_t i = 0; i < n; i += BATCH) {
        uint64_t m = n - i < BATCH ? n - i : BATCH;
        for (uint64_t j = 0; j < m; j++) digest[j] = lab_digest(first + i + j, seed);
        contender_ask(c, m, digest, verdict);
        for (uint64_t j = 0; j < m; j++) found += verdict[j] != SEEN_NEW;
    }
    return (double)found / (double)n;
}

/* Seconds an operation; the digests are ready. */
static double seconds(struct contender *c, const seen_digest *digest, uint64_t n, bool update) {
    uint8_t verdict[BATCH];
    double begun = lab_seconds();
    for (uint64_t i = 0; i + BATCH <= n; i += BATCH) {
        if (update)
            contender_observe(c, BATCH, digest + i, NULL);
        else
            contender_ask(c, BATCH, digest + i, verdict);
    }
    return (lab_seconds() - begun) / (double)(n / BATCH * BATCH);
}

/* The stream goes on, then items like those that came are asked about; the quickest of some
 * passes. */
static void clock_it(struct contender *c, struct source *s, struct outcome *o) {
    uint64_t n = (uint64_t)lab_number("ops", 10240);
    double least[2] = {HUGE_VAL, HUGE_VAL};
    seen_digest *digest = lab_alloc(n, sizeof *digest);
    for (int pass = 0; pass < 2 * PASSES; pass++) {
        for (uint64_t i = 0; i < n; i++) digest[i] = source_draw(s);
        least[pass % 2] = fmin(least[pass % 2], seconds(c, digest, n, pass % 2 == 0));
    }
    lab_add(&o->update, least[0]);
    lab_add(&o->query, least[1]);
    free(digest);
}

static void run(struct contender *c, struct source *s, uint64_t seed, struct outcome *o) {
    uint64_t n = c->setup.n, most = 0, first = (uint64_t)1 << 48;
    uint64_t asked = (uint64_t)(lab_number("queries", 2e6) / ROUNDS) / (c->l ? 20 : 1);
    double sum = 0;
    s->seed = s->rng = seed;
    feed(c, s, 3 * n, &most);
    for (int round = 0; round < ROUNDS; round++, first += asked) {
        feed(c, s, n / 4, &most);
        sum += wrong(c, first, asked, seed);
    }
    lab_add(&o->fp, sum / ROUNDS);
    lab_add(&o->listed, (double)most);
    lab_add(&o->lost, (double)contender_stats(c).saturated);
    clock_it(c, s, o);
}

static void show(double x, const struct contender *c, const struct outcome *o) {
    const struct {
        const char *what;
        const struct lab_mean *mean;
        bool has;
    } rows[] = {{"fp", &o->fp, true},
                {"update", &o->update, true},
                {"query", &o->query, true},
                {"list", &o->listed, c->lambda > 0},
                {"lost", &o->lost, c->lambda > 0 && c->d}};
    char series[64];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!rows[i].has) continue;
        snprintf(series, sizeof series, "%s %s", rows[i].what, c->name);
        lab_row(series, x, rows[i].mean, 1, contender_spec(c));
    }
}

/* The first of the contenders at one point of a figure; all in turn, so that their times
 * compare. */
static void point(double x, const struct setup *setup, struct source *s, int contenders) {
    struct outcome o[CONTENDERS] = {0};
    uint64_t runs = (uint64_t)lab_number("runs", 20);
    for (uint64_t seed = 1; seed <= runs; seed++)
        for (int i = 0; i < contenders; i++) {
            struct contender c = contender_new(i, setup, seed);
            run(&c, s, seed, &o[i]);
            contender_free(&c);
        }
    for (int i = 0; i < contenders; i++) {
        struct contender c = contender_new(i, setup, 1);
        show(x, &c, &o[i]);
        contender_free(&c);
    }
}

/* -- figures 4 to 12 ---------------------------------------------------------------------- */

static void tables(void) {
    struct source s = source_new(lab_number("z", 0));
    for (uint64_t counters = 4000; counters <= 10000; counters += 1000) {
        struct setup setup = {(uint64_t)lab_number("n", 1000), counters, 4, .first = false};
        point((double)counters, &setup, &s, CONTENDERS);
    }
    free(s.below);
}

static void windows(void) {
    struct source s = source_new(0);
    uint64_t step = (uint64_t)lab_number("step", 1000);
    for (uint64_t n = 1000; n <= 10000; n += step) {
        struct setup setup = {n, (uint64_t)lab_number("counters", 20000), 4, .first = false};
        point((double)n, &setup, &s, CONTENDERS);
    }
}

static void signatures(void) {
    struct source s = source_new(0);
    for (int k = 1; k <= 10; k++) {
        struct setup setup = {(uint64_t)lab_number("n", 1000),
                              (uint64_t)lab_number("counters", 10000), k, .first = false};
        point(k, &setup, &s, 3);
    }
}

/* The k at which the filter errs least by its formula, with as many keys as records. */
static int best_k(const struct setup *setup) {
    struct setup s = *setup;
    int best = 1;
    double least = 1;
    for (s.k = 1; s.k <= 32; s.k++) {
        struct contender c = contender_new(0, &s, 1);
        double rate = contender_rate(&c, (double)s.n);
        if (rate < least) least = rate, best = s.k;
        contender_free(&c);
    }
    return best;
}

/* One contender over all seeds; its rows are called after `beside` as well. */
static void alone(int which, const struct setup *setup, struct source *s, const char *beside) {
    struct outcome o = {0};
    uint64_t runs = (uint64_t)lab_number("runs", 20);
    char series[64], spec[512] = "";
    for (uint64_t seed = 1; seed <= runs; seed++) {
        struct contender c = contender_new(which, setup, seed);
        if (seed == 1) snprintf(spec, sizeof spec, "%s", contender_spec(&c));
        run(&c, s, seed, &o);
        contender_free(&c);
    }
    snprintf(series, sizeof series, "fp %s", beside);
    lab_row(series, (double)setup->counters, &o.fp, 1, spec);
    snprintf(series, sizeof series, "lost %s", beside);
    lab_row(series, (double)setup->counters, &o.lost, 1, spec);
}

/* The tables with the paper's stamps, 0 … 2n, and the filter with the same ones, in as many lines
 * as the tables take: with k=4, and with its best k. */
static void bits(void) {
    struct source s = source_new(0);
    uint64_t n = (uint64_t)lab_number("n", 1000);
    uint64_t stamp = (uint64_t)ceil(log2((double)(2 * n + 1)));
    uint64_t step = (uint64_t)lab_number("step", 1000);
    for (uint64_t counters = 4000; counters <= 10000; counters += step)
        for (int which = 1; which <= 2; which++) {
            struct setup setup = {n, counters, 4, .stamp = stamp};
            struct contender tables = contender_new(which, &setup, 1);
            const char *name = tables.name;
            char beside[64];
            setup.lines = seen_spec_get_count(seen_spec_of(tables.d), "blocks");
            lab_one(which == 1 ? "lines K=0" : "lines signed", (double)counters,
                    (double)setup.lines, 1, lab_spec(tables.d));
            contender_free(&tables);
            alone(which, &setup, &s, name);
            snprintf(beside, sizeof beside, "TBF beside %s", name);
            alone(0, &setup, &s, beside);
            setup.k = best_k(&setup);
            snprintf(beside, sizeof beside, "best TBF beside %s", name);
            alone(0, &setup, &s, beside);
        }
}

/* One structure for n, asked about the last w only. */
static void within(void) {
    static const int w[] = {100, 300, 1000, 3000, 10000};
    struct source s = source_new(0);
    for (size_t i = 0; i < sizeof w / sizeof *w; i++) {
        struct setup setup = {(uint64_t)lab_number("n", 10000),
                              (uint64_t)lab_number("counters", 60000), 4, .within = (uint64_t)w[i]};
        point(w[i], &setup, &s, 3);
    }
}

/* -- theorems 1 and 2: a window of n different items -------------------------------------- */

/* The rate after a stream of new keys twice as long as the window. */
static double rate_once(const char *spec, uint64_t n, uint64_t queries, uint64_t seed, char *text,
                        size_t cap) {
    struct contender c = {.d = lab_make("%s seed=%llu", spec, (unsigned long long)seed)};
    seen_digest digest[BATCH];
    for (uint64_t i = 0; i < 2 * n; i += BATCH) {
        for (uint64_t j = 0; j < BATCH; j++) digest[j] = lab_digest(i + j, seed);
        contender_observe(&c, BATCH, digest, NULL);
    }
    double rate = wrong(&c, (uint64_t)1 << 48, queries, seed);
    if (seed == 1) snprintf(text, cap, "%s", contender_spec(&c));
    contender_free(&c);
    return rate;
}

static void bound(void) {
    struct lab_mean rate = {0};
    char spec[160], text[512];
    uint64_t n = (uint64_t)lab_number("n", 1000), runs = (uint64_t)lab_number("runs", 20);
    snprintf(spec, sizeof spec, "sliding:%llu filter=timed-cuckoo lambda=%.0f signature=%.0f",
             (unsigned long long)n, lab_number("lambda", 2000), lab_number("signature", 0));
    for (uint64_t seed = 1; seed <= runs; seed++)
        lab_add(&rate,
                rate_once(spec, n, (uint64_t)lab_number("queries", 2e6), seed, text, sizeof text));
    lab_row("fp", lab_number("signature", 0), &rate, 1, text);
}

/* -- other structures, in equal memory ---------------------------------------------------- */

static const struct {
    const char *name, *window, *more; /* window and options, the length and the memory between */
} rivals[] = {
    {"timing", "sliding", " filter=timing"},
    {"timed-cuckoo", "sliding", " filter=timed-cuckoo"},
    {"timed-cuckoo vla", "sliding", " filter=timed-cuckoo vla=1"},
    {"age-partitioned", "sliding", " filter=age-partitioned"},
    {"line", "sliding", " filter=line"},
    {"exact", "sliding", " filter=exact"},
    {"blocked jumping/8", "jumping", "/8 filter=blocked"},
};

/* The least rate at which `window` holds n keys in its memory, and the spec that gives it; 1 where
 * they do not fit.  Asked for more, some structures leave memory unused: so ever more is asked. */
static double least_rate(const char *window, uint64_t n, char *spec, size_t cap) {
    double least = 1;
    for (int digits = 0; digits < 40; digits++) {
        char text[192];
        struct seen_spec asked;
        struct seen_plan plan;
        snprintf(text, sizeof text, "%s fp=1e-%d", window, digits);
        if (seen_spec_parse(&asked, digits ? text : window, NULL) ||
            seen_plan_make(&plan, &asked, NULL) || plan.capacity < n || plan.fp_full >= least)
            continue;
        least = plan.fp_full;
        snprintf(spec, cap, "%s", digits ? text : window);
    }
    return least;
}

static void rival(size_t r, int bits, uint64_t n) {
    struct lab_mean rate = {0}, planned = {0};
    char window[128], spec[192], text[512], series[64], mem[32];
    uint64_t runs = (uint64_t)lab_number("runs", 20), asked = (uint64_t)lab_number("queries", 2e6);
    seen_print_size(n * (unsigned)bits / 8, mem, sizeof mem);
    snprintf(window, sizeof window, "%s:%llu%s mem=%s", rivals[r].window, (unsigned long long)n,
             rivals[r].more, mem);
    double least = least_rate(window, n, spec, sizeof spec);
    if (least >= 1) return;
    lab_add(&planned, least);
    snprintf(series, sizeof series, "planned %s", rivals[r].name);
    lab_row(series, bits, &planned, 1, spec);
    if (least * (double)(runs * asked) < 5) return; /* too seldom to be seen */
    for (uint64_t seed = 1; seed <= runs; seed++)
        lab_add(&rate, rate_once(spec, n, asked, seed, text, sizeof text));
    lab_row(rivals[r].name, bits, &rate, 1, text);
}

static void memory(void) {
    static const int bits[] = {24, 32, 48, 64, 80, 96, 112, 128, 160, 192, 256, 320, 384};
    for (size_t b = 0; b < sizeof bits / sizeof *bits; b++)
        for (size_t r = 0; r < sizeof rivals / sizeof *rivals; r++)
            rival(r, bits[b], (uint64_t)lab_number("n", 1e5));
}

int main(int argc, char **argv) {
    static const struct lab_experiment experiments[] = {
        {"tables", tables},    {"windows", windows},         {"signatures", signatures},
        {"bits", bits},        {"within", within},           {"bound", bound},
        {"memory", memory},    {"caching", streams_caching}, {"replay", streams_replay},
        {"wall", streams_wall}};
    return lab_main(argc, argv, experiments, sizeof experiments / sizeof *experiments);
}
