/* shards.c - divides batches among the shards, and moves the block that holds them.
 *
 * Each shard gets its own records, in order and with their clocks.  Records are chained by shard,
 * 256 shards at a time:
 *
 *     shard   2 0 2 1 0        head   1 3 0        next   2 4 - - - */
#include "detector/block.h"

#include "spec/spec.h"
#include "truth/truth.h"

#include <string.h>

enum { CHAINS = 256, NONE = UINT16_MAX };

static void observe(struct window *w, size_t n, const seen_digest *digest, const uint64_t *at,
                    uint8_t *verdict) {
    if (w->truth)
        truth_observe(w, n, digest, at, verdict);
    else
        w->ops->observe(w, n, digest, at, verdict);
}

/* Gives the records of a chain to their shard, in batches. */
static void observe_chain(struct window *w, uint16_t i, const uint16_t *next,
                          const seen_digest *digest, const uint64_t *at, uint8_t *verdict) {
    uint16_t place[DETECTOR_BATCH];
    seen_digest digests[DETECTOR_BATCH];
    uint64_t clocks[DETECTOR_BATCH];
    uint8_t verdicts[DETECTOR_BATCH];
    while (i != NONE) {
        size_t m = 0;
        for (; i != NONE && m < DETECTOR_BATCH; i = next[i], m++) {
            place[m] = i;
            digests[m] = digest[i];
            clocks[m] = at[i];
        }
        observe(w, m, digests, clocks, verdicts);
        for (size_t j = 0; j < m; j++) verdict[place[j]] = verdicts[j];
    }
}

static void observe_chains(seen_detector *d, uint64_t from, uint64_t width, size_t n,
                           const uint16_t *shard, const seen_digest *digest, const uint64_t *at,
                           uint8_t *verdict) {
    uint16_t head[CHAINS + 1],
        next[SHARDS_BATCH]; /* the last chain: the records of all other shards */
    memset(head, 0xff, sizeof head);
    for (size_t i = n; i-- > 0;) {
        uint64_t chain = bits_min(shard[i] - from, width); /* a branch would be mispredicted */
        next[i] = head[chain];
        head[chain] = (uint16_t)i;
    }
    for (uint64_t chain = 0; chain < width; chain++)
        observe_chain(&d->shard[from + chain], head[chain], next, digest, at, verdict);
}

void shards_observe(seen_detector *d, uint64_t from, uint64_t to, size_t n,
                    const seen_digest *digest, const uint64_t *at, uint8_t *verdict) {
    uint16_t shard[SHARDS_BATCH];
    if (from >= to) return;
    if (options_get(&d->plan.spec, OPTION_SHARDS) == 1) {
        for (size_t i = 0; i < n; i += DETECTOR_BATCH)
            observe(&d->shard[0], bits_min(n - i, DETECTOR_BATCH), digest + i * d->plan.digests,
                    at + i, verdict + i);
        return;
    }
    for (size_t done = 0; done < n; done += SHARDS_BATCH) {
        size_t batch = bits_min(n - done, SHARDS_BATCH);
        for (size_t i = 0; i < batch; i++) shard[i] = (uint16_t)shards_of(d, digest[done + i]);
        for (uint64_t s = from; s < to; s += CHAINS)
            observe_chains(d, s, bits_min(to - s, CHAINS), batch, shard, digest + done, at + done,
                           verdict + done);
    }
}

/* -- moving ------------------------------------------------------------------------------- */

/* The block points only into itself, and only the caller points at it.  So every pointer changes by
 * the distance that the block moved, modulo 2^64. */
static void *shifted(const void *p, uintptr_t by) { return p ? (void *)((uintptr_t)p + by) : NULL; }

void seen_move(seen_detector **place, struct seen_mover mover, const struct seen_allocator *alloc) {
    seen_detector *d = *place, *moved = mover.move(mover.ctx, d, d->bytes);
    uintptr_t by = moved ? (uintptr_t)moved - (uintptr_t)d : 0;
    if (moved) *place = d = moved;
    if (alloc) d->alloc = *alloc;
    for (uint64_t i = 0; i < options_get(&d->plan.spec, OPTION_SHARDS); i++) {
        struct window *w = &d->shard[i];
        w->plan = &d->plan;
        w->state = shifted(w->state, by);
        w->truth = shifted(w->truth, by);
        w->filter.alloc = &d->alloc;
        w->filter.shape.spec = &d->plan.spec;
        w->filter.block = shifted(w->filter.block, by);
        w->filter.renewed = shifted(w->filter.renewed, by);
        if (w->ops->move) w->ops->move(w, mover);
    }
}
