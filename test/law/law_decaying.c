/* law_decaying - what holds in a window without length: false positives against "ever seen", and
 * the statistics of each structure against its closed forms, over 20 seeds at five sigma. */
#include "law.h"
#include "tally.h"

#include "plan/theory_stable.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEEDS 20
#define BATCH 256

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
            tally_add(&rate, (double)wrong / (double)fresh);
            seen_free(d);
            oracle_free(oracle);
        }
        law_check(tally_mean(&rate) <= plan.fp_full + 5 * tally_error(&rate, 1e-5),
                  "%g of new keys were called duplicates, planned %g", tally_mean(&rate),
                  plan.fp_full);
        if (c->traits & SEEN_NO_FP) law_check(tally_mean(&rate) == 0, "a false positive");
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
    for (uint64_t i = 0; i < n; i++) digest[i] = law_fresh(rng);
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
            tally_add(&zero[i], zeros(d, t.K));
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
        for (int g = 0; g < GAPS; g++) tally_add(&lost[g], misses[g] / ROUNDS);
        struct seen_stats stats;
        seen_stats(d, &stats);
        tally_add(&fp, law_query_fresh(d, 20000, &rng));
        tally_add(&told, (double)stats.duplicates - stats.expected_false);
        seen_free(d);
    }
    free(digest);
    char what[64];
    uint64_t n = 0;
    for (int i = 0; i < POINTS; i++) {
        n += steps[i];
        snprintf(what, sizeof what, "zeros after %llu", (unsigned long long)n);
        tally_agree(what, &zero[i],
                    theory_stable_zero_after((double)n, t.Max, t.P / t.m, t.K / t.m), 1e-5);
        if (i)
            law_check(tally_mean(&zero[i]) < tally_mean(&zero[i - 1]) + 1e-3,
                      "zeros rise: %g after %g", tally_mean(&zero[i]), tally_mean(&zero[i - 1]));
    }
    tally_agree("stable point", &zero[POINTS - 1], theory_stable_zeros(&t), 1e-5);
    tally_agree("false positives", &fp, theory_stable_fp(&t), 1e-5);
    tally_agree("expected_false", &told, 0, 1);
    for (int g = 0; g < GAPS; g++) {
        double expected = theory_stable_fn(&t, (double)gaps[g]);
        snprintf(what, sizeof what, "false negatives at %llu", (unsigned long long)gaps[g]);
        tally_agree(what, &lost[g], expected, 2e-4);
        if ((double)gaps[g] < t.Max) law_check(tally_mean(&lost[g]) == 0, "missed inside Max");
        if (t.Max == 1)
            tally_agree("the same, closed", &lost[g],
                        1 - theory_stable_found_one(&t, (double)gaps[g]), 2e-4);
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
            last[n % 256] = law_fresh(&rng);
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
        seen_digest fresh = law_fresh(&rng);
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
        tally_add(&first, zero / 100);
        tally_add(&last, end / 100);
        seen_free(d);
    }
    tally_agree("the first cell is 0", &first, theory_stable_zeros(&t), .011);
    tally_agree("the last cell is 0", &last, theory_stable_zeros(&t), .011);
}

int main(void) {
    static const struct law laws[] = {
        {"new keys are seldom called duplicates", new_keys_are_seldom_called_duplicates, false},
        {"stable is as its closed forms say", stable_is_as_its_closed_forms_say, false},
        {"stable misses nothing nearer than Max", stable_misses_nothing_nearer_than_max, false},
        {"stable updates on every record", stable_updates_on_every_record, false},
        {"stable that never forgets is bloom", stable_that_never_forgets_is_bloom, false},
        {"stable decrements around the end", stable_decrements_around_the_end, false},
    };
    return law_main("decaying", laws, sizeof laws / sizeof *laws);
}
