/* law_bound - fp= is a bound for every stream: with items= at the true number of distinct keys in
 * a window, the share of new keys that a full window takes for duplicates is at most fp=, in
 * whatever order and however often keys come.
 *
 *     law_bound                    a sample, for make check
 *     law_bound --full [FILE]...   all structures, windows and streams: `make bench-fp`
 *
 * A FILE holds records of "time TAB key".  A run is one structure, window and stream, repeated with
 * SEEDS seeds; its standard error comes from these, and is that of as many coins at least.  Rates
 * are measured by questions about keys that never came, which change nothing: where the window
 * holds the most keys, at the end of that sub-window, and at the end.  SEEN_SEED=... replays. */
#include "law.h"

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

/* -- streams ---------------------------------------------------------------------------------- */

struct stream {
    const char *name;
    size_t n;
    uint64_t *key; /* numbers from 0 to n-1 */
    uint64_t *time;
};

static struct stream stream_new(const char *name, size_t n) {
    struct stream s = {name, n, malloc(n * sizeof *s.key), malloc(n * sizeof *s.time)};
    if (!s.key || !s.time) exit(2);
    for (size_t i = 0; i < n; i++) s.key[i] = i, s.time[i] = (i + 1) * 1000;
    return s;
}

static void stream_free(struct stream *s) { free(s->key), free(s->time); }

/* Key numbers with probability proportional to rank^-power. */
static void zipf(struct stream *s, double power, uint64_t *rng) {
    static double sum[20000];
    size_t keys = sizeof sum / sizeof *sum;
    for (size_t i = 0; i < keys; i++) sum[i] = (i ? sum[i - 1] : 0) + pow((double)i + 1, -power);
    for (size_t i = 0; i < s->n; i++) {
        double x = ldexp((double)(law_next(rng) >> 11), -53) * sum[keys - 1];
        size_t lo = 0, hi = keys - 1;
        while (lo < hi)
            *(sum[(lo + hi) / 2] < x ? &lo : &hi) = (lo + hi) / 2 + (sum[(lo + hi) / 2] < x);
        s->key[i] = lo;
    }
}

/* New keys all at once, then each again and again until the next burst, `period` windows later. */
static void bursts(struct stream *s, double period, uint64_t *rng) {
    size_t every = (size_t)(period * WINDOW), burst = WINDOW / 20, first = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (i % every == 0) first = i;
        bool bursting = i % every < burst;
        s->key[i] = bursting ? i : first + law_below(rng, burst);
        s->time[i] = 1000 * (i - i % every + 1) +
                     (bursting ? i % every : 1000 * (i % every)); /* in 20 of 1000 the time */
    }
}

/* Forty ids that come for half a window, leave for one and a half, and return; new keys between. */
static void returning(struct stream *s, uint64_t *rng) {
    for (size_t i = 0; i < s->n; i++) {
        uint64_t phase = i / (WINDOW / 2) % 4;
        if (law_below(rng, 8)) s->key[i] = phase * 40 + law_below(rng, 40);
    }
}

/* The same keys in each sub-window, others every three windows. */
static void cycling(struct stream *s) {
    for (size_t i = 0; i < s->n; i++)
        s->key[i] = i / (3 * WINDOW) * (3 * WINDOW) + i % (WINDOW / 10);
}

/* Ids that come some forty times and never again: counters stick. */
static void sticking(struct stream *s, uint64_t *rng) {
    for (size_t i = 0; i < s->n; i++) s->key[i] = i - i % 400 + law_below(rng, 10);
}

static const char *const names[] = {
    "distinct",  "zipf .8", "zipf 1.1", "bursts", "bursts a window apart",
    "returning", "cycling", "sticking"};
#define STREAMS (sizeof names / sizeof *names)

static struct stream make_stream(size_t kind, uint64_t seed) {
    struct stream s = stream_new(names[kind], RECORDS);
    switch (kind) {
    case 1: zipf(&s, .8, &seed); break;
    case 2: zipf(&s, 1.1, &seed); break;
    case 3: bursts(&s, 1.3, &seed); break;
    case 4: bursts(&s, 1.01, &seed); break;
    case 5: returning(&s, &seed); break;
    case 6: cycling(&s); break;
    case 7: sticking(&s, &seed); break;
    default: break;
    }
    return s;
}

struct named {
    uint64_t digest;
    size_t at;
};

static int by_digest(const void *a, const void *b) {
    const struct named *x = a, *y = b;
    return x->digest != y->digest ? (x->digest > y->digest) - (x->digest < y->digest)
                                  : (x->at > y->at) - (x->at < y->at);
}

/* The first records of a file; times in seconds become microseconds that never fall. */
static struct stream read_stream(const char *path) {
    FILE *f = fopen(path, "r");
    struct stream s = stream_new(path, 2 * RECORDS);
    struct named *named = calloc(s.n, sizeof *named);
    char line[4096];
    size_t n = 0;
    if (!f || !named) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(2);
    }
    for (uint64_t last = 0; n < s.n && fgets(line, sizeof line, f); n++) {
        char *key;
        uint64_t time = strtoull(line, &key, 10) * 1000000;
        s.time[n] = last = time > last ? time : last;
        named[n] = (struct named){seen_hash(key, strcspn(key, "\n"), 5).lo, n};
    }
    fclose(f);
    s.n = n;
    qsort(named, n, sizeof *named, by_digest);
    for (size_t i = 0, first = 0; i < n; i++) {
        if (named[i].digest != named[first].digest) first = i;
        s.key[named[i].at] = named[first].at;
    }
    free(named);
    return s;
}

/* -- what a window of a stream holds ------------------------------------------------------------
 */

struct held {
    uint64_t keys, records; /* the most of any window */
    size_t at;              /* the first record at which it holds them */
};

/* Of the last `length` records, or of those less than `length` microseconds old; a landmark window
 * begins at each multiple. */
static struct held most_held(const struct stream *s, uint32_t window, bool times, uint64_t length) {
    struct held most = {0};
    size_t *last = malloc(s->n * sizeof *last), from = 0;
    uint64_t keys = 0;
    if (!last) exit(2);
    for (size_t i = 0; i < s->n; i++) last[i] = SIZE_MAX;
    for (size_t i = 0; i < s->n; i++) {
        uint64_t clock = times ? s->time[i] : i, begin = clock - clock % length;
        for (; from < i; from++) {
            uint64_t then = times ? s->time[from] : from;
            bool out = window == SEEN_LANDMARK ? then < begin : clock - then >= length;
            if (!out) break;
            keys -= last[s->key[from]] == from;
        }
        bool fresh = last[s->key[i]] == SIZE_MAX || last[s->key[i]] < from;
        keys += fresh;
        last[s->key[i]] = i;
        if (i - from + 1 > most.records) most.records = i - from + 1;
        if (keys > most.keys) most.keys = keys, most.at = i;
    }
    free(last);
    return most;
}

/* -- runs -----------------------------------------------------------------------------------------
 */

static const struct {
    uint32_t window;
    const char *text, *filter;
} structures[] = {
    {SEEN_JUMPING, "jumping:%s/8", ""},
    {SEEN_JUMPING, "jumping:%s/8", "line"},
    {SEEN_JUMPING, "jumping:%s/8", "bloom"},
    {SEEN_JUMPING, "jumping:%s/8", "partitioned"},
    {SEEN_JUMPING, "jumping:%s/8", "blocked"},
    {SEEN_JUMPING, "jumping:%s/8", "counting"},
    {SEEN_JUMPING, "jumping:%s/8", "counting by=subtract"},
    {SEEN_JUMPING, "jumping:%s/31", "line"},
    {SEEN_SLIDING, "sliding:%s", "line"},
    {SEEN_SLIDING, "sliding:%s", "line shards=4"},
    {SEEN_SLIDING, "sliding:%s", "timing"},
    {SEEN_SLIDING, "sliding:%s", "timed-cuckoo"},
    {SEEN_SLIDING, "sliding:%s", "timed-cuckoo vla=1"},
    {SEEN_SLIDING, "sliding:%s", "age-partitioned"},
    {SEEN_SLIDING, "sliding:%s", "counting"},
    {SEEN_LANDMARK, "landmark:%s", "bloom"},
    {SEEN_LANDMARK, "landmark:%s", "partitioned"},
    {SEEN_LANDMARK, "landmark:%s", "blocked"},
    {SEEN_LANDMARK, "landmark:%s", "counting"},
    {SEEN_DECAYING, "decaying", "cache"},
    {SEEN_DECAYING, "decaying", "stable"},
};
#define STRUCTURES (sizeof structures / sizeof *structures)

static bool write_spec(char *spec, size_t cap, size_t which, bool times, uint64_t length,
                       const struct held *held, double fp) {
    char window[64], text[32];
    if (times)
        seen_print_span(length, text, sizeof text);
    else
        snprintf(text, sizeof text, "%llu", (unsigned long long)length);
    const char *filter = structures[which].filter;
    snprintf(window, sizeof window, structures[which].text, text);
    int n = snprintf(spec, cap, "%s fp=%g items=%llu%s%s", window, fp,
                     (unsigned long long)held->keys, *filter ? " filter=" : "", filter);
    bool queue = structures[which].window == SEEN_SLIDING && !strcmp(filter, "counting");
    if (times && queue)
        snprintf(spec + n, cap - (size_t)n, " rate=%.9g",
                 (double)held->records * 1e6 / (double)length);
    return times <= (structures[which].window != SEEN_DECAYING);
}

static double probe(const seen_detector *d, uint64_t now, uint64_t *rng) {
    seen_digest digest[256];
    uint8_t verdict[256];
    uint64_t found = 0, n = 0;
    for (; n < PROBES; n += 256) {
        for (size_t i = 0; i < 256; i++) digest[i] = law_fresh(rng);
        seen_query(d, 256, digest, now, 0, verdict);
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
        seen_observe(d, 1, &digest, &s->time[i], &verdict);
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
static double run(const char *text, const struct stream *s, const struct held *held, bool times,
                  uint64_t length, uint64_t seed, double fp, double *rate) {
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
    struct held held = most_held(s, window, times, window == SEEN_DECAYING ? s->n : length);
    if (window == SEEN_DECAYING) held.keys = 1000;
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
    for (size_t kind = 0; kind < STREAMS; kind++) {
        struct stream s = make_stream(kind, law_next(&rng));
        judge_all(&total, &s, &rng, full);
        stream_free(&s);
    }
    for (int i = 2; i < argc; i++) {
        struct stream s = read_stream(argv[i]);
        judge_all(&total, &s, &rng, full);
        stream_free(&s);
    }
    printf("%d runs: %d beyond 3 sigma, %d beyond 4.5, the worst at %.2f; %d refused; "
           "SEEN_SEED=%llu\n",
           total.runs, total.beyond3, total.beyond45, total.worst, total.refused,
           (unsigned long long)law_seed());
    return total.beyond45 || total.beyond3 > 4 || total.refused;
}
