/* law_merge - two detectors in one: what either saw is seen, and nothing else. */
#include "../any_window.h"
#include "law.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORDS 400

/* As law_window.  Two windows of N records hold up to 2N keys, for which `line` would give up span;
 * unit_line_merge tests that. */
static const char *window_of(const struct law_case *c, size_t i) {
    static char text[64];
    struct seen_spec spec;
    const char *window = law_window(c, i);
    if (!window || strcmp(c->name, "line") != 0) return window;
    law_check(!seen_spec_parse(&spec, window, NULL), "%s", window);
    bool counts = spec.unit == SEEN_UNIT_RECORDS;
    snprintf(text, sizeof text, "%s%s", window, counts ? " overload=saturate" : "");
    return text;
}

struct side {
    seen_detector *d;
    struct oracle *oracle;
    struct law_stream stream;
    size_t n;
};

/* Keys of the two sides are drawn from sets that overlap by half. */
static struct side play(const struct seen_plan *plan, uint64_t shift, size_t n, uint64_t seed) {
    struct side s = {law_new(plan, NULL), law_oracle(plan),
                     law_stream(plan, LAW_UNIFORM, RECORDS, 0, seed), n};
    uint64_t rng = seed, keys = 200;
    for (size_t i = 0; i < n; i++) {
        uint8_t verdict;
        s.stream.digest[i] = law_key(plan, law_below(&rng, keys) + shift * keys / 2, 11);
        any_observe(s.d, 1, &s.stream.digest[i], &s.stream.time[i], &verdict);
        oracle_observe(s.oracle, s.stream.digest[i], s.stream.time[i], verdict);
    }
    return s;
}

static void end(struct side *s) {
    seen_free(s->d);
    oracle_free(s->oracle);
    law_stream_free(&s->stream);
}

static enum oracle_truth younger(enum oracle_truth a, enum oracle_truth b) { return a > b ? a : b; }

static seen_time last_of(const struct side *s) {
    struct seen_stats stats;
    seen_stats(s->d, &stats);
    return stats.last;
}

/* What is merged: b into a. */
struct pair {
    struct side a, b;
    seen_time now; /* the later of their last records */
};

static struct pair pair_of(const struct seen_plan *plan, size_t mine, size_t theirs,
                           uint64_t *rng) {
    struct pair p;
    p.a = play(plan, 0, mine, law_next(rng));
    p.b = play(plan, 1, theirs, law_next(rng));
    p.now = last_of(&p.a) > last_of(&p.b) ? last_of(&p.a) : last_of(&p.b);
    return p;
}

static void part(struct pair *p) {
    end(&p->a);
    end(&p->b);
}

/* Every key of either side, asked after the merge. */
static void judge(const struct pair *p) {
    const struct side *a = &p->a, *b = &p->b;
    seen_time now = p->now;
    struct seen_plan plan = seen_plan_of(a->d);
    for (uint64_t key = 0; key < 320; key++) {
        seen_digest d = law_key(&plan, key, 11);
        uint64_t age, mine, theirs;
        uint8_t verdict;
        enum oracle_truth one = oracle_judge(a->oracle, d, now, &mine);
        enum oracle_truth two = oracle_judge(b->oracle, d, now, &theirs);
        enum oracle_truth truth = younger(one, two);
        if (theirs < mine) mine = theirs;
        any_query(a->d, 1, &d, now, 0, &verdict);
        any_last_seen(a->d, 1, &d, now, &age);
        law_check(truth != ORACLE_DUPLICATE || verdict, "key %llu (%d and %d) was lost",
                  (unsigned long long)key, one, two);
        /* Generations that began at different records may keep a key one longer. */
        bool may_stay = plan.spec.window != SEEN_WINDOW_LANDMARK && plan.slack > 0;
        law_check(truth != ORACLE_NEW || !verdict || may_stay, "key %llu came from nowhere",
                  (unsigned long long)key);
        law_check(!verdict || age <= mine, "key %llu is %llu old, and said to be %llu",
                  (unsigned long long)key, (unsigned long long)mine, (unsigned long long)age);
    }
}

static void merged_both_are_there(const struct law_case *c) {
    if (!(c->traits & SEEN_MERGEABLE)) return;
    uint64_t rng = law_seed() + c->serial;
    const char *window;
    for (size_t i = 0; (window = window_of(c, i)); i++)
        for (int turn = 0; turn < (law_is_variant(c) ? 5 : 40); turn++) {
            struct seen_plan plan;
            struct seen_error e = {0};
            law_plan(&plan, "%s filter=%s items=400 fp=1e-9 seed=11 shards=%d refresh=%s", window,
                     c->structure, turn % 3 + 1, turn % 2 ? "first" : "last");
            /* Young ones too: a key may be older than all that the other has seen. */
            size_t n = turn % 4 ? 1 + law_below(&rng, RECORDS) : law_below(&rng, 3);
            struct pair p = pair_of(&plan, n, 1 + law_below(&rng, RECORDS), &rng);
            struct law_bytes before = law_save(p.b.d, NULL), after;
            law_check(!seen_merge(p.a.d, p.b.d, &e), "%s", e.text);
            after = law_save(p.b.d, NULL);
            law_check(law_bytes_equal(&before, &after), "the detector merged from has changed");
            judge(&p);
            law_bytes_free(&before);
            law_bytes_free(&after);
            part(&p);
        }
}

/* After a merge the keys leave when they would have: played on, no duplicate is missed. */
static void merged_keys_stay_as_long_as_they_would_have(const struct law_case *c) {
    if (!(c->traits & SEEN_MERGEABLE)) return;
    uint64_t rng = law_seed() + c->serial;
    const char *window;
    for (size_t i = 0; (window = window_of(c, i)); i++)
        for (int turn = 0; turn < (law_is_variant(c) ? 2 : 8); turn++) {
            struct seen_plan plan;
            law_plan(&plan, "%s filter=%s items=900 fp=1e-9 seed=11", window, c->structure);
            struct pair p =
                pair_of(&plan, law_below(&rng, RECORDS), 1 + law_below(&rng, RECORDS), &rng);
            law_check(!seen_merge(p.a.d, p.b.d, NULL), "refused");
            for (uint64_t step = 0; step < 60; step++) {
                seen_digest d = law_key(&plan, 100000 + step, 11);
                uint8_t verdict;
                judge(&p);
                any_observe(p.a.d, 1, &d, &p.now, &verdict);
                oracle_observe(p.a.oracle, d, p.now, verdict);
                oracle_observe(p.b.oracle, d, p.now, verdict);
                p.now += plan.spec.length / (1 + law_below(&rng, 40));
                /* A counted landmark of `into` is not that of `from`: theirs took ours over. */
                if (c->window == SEEN_WINDOW_LANDMARK) break;
            }
            part(&p);
        }
}

/* The size of a piece: a merge takes a few dozen, or pieces of a few keys where the structure keeps
 * keys instead of a table. */
static uint64_t a_piece(const struct seen_plan *plan, uint64_t *rng) {
    return 1 + law_below(rng, plan->traits & SEEN_GROWS ? 4 : 2 + plan->bytes / 64 / 20);
}

/* To the byte what it is at once, also where the detectors were saved and loaded in between. */
static void a_merge_in_pieces_is_the_merge(const struct law_case *c) {
    if (!(c->traits & SEEN_MERGEABLE)) return;
    uint64_t rng = law_seed() + c->serial;
    const char *window;
    for (size_t i = 0; (window = window_of(c, i)); i++)
        for (int turn = 0; turn < (law_is_variant(c) ? 2 : 4); turn++) {
            struct seen_plan plan;
            bool cache = turn % 2 && !(c->traits & SEEN_NO_FP);
            law_plan(&plan, "%s filter=%s items=400 fp=1e-9 seed=11 shards=%d %s", window,
                     c->structure, turn % 3 + 1, cache ? "cache=50" : "");
            struct pair p = pair_of(&plan, turn ? law_below(&rng, RECORDS) : 0,
                                    1 + law_below(&rng, RECORDS), &rng);
            struct law_bytes before = law_save(p.a.d, NULL);
            seen_detector *other = law_load(&before, NULL);
            uint64_t most = a_piece(&plan, &rng);
            struct seen_merging m = {0};
            int more = 1;
            law_check(!seen_merge(other, p.b.d, NULL), "refused");
            while (more) {
                more = seen_merge_some(p.a.d, p.b.d, most, &m, NULL);
                law_check(more >= 0, "refused half-way");
                if (!law_below(&rng, 8)) law_reload(&p.a.d), law_reload(&p.b.d);
            }
            law_check(law_alike(other, p.a.d), "%s, %llu at once: it is another detector", window,
                      (unsigned long long)most);
            law_bytes_free(&before);
            seen_free(other);
            part(&p);
        }
}

/* Records come in between, some of them of keys that enter or have entered. */
static void merge_while_records_come(struct pair *p, uint64_t *rng) {
    const seen_digest nobody = {UINT64_MAX, UINT64_MAX};
    struct seen_merging m = {0};
    struct seen_plan plan = seen_plan_of(p->a.d);
    int more = 1;
    while (more) {
        more = seen_merge_some(p->a.d, p->b.d, a_piece(&plan, rng), &m, NULL);
        law_check(more >= 0, "refused half-way");
        if (plan.spec.window == SEEN_WINDOW_LANDMARK || law_below(rng, 4)) continue;
        uint64_t key = law_below(rng, 2) ? law_below(rng, 320) : law_next(rng);
        seen_digest d = law_key(&plan, key, 11);
        uint8_t verdict;
        p->now += law_below(rng, 2);
        any_observe(p->a.d, 1, &d, &p->now, &verdict);
        oracle_observe(p->a.oracle, d, p->now, verdict);
        oracle_observe(p->b.oracle, nobody, p->now, SEEN_NEW);
    }
}

static void records_may_come_while_it_is_merged(const struct law_case *c) {
    if (!(c->traits & SEEN_MERGEABLE)) return;
    uint64_t rng = law_seed() + c->serial;
    const char *window;
    for (size_t i = 0; (window = window_of(c, i)); i++)
        for (int turn = 0; turn < (law_is_variant(c) ? 2 : 8); turn++) {
            struct seen_plan plan;
            law_plan(&plan, "%s filter=%s items=900 fp=1e-9 seed=11", window, c->structure);
            struct pair p =
                pair_of(&plan, law_below(&rng, RECORDS), 1 + law_below(&rng, RECORDS), &rng);
            merge_while_records_come(&p, &rng);
            judge(&p);
            part(&p);
        }
}

static bool begun(const struct seen_merging *m) {
    static const struct seen_merging none;
    return memcmp(m, &none, sizeof none) != 0;
}

/* As after a reply that got lost: it can be saved and loaded, and nothing is missing. */
static void a_piece_may_come_again(const struct law_case *c) {
    if (!(c->traits & SEEN_MERGEABLE)) return;
    uint64_t rng = law_seed() + c->serial;
    const char *window;
    for (size_t i = 0; (window = window_of(c, i)); i++) {
        struct seen_plan plan;
        law_plan(&plan, "%s filter=%s items=400 fp=1e-9 seed=11 shards=2 %s", window, c->structure,
                 c->traits & SEEN_NO_FP ? "" : "cache=200");
        struct pair p = pair_of(&plan, law_below(&rng, 3), RECORDS, &rng);
        struct seen_merging m = {0};
        int more = 1;
        while (more) {
            struct seen_merging here = m;
            uint64_t most = a_piece(&plan, &rng);
            for (int again = 0; again < (begun(&here) ? 3 : 1); again++) {
                m = here;
                more = seen_merge_some(p.a.d, p.b.d, most, &m, NULL);
                law_check(more >= 0, "refused half-way");
            }
            law_reload(&p.a.d);
        }
        judge(&p);
        part(&p);
    }
}

/* Some of its numbers others, most of them not by much. */
static struct seen_merging made_up(struct seen_merging m, uint64_t *rng) {
    for (uint64_t n = 1 + law_below(rng, 3); n > 0; n--) {
        uint64_t i = law_below(rng, 10), random = law_next(rng) >> law_below(rng, 64);
        uint64_t *number = &m.opaque[i];
        *number = law_below(rng, 2) ? *number + law_below(rng, 5) - 2 : random;
    }
    return m;
}

static void a_place_that_was_made_up_does_no_harm(const struct law_case *c) {
    if (!(c->traits & SEEN_MERGEABLE)) return;
    uint64_t rng = law_seed() + c->serial;
    const char *window;
    for (size_t i = 0; (window = window_of(c, i)); i++) {
        struct seen_plan plan;
        law_plan(&plan, "%s filter=%s items=400 fp=1e-9 seed=11 shards=2 %s", window, c->structure,
                 c->traits & SEEN_NO_FP ? "" : "cache=200");
        struct pair p = pair_of(&plan, RECORDS / 2, RECORDS, &rng);
        struct seen_merging m = {0}, other;
        int more = 1;
        for (int pieces = 0; pieces < 200; pieces++) {
            uint64_t most = a_piece(&plan, &rng);
            if (!more) m = (struct seen_merging){0};
            more = seen_merge_some(p.a.d, p.b.d, most, &m, NULL);
            law_check(more >= 0, "refused");
            other = made_up(m, &rng);
            seen_merge_some(p.a.d, p.b.d, law_below(&rng, RECORDS), &other, NULL);
            if (pieces % 4 == 0) law_reload(&p.a.d);
        }
        seen_time now = last_of(&p.a);
        for (size_t r = 0; r < p.a.n; r++) {
            uint64_t age;
            uint8_t verdict;
            if (oracle_judge(p.a.oracle, p.a.stream.digest[r], now, &age) != ORACLE_DUPLICATE)
                continue;
            any_query(p.a.d, 1, &p.a.stream.digest[r], now, 0, &verdict);
            law_check(verdict, "record %zu was lost", r);
        }
        part(&p);
    }
}

/* What `from` held as the merge began stays until `into`'s landmark, whenever its own was due. */
static void no_landmark_comes_to_what_is_merged(const struct law_case *c) {
    if (!(c->traits & SEEN_MERGEABLE) || c->window != SEEN_WINDOW_LANDMARK) return;
    uint64_t rng = law_seed() + c->serial;
    struct seen_plan plan;
    law_plan(&plan, "landmark:400 filter=%s items=400 fp=1e-9 seed=11 shards=3", c->structure);
    struct pair p = pair_of(&plan, 0, 390, &rng);
    struct seen_merging m = {0};
    int more = 1;
    for (uint64_t records = 0; more; records++) {
        more = seen_merge_some(p.a.d, p.b.d, a_piece(&plan, &rng), &m, NULL);
        law_check(more >= 0, "refused half-way");
        seen_digest d = law_key(&plan, law_next(&rng), 11);
        uint8_t verdict;
        if (records < 300) seen_observe(p.a.d, 1, &d, &verdict);
    }
    for (size_t i = 0; i < p.b.n; i++) {
        uint8_t verdict;
        seen_query(p.a.d, 1, &p.b.stream.digest[i], 0, &verdict);
        law_check(verdict, "record %zu was lost", i);
    }
    part(&p);
}

static void strangers_are_not_merged(const struct law_case *c) {
    static const char *const others[] = {"seed=2", "seed=1 refresh=first", "seed=1 shards=2",
                                         "seed=1 overload=grow"};
    struct seen_plan plan;
    struct seen_error e = {0};
    const char *window = law_window(c, 0);
    law_plan(&plan, "%s filter=%s items=100 seed=1", window, c->structure);
    seen_detector *a = law_new(&plan, NULL), *b;
    struct law_bytes before = law_save(a, NULL), after;
    for (size_t i = 0; i < 3; i++) {
        b = law_make("%s filter=%s items=100 %s", window, c->structure, others[i]);
        int bad = seen_merge(a, b, &e);
        law_check(bad == (c->traits & SEEN_MERGEABLE ? SEEN_EMISMATCH : SEEN_EREFUSED) &&
                      e.code == bad && *e.text,
                  "code %d", bad);
        seen_free(b);
    }
    law_check(seen_merge(a, a, &e) < 0, "it was merged with itself");
    after = law_save(a, NULL);
    law_check(law_bytes_equal(&before, &after), "a refused merge changed something");
    law_bytes_free(&before);
    law_bytes_free(&after);
    seen_free(a);
}

/* Growing while it merges, with every k-th allocation failing. */
static void a_merge_without_memory_counts_what_it_forgets(const struct law_case *c) {
    if (!(c->traits & SEEN_GROWS) || !(c->traits & SEEN_MERGEABLE)) return;
    for (uint64_t k = 2; k < 8; k++) {
        struct law_memory memory;
        struct seen_stats stats;
        struct seen_plan plan;
        law_plan(&plan, "%s filter=%s seed=11", law_window(c, 3), c->structure);
        law_memory_init(&memory);
        memory.fail_from = k;
        seen_detector *into = law_new(&plan, &memory.allocator), *from = law_new(&plan, NULL);
        uint64_t found = 0, held = 0;
        for (uint64_t i = 0; i < 20000; i++) {
            seen_digest d = law_key(&plan, i, 11);
            seen_time t = 0;
            uint8_t verdict;
            any_observe(i % 2 ? into : from, 1, &d, &t, &verdict);
        }
        for (uint64_t i = 0; i < 20000; i++) {
            seen_digest d = law_key(&plan, i, 11);
            uint8_t one, two;
            seen_query(into, 1, &d, 0, &one);
            seen_query(from, 1, &d, 0, &two);
            held += one || two;
        }
        seen_stats(into, &stats);
        uint64_t forgotten = stats.forgotten;
        law_check(!seen_merge(into, from, NULL), "refused");
        for (uint64_t i = 0; i < 20000; i++) {
            seen_digest d = law_key(&plan, i, 11);
            uint8_t verdict;
            seen_query(into, 1, &d, 0, &verdict);
            found += verdict;
        }
        seen_stats(into, &stats);
        law_check(held - found <= stats.forgotten - forgotten,
                  "%llu of %llu keys found, %llu forgotten", (unsigned long long)found,
                  (unsigned long long)held, (unsigned long long)(stats.forgotten - forgotten));
        seen_free(into);
        seen_free(from);
        law_check(!memory.live && !memory.mismatch, "memory leaked");
    }
}

int main(void) {
    static const struct law laws[] = {
        {"merged, both are there", merged_both_are_there, false},
        {"merged keys stay as long as they would have", merged_keys_stay_as_long_as_they_would_have,
         false},
        {"a merge in pieces is the merge", a_merge_in_pieces_is_the_merge, false},
        {"records may come while it is merged", records_may_come_while_it_is_merged, false},
        {"a piece may come again", a_piece_may_come_again, false},
        {"a place that was made up does no harm", a_place_that_was_made_up_does_no_harm, false},
        {"no landmark comes to what is merged", no_landmark_comes_to_what_is_merged, false},
        {"strangers are not merged", strangers_are_not_merged, false},
        {"a merge without memory counts what it forgets",
         a_merge_without_memory_counts_what_it_forgets, false},
    };
    return law_main("merging", laws, sizeof laws / sizeof *laws);
}
