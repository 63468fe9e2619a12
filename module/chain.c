/* chain.c - plans the filters of a chain, and asks and extends it. */
#include "chain.h"

#include "few.h"

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

static int add_filter(struct value *v, uint64_t capacity, uint64_t limit, struct seen_error *e) {
    char spec[128];
    snprintf(spec, sizeof spec, "landmark fp=%.17g items=%llu", error_of(&v->chain, v->links),
             (unsigned long long)capacity);
    const struct seen_plan *known = value_plan(spec, 0, e);
    if (!known) return e->code;
    struct seen_plan plan = *known;
    snprintf(spec, sizeof spec, "%llu", (unsigned long long)v->seed);
    int bad = seen_spec_set(&plan.spec, "seed", spec, e);
    return bad ? bad : value_make(v, &plan, limit, e);
}

static int add_few(struct value *v, uint64_t capacity, uint32_t width, uint64_t limit,
                   struct seen_error *e) {
    int bad = value_fits(v, sizeof(struct few) + capacity * width, limit, e);
    if (bad) return bad;
    struct few *few = value_room(v) ? few_new(&v->memory, width) : NULL;
    if (!few) {
        *e = (struct seen_error){.code = SEEN_ENOMEM, .text = "no memory for another filter"};
        return e->code;
    }
    v->link[v->links++] = (struct link){.few = few};
    return 0;
}

static int add_link(struct value *v, uint64_t limit, struct seen_error *e) {
    uint64_t capacity = capacity_of(&v->chain, v->links);
    if (!capacity || v->links == LINKS_MOST) {
        *e = (struct seen_error){.code = SEEN_EREFUSED, .text = "the filter cannot grow any more"};
        return e->code;
    }
    uint32_t width = few_width(capacity, error_of(&v->chain, v->links));
    int bad = width ? add_few(v, capacity, width, limit, e) : add_filter(v, capacity, limit, e);
    if (!bad) v->youngest = 0;
    return bad;
}

int chain_begin(struct value *v, uint64_t seed, uint64_t limit, struct seen_error *e) {
    v->seed = seed;
    return add_link(v, limit, e);
}

uint64_t chain_link_capacity(const struct value *v, uint32_t link) {
    return capacity_of(&v->chain, link);
}

/* -- asking and adding -------------------------------------------------------------------- */

/* The youngest link is asked first. */
static bool has(const struct value *v, seen_digest digest) {
    bool found = false;
    for (uint32_t i = v->links; i > 0 && !found; i--) {
        const struct link *link = &v->link[i - 1];
        uint8_t verdict = SEEN_NEW;
        if (link->filter) seen_query(link->filter, 1, &digest, 0, &verdict);
        found = link->few ? few_has(link->few, digest) : verdict != SEEN_NEW;
    }
    return found;
}

bool chain_has(const struct value *v, const void *item, size_t len) {
    return has(v, seen_hash(item, len, v->seed));
}

/* To the youngest link, which has a place for it. */
static bool link_add(struct value *v, seen_digest digest) {
    struct link *link = &v->link[v->links - 1];
    uint8_t verdict;
    if (link->few)
        return few_add(&v->memory, &link->few, capacity_of(&v->chain, v->links - 1U), digest);
    seen_observe(link->filter, 1, &digest, &verdict);
    return true;
}

enum chain_verdict chain_add(struct value *v, const void *item, size_t len, uint64_t limit,
                             struct seen_error *e) {
    seen_digest digest = seen_hash(item, len, v->seed);
    if (has(v, digest)) return CHAIN_SEEN;
    if (v->youngest >= capacity_of(&v->chain, v->links - 1U)) {
        if (!v->chain.expansion) return CHAIN_FULL;
        if (add_link(v, limit, e)) return CHAIN_FAILED;
    }
    if (!link_add(v, digest)) {
        if (e) *e = (struct seen_error){.code = SEEN_ENOMEM, .text = "the server has no memory"};
        return CHAIN_FAILED;
    }
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

static uint64_t link_items(const struct link *link) {
    struct seen_stats s;
    if (link->few) return link->few->used;
    seen_stats(link->filter, &s);
    return s.unique;
}

void chain_count(struct value *v) {
    v->items = 0;
    for (uint32_t i = 0; i < v->links; i++) {
        v->youngest = link_items(&v->link[i]);
        v->items += v->youngest;
    }
}

int chain_describe(const struct value *v, uint32_t i, char *buf, size_t cap) {
    const struct link *link = &v->link[i];
    uint64_t bytes, probes = 1;
    if (link->few) {
        bytes = few_bytes(link->few);
    } else {
        struct seen_plan plan = seen_plan_of(link->filter);
        bytes = plan.bytes;
        probes = seen_spec_get_count(&plan.spec, "k");
    }
    return snprintf(buf, cap,
                    "bytes:%llu bits:%llu hashes:%llu hashwidth:64 capacity:%llu size:%llu "
                    "ratio:%g",
                    (unsigned long long)bytes, (unsigned long long)bytes * 8,
                    (unsigned long long)probes, (unsigned long long)capacity_of(&v->chain, i),
                    (unsigned long long)link_items(link), error_of(&v->chain, i));
}
