#include "contenders.h"

#include <math.h>
#include <stdio.h>

enum kind { FILTER, TABLES, LITERAL };

static const struct {
    const char *name;
    enum kind kind;
    bool sign;
} all[CONTENDERS] = {
    {"TBF", FILTER, false},
    {"K=0", TABLES, false},
    {"signed", TABLES, true},
    {"K=0 as written", LITERAL, false},
    {"signed as written", LITERAL, true},
};

static const char *stamp_text(const struct setup *s) {
    static char text[32];
    text[0] = 0;
    if (s->stamp) snprintf(text, sizeof text, " stamp=%llu", (unsigned long long)s->stamp);
    return text;
}

/* Cells of `stamp` bits, as near to the counters as whole lines come. */
static void new_filter(struct contender *c, uint64_t seed) {
    const struct setup *s = &c->setup;
    struct seen_plan plan;
    lab_plan(&plan, "sliding:%llu filter=timing k=1 lines=1%s", (unsigned long long)s->n,
             stamp_text(s));
    double stamp = (double)seen_spec_get_count(&plan.spec, "stamp");
    uint64_t lines = (uint64_t)nearbyint(((double)s->counters * stamp + 64) / 512);
    if (s->lines) lines = s->lines;
    c->cells = floor((double)(lines * 512 - 64) / stamp);
    c->d = lab_make("sliding:%llu filter=timing k=%d lines=%llu refresh=%s seed=%llu%s",
                    (unsigned long long)s->n, s->k, (unsigned long long)lines,
                    s->first ? "first" : "last", (unsigned long long)seed, stamp_text(s));
}

struct contender contender_new(int which, const struct setup *s, uint64_t seed) {
    struct contender c = {.name = all[which].name, .setup = *s};
    c.signature = all[which].sign ? s->k : 0;
    if (all[which].kind != FILTER)
        c.lambda = nearbyint((double)s->counters / (all[which].sign ? 6 : 4));
    if (all[which].kind == FILTER)
        new_filter(&c, seed);
    else if (all[which].kind == TABLES)
        c.d = lab_make("sliding:%llu filter=timed-cuckoo lambda=%.0f signature=%.0f refresh=%s "
                       "seed=%llu%s",
                       (unsigned long long)s->n, c.lambda, c.signature, s->first ? "first" : "last",
                       (unsigned long long)seed, stamp_text(s));
    else
        c.l = literal_new(s->n, (uint64_t)c.lambda, (int)c.signature,
                          (uint64_t)ceil(log2((double)s->n)), lab_number("look", 0) > 0, seed);
    return c;
}

void contender_free(struct contender *c) {
    seen_free(c->d);
    if (c->l) literal_free(c->l);
}

const char *contender_spec(const struct contender *c) {
    static char text[160];
    if (c->d) return lab_spec(c->d);
    snprintf(text, sizeof text, "as written n=%llu lambda=%.0f signature=%.0f moves=%.0f%s",
             (unsigned long long)c->setup.n, c->lambda, c->signature,
             ceil(log2((double)c->setup.n)), lab_number("look", 0) > 0 ? " look=1" : "");
    return text;
}

/* -- work --------------------------------------------------------------------------------- */

void contender_observe(struct contender *c, size_t n, const seen_digest *d, uint8_t *verdict) {
    uint8_t ignored[BATCH];
    if (c->d) {
        seen_observe(c->d, n, d, verdict ? verdict : ignored);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        bool seen = verdict && literal_age(c->l, d[i]) != SEEN_NEVER;
        if (verdict) verdict[i] = seen;
        if (seen && c->setup.first)
            literal_pass(c->l);
        else
            literal_update(c->l, d[i]);
    }
}

void contender_ask(const struct contender *c, size_t n, const seen_digest *d, uint8_t *verdict) {
    if (c->d) {
        seen_query(c->d, n, d, c->setup.within, verdict);
        return;
    }
    uint64_t most = c->setup.within ? c->setup.within : c->setup.n;
    for (size_t i = 0; i < n; i++) verdict[i] = literal_age(c->l, d[i]) <= most;
}

uint64_t contender_age(const struct contender *c, seen_digest d) {
    uint64_t age;
    if (c->l) return literal_age(c->l, d);
    seen_last_seen(c->d, 1, &d, &age);
    return age;
}

struct seen_stats contender_stats(const struct contender *c) {
    struct seen_stats stats = {0};
    if (c->d)
        seen_stats(c->d, &stats);
    else
        stats.listed = literal_listed(c->l);
    return stats;
}

double contender_rate(const struct contender *c, double keys) {
    double k = c->setup.k;
    if (c->cells > 0) return pow(-expm1(k * keys * log1p(-1 / c->cells)), k);
    return -expm1(keys * log1p(-exp2(-c->signature) / c->lambda / c->lambda));
}
