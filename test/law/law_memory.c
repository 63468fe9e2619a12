/* law_memory - a detector takes the bytes its plan says, and lives with not getting them. */
#include "../any_window.h"
#include "law.h"

#include "spec/spec.h"

#include <stdlib.h>
#include <string.h>

/* -- bytes = plan ------------------------------------------------------------------------- */

static void fill(seen_detector *d, uint64_t from, uint64_t n) {
    struct seen_plan plan = seen_plan_of(d);
    uint8_t verdict;
    seen_time now = from;
    for (uint64_t i = from; i < from + n; i++) {
        seen_digest key = law_key(&plan, i, 3);
        any_observe(d, 1, &key, &now, &verdict);
    }
}

static void bytes_of(const struct law_case *c, const char *window, const char *more) {
    struct law_memory memory;
    struct seen_stats stats;
    struct seen_plan plan;
    law_plan(&plan, "%s filter=%s seed=1 %s", window, c->structure, more);
    law_memory_init(&memory);
    seen_detector *d = law_new(&plan, &memory.allocator);
    if (!(plan.traits & SEEN_GROWS))
        law_check(memory.now == plan.bytes, "%llu bytes, planned %llu",
                  (unsigned long long)memory.now, (unsigned long long)plan.bytes);
    fill(d, 0, 6000);
    seen_landmark(d);
    fill(d, 3000, 3000);
    seen_stats(d, &stats);
    law_check(memory.now == stats.bytes, "%llu bytes, stats say %llu",
              (unsigned long long)memory.now, (unsigned long long)stats.bytes);
    if (!(plan.traits & SEEN_GROWS))
        law_check(memory.most == plan.bytes && memory.calls == 1, "it allocated while it worked");
    if (plan.spec.given >> OPTION_MEM & 1)
        law_check(memory.most <= seen_spec_get_count(&plan.spec, "mem") &&
                      plan.bytes <= seen_spec_get_count(&plan.spec, "mem"),
                  "%llu bytes and a plan of %llu, allowed %llu", (unsigned long long)memory.most,
                  (unsigned long long)plan.bytes,
                  (unsigned long long)seen_spec_get_count(&plan.spec, "mem"));
    seen_free(d);
    law_check(!memory.live && !memory.now && !memory.mismatch, "memory leaked");
}

static void a_detector_takes_the_bytes_of_its_plan(const struct law_case *c) {
    static const char *const more[] = {"items=1000", "items=1000 shards=5 fp=.01", "mem=1MiB",
                                       "mem=3MiB shards=3 fp=1e-4"};
    const char *window;
    for (size_t i = 0; (window = law_window(c, i)); i++)
        for (size_t m = 0; m < 4; m++) bytes_of(c, window, more[m]);
    for (size_t i = 0; !(c->traits & SEEN_NO_FP) && (window = law_window(c, i)); i++)
        bytes_of(c, window, i % 2 ? "mem=200KiB fp=.1 cache=3000" : "items=900 shards=3 cache=7");
}

static void planned_bytes_hold_the_planned_keys(const struct law_case *c) {
    static const char *const windows[] = {[SEEN_WINDOW_LANDMARK] = "landmark",
                                          [SEEN_WINDOW_JUMPING] = "jumping:1h/8",
                                          [SEEN_WINDOW_SLIDING] = "sliding:1h",
                                          [SEEN_WINDOW_DECAYING] = "decaying"};
    for (uint64_t items = 1; items < 200000; items = items * 3 + 1) {
        struct law_memory memory;
        struct seen_plan plan;
        law_plan(&plan, "%s filter=%s seed=1 items=%llu", windows[c->window], c->structure,
                 (unsigned long long)items);
        law_memory_init(&memory);
        seen_detector *d = law_new(&plan, &memory.allocator);
        fill(d, 0, items);
        law_check(memory.most <= plan.bytes + 64, "%llu keys took %llu bytes, planned %llu",
                  (unsigned long long)items, (unsigned long long)memory.most,
                  (unsigned long long)plan.bytes);
        seen_free(d);
    }
}

/* -- failing allocations ------------------------------------------------------------------ */

static void seen_new_fails_cleanly(const struct law_case *c) {
    struct law_memory memory;
    struct seen_error e = {0};
    struct seen_plan plan;
    seen_detector *d = (seen_detector *)&memory;
    law_plan(&plan, "%s filter=%s items=1000%s", law_window(c, 0), c->structure,
             c->traits & SEEN_NO_FP ? "" : " cache=100");
    law_memory_init(&memory);
    memory.fail_from = 1;
    law_check(seen_new(&d, &plan, &memory.allocator, &e) == SEEN_ENOMEM && !d && *e.text,
              "no error");
    seen_free(d);
    law_check(!memory.live, "memory leaked");
}

/* Every k-th allocation fails, alone or with all after it. */
static void loading_fails_cleanly_at_every_allocation(const struct law_case *c) {
    struct seen_plan plan;
    law_plan(&plan, "%s filter=%s items=60000 shards=2%s",
             law_window(c, c->window == SEEN_WINDOW_DECAYING ? 0 : 3), c->structure,
             c->traits & SEEN_NO_FP ? "" : " cache=100");
    seen_detector *d = law_new(&plan, NULL), *copy;
    fill(d, 0, 60000);
    struct law_bytes bytes = law_save(d, NULL);
    uint64_t calls = 1;
    for (uint64_t k = 1; k <= calls + 1; k++)
        for (int alone = 0; alone < 2; alone++) {
            struct law_memory memory;
            struct seen_error e = {0};
            law_memory_init(&memory);
            memory.fail_from = k;
            if (alone) memory.fail_until = k;
            int bad = law_load_error(&copy, &bytes, 0, &memory.allocator, &e);
            if (memory.calls < k)
                calls = 0;
            else if (memory.calls > calls)
                calls = memory.calls;
            law_check(bad ? bad == SEEN_ENOMEM && !copy && memory.calls >= k : memory.calls < k,
                      "allocation %llu: code %d %s", (unsigned long long)k, bad, e.text);
            seen_free(copy);
            law_check(!memory.live && !memory.mismatch, "memory leaked");
        }
    law_bytes_free(&bytes);
    seen_free(d);
}

/* Forgets, counts each key it forgets, and is right about all others. */
static void judge_starved(const struct seen_plan *plan, uint64_t fail_from, uint64_t fail_until) {
    struct law_memory memory;
    struct seen_stats stats;
    struct law_stream s = law_stream(plan, LAW_UNIFORM, 20000, 0, law_seed());
    uint64_t missed = 0, rng = law_seed();
    law_memory_init(&memory);
    memory.fail_from = fail_from;
    memory.fail_until = fail_until;
    seen_detector *d = law_new(plan, &memory.allocator);
    struct oracle *oracle = law_oracle(plan);
    for (size_t i = 0; i < s.n; i++) {
        uint8_t verdict;
        s.digest[i] = law_key(plan, law_below(&rng, 9000), 5);
        enum oracle_truth truth = oracle_judge(oracle, s.digest[i], s.time[i], NULL);
        any_observe(d, 1, &s.digest[i], &s.time[i], &verdict);
        law_check(truth != ORACLE_NEW || !verdict, "record %zu is new", i);
        missed += truth == ORACLE_DUPLICATE && !verdict;
        oracle_observe(oracle, s.digest[i], s.time[i], verdict);
    }
    seen_stats(d, &stats);
    law_check(missed <= stats.forgotten, "%llu duplicates missed, %llu keys forgotten",
              (unsigned long long)missed, (unsigned long long)stats.forgotten);
    law_check(memory.now == stats.bytes, "stats say %llu bytes, it has %llu",
              (unsigned long long)stats.bytes, (unsigned long long)memory.now);
    struct law_bytes bytes = law_save(d, NULL);
    seen_detector *copy = law_load(&bytes, NULL);
    struct seen_stats again;
    seen_stats(copy, &again);
    law_check(again.forgotten == stats.forgotten, "forgotten keys are forgotten by a snapshot");
    seen_clear(d);
    seen_stats(d, &again);
    law_check(!again.forgotten && again.kept == SEEN_NEVER, "seen_clear left forgotten keys");
    law_bytes_free(&bytes);
    seen_free(copy);
    seen_free(d);
    law_check(!memory.live && !memory.mismatch, "memory leaked");
    oracle_free(oracle);
    law_stream_free(&s);
}

static void growing_without_memory_forgets_and_counts(const struct law_case *c) {
    if (!(c->traits & SEEN_GROWS)) return;
    const char *window;
    for (size_t i = 0; (window = law_window(c, i)); i++)
        for (uint64_t k = 2; k < 8; k++) {
            struct seen_plan plan;
            law_plan(&plan, "%s filter=%s seed=1 refresh=%s", window, c->structure,
                     k % 2 ? "first" : "last");
            judge_starved(&plan, k, UINT64_MAX);
            judge_starved(&plan, k, k + 3);
        }
}

/* -- mem= --------------------------------------------------------------------------------- */

/* The shortest window kept is a promise too: nothing inside it is missed. */
static void with_mem_the_oldest_go_first_and_the_window_kept_is_true(const struct law_case *c) {
    if (!(c->traits & SEEN_GROWS)) return;
    for (int time = 0; time < 2; time++) {
        struct law_memory memory;
        struct seen_stats stats;
        struct seen_plan plan;
        uint64_t rng = law_seed(), shortest = SEEN_NEVER;
        static const char *const windows[][2] = {
            [SEEN_WINDOW_LANDMARK] = {"landmark", "landmark:1w"},
            [SEEN_WINDOW_JUMPING] = {"jumping:50000/5", "jumping:1h/5"},
            [SEEN_WINDOW_SLIDING] = {"sliding:50000", "sliding:1h"},
            [SEEN_WINDOW_DECAYING] = {"", ""}};
        law_plan(&plan, "%s filter=%s mem=512KiB", windows[c->window][time], c->structure);
        law_memory_init(&memory);
        seen_detector *d = law_new(&plan, &memory.allocator);
        struct oracle *oracle = law_oracle(&plan);
        seen_time now = 1700000000000000;
        for (size_t i = 0; i < 60000; i++) {
            seen_digest key = law_key(&plan, law_below(&rng, 30000), 5);
            uint64_t age;
            uint8_t verdict;
            now += law_below(&rng, 2000);
            enum oracle_truth truth = oracle_judge(oracle, key, now, &age);
            any_observe(d, 1, &key, &now, &verdict);
            law_check(truth != ORACLE_NEW || !verdict, "record %zu is new", i);
            if (truth == ORACLE_DUPLICATE && !verdict && age < shortest) shortest = age;
            oracle_observe(oracle, key, now, verdict);
        }
        seen_stats(d, &stats);
        law_check(memory.most <= seen_spec_get_count(&plan.spec, "mem"),
                  "%llu bytes under mem=%llu", (unsigned long long)memory.most,
                  (unsigned long long)seen_spec_get_count(&plan.spec, "mem"));
        law_check(stats.forgotten > 0 && stats.stored >= 5000 && stats.stored <= plan.capacity,
                  "%llu forgotten, %llu stored of %llu", (unsigned long long)stats.forgotten,
                  (unsigned long long)stats.stored, (unsigned long long)plan.capacity);
        if (stats.kept != SEEN_NEVER)
            law_check(shortest > stats.kept && shortest < stats.kept * 2,
                      "kept %llu, but a key was missed after %llu", (unsigned long long)stats.kept,
                      (unsigned long long)shortest);
        seen_free(d);
        oracle_free(oracle);
    }
}

int main(void) {
    static const struct law laws[] = {
        {"a detector takes the bytes of its plan", a_detector_takes_the_bytes_of_its_plan, false},
        {"planned bytes hold the planned keys", planned_bytes_hold_the_planned_keys, false},
        {"seen_new without memory fails cleanly", seen_new_fails_cleanly, false},
        {"loading fails cleanly at every allocation", loading_fails_cleanly_at_every_allocation,
         false},
        {"growing without memory forgets, and counts", growing_without_memory_forgets_and_counts,
         false},
        {"with mem= the oldest go first, and the window kept is true",
         with_mem_the_oldest_go_first_and_the_window_kept_is_true, false},
    };
    return law_main("memory", laws, sizeof laws / sizeof *laws);
}
