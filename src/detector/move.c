/* move.c - a detector at another place.
 *
 * Its block points into itself alone, and from the outside only the caller points at it.  So what
 * lay so far into the old block lies as far into the new one. */
#include "detector/block.h"
#include "spec/spec.h"

static void *shifted(const void *p, uintptr_t by) {
    return p ? (void *)((uintptr_t)p + by) : NULL; /* by: modulo 2^64 */
}

static void shift(seen_detector *d, uintptr_t by) {
    for (uint64_t i = 0; i < options_get(&d->plan.spec, OPTION_SHARDS); i++) {
        struct window *w = &d->shard[i];
        w->plan = &d->plan;
        w->state = shifted(w->state, by);
        w->truth = shifted(w->truth, by);
        w->filter.alloc = &d->alloc;
        w->filter.block = shifted(w->filter.block, by);
        w->filter.renewed = shifted(w->filter.renewed, by);
    }
}

void seen_move(seen_detector **place, struct seen_mover mover, const struct seen_allocator *alloc) {
    seen_detector *d = *place;
    uintptr_t old = (uintptr_t)d;
    void *moved = mover.move(mover.ctx, d, d->bytes);
    if (moved) {
        *place = d = moved;
        shift(d, (uintptr_t)d - old);
    }
    if (alloc) d->alloc = *alloc;
    for (uint64_t i = 0; i < options_get(&d->plan.spec, OPTION_SHARDS); i++)
        if (d->shard[i].ops->move) d->shard[i].ops->move(&d->shard[i], mover);
}
