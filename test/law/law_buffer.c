/* law_buffer - structures of the decaying window that keep keys themselves: which they hold, by
 * stack distance; and the coins of fp-lru.  20 seeds or more, at five sigma. */
#include "law.h"

#include "theory/bloom.h"
#include "theory/decaying.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEEDS 20

/* What keeps keys can forget one. */
static bool is_buffer(const struct law_case *c) {
    return c->window == SEEN_WINDOW_DECAYING && c->traits & SEEN_DELETABLE;
}

/* -- which keys they hold ----------------------------------------------------------------- */

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
    bool lru = strcmp(c->structure, "second-chance") != 0;
    if (!is_buffer(c)) return;
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
            seen_observe(d, 1, &digest, &verdict);
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

/* -- fp-lru ------------------------------------------------------------------------------- */

static bool is_fp_lru(const struct law_case *c) {
    return c->window == SEEN_WINDOW_DECAYING && !strcmp(c->structure, "fp-lru");
}

/* Hits among trials of probability q. */
struct coins {
    double trials, hits;
};

static void coins_agree(const char *what, const struct coins *c, double q) {
    double off = fabs(c->hits - c->trials * q) / sqrt(c->trials * q * (1 - q));
    if (getenv("SEEN_VERBOSE"))
        fprintf(stderr, "%-28s measured %.6g expected %.6g off %.2f\n", what, c->hits / c->trials,
                q, off);
    law_check(off < 5, "%s: measured %.6g of %.0f, expected %.6g, off by %.1f sigma", what,
              c->hits / c->trials, c->trials, q, off);
}

struct outcome {
    struct coins fp, fn; /* new keys called duplicates; lru's misses missed */
    double expected;     /* misses of lru, by stack distance */
    double told;         /* expected_false */
};

/* fp-lru beside an lru of the same lines. */
static void side_by_side(const struct seen_plan *plan, uint64_t seed, struct outcome *sum) {
    static uint32_t key[STREAM], distance[STREAM];
    static double weight[STREAM];
    const struct seen_spec *s = &plan->spec;
    uint64_t rng = law_seed() * 1000 + seed, repeats = 0;
    struct seen_stats stats;
    seen_detector *d = law_new(plan, NULL);
    seen_detector *lru = law_make("decaying filter=lru lines=%llu shards=%llu refresh=%s seed=1",
                                  (unsigned long long)seen_spec_get_count(s, "blocks"),
                                  (unsigned long long)seen_spec_get_count(s, "shards"),
                                  seen_spec_get_count(s, "refresh") ? "first" : "last");
    keys_of((int)(seed % 3), key, &rng);
    stack_distances(key, distance);
    memset(weight, 0, sizeof weight);
    for (uint32_t i = 0; i < STREAM; i++) {
        seen_digest digest = law_digest(key[i], seed);
        uint8_t verdict, held;
        bool is_new = distance[i] == UINT32_MAX;
        seen_observe(d, 1, &digest, &verdict);
        seen_observe(lru, 1, &digest, &held);
        law_check(verdict || !held, "record %u is in the buffer", i);
        sum->fp.trials += is_new;
        sum->fp.hits += is_new && verdict;
        sum->fn.trials += !is_new && !held;
        sum->fn.hits += !is_new && !verdict;
        if (!is_new) weight[distance[i]]++, repeats++;
    }
    sum->expected += theory_buffer_fn(weight, STREAM, (double)plan->capacity) * (double)repeats;
    seen_stats(d, &stats);
    law_check(stats.fp_now > seen_spec_get_real(s, "fp") * .999999 &&
                  stats.fp_now < seen_spec_get_real(s, "fp") * 1.000001,
              "fp_now is %g", stats.fp_now);
    sum->told += stats.expected_false;
    seen_free(d);
    seen_free(lru);
}

static void fp_lru_is_lru_and_a_coin(const struct law_case *c) {
    static const char *const more[] = {"fp=.3", "fp=.02", "fp=.1 refresh=first", "fp=.1 shards=3"};
    for (size_t m = 0; is_fp_lru(c) && m < 4; m++) {
        struct outcome sum = {0};
        struct seen_plan plan;
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            law_plan(&plan, "decaying filter=fp-lru items=%llu seed=%llu control=0 %s",
                     (unsigned long long)(10 + seed * 101), (unsigned long long)seed, more[m]);
            side_by_side(&plan, seed, &sum);
        }
        double q = seen_spec_get_real(&plan.spec, "fp"), coins = sum.fp.trials + sum.fn.trials;
        coins_agree("false positives", &sum.fp, q);
        coins_agree("false negatives of lru's", &sum.fn, theory_buffer_fn_coin(1, q));
        if (seen_spec_get_count(&plan.spec, "refresh") == SEEN_REFRESH_LAST &&
            seen_spec_get_count(&plan.spec, "shards") == 1)
            law_check(fabs(sum.fn.trials - sum.expected) < .5, "lru missed %.0f, by distance %.0f",
                      sum.fn.trials, sum.expected);
        struct coins told = {coins, sum.told / theory_odds(q)}; /* the records called new */
        coins_agree("expected_false", &told, 1 - q);
    }
}

/* One key and many numbers, keys side by side at one number, one key and many seeds. */
enum axis { NUMBERS, DIGESTS, SEEDS_DRAWN, AXES };

static void toss(enum axis axis, double q, uint8_t *up, uint64_t n) {
    const char *spec = "decaying filter=fp-lru items=10 seed=%llu fp=%g";
    seen_detector *d = law_make(spec, 1ull, q);
    for (uint64_t i = 0; i < n; i++) {
        seen_digest key = {axis == DIGESTS ? i : 7, law_seed()};
        if (axis == SEEDS_DRAWN) {
            seen_free(d);
            d = law_make(spec, (unsigned long long)i, q);
        }
        seen_query(d, 1, &key, 0, &up[i]);
        if (axis != NUMBERS) continue;
        uint8_t verdict;
        seen_observe(d, 1, &key, &verdict);
        law_check(verdict == up[i], "coin %llu fell again", (unsigned long long)i);
        seen_landmark(d);
    }
    seen_free(d);
}

static void coins_fall_each_for_itself(const struct law_case *c) {
    enum { COINS = 40000 };
    static const double rates[] = {.5, .1, .03};
    static uint8_t up[COINS];
    for (int r = 0; is_fp_lru(c) && r < 3; r++)
        for (enum axis axis = NUMBERS; axis < AXES; axis++) {
            double q = rates[r];
            struct coins one = {COINS, 0};
            toss(axis, q, up, COINS);
            for (uint64_t i = 0; i < COINS; i++) one.hits += up[i];
            coins_agree("coins", &one, q);
            for (uint64_t lag = 1; lag <= 1024; lag *= 2) {
                double sum = 0, sigma = sqrt((double)(COINS - lag)) * q * (1 - q);
                for (uint64_t i = lag; i < COINS; i++) sum += (up[i] - q) * (up[i - lag] - q);
                law_check(fabs(sum) < 5 * sigma, "coins %llu apart hang together: %.1f sigma",
                          (unsigned long long)lag, sum / sigma);
            }
        }
}

/* -- going on ----------------------------------------------------------------------------- */

/* Overflowing, forgetting and landmarks mixed, against a list kept by hand; saved now and then. */
static void buffers_forget_and_go_on(const struct law_case *c) {
    if (!is_buffer(c)) return;
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
                seen_query(d, 1, &key, 0, &verdict);
                law_check(!verdict, "a forgotten key is there");
                held[pick] = false;
                continue;
            }
            seen_observe(d, 1, &key, &verdict);
            law_check(held[pick] || !verdict, "record %d came from nowhere", i);
            held[pick] = true;
            seen_query(d, 1, &key, 0, &verdict);
            law_check(verdict, "record %d was not kept", i);
            if (law_below(&rng, 50)) continue;
            struct law_bytes bytes = law_save(d, NULL);
            copy = law_load(&bytes, NULL);
            law_bytes_free(&bytes);
            for (uint64_t k = 0; k < 64; k++) {
                uint8_t a, b;
                seen_digest digest = law_digest(k, seed);
                seen_query(d, 1, &digest, 0, &a);
                seen_query(copy, 1, &digest, 0, &b);
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
        {"buffers miss what lies deeper than they reach",
         buffers_miss_what_lies_deeper_than_they_reach, false},
        {"fp-lru is lru and a coin", fp_lru_is_lru_and_a_coin, false},
        {"coins fall each for itself", coins_fall_each_for_itself, false},
        {"buffers forget and go on", buffers_forget_and_go_on, false},
    };
    return law_main("buffers", laws, sizeof laws / sizeof *laws);
}
