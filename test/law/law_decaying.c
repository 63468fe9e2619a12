/* law_decaying - what holds in a window without length for every structure: false positives against
 * "ever seen". */
#include "law.h"
#include "tally.h"

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

int main(void) {
    static const struct law laws[] = {
        {"new keys are seldom called duplicates", new_keys_are_seldom_called_duplicates, false},
    };
    return law_main("decaying", laws, sizeof laws / sizeof *laws);
}
