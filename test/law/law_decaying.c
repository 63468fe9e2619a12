/* law_decaying - what holds in a window without length for every structure: false positives against
 * "ever seen", and false negatives under the gaps that plans assume. */
#include "law.h"
#include "tally.h"

#include "spec/spec.h"

#include <math.h>

#define SEEDS 20

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
    if (c->window != SEEN_WINDOW_DECAYING) return;
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
                seen_observe(d, 1, &key, &verdict);
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

/* Repeats at gaps up to gaps=, all orders of magnitude alike, all records between different. */
static void miss_rate_is_planned(const char *structure, const char *more) {
    enum { GAPS = 10000, ROUNDS = 100, ASKED = 200 };
    static seen_digest digest[GAPS + ROUNDS * 100];
    struct tally lost = {0};
    struct seen_plan plan;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        uint64_t rng = law_seed() * 1000 + seed, n = GAPS, missed = 0;
        law_plan(&plan, "decaying filter=%s lines=210 gaps=%d seed=%llu %s", structure, GAPS,
                 (unsigned long long)seed, more);
        seen_detector *d = law_new(&plan, NULL);
        law_play_fresh(d, digest, n, &rng);
        for (int round = 0; round < ROUNDS; round++, n += 100) {
            law_play_fresh(d, digest + n, 100, &rng);
            for (int i = 0; i < ASKED; i++) {
                double u = (double)(law_next(&rng) >> 11) * 0x1p-53;
                uint64_t gap = (uint64_t)(pow(GAPS, u) + .5);
                uint8_t found;
                seen_query(d, 1, &digest[n + 99 - gap], 0, &found);
                missed += !found;
            }
        }
        tally_add(&lost, (double)missed / (ROUNDS * ASKED));
        seen_free(d);
    }
    double coins = tally_coins(plan.fn, SEEDS * ROUNDS * ASKED);
    tally_agree("false negatives as planned", &lost, plan.fn, coins + 1e-4);
}

static void duplicates_are_missed_as_often_as_planned(const struct law_case *c) {
    if (c->window != SEEN_WINDOW_DECAYING) return;
    miss_rate_is_planned(c->structure, "fp=.1");
    miss_rate_is_planned(c->structure, "fp=.01");
    if (!options_serve(OPTION_CELL_MAX, c->structure)) return;
    miss_rate_is_planned(c->structure, "fp=.01 max=1");
    miss_rate_is_planned(c->structure, "fp=.01 max=3");
    miss_rate_is_planned(c->structure, "fp=.01 max=7");
}

int main(void) {
    static const struct law laws[] = {
        {"new keys are seldom called duplicates", new_keys_are_seldom_called_duplicates, false},
        {"duplicates are missed as often as planned", duplicates_are_missed_as_often_as_planned,
         false},
    };
    return law_main("decaying", laws, sizeof laws / sizeof *laws);
}
