/* top - Space-Saving: the most frequent keys of a stream, with k counters.
 *
 * Guarantee  After N records every key that came more than N/k times has a counter; a counter is
 *            never below its key's true count and at most `error` above it, error <= N/k.
 * Paper      Metwally, Agrawal, El Abbadi, "Efficient computation of frequent and top-k elements in
 *            data streams", ICDT 2005.
 * Idea       A key that has a counter is counted.  One that has none takes over the least counter
 *            and counts on from there: what that counter held is its error.
 * Layout     One block:
 *
 *            | struct seen_top | counter[k]: digest, count, error, place | heap[k] | index[slots] |
 *                                 heap: counters by count, the least first
 *                                 index: digest -> counter + 1, 0 empty, linear probing
 *
 * Example    k = 2, stream a b a c: a 2, b 1; c takes over b's counter: c 2, error 1.
 * Cost       A probe or two of the index and at most log2 k steps in the heap.
 */
#include "alloc.h"
#include "bits.h"
#include "error.h"

#include <stdlib.h>
#include <string.h>

struct counter {
    seen_digest key;
    uint64_t count, error;
    uint64_t place; /* in the heap */
};

struct seen_top {
    struct seen_allocator alloc;
    uint64_t bytes, k, used, slots; /* slots: a power of two, at least 2k */
    uint64_t counters_at, heap_at, index_at;
};

enum { DRAW = 66 };

static struct counter *counters(const seen_top *t) {
    return (struct counter *)((uintptr_t)t + t->counters_at);
}
static uint32_t *heap(const seen_top *t) { return (uint32_t *)((uintptr_t)t + t->heap_at); }
static uint32_t *table(const seen_top *t) { return (uint32_t *)((uintptr_t)t + t->index_at); }

/* -- life --------------------------------------------------------------------------------- */

int seen_top_new(seen_top **out, uint64_t k, const struct seen_allocator *alloc,
                 struct seen_error *e) {
    *out = NULL;
    if (k < 1 || k > (uint64_t)1 << 30)
        return error_set(e, SEEN_EREFUSED, 0, "give between 1 and 2^30 counters");
    if (!alloc) alloc = &alloc_default;
    uint64_t slots = 2, head = (sizeof(seen_top) + 63) / 64 * 64;
    while (slots < 2 * k) slots *= 2;
    uint64_t heap_at = head + k * sizeof(struct counter), index_at = heap_at + k * 4;
    uint64_t bytes = index_at + slots * 4;
    seen_top *t = alloc->zalloc(alloc->ctx, bytes);
    if (!t)
        return error_set(e, SEEN_ENOMEM, 0, "no memory for %llu counters", (unsigned long long)k);
    *t = (seen_top){*alloc, bytes, k, 0, slots, head, heap_at, index_at};
    *out = t;
    return 0;
}

void seen_top_free(seen_top *t) {
    if (!t) return;
    struct seen_allocator alloc = t->alloc;
    alloc.free(alloc.ctx, t, t->bytes);
}

void seen_top_clear(seen_top *t) {
    memset(table(t), 0, t->slots * 4);
    t->used = 0;
}

uint64_t seen_top_bytes(const seen_top *t) { return t->bytes; }

/* -- the index ---------------------------------------------------------------------------- */

static uint64_t home(const seen_top *t, seen_digest key) {
    return bits_draw(key.lo, key.hi, DRAW) & (t->slots - 1);
}

/* Where the key is, or would be. */
static uint64_t probe(const seen_top *t, seen_digest key) {
    const uint32_t *index = table(t);
    uint64_t i = home(t, key);
    for (; index[i]; i = (i + 1) & (t->slots - 1)) {
        const struct counter *c = &counters(t)[index[i] - 1];
        if (c->key.lo == key.lo && c->key.hi == key.hi) break;
    }
    return i;
}

/* Takes a key out; those behind it that could no longer be found move up. */
static void drop(seen_top *t, seen_digest key) {
    uint32_t *index = table(t);
    uint64_t mask = t->slots - 1, hole = probe(t, key);
    for (uint64_t i = (hole + 1) & mask; index[i]; i = (i + 1) & mask) {
        uint64_t from = home(t, counters(t)[index[i] - 1].key);
        if (((i - from) & mask) < ((i - hole) & mask)) continue;
        index[hole] = index[i];
        hole = i;
    }
    index[hole] = 0;
}

/* -- the heap ----------------------------------------------------------------------------- */

static uint64_t count_at(const seen_top *t, uint64_t place) {
    return counters(t)[heap(t)[place]].count;
}

static void put(seen_top *t, uint64_t place, uint32_t counter) {
    heap(t)[place] = counter;
    counters(t)[counter].place = place;
}

/* A counter at `place` has grown. */
static void sink(seen_top *t, uint64_t place) {
    uint32_t moving = heap(t)[place];
    uint64_t count = counters(t)[moving].count;
    for (;;) {
        uint64_t child = 2 * place + 1;
        if (child >= t->used) break;
        if (child + 1 < t->used && count_at(t, child + 1) < count_at(t, child)) child++;
        if (count_at(t, child) >= count) break;
        put(t, place, heap(t)[child]);
        place = child;
    }
    put(t, place, moving);
}

/* A counter of 1 comes last and belongs among the least. */
static void rise(seen_top *t, uint64_t place) {
    uint32_t moving = heap(t)[place];
    uint64_t count = counters(t)[moving].count;
    for (; place > 0 && count_at(t, (place - 1) / 2) > count; place = (place - 1) / 2)
        put(t, place, heap(t)[(place - 1) / 2]);
    put(t, place, moving);
}

/* -- work --------------------------------------------------------------------------------- */

static uint32_t take_new(seen_top *t, seen_digest key) {
    uint32_t c = (uint32_t)t->used++;
    counters(t)[c] = (struct counter){.key = key, .count = 1, .place = c};
    heap(t)[c] = c;
    rise(t, c);
    return c;
}

static uint32_t take_least(seen_top *t, seen_digest key) {
    uint32_t c = heap(t)[0];
    struct counter *least = &counters(t)[c];
    drop(t, least->key);
    least->key = key;
    least->error = least->count++;
    sink(t, 0);
    return c;
}

size_t seen_top_add(seen_top *t, seen_digest key, int *taken) {
    uint64_t at = probe(t, key);
    uint32_t held = table(t)[at];
    *taken = !held;
    if (held) {
        struct counter *c = &counters(t)[held - 1];
        c->count++;
        sink(t, c->place);
        return held - 1;
    }
    uint32_t c = t->used < t->k ? take_new(t, key) : take_least(t, key);
    table(t)[probe(t, key)] = c + 1;
    return c;
}

static int greater(const void *a, const void *b) {
    const struct seen_heavy *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    if (x->error != y->error) return x->error > y->error ? 1 : -1;
    return x->counter > y->counter ? 1 : -1;
}

size_t seen_top_list(const seen_top *t, struct seen_heavy *out) {
    for (uint64_t i = 0; i < t->used; i++) {
        const struct counter *c = &counters(t)[i];
        out[i] = (struct seen_heavy){c->key, c->count, c->error, i};
    }
    qsort(out, t->used, sizeof *out, greater);
    return t->used;
}
