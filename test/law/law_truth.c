/* law_truth - verdicts against the naive exact window, and calls against each other. */
#include "../any_window.h"
#include "law.h"

#include "base/base.h"
#include "spec/spec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SANITIZE_ADDRESS__
#define RECORDS 500 /* three times slower */
#else
#define RECORDS 1500
#endif

/* -- subjects: every awkward window, in both refresh modes, in one shard and in three ----- */

struct subject {
    struct seen_plan plan;
    uint64_t seed;
};

typedef void subject_fn(const struct subject *);

#define RARE    "fp=1e-9"
#define CROWDED "fp=.2"

/* Counters too wide for a key of a stream to stick: a stuck one errs until it is counted again. */
static const char *counters(const struct law_case *c, const char *fp) {
    bool counts = c->window == SEEN_WINDOW_SLIDING && options_serve(OPTION_WIDTH, c->name);
    return counts && !strcmp(fp, RARE) ? "width=12" : "";
}

/* fp: small enough that no false positive is to be expected, or a crowded table. */
static void for_each_subject(const struct law_case *c, const char *fp, subject_fn *run) {
    uint64_t rng = law_seed() + c->serial;
    const char *window;
    for (size_t i = 0; (window = law_window(c, i)); i++)
        for (int variant = 0; variant < 4; variant++) {
            struct subject s;
            s.seed = law_next(&rng);
            law_plan(&s.plan, "%s filter=%s %s items=1500 refresh=%s shards=%d seed=%llu %s",
                     window, c->structure, fp, variant & 1 ? "first" : "last", variant & 2 ? 3 : 1,
                     (unsigned long long)(s.seed >> 1), counters(c, fp));
            run(&s);
        }
}

/* Every kind of stream in turn. */
struct replay {
    seen_detector *d;
    struct oracle *oracle;
    struct law_stream stream;
};

static struct replay begin(const struct subject *s, enum law_kind kind) {
    return (struct replay){law_new(&s->plan, NULL), law_oracle(&s->plan),
                           law_stream(&s->plan, kind, RECORDS, 200, s->seed + kind)};
}

static void end(struct replay *r) {
    seen_free(r->d);
    oracle_free(r->oracle);
    law_stream_free(&r->stream);
}

static void landmarks(struct replay *r, size_t i) {
    for (uint8_t j = 0; j < r->stream.landmarks[i]; j++) {
        seen_landmark(r->d);
        oracle_landmark(r->oracle);
    }
}

/* -- the truth ---------------------------------------------------------------------------- */

static void judge_subject(const struct subject *s, bool new_too) {
    for (enum law_kind kind = 0; kind < LAW_KINDS; kind++) {
        struct replay r = begin(s, kind);
        for (size_t i = 0; i < r.stream.n; i++) {
            seen_digest d = r.stream.digest[i];
            seen_time t = r.stream.time[i];
            uint8_t verdict;
            landmarks(&r, i);
            enum oracle_truth truth = oracle_judge(r.oracle, d, t, NULL);
            any_observe(r.d, 1, &d, &t, &verdict);
            law_check(
                !(truth == ORACLE_DUPLICATE && verdict == SEEN_NEW && s->plan.traits & SEEN_NO_FN),
                "stream %d: record %zu is a duplicate and was called new", kind, i);
            law_check(!(new_too && truth == ORACLE_NEW && verdict == SEEN_DUPLICATE),
                      "stream %d: record %zu is new and was called a duplicate", kind, i);
            oracle_observe(r.oracle, d, t, verdict);
        }
        end(&r);
    }
}

static void judge_rare(const struct subject *s) { judge_subject(s, true); }
static void judge_crowded(const struct subject *s) { judge_subject(s, false); }

static void duplicates_are_found_and_new_is_new(const struct law_case *c) {
    for_each_subject(c, RARE, judge_rare);
}

static void duplicates_are_found_in_a_crowded_table(const struct law_case *c) {
    if (c->traits & SEEN_NO_FN) for_each_subject(c, CROWDED, judge_crowded);
}

/* -- batches ------------------------------------------------------------------------------ */

static void batches_subject(const struct subject *s) {
    for (enum law_kind kind = 0; kind < LAW_KINDS; kind++) {
        struct replay one = begin(s, kind), many = begin(s, kind);
        uint8_t a[RECORDS], b[RECORDS];
        uint64_t rng = s->seed ^ kind;
        law_play(one.d, &one.stream, 0, RECORDS, NULL, a);
        law_play(many.d, &many.stream, 0, RECORDS, &rng, b);
        for (size_t i = 0; i < RECORDS; i++)
            law_check(a[i] == b[i], "stream %d: record %zu is %d alone and %d in a batch", kind, i,
                      a[i], b[i]);
        end(&one);
        end(&many);
    }
}

static void batches_make_no_difference(const struct law_case *c) {
    for_each_subject(c, CROWDED, batches_subject);
    for_each_subject(c, RARE, batches_subject);
}

/* -- queries ------------------------------------------------------------------------------ */

static void query_subject(const struct subject *s) {
    uint64_t rng = s->seed;
    for (enum law_kind kind = 0; kind < LAW_KINDS; kind++) {
        struct replay r = begin(s, kind);
        for (size_t i = 0; i < r.stream.n; i++) {
            uint8_t asked, verdict;
            landmarks(&r, i);
            any_query(r.d, 1, &r.stream.digest[i], r.stream.time[i], 0, &asked);
            any_observe(r.d, 1, &r.stream.digest[i], &r.stream.time[i], &verdict);
            law_check(asked == verdict, "stream %d: record %zu is %d asked and %d observed", kind,
                      i, asked, verdict);
            if (law_below(&rng, 300)) continue;
            struct law_bytes before = law_save(r.d, NULL), after;
            uint8_t many[40];
            uint64_t ages[40];
            struct seen_stats stats;
            size_t from = law_below(&rng, r.stream.n - 40);
            seen_time now = r.stream.time[i] + law_below(&rng, 3 * s->plan.spec.length + 1);
            any_query(r.d, 40, r.stream.digest + from, now, law_below(&rng, 5), many);
            any_last_seen(r.d, 40, r.stream.digest + from, now, ages);
            seen_stats(r.d, &stats);
            after = law_save(r.d, NULL);
            law_check(law_bytes_equal(&before, &after), "asking changed the detector");
            law_bytes_free(&before);
            law_bytes_free(&after);
        }
        end(&r);
    }
}

static void a_query_foretells_and_changes_nothing(const struct law_case *c) {
    for_each_subject(c, RARE, query_subject);
    for_each_subject(c, CROWDED, query_subject);
}

/* -- ages --------------------------------------------------------------------------------- */

/* How far a reported age may lie below the true one: a generation, less one; any number of them
 * where a run of slices tells, which may begin with younger ones by chance. */
static uint64_t coarseness(const struct seen_plan *plan) {
    const struct seen_spec *s = &plan->spec;
    bool unknown = plan->traits & SEEN_NO_AGES || seen_spec_get_count(s, "generations");
    if (unknown || s->window == SEEN_WINDOW_LANDMARK || s->window == SEEN_WINDOW_DECAYING)
        return UINT64_MAX / 2;
    return (uint64_t)(plan->slack * (double)s->length + .5);
}

static void age_subject(const struct subject *s) {
    uint64_t step = coarseness(&s->plan), rng = s->seed;
    for (enum law_kind kind = 0; kind < LAW_KINDS; kind++) {
        struct replay r = begin(s, kind);
        for (size_t i = 0; i < r.stream.n; i++) {
            seen_digest d = r.stream.digest[law_below(&rng, i + 1)];
            seen_time now = r.stream.time[i];
            uint64_t age, reported, within = 1 + law_below(&rng, 2 * s->plan.spec.length + 5);
            uint8_t verdict, inside;
            landmarks(&r, i);
            enum oracle_truth truth = oracle_judge(r.oracle, d, now, &age);
            any_last_seen(r.d, 1, &d, now, &reported);
            any_query(r.d, 1, &d, now, within, &inside);
            if (truth == ORACLE_NEW)
                law_check(reported == SEEN_NEVER, "stream %d, %zu: a new key has age %llu", kind, i,
                          (unsigned long long)reported);
            if (truth == ORACLE_DUPLICATE && s->plan.traits & SEEN_NO_FN)
                law_check(reported != SEEN_NEVER && (inside || age > within),
                          "stream %d, %zu: a key seen %llu ago has no age", kind, i,
                          (unsigned long long)age);
            if (reported != SEEN_NEVER)
                law_check(reported <= age && age - reported <= step,
                          "stream %d, %zu: age %llu reported as %llu", kind, i,
                          (unsigned long long)age, (unsigned long long)reported);
            law_check(inside == (reported <= within), "within= and age disagree");
            any_observe(r.d, 1, &r.stream.digest[i], &now, &verdict);
            oracle_observe(r.oracle, r.stream.digest[i], now, verdict);
        }
        end(&r);
    }
}

static void ages_are_right_to_a_generation(const struct law_case *c) {
    for_each_subject(c, RARE, age_subject);
}

/* -- landmarks ---------------------------------------------------------------------------- */

static void landmark_subject(const struct subject *s) {
    struct replay r = begin(s, LAW_UNIFORM);
    uint8_t verdict[RECORDS];
    uint64_t rng = s->seed;
    struct seen_stats before, after;
    for (size_t i = 0; i < 3; i++) seen_landmark(r.d);
    seen_stats(r.d, &after);
    law_check(!after.landmarks, "a landmark before the first record counted");
    law_play(r.d, &r.stream, 0, RECORDS, NULL, verdict);
    seen_landmark(r.d);
    seen_stats(r.d, &before);
    law_check(!before.stored, "%llu keys are in the window after a landmark",
              (unsigned long long)before.stored);
    enum { EMPTY = 1024 };
    double rate = before.fp_now, found = law_query_fresh(r.d, EMPTY, &rng);
    law_check(fabs(found - rate) <= 5 * sqrt(rate * (1 - rate) / EMPTY),
              "an empty window took %g of new keys for duplicates, stats say %g", found, rate);
    struct law_bytes once = law_save(r.d, NULL), twice;
    seen_landmark(r.d);
    seen_stats(r.d, &after);
    twice = law_save(r.d, NULL);
    law_check(law_bytes_equal(&once, &twice), "a landmark upon a landmark changed something");
    law_check(before.landmarks == after.landmarks, "a landmark upon a landmark counted");
    law_bytes_free(&once);
    law_bytes_free(&twice);
    seen_clear(r.d);
    seen_stats(r.d, &after);
    law_check(!after.records && !after.duplicates && !after.unique && !after.landmarks &&
                  !after.late && !after.clamped && !after.max_late && !after.forgotten &&
                  !after.saturated && !after.rebuilt && !after.stored &&
                  after.expected_false == 0 && after.kept == SEEN_NEVER,
              "seen_clear left a counter");
    end(&r);
}

static void a_landmark_empties_the_window_and_twice_is_once(const struct law_case *c) {
    for_each_subject(c, CROWDED, landmark_subject);
}

/* -- forgetting --------------------------------------------------------------------------- */

static void forget_subject(const struct subject *s) {
    struct replay r = begin(s, LAW_UNIFORM);
    uint64_t rng = s->seed;
    for (size_t i = 0; i < r.stream.n; i++) {
        uint8_t verdict;
        landmarks(&r, i);
        if (i && !law_below(&rng, 5)) {
            seen_digest gone = r.stream.digest[law_below(&rng, i)];
            law_check(!seen_forget(r.d, 1, &gone, NULL), "it cannot forget");
            oracle_forget(r.oracle, gone);
        }
        enum oracle_truth truth =
            oracle_judge(r.oracle, r.stream.digest[i], r.stream.time[i], NULL);
        any_observe(r.d, 1, &r.stream.digest[i], &r.stream.time[i], &verdict);
        law_check(truth == ORACLE_EITHER || (truth == ORACLE_DUPLICATE) == verdict,
                  "record %zu is %d and was called %d", i, truth, verdict);
        oracle_observe(r.oracle, r.stream.digest[i], r.stream.time[i], verdict);
    }
    end(&r);
}

static void forget_refused(const struct subject *s) {
    struct seen_error e = {0};
    seen_detector *d = law_new(&s->plan, NULL);
    seen_digest one = law_digest(1, 1);
    law_check(seen_forget(d, 1, &one, &e) == SEEN_EREFUSED && e.code == SEEN_EREFUSED && *e.text,
              "forgetting was not refused");
    seen_free(d);
}

static void forgotten_keys_are_new_again_or_it_says_no(const struct law_case *c) {
    for_each_subject(c, RARE, c->traits & SEEN_DELETABLE ? forget_subject : forget_refused);
}

/* -- instruction sets --------------------------------------------------------------------- */

/* Fetching ahead changes nothing, which the bytes then show. */
static void ask_ages(const seen_detector *d, const struct law_stream *s, uint64_t *age) {
    seen_time now = s->time ? s->time[s->n - 1] : 0;
    seen_prefetch(d, s->n, s->digest);
    any_last_seen(d, s->n, s->digest, now, age);
}

static void cpu_case(const struct law_case *c, const char *window, const char *more,
                     uint64_t seed) {
    struct law_bytes first = {0};
    uint8_t verdict[RECORDS], expected[RECORDS];
    uint64_t age[RECORDS], expected_age[RECORDS];
    struct seen_plan plan;
    law_plan(&plan, "%s filter=%s items=1500 seed=%llu %s", window, c->structure,
             (unsigned long long)(seed >> 1), more);
    struct law_stream s = law_stream(&plan, LAW_UNIFORM, RECORDS, 300, seed);
    for (uint32_t cpu = CPU_PORTABLE; cpu <= CPU_VBMI2; cpu++) {
        seen_detector *d = law_new_on(&plan, cpu);
        uint64_t rng = seed;
        law_play(d, &s, 0, RECORDS, &rng, verdict);
        if (cpu != CPU_PORTABLE) ask_ages(d, &s, age);
        struct law_bytes bytes = law_save(d, NULL);
        if (cpu == CPU_PORTABLE) {
            first = bytes;
            memcpy(expected, verdict, sizeof verdict);
            ask_ages(d, &s, expected_age);
        } else {
            law_check(!memcmp(expected_age, age, sizeof age), "ages differ on cpu %u", cpu);
            law_check(!memcmp(expected, verdict, sizeof verdict), "verdicts differ on cpu %u", cpu);
            law_check(law_bytes_equal(&first, &bytes), "bytes differ on cpu %u", cpu);
            law_bytes_free(&bytes);
        }
        seen_free(d);
    }
    law_bytes_free(&first);
    law_stream_free(&s);
}

static void every_cpu_gives_the_same_bytes(const struct law_case *c) {
    uint64_t rng = law_seed() + c->serial;
    const char *window;
    for (size_t i = 0; (window = law_window(c, i)); i++) {
        cpu_case(c, window, "fp=.1", law_next(&rng));
        cpu_case(c, window, "fp=.1 refresh=first shards=2", law_next(&rng));
        for (int k = 1; k <= 24 && options_serve(OPTION_K, c->name); k++) {
            char more[32] = "k=";
            more[2] = (char)(k < 10 ? '0' + k : '0' + k / 10);
            if (k >= 10) more[3] = (char)('0' + k % 10);
            if (i % 3 == 0) cpu_case(c, window, strcat(more, " fp=.2"), law_next(&rng));
        }
    }
}

int main(void) {
    static const struct law laws[] = {
        {"a duplicate in the window is found, beyond the slack it is new",
         duplicates_are_found_and_new_is_new, false},
        {"a crowded table misses no duplicate", duplicates_are_found_in_a_crowded_table, false},
        {"batches make no difference", batches_make_no_difference, false},
        {"a query foretells the verdict and changes nothing", a_query_foretells_and_changes_nothing,
         false},
        {"ages are right to a generation", ages_are_right_to_a_generation, false},
        {"a landmark empties the window, and two are one",
         a_landmark_empties_the_window_and_twice_is_once, false},
        {"forgotten keys are new again, or forgetting is refused",
         forgotten_keys_are_new_again_or_it_says_no, false},
        {"every instruction set gives the same verdicts and bytes", every_cpu_gives_the_same_bytes,
         false},
    };
    return law_main("truth", laws, sizeof laws / sizeof *laws);
}
