/* law_coverage - what a detector says of its own errors holds: the truth lies inside the 95 %
 * intervals of false and of missed duplicates, within the plan and far beyond it.
 *
 *     law_coverage                    a sample, for make check
 *     law_coverage --full [FILE]...   every structure, load and stream: `make bench-truth`
 *
 * A FILE holds records of "time TAB key".  A run is one structure on one stream, planned for a part
 * of the keys that its windows hold (load 2: for half of them), with a seed of its own.  Each
 * record is judged by an independent exact window as well (oracle.h).  SEEN_SEED=... replays.
 *
 * For each family of runs it prints how often the interval held the truth, and how wide it was: the
 * median, in widths of a Poisson interval around the truth. */
#include "../any_window.h"
#include "streams.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Keys in a window, at a load of at most 5: enough for most plans to have a sample. */
#define KEYS  120000
#define BATCH 256

static const double loads[] = {.5, 1, 2, 5, 20};
enum { LOADS = sizeof loads / sizeof *loads };

static const struct {
    uint32_t window;
    const char *text, *filter;
} structures[] = {
    {SEEN_WINDOW_LANDMARK, "landmark:%s", "bloom"},
    {SEEN_WINDOW_LANDMARK, "landmark:%s", "partitioned"},
    {SEEN_WINDOW_LANDMARK, "landmark:%s", "blocked"},
    {SEEN_WINDOW_LANDMARK, "landmark:%s", "counting"},
    {SEEN_WINDOW_JUMPING, "jumping:%s/8", "line"},
    {SEEN_WINDOW_JUMPING, "jumping:%s/8", "bloom"},
    {SEEN_WINDOW_JUMPING, "jumping:%s/8", "blocked"},
    {SEEN_WINDOW_JUMPING, "jumping:%s/8", "counting"},
    {SEEN_WINDOW_SLIDING, "sliding:%s", "line"},
    {SEEN_WINDOW_SLIDING, "sliding:%s", "line shards=4"},
    {SEEN_WINDOW_SLIDING, "sliding:%s", "timing"},
    {SEEN_WINDOW_SLIDING, "sliding:%s", "timed-cuckoo"},
    {SEEN_WINDOW_SLIDING, "sliding:%s", "counting"},
    {SEEN_WINDOW_SLIDING, "sliding:%s", "age-partitioned"},
    {SEEN_WINDOW_DECAYING, "decaying", "cache"},
    {SEEN_WINDOW_DECAYING, "decaying", "stable"},
};
enum { STRUCTURES = sizeof structures / sizeof *structures };

/* Compiled against the version before the control sample, for the comparison in doc/truth.md. */
#ifdef BEFORE
#define sampled_records confirmed /* always 0 here */
#define missed_lo       confirmed
#define missed_hi       confirmed
#define SOURCE(s)       "model"
#else
#define SOURCE(s) ((s)->source == SEEN_FROM_SAMPLE ? "sample" : "model")
#endif

/* -- families --------------------------------------------------------------------------------- */

enum { FAMILY_MOST = 4096 };

struct family {
    int runs, inside, missed_runs, missed_inside;
    double width[FAMILY_MOST];
    int unsampled; /* too small for a sample: beyond the plan they say [0, all duplicates] */
    int wide;      /* of the others, beyond [0, 4 max(F, 30 / share of the records sampled)] */
};

enum { WITHIN, BEYOND, BEYOND_FIRST, GROUPS };
static const char *const group_names[GROUPS] = {"within plan", "beyond plan",
                                                "beyond plan, refresh=first"};
static const double asked[GROUPS] = {.94, .93, .88};

static struct family family[5][GROUPS]; /* [0]: of all windows */

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* As few or fewer inside, were the rate the one asked for: normal, with continuity. */
static bool too_few(int inside, int runs, double rate) {
    double sd = sqrt((double)runs * rate * (1 - rate));
    return runs && (double)inside + .5 < (double)runs * rate - 2.326 * sd;
}

static int report(int window, int group) {
    static const char *const names[] = {"all windows", "landmark", "jumping", "sliding",
                                        "decaying"};
    struct family *f = &family[window][group];
    if (!f->runs) return 0;
    qsort(f->width, (size_t)f->runs, sizeof *f->width, by_size);
    bool bad = too_few(f->inside, f->runs, asked[group]);
    printf("%-12s %-27s %5d runs  %5.1f %% held the truth  width %5.2f  too wide %d  unsampled %d",
           names[window], group_names[group], f->runs, 100. * f->inside / f->runs,
           f->width[f->runs / 2], f->wide, f->unsampled);
    if (f->missed_runs)
        printf("  misses: %5.1f %% of %d", 100. * f->missed_inside / f->missed_runs,
               f->missed_runs);
    bad |= too_few(f->missed_inside, f->missed_runs, asked[group]);
    puts(bad ? "  TOO FEW" : "");
    return bad;
}

/* -- runs ------------------------------------------------------------------------------------- */

struct counts {
    uint64_t wrong, missed;
};

static struct counts play(seen_detector *d, struct oracle *o, const struct stream *s) {
    struct counts c = {0};
    uint64_t seed = seen_seed(d);
    seen_digest digest[BATCH];
    uint8_t verdict[BATCH];
    for (size_t i = 0; i < s->n; i += BATCH) {
        size_t n = s->n - i < BATCH ? s->n - i : BATCH;
        for (size_t j = 0; j < n; j++) digest[j] = seen_hash(&s->key[i + j], sizeof *s->key, seed);
        any_observe(d, n, digest, s->time + i, verdict);
        for (size_t j = 0; j < n; j++) {
            enum oracle_truth is = oracle_judge(o, digest[j], s->time[i + j], NULL);
            c.wrong += is == ORACLE_NEW && verdict[j];
            c.missed += is == ORACLE_DUPLICATE && !verdict[j];
            oracle_observe(o, digest[j], s->time[i + j], verdict[j]);
        }
    }
    return c;
}

static void count(int window, int group, struct counts c, const struct seen_stats *s) {
    struct family *f = &family[window][group];
    double wrong = (double)c.wrong, width = (double)(s->false_hi - s->false_lo);
    double share = (double)s->sampled_records / (double)s->records;
    if (f->runs == FAMILY_MOST) return;
    f->inside += c.wrong >= s->false_lo && c.wrong <= s->false_hi;
    f->unsampled += share == 0;
    f->wide += share > 0 && (double)s->false_hi > 4 * fmax(wrong, 30 / share);
    f->width[f->runs++] = (width + 1) / (2 * 1.96 * sqrt(wrong) + 1);
    if (!c.missed && !s->missed_hi) return;
    f->missed_runs++;
    f->missed_inside += c.missed >= s->missed_lo && c.missed <= s->missed_hi;
}

/* Its plan is for the keys that its window holds, over the load. */
static bool run(size_t which, const struct stream *s, double load, double fp, bool times,
                bool first, uint64_t seed, bool tell) {
    char spec[256], window[64], text[32];
    uint32_t kind = structures[which].window;
    uint64_t span = s->time[s->n - 1] - s->time[0] + 1, length = times ? span / 3 : s->n / 3;
    struct streams_held held =
        streams_most_held(s, kind, times, kind == SEEN_WINDOW_DECAYING ? s->n : length);
    struct seen_spec parsed;
    struct seen_plan plan;
    struct seen_stats stats;
    if (times)
        seen_print_span(length, text, sizeof text);
    else
        snprintf(text, sizeof text, "%llu", (unsigned long long)length);
    snprintf(window, sizeof window, structures[which].text, text);
    snprintf(spec, sizeof spec, "%s fp=%g items=%.0f refresh=%s seed=%llu filter=%s", window, fp,
             ceil((double)held.keys / load), first ? "first" : "last",
             (unsigned long long)(seed >> 1), structures[which].filter);
    if (seen_spec_parse(&parsed, spec, NULL) || seen_plan_make(&plan, &parsed, NULL)) return false;
    seen_detector *d = law_new(&plan, NULL);
    struct oracle *o = law_oracle(&plan);
    struct counts c = play(d, o, s);
    seen_stats(d, &stats);
    int group = load <= 1 ? WITHIN : first ? BEYOND_FIRST : BEYOND;
    count(0, group, c, &stats);
    count((int)kind, group, c, &stats);
    if (tell)
        printf(
            "%s\tload %g\t%s\tfalse %llu in [%llu, %llu] %.1f\tmissed %llu in [%llu, %llu]\t%s\n",
            spec, load, s->name, (unsigned long long)c.wrong, (unsigned long long)stats.false_lo,
            (unsigned long long)stats.false_hi, stats.expected_false, (unsigned long long)c.missed,
            (unsigned long long)stats.missed_lo, (unsigned long long)stats.missed_hi,
            SOURCE(&stats));
    oracle_free(o);
    seen_free(d);
    return true;
}

static int refused;

/* Every structure on one stream; of a sample one in 16. */
static void run_all(const struct stream *s, double load, uint64_t *rng, bool full) {
    for (size_t which = 0; which < STRUCTURES; which++) {
        uint64_t seed = law_next(rng);
        double fp = law_below(rng, 2) ? 1e-3 : 1e-4;
        bool times = structures[which].window != SEEN_WINDOW_DECAYING && law_below(rng, 2);
        bool first = law_below(rng, 4) == 0;
        if (!full && law_below(rng, 16)) continue;
        refused += !run(which, s, load, fp, times, first, seed, full);
    }
}

int main(int argc, char **argv) {
    bool full = argc > 1 && !strcmp(argv[1], "--full");
    uint64_t rng = law_seed();
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int l = 0; l < LOADS; l++) {
        size_t window = (size_t)(KEYS * fmax(1, loads[l] / 5)),
               rounds = full && loads[l] <= 5 ? 2 : 1;
        for (size_t i = 0; i < rounds * STREAM_KINDS; i++) {
            struct stream s = streams_make(i % STREAM_KINDS, window, 3 * window, law_next(&rng));
            run_all(&s, loads[l], &rng, full);
            streams_free(&s);
        }
        for (int i = 2; i < argc; i++) {
            struct stream s = streams_read(argv[i], 3 * window);
            run_all(&s, loads[l], &rng, full);
            streams_free(&s);
        }
    }
    int bad = 0;
    for (int window = 0; window < 5; window++)
        for (int group = 0; group < GROUPS; group++) bad += report(window, group);
    printf("%d plans were refused; SEEN_SEED=%llu\n", refused, (unsigned long long)law_seed());
    return bad > 0;
}
