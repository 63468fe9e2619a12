/* law_wrap - the truth over more generations than a stamp of 16 bits can tell apart, and across
 * silences in which the clock runs far beyond that. */
#include "../any_window.h"
#include "law.h"

#include <stdlib.h>

struct run {
    seen_detector *d;
    struct oracle *oracle;
    struct seen_plan plan;
    size_t n, wrong;
    seen_time now;
};

static struct run begin(const struct law_case *c, const char *window, const char *more) {
    struct run r = {0};
    law_plan(&r.plan, "%s filter=%s seed=7 %s", window, c->structure, more);
    r.d = law_new(&r.plan, NULL);
    r.oracle = law_oracle(&r.plan);
    return r;
}

static void end(struct run *r) {
    seen_free(r->d);
    oracle_free(r->oracle);
}

/* One record; missing a duplicate fails, a wrong duplicate is counted. */
static void observe(struct run *r, uint64_t key) {
    uint8_t verdict;
    seen_digest d = law_key(&r->plan, key, 7);
    enum oracle_truth truth = oracle_judge(r->oracle, d, r->now, NULL);
    any_observe(r->d, 1, &d, &r->now, &verdict);
    law_check(truth != ORACLE_DUPLICATE || verdict || !(r->plan.traits & SEEN_NO_FN),
              "record %zu is a duplicate and was called new", r->n);
    r->wrong += truth == ORACLE_NEW && verdict;
    oracle_observe(r->oracle, d, r->now, verdict);
    r->n++;
}

/* A key is met again after each of these many records; all between are new. */
#ifdef __SANITIZE_ADDRESS__
enum { SLOW = 1 }; /* four times slower: fewer settings */
#else
enum { SLOW = 0 };
#endif

static void across_the_wrap(struct run *r, size_t records) {
    uint64_t rng = law_seed(), fresh = 1000;
    for (size_t i = 0; i < records; i++) {
        uint64_t pick = law_below(&rng, 4);
        r->now += law_below(&rng, 2) * (r->plan.spec.length + law_below(&rng, 3)) / 2;
        observe(r, pick == 0 ? law_below(&rng, 8) : pick == 1 ? i / 65536 : fresh++);
    }
    law_check(!r->wrong, "%zu new keys were called duplicates", r->wrong);
    end(r);
}

static const char *const tiny[][8] = {
    [SEEN_WINDOW_LANDMARK] = {"landmark:1", "landmark:2", "landmark:1ms"},
    [SEEN_WINDOW_JUMPING] = {"jumping:2/1", "jumping:3/3", "jumping:7/7", "jumping:1ms/4",
                             "jumping:40/40"},
    [SEEN_WINDOW_SLIDING] = {"sliding:2", "sliding:1ms"},
    [SEEN_WINDOW_DECAYING] = {NULL},
};

static void generations_wrap_and_nothing_comes_back(const struct law_case *c) {
    bool all = !(c->traits & SEEN_ON_REQUEST) || getenv("SEEN_LONG");
    for (size_t i = 0; tiny[c->window][i] && (all || i < 2); i++) {
        struct run r = begin(c, tiny[c->window][i], "items=1000 fp=1e-9 shards=1");
        across_the_wrap(&r, 140000);
        if (SLOW) continue;
        r = begin(c, tiny[c->window][i], "items=1000 fp=1e-9 shards=2 refresh=first");
        across_the_wrap(&r, 70000);
    }
}

/* A large table: most of its lines are not touched for 2^16 generations.  An old key must not
 * become young again when its stamp wraps. */
static void a_key_is_not_young_again_after_2_to_16_generations(const struct law_case *c) {
    static const char *const windows[] = {[SEEN_WINDOW_LANDMARK] = "landmark",
                                          [SEEN_WINDOW_JUMPING] = "jumping:8/8",
                                          [SEEN_WINDOW_SLIDING] = "sliding:8",
                                          [SEEN_WINDOW_DECAYING] = "decaying"};
    bool all = !SLOW && !(c->traits & SEEN_ON_REQUEST);
    for (uint64_t turns = 65530; turns <= 65542; turns += all ? 3 : 6) {
        struct run r = begin(c, windows[c->window], "mem=1MiB fp=1e-9");
        for (uint64_t key = 0; key < 8; key++) observe(&r, key);
        for (uint64_t i = 0; i < turns; i++) {
            if (c->window == SEEN_WINDOW_LANDMARK || c->window == SEEN_WINDOW_DECAYING) {
                seen_landmark(r.d);
                oracle_landmark(r.oracle);
            }
            observe(&r, 100); /* touches k lines only */
        }
        for (uint64_t key = 0; key < 8; key++) observe(&r, key);
        law_check(!r.wrong, "after %llu generations %zu of 8 keys were there again",
                  (unsigned long long)turns, r.wrong);
        end(&r);
    }
}

static void one_record_every_two_windows_a_hundred_thousand_times(const struct law_case *c) {
    static const char *const windows[] = {[SEEN_WINDOW_LANDMARK] = "landmark:1s",
                                          [SEEN_WINDOW_JUMPING] = "jumping:1s/12",
                                          [SEEN_WINDOW_SLIDING] = "sliding:1s",
                                          [SEEN_WINDOW_DECAYING] = "decaying"};
    struct run r = begin(c, windows[c->window], "items=1000 fp=1e-9");
    r.now = 1700000000000000;
    for (size_t i = 0; i < 100000; i++) {
        observe(&r, i % 3);
        r.now += 2 * r.plan.spec.length;
    }
    law_check(!r.wrong, "%zu keys outlived two windows", r.wrong);
    end(&r);
}

static void time_may_jump_to_its_end(const struct law_case *c) {
    static const seen_time jumps[] = {
        0, 1, 999999, (uint64_t)1 << 40, ((uint64_t)1 << 60) - 1, (uint64_t)1 << 60};
    const char *window;
    for (size_t i = 0; (window = law_window(c, i)); i++) {
        struct run r = begin(c, window, "items=1000 fp=1e-9");
        for (size_t j = 0; j < sizeof jumps / sizeof *jumps; j++) {
            r.now = jumps[j];
            for (uint64_t key = 0; key < 30; key++) observe(&r, key % 5);
        }
        law_check(!r.wrong, "%zu new keys were called duplicates", r.wrong);
        seen_time last = UINT64_MAX; /* counts as the last time there is: 2^60 */
        seen_digest d = law_key(&r.plan, 4, 7);
        uint8_t asked, verdict;
        any_query(r.d, 1, &d, last, 0, &asked);
        any_observe(r.d, 1, &d, &last, &verdict);
        law_check(asked == verdict, "asked %d, observed %d at the end of time", asked, verdict);
        end(&r);
    }
}

int main(void) {
    static const struct law laws[] = {
        {"generations wrap, and nothing is lost or comes back",
         generations_wrap_and_nothing_comes_back, false},
        {"a key is not young again after 2^16 generations",
         a_key_is_not_young_again_after_2_to_16_generations, false},
        {"one record every two windows, a hundred thousand times",
         one_record_every_two_windows_a_hundred_thousand_times, false},
        {"time may jump to its end", time_may_jump_to_its_end, false},
    };
    return law_main("wrap", laws, sizeof laws / sizeof *laws);
}
