/* shares.c - a batch observed by a pool. */
#include "judge/shares.h"

/* Records that are worth waking another thread for: about ten microseconds of work. */
enum { WORTHWHILE = 256 };

static void run(void *ctx, unsigned who) {
    const struct share *mine = ctx;
    const struct shares *s = mine->all;
    (void)who;
    seen_observe_shards(s->detector, mine->from, mine->to, s->records, s->digest, s->at,
                        s->verdict);
}

void shares_init(struct shares *s, seen_detector *d, struct pool *pool) {
    uint64_t shards = seen_plan_of(d)->spec.shards;
    s->detector = d;
    s->pool = pool;
    s->n = pool_size(pool) < shards ? pool_size(pool) : (unsigned)shards;
    for (unsigned i = 0; i < s->n; i++)
        s->share[i] = (struct share){.job = {.run = run, .ctx = &s->share[i]},
                                     .all = s,
                                     .from = shards * i / s->n,
                                     .to = shards * (i + 1) / s->n};
}

void shares_observe(struct shares *s, size_t n, const seen_digest *digest, const seen_time *time,
                    uint8_t *verdict) {
    if (s->n == 1 || n < WORTHWHILE) {
        seen_observe(s->detector, n, digest, time, verdict);
        return;
    }
    seen_observe_begin(s->detector, n, time, s->at);
    s->records = n;
    s->digest = digest;
    s->verdict = verdict;
    for (unsigned i = 1; i < s->n; i++) pool_start_urgent(s->pool, &s->share[i].job);
    run(&s->share[0], 0);
    for (unsigned i = 1; i < s->n; i++) pool_wait(s->pool, &s->share[i].job, NULL);
    seen_observe_end(s->detector, n, digest, s->at, verdict);
}
