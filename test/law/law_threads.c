/* law_threads - shards observed by several threads give what one thread gives: the same verdicts,
 * and snapshots of the same bytes. */
#include "../any_window.h"
#include "law.h"

#include <pthread.h>

enum { RECORDS = 1500, SHARDS = 7, MOST_THREADS = 4, LONG = 7000 };

struct part {
    seen_detector *d;
    uint64_t from, to; /* shards */
    size_t n;
    const seen_digest *digest;
    const uint64_t *at;
    uint8_t *verdict;
};

static void *observe_part(void *arg) {
    const struct part *p = arg;
    seen_observe_shards(p->d, p->from, p->to, p->n, p->digest, p->at, p->verdict);
    return NULL;
}

/* On no threads: seen_observe. */
static void observe(seen_detector *d, unsigned threads, size_t n, const seen_digest *digest,
                    const seen_time *time, uint8_t *verdict) {
    pthread_t thread[MOST_THREADS];
    struct part part[MOST_THREADS];
    uint64_t at[RECORDS];
    if (!threads) {
        any_observe(d, n, digest, time, verdict);
        return;
    }
    any_begin(d, n, time, at);
    for (unsigned i = 0; i < threads; i++) {
        part[i] = (struct part){
            d, i * SHARDS / threads, (i + 1) * SHARDS / threads, n, digest, at, verdict};
        int error = pthread_create(&thread[i], NULL, observe_part, &part[i]);
        law_check(!error, "thread %u: error %d", i, error);
    }
    for (unsigned i = 0; i < threads; i++) pthread_join(thread[i], NULL);
    seen_observe_end(d, n, digest, at, verdict);
}

/* In batches that end before landmarks, and some by chance. */
static void play(seen_detector *d, unsigned threads, const struct law_stream *s, uint8_t *verdict) {
    uint64_t rng = s->digest[0].lo;
    for (size_t i = 0; i < s->n;) {
        size_t n = 1, most = 1 + law_below(&rng, 600);
        for (uint8_t j = 0; j < s->landmarks[i]; j++) seen_landmark(d);
        while (n < most && i + n < s->n && !s->landmarks[i + n]) n++;
        observe(d, threads, n, s->digest + i, s->time + i, verdict + i);
        i += n;
    }
}

static void compare(const struct seen_plan *plan, const struct law_stream *s, unsigned threads) {
    seen_detector *one = law_new(plan, NULL), *many = law_new(plan, NULL);
    uint8_t a[RECORDS], b[RECORDS];
    play(one, 0, s, a);
    play(many, threads, s, b);
    for (size_t i = 0; i < s->n; i++)
        law_check(a[i] == b[i], "record %zu is %d, and %d on %u threads", i, a[i], b[i], threads);
    law_check(law_alike(one, many), "another snapshot on %u threads", threads);
    seen_free(one);
    seen_free(many);
}

/* A cache= goes where a duplicate may be a false one. */
static const char *cache_of(const struct law_case *c) {
    return c->traits & SEEN_NO_FP ? "" : "cache=50";
}

static void threads_make_no_difference(const struct law_case *c) {
    static const enum law_kind kinds[] = {LAW_UNIFORM, LAW_BURSTS};
    uint64_t rng = law_seed() + c->serial;
    const char *window;
    for (size_t i = 0; (window = law_window(c, i)); i++) {
        struct seen_plan plan;
        law_plan(&plan, "%s filter=%s fp=.1 items=1500 shards=%d seed=%llu %s", window,
                 c->structure, SHARDS, (unsigned long long)(law_next(&rng) >> 1), cache_of(c));
        for (int k = 0; k < 2; k++) {
            struct law_stream s = law_stream(&plan, kinds[k], RECORDS, 400, law_next(&rng));
            for (unsigned threads = 1; threads <= MOST_THREADS; threads *= 2)
                compare(&plan, &s, threads);
            law_stream_free(&s);
        }
    }
}

static void more_shards_than_are_told_apart_at_once(const struct law_case *c) {
    (void)c;
    static uint8_t a[LONG], b[LONG];
    static uint64_t at[LONG];
    struct seen_plan plan;
    law_plan(&plan, "sliding:3000 fp=.01 shards=600 seed=1");
    struct law_stream s = law_stream(&plan, LAW_UNIFORM, LONG, 0, law_seed());
    seen_detector *one = law_new(&plan, NULL), *many = law_new(&plan, NULL);
    for (size_t i = 0; i < LONG; i++) seen_observe(one, 1, &s.digest[i], &a[i]);
    any_begin(many, LONG, NULL, at);
    seen_observe_shards(many, 0, 299, LONG, s.digest, at, b);
    seen_observe_shards(many, 299, UINT64_MAX, LONG, s.digest, at, b);
    seen_observe_end(many, LONG, s.digest, at, b);
    for (size_t i = 0; i < LONG; i++)
        law_check(a[i] == b[i], "record %zu is %d alone, and %d among many", i, a[i], b[i]);
    seen_free(one);
    seen_free(many);
    law_stream_free(&s);
}

int main(void) {
    static const struct law laws[] = {
        {"threads make no difference", threads_make_no_difference, false},
        {"more shards than are told apart at once", more_shards_than_are_told_apart_at_once, true},
    };
    return law_main("threads", laws, sizeof laws / sizeof *laws);
}
