/* law_confirm - with cache=, what is confirmed is certain: against the naive exact window, and
 * against the cache's own definition. */
#include "../any_window.h"
#include "law.h"

#include "spec/spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORDS 1500

static bool confirms(const struct law_case *c) { return !(c->traits & SEEN_NO_FP); }

/* -- the definition, naively -------------------------------------------------------------- */

/* The keys in the cache, as they entered; and a window that only holds what was reported. */
struct model {
    uint64_t room, used;
    seen_digest key[RECORDS];
    struct oracle *reports;
};

static struct model *model_new(const struct seen_plan *plan) {
    struct model *m = calloc(1, sizeof *m);
    const struct seen_spec *s = &plan->spec;
    m->room =
        seen_spec_get_count(s, "verify") < RECORDS ? seen_spec_get_count(s, "verify") : RECORDS;
    m->reports = oracle_new((struct oracle_rules){.window = s->window,
                                                  .unit = s->unit,
                                                  .length = s->length,
                                                  .band = s->length,
                                                  .refresh_first = true});
    return m;
}

static void model_free(struct model *m) {
    oracle_free(m->reports);
    free(m);
}

/* A cache that is never full holds every key that was reported. */
static bool model_holds(const struct model *m, seen_digest d) {
    if (m->room == RECORDS) return true;
    for (uint64_t i = 0; i < m->used; i++)
        if (m->key[i].lo == d.lo && m->key[i].hi == d.hi) return true;
    return false;
}

/* The verdict that the cache makes of the window's. */
static uint8_t model_verdict(const struct model *m, seen_digest d, seen_time t, bool duplicate) {
    if (!duplicate) return SEEN_NEW;
    bool inside = oracle_judge(m->reports, d, t, NULL) == ORACLE_DUPLICATE;
    return inside && model_holds(m, d) ? SEEN_CONFIRMED : SEEN_DUPLICATE;
}

/* An oracle under refresh=first keeps what is said to be new: here the reports. */
static void model_observe(struct model *m, seen_digest d, seen_time t, bool duplicate) {
    oracle_observe(m->reports, d, t, duplicate ? SEEN_NEW : SEEN_DUPLICATE);
    if (!duplicate || model_holds(m, d)) return;
    if (m->used == m->room) memmove(m->key, m->key + 1, --m->used * sizeof *m->key);
    m->key[m->used++] = d;
}

static void model_landmark(struct model *m) {
    oracle_landmark(m->reports);
    m->used = 0;
}

/* -- subjects: every awkward window, crowded tables, small and large caches --------------- */

struct subject {
    struct seen_plan plan;
    seen_detector *d, *plain; /* with and without the cache */
    struct oracle *oracle;
    struct model *model;
    struct law_stream stream;
    uint64_t rng;
};

/* The plan, without the cache. */
static seen_detector *without(struct seen_plan plan) {
    seen_spec_set_count(&plan.spec, "verify", 0, NULL);
    plan.spec.given &= ~((uint64_t)1 << OPTION_VERIFY);
    return law_new(&plan, NULL);
}

/* Window i, in variant v. */
static struct subject begin(const struct law_case *c, size_t i, size_t v, uint64_t seed) {
    static const int caches[] = {1, 7, 64, 2 * RECORDS};
    struct subject s = {.rng = seed};
    law_plan(&s.plan, "%s filter=%s fp=.2 items=1500 shards=%d seed=%llu cache=%d",
             law_window(c, i), c->structure, (i + v) % 2 ? 3 : 1, (unsigned long long)(seed >> 1),
             caches[v]);
    s.d = law_new(&s.plan, NULL);
    s.plain = without(s.plan);
    s.oracle = law_oracle(&s.plan);
    s.model = model_new(&s.plan);
    s.stream = law_stream(&s.plan, (enum law_kind)((i + v) % LAW_KINDS), RECORDS, 200, seed);
    return s;
}

static void end(struct subject *s) {
    seen_free(s->d);
    seen_free(s->plain);
    oracle_free(s->oracle);
    model_free(s->model);
    law_stream_free(&s->stream);
}

static void for_each_subject(const struct law_case *c, void (*run)(struct subject *)) {
    uint64_t rng = law_seed() + c->serial;
    for (size_t i = 0; confirms(c) && law_window(c, i); i++)
        for (size_t v = 0; v < 4; v++) {
            struct subject s = begin(c, i, v, law_next(&rng));
            run(&s);
            end(&s);
        }
}

static void landmarks(struct subject *s, size_t i) {
    for (uint8_t j = 0; j < s->stream.landmarks[i]; j++) {
        seen_landmark(s->d);
        seen_landmark(s->plain);
        oracle_landmark(s->oracle);
        model_landmark(s->model);
    }
}

/* -- the truth ---------------------------------------------------------------------------- */

/* How many records were confirmed: a stream without one would prove nothing. */
static uint64_t confirmed;

static void judge_record(struct subject *s, size_t i) {
    seen_digest d = s->stream.digest[i];
    seen_time t = s->stream.time[i];
    uint8_t asked, verdict, plain;
    enum oracle_truth truth = oracle_judge(s->oracle, d, t, NULL);
    any_query(s->d, 1, &d, t, 0, &asked);
    any_observe(s->d, 1, &d, &t, &verdict);
    any_observe(s->plain, 1, &d, &t, &plain);
    uint8_t expected = model_verdict(s->model, d, t, plain);
    law_check(verdict != SEEN_CONFIRMED || truth == ORACLE_DUPLICATE,
              "record %zu was confirmed and is new", i);
    law_check(verdict == expected, "record %zu is %d, by definition %d", i, verdict, expected);
    law_check(asked == verdict, "record %zu is %d asked and %d observed", i, asked, verdict);
    oracle_observe(s->oracle, d, t, SEEN_NEW);
    model_observe(s->model, d, t, plain);
    confirmed += verdict == SEEN_CONFIRMED;
}

static void judge_subject(struct subject *s) {
    for (size_t i = 0; i < s->stream.n; i++) {
        landmarks(s, i);
        judge_record(s, i);
        if (!law_below(&s->rng, 200)) law_reload(&s->d);
    }
}

static void what_is_confirmed_was_seen_in_the_window(const struct law_case *c) {
    confirmed = 0;
    for_each_subject(c, judge_subject);
    law_check(!confirms(c) || confirmed > 1000, "only %llu records were confirmed",
              (unsigned long long)confirmed);
}

/* -- batches, queries, landmarks ---------------------------------------------------------- */

static void batches_subject(struct subject *s) {
    uint8_t one[RECORDS], many[RECORDS];
    seen_detector *other = law_new(&s->plan, NULL);
    law_play(s->d, &s->stream, 0, RECORDS, NULL, one);
    law_play(other, &s->stream, 0, RECORDS, &s->rng, many);
    for (size_t i = 0; i < RECORDS; i++)
        law_check(one[i] == many[i], "record %zu is %d alone and %d in a batch", i, one[i],
                  many[i]);
    seen_free(other);
}

static void batches_make_no_difference(const struct law_case *c) {
    for_each_subject(c, batches_subject);
}

/* Later and within less, asked of many at once. */
static void query_subject(struct subject *s) {
    uint8_t verdict[RECORDS], many[RECORDS];
    law_play(s->d, &s->stream, 0, RECORDS, &s->rng, verdict);
    struct law_bytes before = law_save(s->d, NULL), after;
    for (int turn = 0; turn < 3; turn++) {
        seen_time now = s->stream.time[RECORDS - 1] + law_below(&s->rng, s->plan.spec.length + 1);
        uint64_t within = law_below(&s->rng, 2) ? 0 : 1 + law_below(&s->rng, 50), age[RECORDS];
        any_query(s->d, RECORDS, s->stream.digest, now, within, many);
        any_last_seen(s->d, RECORDS, s->stream.digest, now, age);
        for (size_t i = 0; i < RECORDS; i++)
            law_check(many[i] <= SEEN_CONFIRMED &&
                          !many[i] == (age[i] > (within ? within : SEEN_NEVER - 1)),
                      "asked of key %zu: %d at age %llu", i, many[i], (unsigned long long)age[i]);
        for (size_t i = 0; i < RECORDS && s->plan.spec.unit == SEEN_UNIT_RECORDS && within; i++) {
            bool last = false;
            for (size_t j = RECORDS - (within < RECORDS ? within : RECORDS); j < RECORDS; j++)
                last |= verdict[j] && s->stream.digest[j].lo == s->stream.digest[i].lo;
            law_check(many[i] != SEEN_CONFIRMED || last, "confirmed within %llu, but not reported",
                      (unsigned long long)within);
        }
    }
    after = law_save(s->d, NULL);
    law_check(law_bytes_equal(&before, &after), "asking changed the detector");
    law_bytes_free(&before);
    law_bytes_free(&after);
}

static void a_query_keeps_to_its_reach_and_changes_nothing(const struct law_case *c) {
    for_each_subject(c, query_subject);
}

static void landmark_subject(struct subject *s) {
    uint8_t verdict[RECORDS];
    struct seen_stats stats;
    uint64_t n = 0;
    memset(s->stream.landmarks, 0, RECORDS);
    law_play(s->d, &s->stream, 0, RECORDS, NULL, verdict);
    for (size_t i = 0; i < RECORDS; i++) n += verdict[i] == SEEN_CONFIRMED;
    seen_stats(s->d, &stats);
    law_check(stats.confirmed == n, "%llu confirmed, stats say %llu", (unsigned long long)n,
              (unsigned long long)stats.confirmed);
    seen_landmark(s->d);
    struct law_bytes once = law_save(s->d, NULL), twice;
    seen_landmark(s->d);
    twice = law_save(s->d, NULL);
    law_check(law_bytes_equal(&once, &twice), "a landmark upon a landmark changed something");
    law_bytes_free(&once);
    law_bytes_free(&twice);
    for (size_t i = 0; i < RECORDS; i++) {
        struct law_stream fresh = s->stream;
        any_query(s->d, 1, &fresh.digest[i], fresh.time[RECORDS - 1], 0, verdict);
        law_check(verdict[0] != SEEN_CONFIRMED, "a key is confirmed after a landmark");
    }
    seen_clear(s->d);
    seen_stats(s->d, &stats);
    law_check(!stats.confirmed, "seen_clear left a counter");
}

static void a_landmark_empties_the_cache(const struct law_case *c) {
    for_each_subject(c, landmark_subject);
}

/* -- forgetting --------------------------------------------------------------------------- */

static void forget_subject(struct subject *s) {
    for (size_t i = 0; i < s->stream.n; i++) {
        landmarks(s, i);
        if (i && !law_below(&s->rng, 4)) {
            seen_digest gone = s->stream.digest[law_below(&s->rng, i)];
            law_check(!seen_forget(s->d, 1, &gone, NULL) && !seen_forget(s->plain, 1, &gone, NULL),
                      "it cannot forget");
            oracle_forget(s->oracle, gone);
            oracle_forget(s->model->reports, gone);
        }
        judge_record(s, i);
    }
}

static void a_forgotten_key_is_not_confirmed(const struct law_case *c) {
    if (c->traits & SEEN_DELETABLE) for_each_subject(c, forget_subject);
}

/* -- merging ------------------------------------------------------------------------------ */

/* Long enough for keys that left a window to be met again in the next. */
#define MERGE_AT      2400
#define MERGE_RECORDS 3200

static void merge_case(const struct law_case *c, const char *window, int shards, uint64_t seed) {
    struct seen_plan plan;
    uint64_t rng = seed;
    law_plan(&plan, "%s filter=%s fp=.5 items=5 seed=11 shards=%d cache=%d", window, c->structure,
             shards, law_below(&rng, 2) ? 20 : 1000);
    seen_detector *d[2] = {law_new(&plan, NULL), law_new(&plan, NULL)};
    struct oracle *oracle[2] = {law_oracle(&plan), law_oracle(&plan)};
    struct law_stream s = law_stream(&plan, LAW_UNIFORM, MERGE_RECORDS, 0, law_next(&rng));
    struct seen_stats before[2], after;
    for (size_t i = 0; i < MERGE_RECORDS; i++) {
        uint8_t verdict;
        seen_digest key = law_digest(law_below(&rng, 600), 11);
        int side = i >= MERGE_AT ? 0
                   : c->window == SEEN_WINDOW_LANDMARK
                       ? (int)(i % 2) /* both begin windows at once */
                       : (int)law_below(&rng, 2);
        if (i == MERGE_AT) {
            for (int j = 0; j < 2; j++) seen_stats(d[j], &before[j]);
            law_check(!seen_merge(d[0], d[1], NULL), "it cannot be merged");
            seen_stats(d[0], &after);
            law_check(after.confirmed == before[0].confirmed + before[1].confirmed,
                      "the confirmed do not add up");
        }
        enum oracle_truth one = oracle_judge(oracle[side], key, s.time[i], NULL);
        enum oracle_truth two =
            i < MERGE_AT ? ORACLE_NEW : oracle_judge(oracle[1], key, s.time[i], NULL);
        any_observe(d[side], 1, &key, &s.time[i], &verdict);
        law_check(verdict != SEEN_CONFIRMED || one == ORACLE_DUPLICATE || two == ORACLE_DUPLICATE,
                  "record %zu was confirmed and is new", i);
        confirmed += i >= MERGE_AT && one != ORACLE_DUPLICATE && verdict == SEEN_CONFIRMED;
        oracle_observe(oracle[side], key, s.time[i], verdict);
        if (i >= MERGE_AT) oracle_observe(oracle[1], key, s.time[i], verdict);
    }
    for (int j = 0; j < 2; j++) seen_free(d[j]), oracle_free(oracle[j]);
    law_stream_free(&s);
}

static void merged_it_confirms_what_either_saw(const struct law_case *c) {
    uint64_t rng = law_seed() + c->serial;
    const char *window;
    if (!confirms(c) || !(c->traits & SEEN_MERGEABLE)) return;
    confirmed = 0;
    for (size_t i = 0; (window = law_window(c, i)); i++)
        for (int turn = 0; turn < 6; turn++)
            merge_case(c, window, turn % 2 ? 3 : 1, law_next(&rng));
    law_check(confirmed > 0, "nothing was confirmed by the other's cache");
}

/* -- the effect --------------------------------------------------------------------------- */

#define TIMES 5
#define EACH  2000

/* Each key comes five times, in random order. */
static void shuffle(seen_digest *d, uint64_t *rng) {
    uint64_t salt = law_next(rng);
    for (size_t i = 0; i < TIMES * EACH; i++) d[i] = law_digest(i % EACH, salt);
    for (size_t i = TIMES * EACH; i > 1; i--) {
        size_t j = law_below(rng, i);
        seen_digest moved = d[i - 1];
        d[i - 1] = d[j];
        d[j] = moved;
    }
}

struct effect {
    uint64_t reported, duplicates, confirmed, false_duplicates, false_confirmed;
};

static void count_effect(const struct seen_plan *plan, uint64_t seed, struct effect *sum) {
    static seen_digest d[TIMES * EACH];
    static uint8_t verdict[TIMES * EACH];
    uint64_t rng = seed;
    struct oracle *truth = law_oracle(plan), *reports = law_oracle(plan);
    seen_detector *detector = law_new(plan, NULL);
    static seen_time now[TIMES * EACH];
    shuffle(d, &rng);
    any_observe(detector, TIMES * EACH, d, now, verdict);
    for (size_t i = 0; i < TIMES * EACH; i++) {
        bool is_new = oracle_judge(truth, d[i], 0, NULL) == ORACLE_NEW;
        bool first = oracle_judge(reports, d[i], 0, NULL) == ORACLE_NEW;
        sum->duplicates += verdict[i] != SEEN_NEW;
        sum->confirmed += verdict[i] == SEEN_CONFIRMED;
        sum->false_duplicates += is_new && verdict[i] != SEEN_NEW;
        sum->false_confirmed += is_new && verdict[i] == SEEN_CONFIRMED;
        sum->reported += first && verdict[i] != SEEN_NEW;
        oracle_observe(truth, d[i], 0, SEEN_NEW);
        if (verdict[i] != SEEN_NEW) oracle_observe(reports, d[i], 0, SEEN_NEW);
    }
    oracle_free(truth);
    oracle_free(reports);
    seen_free(detector);
}

static void at_the_price_of_the_first_repeat_nothing_is_false(const struct law_case *c) {
    static const char *const windows[] = {[SEEN_WINDOW_LANDMARK] = "landmark",
                                          [SEEN_WINDOW_JUMPING] = "jumping:10000/7",
                                          [SEEN_WINDOW_SLIDING] = "sliding:10000",
                                          [SEEN_WINDOW_DECAYING] = "decaying"};
    struct effect sum = {0};
    struct seen_plan plan;
    if (!confirms(c)) return;
    law_plan(&plan, "%s filter=%s fp=.1 items=%d seed=1 cache=%d", windows[c->window], c->structure,
             EACH, EACH);
    for (uint64_t seed = law_seed(); seed < law_seed() + 20; seed++) {
        seen_spec_set_count(&plan.spec, "seed", seed, NULL);
        count_effect(&plan, seed, &sum);
    }
    law_check(sum.false_duplicates > 50 || plan.fp_full < .01,
              "only %llu false duplicates: nothing to tell apart",
              (unsigned long long)sum.false_duplicates);
    law_check(!sum.false_confirmed, "%llu false duplicates were confirmed",
              (unsigned long long)sum.false_confirmed);
    law_check(sum.confirmed == sum.duplicates - sum.reported,
              "%llu of %llu duplicates of %llu keys were confirmed",
              (unsigned long long)sum.confirmed, (unsigned long long)sum.duplicates,
              (unsigned long long)sum.reported);
    /* Each key comes five times: one is new, one enters the cache (or is false), three are sure. */
    if (c->traits & SEEN_NO_FN)
        law_check(sum.reported == 20 * EACH &&
                      sum.confirmed == 20 * EACH * (TIMES - 2) + sum.false_duplicates,
                  "%llu confirmed, %llu false", (unsigned long long)sum.confirmed,
                  (unsigned long long)sum.false_duplicates);
}

/* -- refusals ----------------------------------------------------------------------------- */

static void refused(const struct law_case *c, const char *more, const char *says) {
    struct seen_spec spec;
    struct seen_plan plan;
    struct seen_error e = {0};
    char text[160];
    snprintf(text, sizeof text, "%s filter=%s mem=1MiB %s", law_window(c, 0), c->structure, more);
    law_check(!seen_spec_parse(&spec, text, &e), "%s", e.text);
    law_check(seen_plan_make(&plan, &spec, &e) == SEEN_EREFUSED && strstr(e.text, says), "%s: '%s'",
              text, e.text);
}

static void where_it_is_pointless_or_uncertain_it_is_refused(const struct law_case *c) {
    if (confirms(c))
        refused(c, "verify=10 refresh=first", "use refresh=last");
    else
        refused(c, "verify=10", "leave verify= out");
    if (confirms(c)) refused(c, "verify=1e6", "mem=");
}

int main(void) {
    static const struct law laws[] = {
        {"what is confirmed was seen in the window", what_is_confirmed_was_seen_in_the_window,
         false},
        {"batches make no difference", batches_make_no_difference, false},
        {"a query keeps to its reach and changes nothing",
         a_query_keeps_to_its_reach_and_changes_nothing, false},
        {"a landmark empties the cache", a_landmark_empties_the_cache, false},
        {"a forgotten key is not confirmed", a_forgotten_key_is_not_confirmed, false},
        {"merged, it confirms what either saw", merged_it_confirms_what_either_saw, false},
        {"at the price of the first repeat nothing is false",
         at_the_price_of_the_first_repeat_nothing_is_false, false},
        {"where it is pointless or uncertain it is refused",
         where_it_is_pointless_or_uncertain_it_is_refused, false},
    };
    return law_main("confirmed duplicates", laws, sizeof laws / sizeof *laws);
}
