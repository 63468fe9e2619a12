/* counter.c - how many different keys there were, from a sketch of fixed size.
 *
 *     | struct seen_counter | the sketch's cells … | */
#include "count/counter.h"

#include "alloc.h"
#include "error.h"

#include <string.h>

struct seen_counter {
    const struct counter_ops *ops;
    struct seen_allocator alloc;
    uint64_t cells, seed, bytes;
    _Alignas(64) unsigned char state[];
};

static const struct counter_ops *const kinds[] = {&counter_hll, &counter_fm};

int seen_counter_new(seen_counter **out, uint32_t kind, double error, uint64_t seed,
                     const struct seen_allocator *alloc, struct seen_error *e) {
    *out = NULL;
    if (kind > SEEN_FM) return error_set(e, SEEN_EINVAL, 0, "there is no counter of kind %u", kind);
    const struct counter_ops *ops = kinds[kind];
    if (!alloc) alloc = &alloc_default;
    uint64_t cells = error > 0 && error < 1 ? ops->size(error) : 0;
    if (!cells)
        return error_set(e, SEEN_EREFUSED, 0,
                         "a %s counter has no relative standard error of %g; ask for 0.001 to 0.25",
                         ops->name, error);
    uint64_t bytes = sizeof(seen_counter) + ops->bytes(cells);
    seen_counter *c = alloc->zalloc(alloc->ctx, bytes);
    if (!c)
        return error_set(e, SEEN_ENOMEM, 0, "no memory for a counter of %llu bytes",
                         (unsigned long long)bytes);
    c->ops = ops;
    c->alloc = *alloc;
    c->cells = cells;
    c->seed = seed;
    c->bytes = bytes;
    ops->init(c->state, cells, seed);
    *out = c;
    return 0;
}

void seen_counter_free(seen_counter *c) {
    if (!c) return;
    struct seen_allocator alloc = c->alloc;
    alloc.free(alloc.ctx, c, c->bytes);
}

void seen_counter_add(seen_counter *c, size_t n, const seen_digest *digest) {
    c->ops->add(c->state, c->cells, n, digest);
}

double seen_counter_estimate(const seen_counter *c, double *error) {
    if (error) *error = c->ops->error(c->cells);
    return c->ops->estimate(c->state, c->cells);
}

uint64_t seen_counter_bytes(const seen_counter *c) { return c->bytes; }

void seen_counter_clear(seen_counter *c) {
    memset(c->state, 0, c->ops->bytes(c->cells));
    c->ops->init(c->state, c->cells, c->seed);
}

int seen_counter_merge(seen_counter *into, const seen_counter *from, struct seen_error *e) {
    if (into->ops != from->ops || into->cells != from->cells || into->seed != from->seed)
        return error_set(e, SEEN_EMISMATCH, 0,
                         "only counters of the same kind, error and seed can be merged");
    into->ops->merge(into->state, from->state, into->cells);
    return 0;
}
