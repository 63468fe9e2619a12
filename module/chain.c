/* chain.c - plans the filters of a chain, and asks and extends it. */
#include "chain.h"

#include "plans.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FP_LEAST   1e-13
#define SLOW_LINKS 16 /* from this one on each is at least twice the last, or links run out */

/* -- what links are like ------------------------------------------------------------------ */

/* 0: beyond what there may be. */
static uint64_t capacity_of(const struct chain *c, uint32_t link) {
    uint64_t capacity = c->capacity;
    for (uint32_t i = 1; i <= link; i++) {
        uint64_t by = i >= SLOW_LINKS && c->expansion < 2 ? 2 : c->expansion;
        if (capacity > CHAIN_CAPACITY_MOST / by) return 0;
        capacity *= by;
    }
    return capacity;
}

static double error_of(const struct chain *c, uint32_t link) {
    return c->expansion ? fmax(ldexp(c->error, -(int)link - 1), FP_LEAST) : c->error;
}

static int refuse(struct seen_error *e) {
    *e = (struct seen_error){.code = SEEN_EREFUSED, .text = "the filter cannot grow any more"};
    return e->code;
}

static int add_link(struct value *v, uint64_t seed, uint64_t limit, struct seen_error *e) {
    char spec[128];
    uint64_t capacity = capacity_of(&v->chain, v->links);
    if (!capacity || v->links == v->room) return refuse(e);
    snprintf(spec, sizeof spec, "landmark fp=%.17g items=%llu", error_of(&v->chain, v->links),
             (unsigned long long)capacity);
    const struct seen_plan *known = plans_get(spec, 0, e);
    if (!known) return e->code;
    struct seen_plan plan = *known;
    snprintf(spec, sizeof spec, "%llu", (unsigned long long)seed);
    int bad = seen_spec_set(&plan.spec, "seed", spec, e);
    if (!bad) bad = value_make(v, &plan, limit, e);
    if (!bad) v->youngest = 0;
    return bad;
}

int chain_begin(struct value *v, uint64_t seed, uint64_t limit, struct seen_error *e) {
    return add_link(v, seed, limit, e);
}

/* -- asking and adding -------------------------------------------------------------------- */

static bool has(const struct value *v, seen_digest digest) {
    uint8_t verdict = SEEN_NEW;
    for (uint32_t i = v->links; i > 0 && verdict == SEEN_NEW; i--)
        seen_query(v->link[i - 1], 1, &digest, 0, &verdict);
    return verdict != SEEN_NEW;
}

static seen_digest digest_of(const struct value *v, const void *item, size_t len) {
    return seen_hash(item, len, seen_seed(v->link[0]));
}

bool chain_has(const struct value *v, const void *item, size_t len) {
    return has(v, digest_of(v, item, len));
}

enum chain_verdict chain_add(struct value *v, const void *item, size_t len, uint64_t limit,
                             struct seen_error *e) {
    uint8_t verdict;
    seen_digest digest = digest_of(v, item, len);
    if (has(v, digest)) return CHAIN_SEEN;
    if (v->youngest >= capacity_of(&v->chain, v->links - 1)) {
        if (!v->chain.expansion) return CHAIN_FULL;
        if (add_link(v, seen_seed(v->link[0]), limit, e)) return CHAIN_FAILED;
    }
    seen_observe(value_filter(v), 1, &digest, &verdict);
    v->youngest++;
    v->items++;
    value_changed(v);
    return CHAIN_NEW;
}

/* -- counts ------------------------------------------------------------------------------- */

uint64_t chain_items(const struct value *v) { return v->items; }

uint64_t chain_capacity(const struct value *v) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < v->links; i++) sum += capacity_of(&v->chain, i);
    return sum;
}

void chain_count(struct value *v) {
    v->items = 0;
    for (uint32_t i = 0; i < v->links; i++) {
        struct seen_stats s;
        seen_stats(v->link[i], &s);
        v->youngest = s.unique;
        v->items += s.unique;
    }
}

int chain_describe(const struct value *v, uint32_t link, char *buf, size_t cap) {
    struct seen_stats s;
    struct seen_plan plan = seen_plan_of(v->link[link]);
    seen_stats(v->link[link], &s);
    return snprintf(buf, cap,
                    "bytes:%llu bits:%llu hashes:%llu hashwidth:64 capacity:%llu size:%llu "
                    "ratio:%g",
                    (unsigned long long)plan.bytes, (unsigned long long)plan.bytes * 8,
                    (unsigned long long)seen_spec_get_count(&plan.spec, "k"),
                    (unsigned long long)capacity_of(&v->chain, link), (unsigned long long)s.unique,
                    error_of(&v->chain, link));
}
