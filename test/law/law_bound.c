/* law_bound - fp= is a bound for every stream: with items= at the true number of distinct keys in
 * a window, the share of new keys that a full window takes for duplicates is at most fp=, for every
 * order and repetition of keys.
 *
 *     law_bound                    a sample, for make check
 *     law_bound --full [FILE]...   all structures, windows and streams: `make bench-fp`
 *
 * A FILE holds records of "time TAB key".  A run is one structure, window and stream, repeated with
 * SEEDS seeds; its standard error comes from these, and is that of as many coins at least.  Rates
 * are measured by questions about keys that never came, which change nothing: where the window
 * holds the most keys, at the end of that sub-window, and at the end.  SEEN_SEED=... replays. */
#include "../any_window.h"
#include "streams.h"
#include "tally.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW  8000 /* records, or about as many by time */
#define RECORDS (5 * WINDOW)
#define SEEDS   4
#define PROBES  40000
#define MOMENTS 3

/* -- runs -----------------------------------------------------------------------------------------
 */

static const struct {
    uint32_t window;
    const char *text, *filter;
} structures[] = {
    {SEEN_WINDOW_JUMPING, "jumping:%s/8", ""},
    {SEEN_WINDOW_JUMPING, "jumping:%s/8", "line"},
    {SEEN_WINDOW_JUMPING, "jumping:%s/8", "bloom"},
    {SEEN_WINDOW_JUMPING, "jumping:%s/8", "partitioned"},
    {SEEN_WINDOW_JUMPING, "jumping:%s/8", "blocked"},
    {SEEN_WINDOW_JUMPING, "jumping:%s/8", "counting"},
    {SEEN_WINDOW_JUMPING, "jumping:%s/8", "counting by=subtract"},
    {SEEN_WINDOW_JUMPING, "jumping:%s/31", "line"},
    {SEEN_WINDOW_SLIDING, "sliding:%s", "line"},
    {SEEN_WINDOW_SLIDING, "sliding:%s", "line shards=4"},
    {SEEN_WINDOW_SLIDING, "sliding:%s", "timing"},
    {SEEN_WINDOW_SLIDING, "sliding:%s", "timed-cuckoo"},
    {SEEN_WINDOW_SLIDING, "sliding:%s", "timed-cuckoo vla=1"},
    {SEEN_WINDOW_SLIDING, "sliding:%s", "age-partitioned"},
    {SEEN_WINDOW_SLIDING, "sliding:%s", "counting"},
    {SEEN_WINDOW_LANDMARK, "landmark:%s", "bloom"},
    {SEEN_WINDOW_LANDMARK, "landmark:%s", "partitioned"},
    {SEEN_WINDOW_LANDMARK, "landmark:%s", "blocked"},
    {SEEN_WINDOW_LANDMARK, "landmark:%s", "counting"},
    {SEEN_WINDOW_DECAYING, "decaying", "cache"},
    {SEEN_WINDOW_DECAYING, "decaying", "stable"},
};
#define STRUCTURES (sizeof structures / sizeof *structures)

static bool write_spec(char *spec, size_t cap, size_t which, bool times, uint64_t length,
                       const struct streams_held *held, double fp) {
    char window[64], text[32];
    if (times)
        seen_print_span(length, text, sizeof text);
    else
        snprintf(text, sizeof text, "%llu", (unsigned long long)length);
    const char *filter = structures[which].filter;
    snprintf(window, sizeof window, structures[which].text, text);
    int n = snprintf(spec, cap, "%s fp=%g items=%llu%s%s", window, fp,
                     (unsigned long long)held->keys, *filter ? " filter=" : "", filter);
    bool queue = structures[which].window == SEEN_WINDOW_SLIDING && !strcmp(filter, "counting");
    if (times && queue)
        snprintf(spec + n, cap - (size_t)n, " rate=%.9g",
                 (double)held->records * 1e6 / (double)length);
    return times <= (structures[which].window != SEEN_WINDOW_DECAYING);
}

static double probe(const seen_detector *d, uint64_t now, uint64_t *rng) {
    seen_digest digest[256];
    uint8_t verdict[256];
    uint64_t found = 0, n = 0;
    for (; n < PROBES; n += 256) {
        for (size_t i = 0; i < 256; i++) digest[i] = law_fresh(rng);
        any_query(d, 256, digest, now, 0, verdict);
        for (size_t i = 0; i < 256; i++) found += verdict[i] != SEEN_NEW;
    }
    return (double)found / (double)n;
}

/* One seed: a rate for each moment. */
static void play(const struct seen_plan *plan, const struct stream *s, const size_t *moment,
                 uint64_t seed, struct tally *rates) {
    seen_detector *d = law_new(plan, NULL);
    size_t next = 0;
    uint64_t rng = ~seed;
    for (size_t i = 0; i < s->n && next < MOMENTS; i++) {
        seen_digest digest = seen_hash(&s->key[i], sizeof s->key[i], seed);
        uint8_t verdict;
        any_observe(d, 1, &digest, &s->time[i], &verdict);
        for (; next < MOMENTS && moment[next] <= i; next++)
            tally_add(&rates[next], probe(d, s->time[i], &rng));
    }
    seen_free(d);
}

/* The last record before the clock passes a multiple of step, from a record on. */
static size_t boundary(const struct stream *s, size_t at, bool times, uint64_t step) {
    for (; at + 1 < s->n; at++) {
        uint64_t now = times ? s->time[at] : at, then = times ? s->time[at + 1] : at + 1;
        if (now / step != then / step) break;
    }
    return at;
}

struct total {
    int runs, beyond3, beyond45, refused;
    double worst;
};

/* How many standard errors the worst moment's rate is above fp. */
static double run(const char *text, const struct stream *s, const struct streams_held *held,
                  bool times, uint64_t length, uint64_t seed, double fp, double *rate) {
    struct seen_plan plan;
    struct tally rates[MOMENTS] = {{0}};
    double worst = -INFINITY;
    *rate = 0;
    law_plan(&plan, "%s", text);
    size_t moment[MOMENTS] = {held->at, boundary(s, held->at, times, length / 8), s->n - 1};
    for (int i = 0; i < SEEDS; i++) play(&plan, s, moment, law_next(&seed), rates);
    for (int i = 0; i < MOMENTS; i++) {
        double mean = tally_mean(&rates[i]), coins = (double)PROBES * SEEDS;
        double z = (mean - fp) / tally_error(&rates[i], sqrt(fp / coins));
        if (z > worst) worst = z, *rate = mean;
    }
    return worst;
}

static void judge(struct total *total, size_t which, const struct stream *s, bool times, double fp,
                  uint64_t seed, bool full) {
    char spec[256];
    uint32_t window = structures[which].window;
    uint64_t span = s->time[s->n - 1] - s->time[0];
    uint64_t length = times ? (uint64_t)((double)span * WINDOW / (double)s->n) : WINDOW;
    struct streams_held held =
        streams_most_held(s, window, times, window == SEEN_WINDOW_DECAYING ? s->n : length);
    if (window == SEEN_WINDOW_DECAYING) held.keys = 1000;
    if (!write_spec(spec, sizeof spec, which, times, length, &held, fp)) return;
    struct seen_spec parsed;
    struct seen_plan plan;
    struct seen_error e;
    if (seen_spec_parse(&parsed, spec, &e) || seen_plan_make(&plan, &parsed, &e)) {
        printf("refused  %s: %s\n", spec, e.text);
        total->refused++;
        return;
    }
    double rate, z = run(spec, s, &held, times, length, seed, fp, &rate);
    total->runs++;
    total->beyond3 += z > 3;
    total->beyond45 += z > 4.5;
    if (z > total->worst) total->worst = z;
    if (full || z > 3)
        printf("%7.2f sigma  %.3g of fp=%g  %8llu bytes  %s  on %s\n", z, rate, fp,
               (unsigned long long)plan.bytes, spec, s->name);
}

static void judge_all(struct total *total, const struct stream *s, uint64_t *rng, bool full) {
    static const double rates[] = {1e-2, 1e-3};
    for (size_t which = 0; which < STRUCTURES; which++)
        for (int times = 0; times < 2; times++)
            for (int i = 0; i < 2; i++) {
                uint64_t seed = law_next(rng);
                if (full || law_below(rng, 8) == 0)
                    judge(total, which, s, times, rates[i], seed, full);
            }
}

int main(int argc, char **argv) {
    bool full = argc > 1 && !strcmp(argv[1], "--full");
    uint64_t rng = law_seed();
    struct total total = {.worst = -INFINITY};
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t kind = 0; kind < STREAM_KINDS; kind++) {
        struct stream s = streams_make(kind, WINDOW, RECORDS, law_next(&rng));
        judge_all(&total, &s, &rng, full);
        streams_free(&s);
    }
    for (int i = 2; i < argc; i++) {
        struct stream s = streams_read(argv[i], 2 * RECORDS);
        judge_all(&total, &s, &rng, full);
        streams_free(&s);
    }
    printf("%d runs: %d beyond 3 sigma, %d beyond 4.5, the worst at %.2f; %d refused; "
           "SEEN_SEED=%llu\n",
           total.runs, total.beyond3, total.beyond45, total.worst, total.refused,
           (unsigned long long)law_seed());
    return total.beyond45 || total.beyond3 > 4 || total.refused;
}
