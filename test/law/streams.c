#include "streams.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct stream stream_new(const char *name, size_t n) {
    struct stream s = {name, n, malloc(n * sizeof *s.key), malloc(n * sizeof *s.time)};
    if (!s.key || !s.time) exit(2);
    for (size_t i = 0; i < n; i++) s.key[i] = i, s.time[i] = (i + 1) * 1000;
    return s;
}

void streams_free(struct stream *s) { free(s->key), free(s->time); }

/* Key numbers with probability proportional to rank^-power. */
static void zipf(struct stream *s, size_t window, double power, uint64_t *rng) {
    size_t keys = 5 * window / 2;
    double *sum = malloc(keys * sizeof *sum);
    if (!sum) exit(2);
    for (size_t i = 0; i < keys; i++) sum[i] = (i ? sum[i - 1] : 0) + pow((double)i + 1, -power);
    for (size_t i = 0; i < s->n; i++) {
        double x = ldexp((double)(law_next(rng) >> 11), -53) * sum[keys - 1];
        size_t lo = 0, hi = keys - 1;
        while (lo < hi)
            *(sum[(lo + hi) / 2] < x ? &lo : &hi) = (lo + hi) / 2 + (sum[(lo + hi) / 2] < x);
        s->key[i] = lo;
    }
    free(sum);
}

/* New keys all at once, then each again and again until the next burst, `period` windows later. */
static void bursts(struct stream *s, size_t window, double period, uint64_t *rng) {
    size_t every = (size_t)(period * (double)window), burst = window / 20, first = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (i % every == 0) first = i;
        bool bursting = i % every < burst;
        s->key[i] = bursting ? i : first + law_below(rng, burst);
        s->time[i] = 1000 * (i - i % every + 1) +
                     (bursting ? i % every : 1000 * (i % every)); /* in 20 of 1000 the time */
    }
}

/* Forty ids that come for half a window, leave for one and a half, and return; new keys between. */
static void returning(struct stream *s, size_t window, uint64_t *rng) {
    for (size_t i = 0; i < s->n; i++) {
        uint64_t phase = i / (window / 2) % 4;
        if (law_below(rng, 8)) s->key[i] = phase * 40 + law_below(rng, 40);
    }
}

/* The same keys in each sub-window, others every three windows. */
static void cycling(struct stream *s, size_t window) {
    for (size_t i = 0; i < s->n; i++)
        s->key[i] = i / (3 * window) * (3 * window) + i % (window / 10);
}

/* Ids that come some forty times and never again: counters stick. */
static void sticking(struct stream *s, uint64_t *rng) {
    for (size_t i = 0; i < s->n; i++) s->key[i] = i - i % 400 + law_below(rng, 10);
}

/* Half of the records repeat one of the last window and a half. */
static void repeating(struct stream *s, size_t window, uint64_t *rng) {
    for (size_t i = 1; i < s->n; i++) {
        uint64_t back = 1 + law_below(rng, 3 * window / 2);
        if (law_below(rng, 2) && back <= i) s->key[i] = s->key[i - back];
    }
}

struct stream streams_make(size_t kind, size_t window, size_t n, uint64_t seed) {
    static const char *const names[STREAM_KINDS] = {
        "distinct",  "zipf .8", "zipf 1.1", "bursts",   "bursts a window apart",
        "returning", "cycling", "sticking", "repeating"};
    struct stream s = stream_new(names[kind], n);
    switch (kind) {
    case 1: zipf(&s, window, .8, &seed); break;
    case 2: zipf(&s, window, 1.1, &seed); break;
    case 3: bursts(&s, window, 1.3, &seed); break;
    case 4: bursts(&s, window, 1.01, &seed); break;
    case 5: returning(&s, window, &seed); break;
    case 6: cycling(&s, window); break;
    case 7: sticking(&s, &seed); break;
    case 8: repeating(&s, window, &seed); break;
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
struct stream streams_read(const char *path, size_t most) {
    FILE *f = fopen(path, "r");
    struct stream s = stream_new(path, most);
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

/* -- what a window of a stream holds ----------------------------------------------------- */

struct streams_held streams_most_held(const struct stream *s, uint32_t window, bool times,
                                      uint64_t length) {
    struct streams_held most = {0};
    size_t *last = malloc(s->n * sizeof *last), from = 0;
    uint64_t keys = 0;
    if (!last) exit(2);
    for (size_t i = 0; i < s->n; i++) last[i] = SIZE_MAX;
    for (size_t i = 0; i < s->n; i++) {
        uint64_t clock = times ? s->time[i] : i, begin = clock - clock % length;
        for (; from < i; from++) {
            uint64_t then = times ? s->time[from] : from;
            bool out = window == SEEN_WINDOW_LANDMARK ? then < begin : clock - then >= length;
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
