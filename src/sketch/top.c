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
 * Snapshot   "SEET" | version u32 | k u64 | used u64 | checksum u64 | counter[used] | checksum u64,
 *            little-endian; the heap follows from the places of the counters.
 */
#include "base/base.h"
#include "base/bits.h"
#include "base/hash.h"
#include "seen_top.h"

#include <stdbool.h>
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

enum { VERSION = 1, REACH = 4096 }; /* REACH: slots that a search visits at most */

struct header {
    char magic[4];
    uint32_t version;
    uint64_t k, used;
};

static struct counter *counters(const seen_top *t) {
    return (struct counter *)((uintptr_t)t + t->counters_at);
}
static uint32_t *heap(const seen_top *t) { return (uint32_t *)((uintptr_t)t + t->heap_at); }
static uint32_t *table(const seen_top *t) { return (uint32_t *)((uintptr_t)t + t->index_at); }

/* -- life --------------------------------------------------------------------------------- */

static bool possible(uint64_t k) { return k >= 1 && k <= (uint64_t)1 << 30; }

/* The layout of a block with k counters. */
static seen_top geometry(uint64_t k) {
    seen_top t = {.k = k, .slots = 2, .counters_at = (sizeof(seen_top) + 63) / 64 * 64};
    while (t.slots < 2 * k) t.slots *= 2;
    t.heap_at = t.counters_at + k * sizeof(struct counter);
    t.index_at = t.heap_at + k * 4;
    t.bytes = t.index_at + t.slots * 4;
    return t;
}

int seen_top_new(seen_top **out, uint64_t k, const struct seen_allocator *alloc,
                 struct seen_error *e) {
    *out = NULL;
    if (!possible(k)) return error_set(e, SEEN_EREFUSED, 0, "give between 1 and 2^30 counters");
    if (!alloc) alloc = &alloc_default;
    seen_top plan = geometry(k), *t = alloc->zalloc(alloc->ctx, plan.bytes);
    if (!t)
        return error_set(e, SEEN_ENOMEM, 0, "no memory for %llu counters", (unsigned long long)k);
    *t = plan;
    t->alloc = *alloc;
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
    return bits_draw(key.lo, key.hi, DRAW_TOP) & (t->slots - 1);
}

/* The slot of a key, or the empty slot that it would get. */
static uint64_t probe(const seen_top *t, seen_digest key) {
    const uint32_t *index = table(t);
    uint64_t i = home(t, key);
    for (; index[i]; i = (i + 1) & (t->slots - 1)) {
        const struct counter *c = &counters(t)[index[i] - 1];
        if (c->key.lo == key.lo && c->key.hi == key.hi) break;
    }
    return i;
}

/* -- the heap ----------------------------------------------------------------------------- */

static uint64_t count_at(const seen_top *t, uint64_t place) {
    return counters(t)[heap(t)[place]].count;
}

static void put(seen_top *t, uint64_t place, uint32_t counter) {
    heap(t)[place] = counter;
    counters(t)[counter].place = place;
}

/* Moves the counter at `place`, which has grown, down to its place. */
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

/* -- work --------------------------------------------------------------------------------- */

/* Gives a key one of the counters not yet used.  It rises in the heap, because its count is 1. */
static uint32_t take_new(seen_top *t, seen_digest key) {
    uint32_t c = (uint32_t)t->used++;
    uint64_t place = c;
    counters(t)[c] = (struct counter){.key = key, .count = 1};
    for (; place > 0 && count_at(t, (place - 1) / 2) > 1; place = (place - 1) / 2)
        put(t, place, heap(t)[(place - 1) / 2]);
    put(t, place, c);
    return c;
}

/* Gives a key the least counter.  Keys behind the hole in the index that could no longer be found
 * move up. */
static uint32_t take_least(seen_top *t, seen_digest key) {
    uint32_t c = heap(t)[0];
    struct counter *least = &counters(t)[c];
    uint32_t *index = table(t);
    uint64_t mask = t->slots - 1, hole = probe(t, least->key);
    for (uint64_t i = (hole + 1) & mask; index[i]; i = (i + 1) & mask) {
        uint64_t from = home(t, counters(t)[index[i] - 1].key);
        if (((i - from) & mask) < ((i - hole) & mask)) continue;
        index[hole] = index[i];
        hole = i;
    }
    index[hole] = 0;
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

uint64_t seen_top_bound(const seen_top *t, seen_digest key) {
    uint32_t held = table(t)[probe(t, key)];
    if (held) return counters(t)[held - 1].count;
    return t->used < t->k ? 0 : count_at(t, 0);
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

/* -- snapshots ---------------------------------------------------------------------------- */

int seen_top_save(const seen_top *t, struct seen_writer writer, struct seen_error *e) {
    struct stream s = {.writer = writer};
    struct header h = {{'S', 'E', 'E', 'T'}, VERSION, t->k, t->used};
    stream_begin(&s);
    int bad = stream_write(&s, &h, sizeof h) || stream_write_sum(&s) ||
              (t->used && stream_write(&s, counters(t), t->used * sizeof(struct counter)));
    if (bad || stream_write_sum(&s))
        return error_set(e, SEEN_EIO, 0, "the snapshot could not be written");
    return 0;
}

static int read_header(struct stream *s, struct header *h, size_t limit, struct seen_error *e) {
    int bad = stream_read_header(s, h, sizeof *h, "SEET", VERSION,
                                 "the snapshot is not one of heavy hitters", e);
    if (!bad) bad = stream_check_sum(s, "header", e);
    if (bad) return bad;
    if (!possible(h->k) || h->used > h->k)
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot's header makes no sense");
    if (limit && geometry(h->k).bytes > limit)
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot needs more than the %zu bytes allowed",
                         limit);
    return 0;
}

/* Puts a loaded counter into heap and index; false: one of its places is taken. */
static bool settle(seen_top *t, uint32_t c) {
    const struct counter *x = &counters(t)[c];
    if (x->place >= t->used || x->error >= x->count || x->count > MAX_COUNT) return false;
    uint64_t slot = probe(t, x->key), far = (slot - home(t, x->key)) & (t->slots - 1);
    if (table(t)[slot] || far > REACH || heap(t)[x->place]) return false;
    table(t)[slot] = c + 1;
    heap(t)[x->place] = c + 1; /* 0 means free until all have settled */
    return true;
}

/* Builds heap and index from the loaded counters; false: no stream leads to them. */
static bool settle_all(seen_top *t) {
    for (uint32_t c = 0; c < t->used; c++)
        if (!settle(t, c)) return false;
    for (uint64_t i = 0; i < t->used; i++) heap(t)[i]--;
    for (uint64_t i = 1; i < t->used; i++)
        if (count_at(t, (i - 1) / 2) > count_at(t, i)) return false;
    return true;
}

int seen_top_load(seen_top **out, struct seen_reader reader, size_t limit,
                  const struct seen_allocator *alloc, struct seen_error *e) {
    struct stream s = {.reader = reader};
    struct header h;
    seen_top *t = NULL;
    *out = NULL;
    stream_begin(&s);
    int bad = read_header(&s, &h, limit, e);
    if (bad || (bad = seen_top_new(&t, h.k, alloc, e))) return bad;
    t->used = h.used;
    if (h.used && stream_read(&s, counters(t), h.used * sizeof(struct counter)))
        bad = error_set(e, SEEN_EFORMAT, 0, "the snapshot ends in its counters");
    if (!bad) bad = stream_check_sum(&s, "table", e);
    if (!bad && !settle_all(t))
        bad = error_set(e, SEEN_EFORMAT, 0, "the snapshot's counters make no sense");
    if (bad)
        seen_top_free(t);
    else
        *out = t;
    return bad;
}
