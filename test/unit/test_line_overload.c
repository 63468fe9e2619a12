/* line, with more keys in a window than memory was planned for: it gives up span and no new key.
 *
 * Keys are numbered as they come, so that for each record it is known whether its key is new, and
 * how long ago it was here.  SEEN_VERBOSE=1 prints tables. */
#include "../any_window.h"
#include "law/law.h"

#include "base/base.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define KEYS 20000 /* planned */
#define HOUR 3600000000u

enum stream { STEADY, BURSTS, ONE_BURST, STREAMS };
static const char *const names[STREAMS] = {"steady", "in bursts", "one burst"};

struct run {
    seen_detector *d;
    struct seen_plan plan;
    uint64_t salt, rng, n, clock, fresh, wrong, repeats;
    uint64_t *came;   /* clock at which the i-th key came */
    uint8_t *dropped; /* that it was called a duplicate: refresh=first does not store it */
    double gap;       /* microseconds between records, on average */
};

static bool by_time(const struct run *r) { return r->plan.spec.unit == SEEN_UNIT_MICROSECONDS; }

static struct run begin(uint64_t seed, double factor, uint64_t keys, const char *spec) {
    struct run r = {.rng = seed, .salt = seed};
    law_plan(&r.plan, "%s", spec);
    r.d = law_new(&r.plan, NULL);
    r.came = calloc(keys, sizeof *r.came);
    r.dropped = calloc(keys, 1);
    r.clock = by_time(&r) ? 1000 * (uint64_t)HOUR : 0;
    r.gap = (double)r.plan.spec.length / (factor * (double)r.plan.capacity);
    return r;
}

static void end(struct run *r) {
    seen_free(r->d);
    free(r->came);
    free(r->dropped);
}

static struct seen_stats stats_of(const struct run *r) {
    struct seen_stats stats;
    seen_stats(r->d, &stats);
    return stats;
}

/* Until the next record: nine tenths of all come in a hundredth of the time, or all keys of a
 * window come in a thousandth of it. */
static uint64_t pause_in(struct run *r, enum stream stream) {
    uint64_t cycle = r->plan.capacity / 4;
    if (!by_time(r)) return 1;
    if (stream == STEADY) return (uint64_t)r->gap;
    if (stream == ONE_BURST) return (uint64_t)(r->gap / 1000);
    return (uint64_t)(r->fresh % cycle < cycle / 10 * 9 ? r->gap / 90 : r->gap * 9.9);
}

static uint8_t observe(struct run *r, uint64_t key) {
    seen_digest d = law_digest(key, r->salt);
    uint8_t verdict;
    any_observe(r->d, 1, &d, &r->clock, &verdict);
    r->n++;
    return verdict;
}

static uint64_t now(const struct run *r) { return by_time(r) ? r->clock : r->n; }

static uint8_t ask(const struct run *r, uint64_t key) {
    seen_digest d = law_digest(key, r->salt);
    uint8_t verdict;
    any_query(r->d, 1, &d, r->clock, 0, &verdict);
    return verdict;
}

/* Nothing is missed inside the window that it says it kept. */
static void repeat(struct run *r) {
    uint64_t key = law_below(&r->rng, r->fresh), age = now(r) - r->came[key];
    if (age >= r->plan.spec.length + !by_time(r) || r->dropped[key]) return;
    r->repeats++;
    if (ask(r, key) == SEEN_DUPLICATE) return;
    uint64_t kept = stats_of(r).kept;
    law_check(age >= kept + !by_time(r), "a key of age %llu is missed, and %llu are kept",
              (unsigned long long)age, (unsigned long long)kept);
}

static void play(struct run *r, enum stream stream, uint64_t keys) {
    for (uint64_t i = 0; i < keys; i++) {
        r->clock += pause_in(r, stream);
        r->came[r->fresh] = now(r);
        uint8_t asked = ask(r, r->fresh);
        r->dropped[r->fresh] = observe(r, r->fresh) != SEEN_NEW;
        law_check(asked == r->dropped[r->fresh], "a query did not foretell a verdict");
        r->wrong += r->dropped[r->fresh];
        r->fresh++;
        if (i % 4 == 0) repeat(r);
    }
}

/* The shortest time in which three quarters of the planned keys came. */
static uint64_t span_held(const struct run *r) {
    uint64_t held = r->plan.capacity * 3 / 4, least = r->plan.spec.length;
    for (uint64_t i = held; i < r->fresh; i++)
        if (r->came[i] - r->came[i - held] < least) least = r->came[i] - r->came[i - held];
    return least;
}

static void judge(struct run *r, const char *name, double factor) {
    struct seen_stats stats = stats_of(r);
    double planned = seen_spec_get_real(&r->plan.spec, "fp") * (double)r->fresh;
    uint64_t length = r->plan.spec.length, held = span_held(r);
    if (getenv("SEEN_VERBOSE"))
        print_message("%-9s x%-4g %llu of %llu new keys dropped, at most %.0f planned; kept %.4f, "
                      "where 3/4 of the planned keys came in %.4f\n",
                      name, factor, (unsigned long long)r->wrong, (unsigned long long)r->fresh,
                      planned, stats.forgotten ? (double)stats.kept / (double)length : 1,
                      (double)held / (double)length);
    law_check((double)r->wrong <= planned + 5 * sqrt(planned), "%s x%g: %llu new keys dropped",
              name, factor, (unsigned long long)r->wrong);
    law_check(r->repeats > 100, "%s x%g: hardly any key came again", name, factor);
    law_check(stats.kept >= held, "%s x%g: kept for %llu, not for %llu", name, factor,
              (unsigned long long)stats.kept, (unsigned long long)held);
    law_check(!stats.saturated && !stats.forgotten == (factor <= 1), "%s x%g: %llu forgotten", name,
              factor, (unsigned long long)stats.forgotten);
}

static const double factors[] = {.75, 1.5, 2, 5, 20};
#define FACTORS (sizeof factors / sizeof *factors)

static void windows_of_time_give_up_span_and_no_new_key(void **state) {
    (void)state;
    static const char *const windows[] = {"sliding:1h", "jumping:1h/12",
                                          "sliding:1h refresh=first shards=2"};
    uint64_t seed = law_seed();
    for (size_t i = 0; i < 3 * STREAMS * FACTORS; i++) {
        enum stream stream = i % STREAMS;
        double factor = factors[i / STREAMS % FACTORS];
        uint64_t keys = (uint64_t)((factor + 4) * KEYS);
        char spec[120];
        if (stream == ONE_BURST) keys = (uint64_t)(factor * KEYS);
        snprintf(spec, sizeof spec, "%s items=%d fp=5e-4 filter=line seed=1",
                 windows[i / STREAMS / FACTORS], KEYS);
        struct run r = begin(law_next(&seed), factor, keys, spec);
        play(&r, stream, keys);
        judge(&r, names[stream], factor);
        end(&r);
    }
}

static void windows_of_records_give_up_span_and_no_new_key(void **state) {
    (void)state;
    uint64_t seed = law_seed();
    for (size_t i = 0; i < 2 * FACTORS; i++) {
        const char *window = i % 2 ? "jumping" : "sliding";
        double factor = factors[i / 2];
        uint64_t keys = (uint64_t)((factor + 4) * KEYS);
        char spec[120];
        snprintf(spec, sizeof spec, "%s:%d%s items=%d fp=5e-4 filter=line seed=1", window,
                 (int)(KEYS * factor), i % 2 ? "/8" : "", factor < 1 ? (int)(KEYS * factor) : KEYS);
        struct run r = begin(law_next(&seed), factor, keys, spec);
        play(&r, STEADY, keys);
        judge(&r, window, factor);
        end(&r);
    }
}

/* A burst of all planned keys, and then silence but for a few, whose generations need room. */
static void a_burst_within_the_plan_is_kept_to_the_end(void **state) {
    (void)state;
    struct run r = begin(law_seed(), 1, KEYS, "sliding:1h items=20000 fp=5e-4 filter=line seed=1");
    seen_time start = r.clock;
    uint8_t verdict;
    play(&r, ONE_BURST, KEYS - 600);
    for (uint64_t i = 0; i < 599; i++) {
        r.clock += HOUR / 600;
        observe(&r, r.fresh + i);
    }
    for (uint64_t i = 0; i < KEYS - 600; i++) {
        seen_digest d = law_digest(i, r.salt);
        if (r.clock - r.came[i] >= HOUR) continue;
        any_query(r.d, 1, &d, r.clock, 0, &verdict);
        assert_int_equal(verdict, SEEN_DUPLICATE);
    }
    assert_true(r.clock - start < HOUR);
    assert_int_equal(stats_of(&r).forgotten, 0);
    end(&r);
}

/* A key that stood behind its line, and comes again when that has room, is there twice. */
static void keys_that_come_again_and_again_are_within_the_plan(void **state) {
    (void)state;
    static const char *const specs[] = {"sliding:1h items=20000 fp=5e-4 filter=line seed=1",
                                        "sliding:200000 items=20000 fp=5e-4 filter=line seed=1"};
    for (int i = 0; i < 2; i++) {
        struct run r = begin(law_seed() + i, 1, 1, specs[i]);
        for (uint64_t j = 0; j < 100 * KEYS; j++) {
            r.clock += HOUR / 100000;
            observe(&r, law_below(&r.rng, j % 3 ? KEYS : KEYS / 100));
        }
        assert_int_equal(stats_of(&r).forgotten, 0);
        end(&r);
    }
}

/* -- however a stream is cut up ------------------------------------------------------------- */

enum way { ONE_BY_ONE, BATCHES, PARTS, RELOADED, WAYS };

/* Shards one after the other, as threads would have them. */
static void observe_parts(seen_detector *d, size_t n, const seen_digest *digest,
                          const seen_time *time, uint8_t *verdict) {
    uint64_t at[300], shards = seen_spec_get_count(seen_spec_of(d), "shards");
    any_begin(d, n, time, at);
    for (uint64_t i = shards; i-- > 0;) seen_observe_shards(d, i, i + 1, n, digest, at, verdict);
    seen_observe_end(d, n, digest, at, verdict);
}

/* 30,000 records, most of them new, in bursts; a digest of all verdicts. */
static uint64_t cut_up(seen_detector **d, enum way way, uint64_t seed) {
    uint64_t stream = seed, chance = seed + way, sum = 0, fresh = 0;
    seen_time clock = HOUR;
    for (uint64_t done = 0; done < 30000;) {
        seen_digest digest[300];
        seen_time time[300];
        uint8_t verdict[300];
        size_t n = way == ONE_BY_ONE ? 1 : 1 + law_below(&chance, 300);
        for (size_t i = 0; i < n; i++) {
            bool again = fresh && law_below(&stream, 4) == 0;
            uint64_t key = again ? fresh - 1 - law_below(&stream, fresh) : fresh++;
            digest[i] = law_digest(key, 3);
            if (law_below(&stream, 50) == 0) clock += law_below(&stream, HOUR / 100);
            time[i] = clock;
        }
        if (done + n > 30000) n = 30000 - done;
        if (way == PARTS)
            observe_parts(*d, n, digest, time, verdict);
        else
            any_observe(*d, n, digest, time, verdict);
        if (way == RELOADED) law_reload(d);
        for (size_t i = 0; i < n; i++) sum = sum * 31 + verdict[i];
        done += n;
    }
    return sum;
}

static const char *const overfull[] = {
    "sliding:1h items=2000 fp=1e-3",
    "sliding:1h items=2000 fp=1e-6 refresh=first shards=4",
    "jumping:1h/12 items=500 fp=1e-3 shards=2",
    "sliding:20000 items=2000 fp=1e-3 shards=3",
    "sliding:8000 items=4000 fp=1e-9 refresh=first",
    "jumping:20000/8 items=1000 fp=1e-4",
};
#define OVERFULL (sizeof overfull / sizeof *overfull)

static void verdicts_and_bytes_are_alike_however_a_stream_is_cut(void **state) {
    (void)state;
    for (size_t i = 0; i < OVERFULL; i++)
        for (uint32_t cpu = CPU_PORTABLE; cpu <= CPU_VBMI2; cpu++) {
            struct seen_plan plan;
            law_plan(&plan, "%s filter=line seed=1", overfull[i]);
            seen_detector *one = law_new(&plan, NULL);
            uint64_t sum = cut_up(&one, BATCHES, law_seed() + i);
            struct seen_stats stats;
            seen_stats(one, &stats);
            law_check(stats.forgotten && stats.kept < plan.spec.length, "nothing was forgotten");
            for (enum way way = 0; way < WAYS; way++) {
                seen_detector *other = law_new_on(&plan, cpu);
                law_check(cut_up(&other, way, law_seed() + i) == sum,
                          "other verdicts on cpu %u, way %d", cpu, way);
                law_check(law_alike(one, other), "other bytes on cpu %u, way %d", cpu, way);
                seen_free(other);
            }
            seen_free(one);
        }
}

/* -- the misses it expects -------------------------------------------------------------------- */

#define MANY 30000 /* planned: enough for a control sample */

/* Three in four are new; the others came before, up to 1.2 windows ago. */
static uint64_t play_misses(struct run *r, enum stream stream, uint64_t records, uint64_t within) {
    uint64_t missed = 0;
    for (uint64_t i = 0; i < records; i++) {
        r->clock += pause_in(r, stream);
        uint64_t at = now(r), most = r->fresh < within ? r->fresh : within;
        bool again = most && law_below(&r->rng, 4) == 0;
        uint64_t key = again ? r->fresh - 1 - law_below(&r->rng, most) : r->fresh++;
        bool inside = again && at - r->came[key] < r->plan.spec.length + !by_time(r);
        bool fresh = observe(r, key) == SEEN_NEW;
        missed += inside && fresh;
        if (fresh || seen_spec_get_count(&r->plan.spec, "refresh") == SEEN_REFRESH_LAST)
            r->came[key] = at;
    }
    return missed;
}

struct misses {
    double missed, expected, forgotten, kept;
    int runs, inside;
};

static void add_misses(struct misses *m, const char *spec, enum stream stream, double factor,
                       uint64_t seed) {
    uint64_t window = (uint64_t)(factor * MANY * 4 / 3), records = 3 * window;
    struct run r = begin(seed, factor * 4 / 3, records, spec);
    uint64_t missed = play_misses(&r, stream, records, window * 9 / 10);
    struct seen_stats stats = stats_of(&r);
    m->missed += (double)missed;
    m->expected += stats.expected_missed;
    m->forgotten += (double)stats.forgotten;
    m->kept += (double)stats.kept / (double)r.plan.spec.length;
    m->inside += missed >= stats.missed_lo && missed <= stats.missed_hi;
    m->runs++;
    end(&r);
}

static void tell_misses(const char *window, enum stream stream, double factor,
                        const struct misses *m) {
    if (getenv("SEEN_VERBOSE"))
        print_message("| %s | %s | %g | %.0f | %.3f | %.0f | %.0f | %d of %d |\n", window,
                      names[stream], factor, m->forgotten / m->runs, m->kept / m->runs,
                      m->missed / m->runs, m->expected / m->runs, m->inside, m->runs);
}

/* Means of the runs; kept: share of the window; the last: 95 % intervals that held the truth. */
static void the_misses_that_it_expects_are_those_that_happen(void **state) {
    (void)state;
    static const char *const windows[] = {"sliding:1h", "sliding:1h refresh=first shards=2",
                                          "jumping:1h/12", "sliding:%d", "jumping:%d/8"};
    static const double loads[] = {1.5, 2, 5, 20};
    uint64_t seed = law_seed();
    int runs = 0, inside = 0, seeds = getenv("SEEN_LONG") ? 100 : 6;
    if (getenv("SEEN_VERBOSE"))
        print_message(
            "| window | keys come | times the plan | forgotten | kept | missed | expected "
            "| held |\n");
    for (size_t i = 0; i < 5 * 4; i++) {
        double factor = loads[i % 4];
        struct misses m = {0};
        char window[64], spec[160];
        snprintf(window, sizeof window, windows[i / 4], (int)(factor * MANY * 4 / 3));
        snprintf(spec, sizeof spec, "%s items=%d fp=5e-4 filter=line seed=1", window, MANY);
        enum stream stream = i / 4 == 1 ? BURSTS : STEADY;
        for (int j = 0; j < seeds; j++) add_misses(&m, spec, stream, factor, law_next(&seed));
        tell_misses(window, stream, factor, &m);
        law_check(m.missed > 1000 && fabs(m.expected / m.missed - 1) < .25,
                  "%s x%g: %g missed, %g expected", window, factor, m.missed, m.expected);
        runs += m.runs;
        inside += m.inside;
    }
    double held = .93 * runs;
    law_check(inside + .5 >= held - 2.326 * sqrt(held * .07), "%d of %d intervals held the truth",
              inside, runs);
}

/* The window of keys that the module makes by itself, for two hours and a quarter. */
static void the_module_s_preset_drops_no_new_ids(void **state) {
    (void)state;
    static const uint64_t rates[] = {100, 300, 600, 1000};
    enum { BATCH = 200 };
    for (int i = 0; i < 4; i++) {
        seen_detector *d = law_make("sliding:24h fp=1e-4 mem=4MiB seed=1");
        uint64_t ids = rates[i] * 8100, rng = law_seed() + i, wrong = 0;
        for (uint64_t n = 0; n < ids; n += BATCH) {
            seen_digest id[BATCH];
            seen_time time[BATCH];
            uint8_t verdict[BATCH];
            for (uint64_t j = 0; j < BATCH; j++)
                id[j] = law_fresh(&rng), time[j] = HOUR + (n + j) * 1000000 / rates[i];
            any_observe(d, BATCH, id, time, verdict);
            for (int j = 0; j < BATCH; j++) wrong += verdict[j] != SEEN_NEW;
        }
        struct seen_stats stats;
        seen_stats(d, &stats);
        double planned = 1e-4 * (double)ids, holds = (double)stats.capacity / (double)rates[i];
        if (getenv("SEEN_VERBOSE"))
            print_message("%llu ids a second: %llu of %llu dropped, kept for %.0f s\n",
                          (unsigned long long)rates[i], (unsigned long long)wrong,
                          (unsigned long long)ids,
                          stats.forgotten ? (double)stats.kept / 1e6 : 86400);
        assert_true((double)wrong <= planned + 5 * sqrt(planned));
        assert_true(!stats.forgotten == (ids < stats.capacity));
        assert_true((double)stats.kept / 1e6 >= .75 * holds);
        seen_free(d);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_of_time_give_up_span_and_no_new_key),
        cmocka_unit_test(windows_of_records_give_up_span_and_no_new_key),
        cmocka_unit_test(a_burst_within_the_plan_is_kept_to_the_end),
        cmocka_unit_test(keys_that_come_again_and_again_are_within_the_plan),
        cmocka_unit_test(verdicts_and_bytes_are_alike_however_a_stream_is_cut),
        cmocka_unit_test(the_misses_that_it_expects_are_those_that_happen),
        cmocka_unit_test(the_module_s_preset_drops_no_new_ids),
    };
    return cmocka_run_group_tests_name("line_overload", tests, NULL, NULL);
}
