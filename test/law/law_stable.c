/* law_stable - the statistics of the Stable Bloom filter against its closed forms, over 20 seeds at
 * five sigma, and what its update must do. */
#include "law.h"
#include "tally.h"

#include "theory/decaying.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEEDS 20

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
    return c->window == SEEN_WINDOW_DECAYING && !strcmp(c->structure, "stable");
}

static double zeros(const seen_detector *d, double k) {
    struct seen_stats stats;
    seen_stats(d, &stats);
    return 1 - pow(stats.fp_now, 1 / k);
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
            law_play_fresh(d, digest + n, steps[i], &rng);
            tally_add(&zero[i], zeros(d, t.K));
        }
        for (int round = 0; round < ROUNDS; round++, n += 50) {
            law_play_fresh(d, digest + n, 50, &rng);
            for (int g = 0; g < GAPS; g++)
                misses[g] += 1 - law_found_at(d, digest, n + 50, gaps[g]);
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

/* -- uneven streams ----------------------------------------------------------------------- */

/* Keys drawn one by one from a fixed law: evenly from a few or from many; or half of them from 50
 * and a quarter fresh. */
static seen_digest drawn(int kind, uint64_t *rng) {
    if (kind == 0) return law_digest(law_below(rng, 3000), 8);
    if (kind == 1) return law_digest(law_below(rng, 100000), 8);
    uint64_t pick = law_below(rng, 4);
    return pick < 2    ? law_digest(law_below(rng, 50), 8)
           : pick == 2 ? law_digest(law_below(rng, 20000), 8)
                       : law_fresh(rng);
}

static void one_uneven_stream(const struct setting *s, int kind) {
    enum { POINTS = 8, STEP = 4000 };
    struct tally zero[POINTS] = {{0}}, fp[POINTS] = {{0}};
    struct theory_stable t = {0};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        uint64_t rng = law_seed() * 1000 + seed;
        seen_detector *d = stable(s, law_next(&rng) >> 1, &t);
        for (int i = 0; i < POINTS; i++) {
            for (int j = 0; j < STEP << i / 2; j++) {
                seen_digest key = drawn(kind, &rng);
                uint8_t verdict;
                seen_observe(d, 1, &key, &verdict);
            }
            tally_add(&zero[i], zeros(d, t.K));
            tally_add(&fp[i], law_query_fresh(d, 4096, &rng));
        }
        seen_free(d);
    }
    for (int i = 0; i < POINTS; i++) {
        double noise = 5 * tally_error(&zero[i], 1e-4), share = tally_mean(&zero[i]);
        law_check(share > theory_stable_zeros(&t) - noise, "stream %d: %g zeros, at least %g", kind,
                  share, theory_stable_zeros(&t));
        law_check(tally_mean(&fp[i]) < theory_stable_fp(&t) + 5 * tally_error(&fp[i], 1e-5),
                  "stream %d: false positives %g, at most %g", kind, tally_mean(&fp[i]),
                  theory_stable_fp(&t));
        double before = i ? tally_mean(&zero[i - 1]) : 1;
        if (i) noise = hypot(noise, 5 * tally_error(&zero[i - 1], 1e-4));
        law_check(share < before + noise, "stream %d: %g zeros, %g before", kind, share, before);
    }
}

/* Theorem 3, Lemma 1 and Corollary 5. */
static void stable_bounds_hold_at_all_times_on_uneven_streams(const struct law_case *c) {
    for (size_t i = 0; is_stable(c) && i < sizeof settings / sizeof *settings; i += 2)
        for (int kind = 0; kind < 3; kind++) one_uneven_stream(&settings[i], kind);
}

/* -- a key's own share ------------------------------------------------------------------ */

/* A key that comes every 100 records is missed as its gap says (Eq. 14), not as Eq. 19, which
 * counts the key's own share among what sets its cells: none of that lies in the gap. */
static void stable_misses_a_frequent_key_as_its_gap_says(const struct law_case *c) {
    enum { GAP = 100, ROUNDS = 3000 };
    struct tally lost = {0};
    struct theory_stable t = {0};
    if (!is_stable(c)) return;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        uint64_t rng = law_seed() * 1000 + seed, missed = 0;
        seen_digest between[GAP - 1], key = law_digest(1, 4);
        seen_detector *d = stable(&settings[0], law_next(&rng) >> 1, &t);
        uint8_t verdict;
        for (int i = 0; i < 500; i++) law_play_fresh(d, between, GAP - 1, &rng);
        for (int round = 0; round <= ROUNDS; round++) {
            seen_observe(d, 1, &key, &verdict);
            missed += round > 0 && !verdict;
            law_play_fresh(d, between, GAP - 1, &rng);
        }
        tally_add(&lost, (double)missed / ROUNDS);
        seen_free(d);
    }
    tally_agree("a frequent key", &lost, theory_stable_fn(&t, GAP - 1), 1e-4);
    double printed = theory_stable_fn_of(&t, GAP, 1. / GAP, 0);
    law_check(printed < tally_mean(&lost) - 5 * tally_error(&lost, 1e-4),
              "Eq. 19 says %g, which is what is measured: %g", printed, tally_mean(&lost));
}

/* -- the update --------------------------------------------------------------------------- */

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
            seen_observe(d, 1, &last[n % 256], &verdict);
            for (uint64_t gap = 0; (double)gap < t.Max && gap <= n; gap++) {
                seen_query(d, 1, &last[(n - gap) % 256], 0, &verdict);
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
        seen_observe(d, 1, &a, &verdict);
        for (int i = 0; i < 100000; i++) seen_observe(d, 1, &b, &verdict);
        seen_query(d, 1, &a, 0, &verdict);
        gone += !verdict;
        seen_free(d);
    }
    law_check(gone == SEEDS, "a key survived 1e5 duplicates of another");
    seen_detector *d = stable(&settings[2], 1, &t);
    seen_observe(d, 1, &a, &verdict);
    for (int i = 0; i < 100000; i++) {
        seen_digest fresh = law_fresh(&rng);
        seen_observe(d, 1, &fresh, &verdict);
        seen_observe(d, 1, &a, &verdict);
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
                seen_observe(one, 1, &key, &a);
                seen_observe(two, 1, &key, &b);
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
            law_play_fresh(d, digest, 600, &rng);
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
        {"stable is as its closed forms say", stable_is_as_its_closed_forms_say, false},
        {"stable bounds hold at all times on uneven streams",
         stable_bounds_hold_at_all_times_on_uneven_streams, false},
        {"stable misses a frequent key as its gap says",
         stable_misses_a_frequent_key_as_its_gap_says, false},
        {"stable misses nothing nearer than Max", stable_misses_nothing_nearer_than_max, false},
        {"stable updates on every record", stable_updates_on_every_record, false},
        {"stable that never forgets is bloom", stable_that_never_forgets_is_bloom, false},
        {"stable decrements around the end", stable_decrements_around_the_end, false},
    };
    return law_main("stable", laws, sizeof laws / sizeof *laws);
}
