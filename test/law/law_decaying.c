/* law_decaying - what holds in a window without length: false positives against "ever seen", and
 * the statistics of each structure against its closed forms, over 20 seeds at five sigma. */
#include "law.h"

#include "plan/theory_stable.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEEDS 20
#define BATCH 256

/* A measurement that each seed repeats. */
struct tally {
    double sum, squares;
    int n;
};

static void add(struct tally *t, double value) {
    t->sum += value;
    t->squares += value * value;
    t->n++;
}

static double mean(const struct tally *t) { return t->sum / t->n; }

/* Standard error of the mean, `least` where the seeds show less. */
static double error(const struct tally *t, double least) {
    double variance = (t->squares - t->sum * mean(t)) / (t->n - 1);
    return fmax(sqrt(fmax(variance, 0) / t->n), least);
}

static void agree(const char *what, const struct tally *t, double expected, double least) {
    if (getenv("SEEN_VERBOSE"))
        fprintf(stderr, "%-28s measured %.6g expected %.6g off %.2f\n", what, mean(t), expected,
                fabs(mean(t) - expected) / error(t, least));
    law_check(fabs(mean(t) - expected) < 5 * error(t, least) + 1e-4 * expected,
              "%s: measured %.6g, expected %.6g, standard error %.2g", what, mean(t), expected,
              error(t, least));
}

static seen_digest random_digest(uint64_t *rng) {
    return (seen_digest){law_next(rng), law_next(rng)};
}

static double query_fresh(const seen_detector *d, uint64_t n, uint64_t *rng) {
    seen_digest digest[BATCH];
    uint8_t verdict[BATCH];
    uint64_t hits = 0;
    for (uint64_t i = 0; i < n; i += BATCH) {
        for (size_t j = 0; j < BATCH; j++) digest[j] = random_digest(rng);
        seen_query(d, BATCH, digest, 0, 0, verdict);
        for (size_t j = 0; j < BATCH; j++) hits += verdict[j];
    }
    return (double)hits / (double)((n + BATCH - 1) / BATCH * BATCH);
}

/* -- every structure ---------------------------------------------------------------------- */

/* Half the records are of a few hot keys, a quarter come back at any distance. */
static seen_digest mixed(uint64_t i, uint64_t *rng) {
    uint64_t pick = law_below(rng, 4);
    return law_digest(pick < 2    ? law_below(rng, 20)
                      : pick == 2 ? 1000 + law_below(rng, i + 1)
                                  : 1000 + i,
                      5);
}

static void new_keys_are_seldom_called_duplicates(const struct law_case *c) {
    static const char *const more[] = {"fp=.1", "fp=.01", "fp=.01 refresh=first",
                                       "fp=.01 shards=4"};
    if (c->window != SEEN_DECAYING) return;
    for (size_t m = 0; m < 4; m++) {
        struct tally rate = {0};
        struct seen_plan plan;
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            uint64_t rng = law_seed() * 100 + seed, wrong = 0, fresh = 0;
            law_plan(&plan, "decaying filter=%s mem=16KiB seed=%llu %s", c->structure,
                     (unsigned long long)seed, more[m]);
            seen_detector *d = law_new(&plan, NULL);
            struct oracle *oracle = law_oracle(&plan);
            for (uint64_t i = 0; i < 30000; i++) {
                seen_digest key = mixed(i, &rng);
                uint8_t verdict;
                bool is_new = oracle_judge(oracle, key, 0, NULL) == ORACLE_NEW;
                seen_observe(d, 1, &key, NULL, &verdict);
                fresh += is_new;
                wrong += is_new && verdict;
                oracle_observe(oracle, key, 0, SEEN_NEW);
            }
            add(&rate, (double)wrong / (double)fresh);
            seen_free(d);
            oracle_free(oracle);
        }
        law_check(mean(&rate) <= plan.fp_full + 5 * error(&rate, 1e-5),
                  "%g of new keys were called duplicates, planned %g", mean(&rate), plan.fp_full);
        if (c->traits & SEEN_NO_FP) law_check(mean(&rate) == 0, "a false positive");
    }
}

/* -- stable ------------------------------------------------------------------------------- */

struct setting {
    int max, k, p, lines;
    const char *decrement;
};

static const struct setting settings[] = {{1, 3, 11, 210, "run"}, {1, 2, 5, 210, "each"},
                                          {3, 4, 33, 420, "run"}, {3, 2, 9, 420, "each"},
                                          {5, 3, 20, 640, "run"}, {7, 5, 60, 640, "run"}};

static seen_detector *stable(const struct setting *s, uint64_t seed, struct theory_stable *theory) {
    int bits = 32 - __builtin_clz((unsigned)s->max);
    *theory = (struct theory_stable){s->lines * (double)(496 / bits), s->k, s->p, s->max};
    return law_make("decaying filter=stable max=%d k=%d p=%d lines=%d decrement=%s seed=%llu",
                    s->max, s->k, s->p, s->lines, s->decrement, (unsigned long long)seed);
}

static bool is_stable(const struct law_case *c) {
    return c->window == SEEN_DECAYING && !strcmp(c->structure, "stable");
}

static double zeros(const seen_detector *d, double k) {
    struct seen_stats stats;
    seen_stats(d, &stats);
    return 1 - pow(stats.fp_now, 1 / k);
}

static void play_fresh(seen_detector *d, seen_digest *digest, uint64_t n, uint64_t *rng) {
    uint8_t verdict[BATCH];
    for (uint64_t i = 0; i < n; i++) digest[i] = random_digest(rng);
    for (uint64_t i = 0; i < n; i += BATCH)
        seen_observe(d, n - i < BATCH ? n - i : BATCH, digest + i, NULL, verdict);
}

static void one_setting(const struct setting *s) {
    enum { POINTS = 6, GAPS = 7, ROUNDS = 40 };
    static const uint64_t steps[POINTS] = {500, 1500, 3000, 5000, 10000, 80000};
    static const uint64_t gaps[GAPS] = {1, 100, 1000, 3000, 6000, 12000, 30000};
    struct tally zero[POINTS] = {{0}}, lost[GAPS] = {{0}}, fp = {0}, told = {0};
    struct theory_stable t = {0};
    seen_digest *digest = malloc(200000 * sizeof *digest);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        uint64_t rng = law_seed() * 1000 + seed, n = 0;
        double misses[GAPS] = {0};
        seen_detector *d = stable(s, law_next(&rng) >> 1, &t);
        for (int i = 0; i < POINTS; n += steps[i++]) {
            play_fresh(d, digest + n, steps[i], &rng);
            add(&zero[i], zeros(d, t.K));
        }
        for (int round = 0; round < ROUNDS; round++, n += 50) {
            play_fresh(d, digest + n, 50, &rng);
            for (int g = 0; g < GAPS; g++) { /* the gap, give or take a hundredth */
                uint8_t found[BATCH] = {0};
                uint64_t width = gaps[g] < 200 ? 1 : gaps[g] / 100 < BATCH ? gaps[g] / 100 : BATCH;
                uint64_t first = n + 50 - 1 - gaps[g] - width / 2, hits = 0;
                seen_query(d, width, digest + first, 0, 0, found);
                for (uint64_t j = 0; j < width; j++) hits += found[j];
                misses[g] += 1 - (double)hits / (double)width;
            }
        }
        for (int g = 0; g < GAPS; g++) add(&lost[g], misses[g] / ROUNDS);
        struct seen_stats stats;
        seen_stats(d, &stats);
        add(&fp, query_fresh(d, 20000, &rng));
        add(&told, (double)stats.duplicates - stats.expected_false);
        seen_free(d);
    }
    free(digest);
    char what[64];
    uint64_t n = 0;
    for (int i = 0; i < POINTS; i++) {
        n += steps[i];
        snprintf(what, sizeof what, "zeros after %llu", (unsigned long long)n);
        agree(what, &zero[i], theory_stable_zero_after((double)n, t.Max, t.P / t.m, t.K / t.m),
              1e-5);
        if (i)
            law_check(mean(&zero[i]) < mean(&zero[i - 1]) + 1e-3, "zeros rise: %g after %g",
                      mean(&zero[i]), mean(&zero[i - 1]));
    }
    agree("stable point", &zero[POINTS - 1], theory_stable_zeros(&t), 1e-5);
    agree("false positives", &fp, theory_stable_fp(&t), 1e-5);
    agree("expected_false", &told, 0, 1);
    for (int g = 0; g < GAPS; g++) {
        double expected = theory_stable_fn(&t, (double)gaps[g]);
        snprintf(what, sizeof what, "false negatives at %llu", (unsigned long long)gaps[g]);
        agree(what, &lost[g], expected, 2e-4);
        if ((double)gaps[g] < t.Max) law_check(mean(&lost[g]) == 0, "missed inside Max");
        if (t.Max == 1)
            agree("the same, closed", &lost[g], 1 - theory_stable_found_one(&t, (double)gaps[g]),
                  2e-4);
    }
}

static void stable_is_as_its_closed_forms_say(const struct law_case *c) {
    for (size_t i = 0; is_stable(c) && i < sizeof settings / sizeof *settings; i++)
        one_setting(&settings[i]);
}

/* Fewer than Max records between: never missed, however small the table. */
static void stable_misses_nothing_nearer_than_max(const struct law_case *c) {
    static const struct setting tiny[] = {{3, 2, 100, 1, "run"},
                                          {7, 3, 60, 1, "each"},
                                          {200, 2, 31, 1, "run"},
                                          {5, 4, 40, 2, "each"}};
    for (size_t i = 0; is_stable(c) && i < sizeof tiny / sizeof *tiny; i++) {
        struct theory_stable t;
        uint64_t rng = law_seed() + i;
        seen_detector *d = stable(&tiny[i], 3, &t);
        seen_digest last[256];
        for (uint64_t n = 0; n < 3000; n++) {
            uint8_t verdict;
            last[n % 256] = random_digest(&rng);
            seen_observe(d, 1, &last[n % 256], NULL, &verdict);
            for (uint64_t gap = 0; gap < t.Max && gap <= n; gap++) {
                seen_query(d, 1, &last[(n - gap) % 256], 0, 0, &verdict);
                law_check(verdict, "missed after a gap of %llu", (unsigned long long)gap);
            }
        }
        seen_free(d);
    }
}

/* Algorithm 1 as printed would do neither. */
static void stable_updates_on_every_record(const struct law_case *c) {
    struct theory_stable t;
    if (!is_stable(c)) return;
    seen_digest a = law_digest(1, 1), b = law_digest(2, 1);
    uint8_t verdict;
    uint64_t gone = 0, rng = law_seed();
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        seen_detector *d = stable(&settings[0], seed, &t);
        seen_observe(d, 1, &a, NULL, &verdict);
        for (int i = 0; i < 100000; i++) seen_observe(d, 1, &b, NULL, &verdict);
        seen_query(d, 1, &a, 0, 0, &verdict);
        gone += !verdict;
        seen_free(d);
    }
    law_check(gone == SEEDS, "a key survived 1e5 duplicates of another");
    seen_detector *d = stable(&settings[2], 1, &t);
    seen_observe(d, 1, &a, NULL, &verdict);
    for (int i = 0; i < 100000; i++) {
        seen_digest fresh = random_digest(&rng);
        seen_observe(d, 1, &fresh, NULL, &verdict);
        seen_observe(d, 1, &a, NULL, &verdict);
        law_check(verdict, "a duplicate did not renew its key");
    }
    seen_free(d);
}

static void stable_that_never_forgets_is_bloom(const struct law_case *c) {
    if (!is_stable(c)) return;
    for (int k = 1; k <= 13; k += 4)
        for (int shards = 1; shards < 3; shards++) {
            seen_detector *one = law_make("decaying filter=stable max=1 p=0 k=%d lines=30 "
                                          "shards=%d seed=7",
                                          k, shards);
            seen_detector *two =
                law_make("landmark filter=bloom k=%d lines=30 shards=%d seed=7", k, shards);
            uint64_t rng = law_seed();
            for (int i = 0; i < 9000; i++) {
                seen_digest key = law_digest(law_below(&rng, 5000), 3);
                uint8_t a, b;
                seen_observe(one, 1, &key, NULL, &a);
                seen_observe(two, 1, &key, NULL, &b);
                law_check(a == b, "record %d is %d and to bloom %d", i, a, b);
            }
            struct law_bytes x = law_save(one, NULL), y = law_save(two, NULL);
            law_check(!memcmp(x.data + x.len - 8 - 30 * 64, y.data + y.len - 8 - 30 * 64, 30 * 64),
                      "their tables differ");
            law_bytes_free(&x);
            law_bytes_free(&y);
            seen_free(one);
            seen_free(two);
        }
}

/* The first cells of a table are reached by runs that begin at its end. */
static void stable_decrements_around_the_end(const struct law_case *c) {
    static const struct setting small = {1, 4, 4, 2, "run"};
    struct tally first = {0}, last = {0};
    struct theory_stable t = {0};
    if (!is_stable(c)) return;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        uint64_t rng = law_seed() + seed;
        seen_detector *d = stable(&small, seed, &t);
        seen_digest digest[600];
        double zero = 0, end = 0;
        for (int i = 0; i < 100; i++) {
            play_fresh(d, digest, 600, &rng);
            struct law_bytes b = law_save(d, NULL);
            const unsigned char *table = b.data + b.len - 8 - 2 * 64;
            zero += !(table[0] & 1);
            end += !(table[64 + 61] & 128);
            law_bytes_free(&b);
        }
        add(&first, zero / 100);
        add(&last, end / 100);
        seen_free(d);
    }
    agree("the first cell is 0", &first, theory_stable_zeros(&t), .011);
    agree("the last cell is 0", &last, theory_stable_zeros(&t), .011);
}

/* -- buffers ------------------------------------------------------------------------------ */

enum { STREAM = 30000 };

/* Keys by number.  0: evenly from a set; 1: a few hot ones, old ones and new ones; 2: gaps of every
 * order of magnitude alike. */
static void keys_of(int kind, uint32_t *key, uint64_t *rng) {
    for (uint32_t i = 0; i < STREAM; i++) {
        double u = (double)(law_next(rng) >> 11) * 0x1p-53;
        uint32_t gap = (uint32_t)pow(1e4, u);
        if (kind == 0) key[i] = (uint32_t)law_below(rng, 3000);
        if (kind == 1) key[i] = law_below(rng, 2) ? (uint32_t)law_below(rng, 20) : i / 2;
        if (kind == 2) key[i] = gap <= i && law_below(rng, 4) ? key[i - gap] : i;
    }
}

/* Distinct keys since each record's key was last seen, by a Fenwick tree over last occurrences. */
static void stack_distances(const uint32_t *key, uint32_t *distance) {
    static int32_t tree[STREAM + 1], last[STREAM];
    memset(tree, 0, sizeof tree);
    memset(last, 0, sizeof last);
    for (int32_t i = 1; i <= STREAM; i++) {
        int32_t before = last[key[i - 1]];
        uint32_t count = 0;
        for (int32_t j = i - 1; j > 0; j -= j & -j) count += (uint32_t)tree[j];
        for (int32_t j = before; j > 0; j -= j & -j) count -= (uint32_t)tree[j];
        distance[i - 1] = before ? count : UINT32_MAX;
        for (int32_t j = i; j <= STREAM; j += j & -j) tree[j]++;
        for (int32_t j = before; before && j <= STREAM; j += j & -j) tree[j]--;
        last[key[i - 1]] = i;
    }
}

/* lru finds a key if and only if fewer than C others came since; clock errs about as often. */
static void buffers_miss_what_lies_deeper_than_they_reach(const struct law_case *c) {
    static uint32_t key[STREAM], distance[STREAM];
    bool lru = c->structure && !strcmp(c->structure, "lru");
    if (c->window != SEEN_DECAYING || (!lru && strcmp(c->structure, "clock"))) return;
    for (uint64_t run = 0; run < 3 * SEEDS; run++) {
        struct seen_plan plan;
        uint64_t rng = law_seed() + run, missed = 0, expected = 0;
        law_plan(&plan, "decaying filter=%s items=%llu seed=1", c->structure,
                 (unsigned long long)(10 + run * 37));
        keys_of((int)(run % 3), key, &rng);
        stack_distances(key, distance);
        seen_detector *d = law_new(&plan, NULL);
        for (uint32_t i = 0; i < STREAM; i++) {
            seen_digest digest = law_digest(key[i], run);
            bool near = distance[i] < plan.capacity;
            uint8_t verdict;
            seen_observe(d, 1, &digest, NULL, &verdict);
            law_check(!lru || verdict == near, "record %u at distance %u of %llu is %d", i,
                      distance[i], (unsigned long long)plan.capacity, verdict);
            law_check(!verdict || distance[i] != UINT32_MAX, "record %u is new", i);
            missed += distance[i] != UINT32_MAX && !verdict;
            expected += distance[i] != UINT32_MAX && !near;
        }
        law_check(fabs((double)missed - (double)expected) < .01 * STREAM,
                  "stream %d, %llu keys: %llu missed, lru misses %llu", (int)(run % 3),
                  (unsigned long long)plan.capacity, (unsigned long long)missed,
                  (unsigned long long)expected);
        seen_free(d);
    }
}

/* Overflowing, forgetting and landmarks mixed, against a list kept by hand; saved now and then. */
static void buffers_forget_and_go_on(const struct law_case *c) {
    if (c->window != SEEN_DECAYING || !(c->traits & SEEN_NO_FP)) return;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        uint64_t rng = law_seed() + seed;
        seen_detector *d = law_make("decaying filter=%s items=30 seed=1", c->structure), *copy;
        bool held[64] = {false};
        for (int i = 0; i < 5000; i++) {
            uint64_t pick = law_below(&rng, 64);
            seen_digest key = law_digest(pick, seed);
            uint8_t verdict;
            if (!law_below(&rng, 500)) seen_landmark(d), memset(held, 0, sizeof held);
            if (!law_below(&rng, 8)) {
                seen_forget(d, 1, &key, NULL);
                seen_query(d, 1, &key, 0, 0, &verdict);
                law_check(!verdict, "a forgotten key is there");
                held[pick] = false;
                continue;
            }
            seen_observe(d, 1, &key, NULL, &verdict);
            law_check(held[pick] || !verdict, "record %d came from nowhere", i);
            held[pick] = true;
            seen_query(d, 1, &key, 0, 0, &verdict);
            law_check(verdict, "record %d was not kept", i);
            if (law_below(&rng, 50)) continue;
            struct law_bytes bytes = law_save(d, NULL);
            copy = law_load(&bytes, NULL);
            law_bytes_free(&bytes);
            for (uint64_t k = 0; k < 64; k++) {
                uint8_t a, b;
                seen_digest digest = law_digest(k, seed);
                seen_query(d, 1, &digest, 0, 0, &a);
                seen_query(copy, 1, &digest, 0, 0, &b);
                law_check(a == b, "key %llu is %d, and %d after loading", (unsigned long long)k, a,
                          b);
            }
            seen_free(d);
            d = copy;
        }
        seen_free(d);
    }
}

int main(void) {
    static const struct law laws[] = {
        {"new keys are seldom called duplicates", new_keys_are_seldom_called_duplicates, false},
        {"buffers miss what lies deeper than they reach",
         buffers_miss_what_lies_deeper_than_they_reach, false},
        {"buffers forget and go on", buffers_forget_and_go_on, false},
        {"stable is as its closed forms say", stable_is_as_its_closed_forms_say, false},
        {"stable misses nothing nearer than Max", stable_misses_nothing_nearer_than_max, false},
        {"stable updates on every record", stable_updates_on_every_record, false},
        {"stable that never forgets is bloom", stable_that_never_forgets_is_bloom, false},
        {"stable decrements around the end", stable_decrements_around_the_end, false},
    };
    return law_main("decaying", laws, sizeof laws / sizeof *laws);
}
