/* line: no false negatives, whatever comes.
 *
 * A trial remembers its last records and repeats some of them; a record that repeats one of its
 * window is a duplicate by construction, and must be called one.  The digests are an adversary's:
 * he knows lines, fingerprints, classes and chains.  SEEN_LONG=1 makes it 10^9 such duplicates. */
#include "law/law.h"

#include "aging/line.h"
#include "cpu.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BATCH_MOST 256

/* -- digests of an adversary -------------------------------------------------------------- */

enum shape { RANDOM, ONE_LINE, ONE_PRINT, ONE_CLASS, FEW_OF_ALL, CHAINED, SHAPES };

static const char *const shapes[] = {"random",    "one line",   "one fingerprint",
                                     "one class", "few of all", "chained"};

struct past {
    seen_digest key;
    uint64_t clock;
    bool stored; /* under refresh=first: it was called new */
};

struct trial {
    seen_detector *d;
    struct seen_plan plan;
    enum shape shape;
    uint64_t rng, n, clock, window;
    uint64_t batch; /* at most */
    struct past *past;
    uint64_t room;               /* of past, a power of two */
    uint64_t duplicates, misses; /* in the window */
    uint64_t from[BATCH_MOST];   /* the record that each of a batch repeats; itself: none */
    seen_digest key[BATCH_MOST];
    uint64_t time[BATCH_MOST];
    uint8_t verdict[BATCH_MOST];
};

static struct past *past_of(struct trial *t, uint64_t i) { return &t->past[i & (t->room - 1)]; }

static uint64_t lo_on_line(uint64_t line, uint64_t lines) {
    return (uint64_t)(((bits_u128)line << 64) / lines) + 1;
}

/* A key that starts in the line to which the last one would go on, with its fingerprint. */
static seen_digest chained(struct trial *t, seen_digest d) {
    const struct seen_spec *s = &t->plan.spec;
    if (!t->n || !law_below(&t->rng, 4)) return d;
    uint64_t print = past_of(t, t->n - 1)->key.hi & (((uint64_t)1 << s->signature) - 1);
    uint64_t at = bits_range(past_of(t, t->n - 1)->key.lo, s->lines);
    d.hi = (d.hi >> s->signature << s->signature) | print;
    d.lo = lo_on_line(bits_range(bits_draw(at, print, 3), s->lines), s->lines);
    return d;
}

static seen_digest fresh(struct trial *t) {
    const struct seen_spec *s = &t->plan.spec;
    seen_digest d = law_fresh(&t->rng);
    switch (t->shape) {
    case ONE_LINE: d.lo = lo_on_line(s->lines / 2, s->lines); break;
    case ONE_PRINT: d.hi = d.hi >> s->signature << s->signature; break;
    case ONE_CLASS: d.hi = d.hi >> 13 << 13; break;
    case FEW_OF_ALL:
        d.lo = lo_on_line(law_below(&t->rng, 3) % s->lines, s->lines);
        d.hi = (d.hi >> s->signature << s->signature) + law_below(&t->rng, 40);
        break;
    case CHAINED: return chained(t, d);
    default: break;
    }
    return d;
}

/* -- a trial ------------------------------------------------------------------------------ */

static struct trial begin(enum shape shape, uint64_t seed, const char *spec) {
    struct trial t = {.shape = shape, .rng = seed, .batch = BATCH_MOST, .room = 1};
    law_plan(&t.plan, "%s filter=line seed=1", spec);
    t.d = law_new(&t.plan, NULL);
    t.window = t.plan.spec.length;
    uint64_t records = t.plan.spec.unit == SEEN_RECORDS ? t.window : 4096;
    while (t.room < records + BATCH_MOST + 2) t.room *= 2;
    t.past = calloc(t.room, sizeof *t.past);
    return t;
}

static void end(struct trial *t) {
    seen_free(t->d);
    free(t->past);
}

/* Ties, small steps, and now and then a silence. */
static uint64_t step_clock(struct trial *t) {
    if (t->plan.spec.unit == SEEN_RECORDS) return 1;
    uint64_t kind = law_below(&t->rng, 4000);
    if (kind == 0) return t->window * law_below(&t->rng, 4) + law_below(&t->rng, 3);
    if (kind < 20) return t->window / 31 + law_below(&t->rng, 3);
    return law_below(&t->rng, t->window / 500 + 2);
}

/* How many records ago the one was that is repeated: any, the eldest or the youngest there are. */
static uint64_t gap(struct trial *t) {
    uint64_t most = t->room - BATCH_MOST;
    if (t->plan.spec.unit == SEEN_RECORDS && t->window < most) most = t->window;
    if (t->n < most) most = t->n;
    if (!most) return 0;
    switch (law_below(&t->rng, 8)) {
    case 0: return most;
    case 1: return most - law_below(&t->rng, most < 3 ? most : 3);
    case 2: return 1 + law_below(&t->rng, most < 3 ? most : 3);
    default: return 1 + law_below(&t->rng, most);
    }
}

static void draw(struct trial *t, uint64_t i, uint64_t repeats) {
    t->clock += step_clock(t);
    uint64_t ago = law_below(&t->rng, 16) < repeats ? gap(t) : 0;
    t->from[i] = t->n - ago;
    t->key[i] = ago ? past_of(t, t->n - ago)->key : fresh(t);
    t->time[i] = t->clock;
    *past_of(t, t->n++) = (struct past){t->key[i], t->clock, false};
}

static bool must_be_seen(struct trial *t, uint64_t i, uint64_t record) {
    const struct past *then = past_of(t, t->from[i]);
    bool time = t->plan.spec.unit == SEEN_MICROSECONDS;
    if (t->from[i] == record || t->time[i] - then->clock >= t->window + !time) return false;
    return t->plan.spec.refresh == SEEN_REFRESH_LAST || then->stored;
}

/* A window that was shrunk is still kept for as long as is said. */
static bool excused(struct trial *t, uint64_t i) {
    struct seen_stats stats;
    if (t->plan.spec.overload != SEEN_SHRINK) return false;
    seen_stats(t->d, &stats);
    return stats.forgotten && t->time[i] - past_of(t, t->from[i])->clock >= stats.kept;
}

static void judge(struct trial *t, uint64_t i, uint64_t record) {
    past_of(t, record)->stored = !t->verdict[i];
    if (!must_be_seen(t, i, record)) return;
    t->duplicates++;
    if (t->verdict[i] || excused(t, i)) return;
    t->misses++;
    law_check(false, "%s digests: record %llu repeats number %llu and was called new",
              shapes[t->shape], (unsigned long long)record, (unsigned long long)t->from[i]);
}

/* `repeats` in sixteen records repeat one. */
static void play(struct trial *t, uint64_t records, uint64_t repeats) {
    for (uint64_t end = t->n + records; t->n < end;) {
        uint64_t first = t->n, n = 1 + law_below(&t->rng, t->batch);
        for (uint64_t i = 0; i < n; i++) draw(t, i, repeats);
        seen_observe(t->d, n, t->key, t->time, t->verdict);
        for (uint64_t i = 0; i < n; i++) judge(t, i, first + i);
    }
}

static struct seen_stats stats_of(const seen_detector *d) {
    struct seen_stats stats;
    seen_stats(d, &stats);
    return stats;
}

/* -- no false negatives ------------------------------------------------------------------- */

static const char *const windows[] = {
    "sliding:1 lines=1",
    "sliding:2 lines=2 signature=16",
    "sliding:31 lines=2 signature=20",
    "sliding:32 lines=3 signature=16 generations=7",
    "sliding:100 lines=1 signature=16",
    "sliding:100 lines=8 signature=16",
    "sliding:100 lines=4 signature=43 generations=1",
    "sliding:1000 lines=5 signature=33 shards=3",
    "sliding:1000 lines=50 signature=16",
    "sliding:1000 lines=48 signature=24",
    "sliding:20000 items=20000 fp=5e-4",
    "sliding:20000 items=19000 fp=5e-4",
    "sliding:20000 items=16000 fp=1e-6",
    "sliding:20000 items=10000 fp=1e-9 generations=16",
    "sliding:1s lines=2 signature=16 overload=saturate",
    "sliding:1s lines=40 signature=18 overload=saturate",
    "sliding:1h items=3000 fp=1e-3",
    "sliding:1s lines=1 signature=16",
    "sliding:1s lines=7 signature=22 shards=2",
};

static uint64_t scale(void) { return getenv("SEEN_LONG") ? 200 : 1; }

static void nothing_in_the_window_is_missed(void **state) {
    (void)state;
    uint64_t seed = law_seed(), duplicates = 0;
    for (size_t w = 0; w < sizeof windows / sizeof *windows; w++)
        for (enum shape shape = 0; shape < SHAPES; shape++)
            for (int first = 0; first < 2; first++) {
                char spec[100];
                snprintf(spec, sizeof spec, "%s refresh=%s", windows[w], first ? "first" : "last");
                struct trial t = begin(shape, law_next(&seed), spec);
                if (t.plan.spec.overload == SEEN_SHRINK) t.batch = 1;
                for (uint64_t i = 0; i < scale(); i++) play(&t, 10000, 4 + 10 * (i % 2));
                duplicates += t.duplicates;
                end(&t);
            }
    print_message("%llu duplicates in the window, none missed\n", (unsigned long long)duplicates);
}

/* A window as large as those of the benchmarks, and one of several 2^10 generations. */
static void nothing_is_missed_in_a_large_table(void **state) {
    (void)state;
    uint64_t duplicates = 0;
    for (int first = 0; first < 2; first++) {
        struct trial t = begin(RANDOM, law_seed() + first,
                               first ? "sliding:100000 fp=5e-4 refresh=first" : "sliding:100000");
        play(&t, 300000 * (scale() > 1 ? 4200 : 1), 8);
        duplicates += t.duplicates;
        end(&t);
    }
    print_message("%llu duplicates in the window, none missed\n", (unsigned long long)duplicates);
}

/* 5, 20 and 100 percent more keys than planned: from 20 on some find no place. */
static void overload_is_counted_and_nothing_is_missed(void **state) {
    (void)state;
    static const int more[] = {5, 20, 100};
    for (int i = 0; i < 3; i++) {
        char spec[80];
        snprintf(spec, sizeof spec, "sliding:50000 items=%d fp=1e-3", 5000000 / (100 + more[i]));
        struct trial t = begin(RANDOM, law_seed() + i, spec);
        play(&t, 200000, 0);
        struct seen_stats crowded = stats_of(t.d);
        uint64_t rng = law_seed();
        double found = law_query_fresh(t.d, 20000, &rng), wrong = (double)crowded.duplicates;
        law_check(fabs(found - crowded.fp_now) < .05,
                  "%d %% too many: %g of new keys found, not %g", more[i], found, crowded.fp_now);
        law_check(fabs(crowded.expected_false - wrong) < 5 * sqrt(wrong) + .03 * wrong,
                  "%d %% too many: %g false, expected %g", more[i], wrong, crowded.expected_false);
        play(&t, 200000, 5);
        law_check(!crowded.saturated == (more[i] < 20), "%llu keys lost at %d %% too many",
                  (unsigned long long)crowded.saturated, more[i]);
        end(&t);
    }
}

static void after_a_flood_the_window_is_clean_again(void **state) {
    (void)state;
    struct trial t = begin(RANDOM, law_seed(), "sliding:1000 lines=4 signature=43");
    uint64_t rng = 1;
    play(&t, 5000, 0);
    assert_true(stats_of(t.d).saturated > 0);
    assert_true(law_query_fresh(t.d, 2000, &rng) > .9);
    seen_digest one = law_fresh(&rng);
    uint8_t verdict;
    for (int i = 0; i < 2200; i++) seen_observe(t.d, 1, &one, NULL, &verdict);
    assert_int_equal(stats_of(t.d).listed, 0);
    assert_int_equal(stats_of(t.d).stored, 1);
    assert_true(law_query_fresh(t.d, 2000, &rng) == 0);
    end(&t);
}

/* -- time --------------------------------------------------------------------------------- */

/* A line that nobody touches for a turn of its stamp, or for several: its keys are not back. */
static void a_key_is_not_young_again_after_2_to_10_generations(void **state) {
    (void)state;
    enum { AWAY = 60 };
    for (uint64_t gap = 1; gap < 5 * 1024; gap += gap % 1024 < AWAY || gap % 1024 > 956 ? 1 : 53) {
        seen_detector *d = law_make("sliding:31 filter=line signature=43 lines=5000 seed=1");
        seen_digest key = law_digest(1, 1), other = law_digest(2, 1), others[BATCH_MOST];
        uint8_t verdict, verdicts[BATCH_MOST];
        for (int i = 0; i < BATCH_MOST; i++) others[i] = other;
        seen_observe(d, 1, &key, NULL, &verdict);
        for (uint64_t i = 1; i < gap; i += BATCH_MOST)
            seen_observe(d, gap - i < BATCH_MOST ? gap - i : BATCH_MOST, others, NULL, verdicts);
        seen_observe(d, 1, &key, NULL, &verdict);
        law_check(verdict == (gap <= 31), "gap %llu: called %d", (unsigned long long)gap, verdict);
        seen_free(d);
    }
}

/* The map of a full line of 27 entries with 31 ends has not a bit to spare. */
static void a_full_line_holds_all_its_generations(void **state) {
    (void)state;
    assert_int_equal(line_room(16) + LINE_LIVE_MOST, LINE_MAP_BITS);
    for (uint64_t apart = 1; apart <= 2; apart++) {
        seen_detector *d = law_make("sliding:31 filter=line signature=16 lines=1 seed=1");
        uint8_t verdict;
        for (uint64_t i = 0; i < 27 * apart; i++) {
            seen_digest key = {0, 1 + i / apart};
            seen_observe(d, 1, &key, NULL, &verdict);
            assert_int_equal(verdict, i % apart != 0);
        }
        uint64_t age;
        for (uint64_t i = 0; i < 27; i++) {
            seen_digest key = {0, 1 + i};
            uint64_t ago = (27 - i) * apart - (apart - 1);
            seen_last_seen(d, 1, &key, 0, &age);
            assert_int_equal(age, ago <= 32 ? ago : SEEN_NEVER);
        }
        seen_free(d);
    }
}

/* -- bytes -------------------------------------------------------------------------------- */

static void saved_and_loaded_at_every_record(void **state) {
    (void)state;
    static const char *const specs[] = {
        "sliding:40 lines=1 signature=16", "sliding:300 lines=3 signature=27 refresh=first",
        "sliding:1s lines=2 signature=16", "sliding:3000 items=3000 fp=1e-3"};
    for (int i = 0; i < 4; i++)
        for (enum shape shape = 0; shape < SHAPES; shape++) {
            struct trial t = begin(shape, law_seed() + i, specs[i]);
            t.batch = 1;
            play(&t, i == 3 ? 6000 : 0, 4);
            for (int j = 0; j < 400; j++) {
                struct law_bytes before = law_save(t.d, NULL), after;
                struct seen_stats stats = stats_of(t.d), loaded;
                seen_free(t.d);
                t.d = law_load(&before, NULL);
                after = law_save(t.d, NULL);
                loaded = stats_of(t.d);
                law_check(law_bytes_equal(&before, &after), "other bytes after save and load");
                law_check(!memcmp(&stats, &loaded, sizeof stats), "other stats after load");
                law_bytes_free(&before);
                law_bytes_free(&after);
                play(&t, 1, 8);
            }
            end(&t);
        }
}

/* The same verdicts and bytes for every width of fingerprints. */
static void every_instruction_set_is_alike_in_every_width(void **state) {
    (void)state;
    static const int widths[] = {16, 18, 20, 22, 24, 27, 30, 33, 36, 43};
    for (int i = 0; i < 40; i++)
        for (enum shape shape = 0; shape < SHAPES; shape++) {
            struct law_bytes first = {0};
            for (uint32_t cpu = CPU_PORTABLE; cpu <= CPU_VBMI2; cpu++) {
                char spec[100];
                snprintf(spec, sizeof spec, "sliding:%s signature=%d lines=25 refresh=%s",
                         i % 4 < 2 ? "500" : "2s", widths[i / 4], i % 2 ? "first" : "last");
                struct trial t = begin(shape, law_seed() + i, spec);
                seen_free(t.d);
                t.plan.cpu = cpu;
                t.d = law_new(&t.plan, NULL);
                play(&t, 3000, 6);
                struct law_bytes bytes = law_save(t.d, NULL);
                law_check(cpu == CPU_PORTABLE || law_bytes_equal(&first, &bytes),
                          "%s digests: bytes differ on cpu %u", shapes[shape], cpu);
                if (cpu == CPU_PORTABLE)
                    first = bytes;
                else
                    law_bytes_free(&bytes);
                end(&t);
            }
            law_bytes_free(&first);
        }
}

/* Though what a batch leaves for later meets lines that its other records have changed. */
static void a_batch_is_its_records_one_by_one(void **state) {
    (void)state;
    uint64_t seed = law_seed();
    for (size_t i = 0; i < 2 * sizeof windows / sizeof *windows; i++)
        for (enum shape shape = 0; shape < SHAPES; shape++) {
            char spec[100];
            snprintf(spec, sizeof spec, "%s refresh=%s", windows[i / 2], i % 2 ? "first" : "last");
            struct trial t = begin(shape, law_next(&seed), spec);
            seen_detector *one = law_new(&t.plan, NULL);
            for (int j = 0; j < 60; j++) {
                uint64_t n = 1 + law_below(&t.rng, BATCH_MOST);
                uint8_t verdict[BATCH_MOST];
                for (uint64_t k = 0; k < n; k++) draw(&t, k, j % 8);
                seen_observe(t.d, n, t.key, t.time, t.verdict);
                for (uint64_t k = 0; k < n; k++)
                    seen_observe(one, 1, t.key + k, t.time + k, verdict + k);
                law_check(!memcmp(verdict, t.verdict, n), "%s digests: other verdicts in batches",
                          shapes[shape]);
            }
            struct law_bytes many = law_save(t.d, NULL), single = law_save(one, NULL);
            law_check(law_bytes_equal(&many, &single), "%s digests: other bytes after batches",
                      shapes[shape]);
            law_bytes_free(&many);
            law_bytes_free(&single);
            seen_free(one);
            end(&t);
        }
}

/* -- merging ------------------------------------------------------------------------------ */

/* Every record that `from` met must be known to `d`, which has gone on by `later` since. */
static void all_are_in(const seen_detector *d, struct trial *from, uint64_t now, uint64_t later) {
    const struct seen_spec *spec = &from->plan.spec;
    bool time = spec->unit == SEEN_MICROSECONDS;
    struct seen_stats stats = stats_of(d);
    for (uint64_t ago = 1; ago <= from->n && ago <= from->room - BATCH_MOST; ago++) {
        const struct past *then = past_of(from, from->n - ago);
        uint64_t age = time ? now - then->clock : ago + later, said;
        if (age >= from->window + !time) continue;
        if (spec->refresh == SEEN_REFRESH_FIRST && !then->stored) continue;
        if (spec->overload == SEEN_SHRINK && stats.forgotten && age >= stats.kept) continue;
        seen_last_seen(d, 1, &then->key, now, &said);
        law_check(said <= age, "%s digests: %llu ago, and said to be %llu", shapes[from->shape],
                  (unsigned long long)age, (unsigned long long)said);
    }
}

static void merged_windows_miss_nothing(void **state) {
    (void)state;
    uint64_t seed = law_seed();
    for (size_t i = 0; i < 8 * sizeof windows / sizeof *windows; i++)
        for (enum shape shape = 0; shape < SHAPES; shape++) {
            char spec[100];
            snprintf(spec, sizeof spec, "%s refresh=%s", windows[i / 8], i % 2 ? "first" : "last");
            struct trial t = begin(shape, law_next(&seed), spec);
            struct trial other = begin(shape, law_next(&seed), spec);
            uint64_t most = i % 3 ? 6000 : 300;
            play(&t, i % 8 ? law_below(&seed, most) : 0, 6);
            play(&other, 1 + law_below(&seed, most), 6);
            if (i % 8 == 7) seen_landmark(t.d), t.n = 0;
            law_check(!seen_merge(t.d, other.d, NULL), "refused");
            uint64_t now = t.clock > other.clock ? t.clock : other.clock, later = 0;
            for (int j = 0; j < 5; j++) {
                struct law_bytes bytes = law_save(t.d, NULL);
                seen_free(t.d);
                t.d = law_load(&bytes, NULL);
                law_bytes_free(&bytes);
                all_are_in(t.d, &t, now, later);
                all_are_in(t.d, &other, now, later);
                uint64_t more = t.plan.spec.unit == SEEN_RECORDS ? t.window / 7 : 30;
                now += t.window / 9;
                for (uint64_t k = 0; k <= more; k++, later++) {
                    seen_digest d = fresh(&other);
                    seen_observe(t.d, 1, &d, &now, t.verdict);
                }
            }
            end(&t);
            end(&other);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_in_the_window_is_missed),
        cmocka_unit_test(nothing_is_missed_in_a_large_table),
        cmocka_unit_test(overload_is_counted_and_nothing_is_missed),
        cmocka_unit_test(after_a_flood_the_window_is_clean_again),
        cmocka_unit_test(a_key_is_not_young_again_after_2_to_10_generations),
        cmocka_unit_test(a_full_line_holds_all_its_generations),
        cmocka_unit_test(saved_and_loaded_at_every_record),
        cmocka_unit_test(every_instruction_set_is_alike_in_every_width),
        cmocka_unit_test(a_batch_is_its_records_one_by_one),
        cmocka_unit_test(merged_windows_miss_nothing),
    };
    return cmocka_run_group_tests_name("line", tests, NULL, NULL);
}
