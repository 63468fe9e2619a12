/* counter.c - how many different keys there were: exactly while they are few, from a sketch of
 * fixed size when they are many.
 *
 *     | struct seen_counter | the sketch's cells … |      | digests: the keys so far, while few |
 *
 * A set of digests counts exactly until it takes four times the memory of the sketch.  Then the
 * sketch takes all digests over and the set is freed: the sketch is as it would be without the set.
 * An exact counter (SEEN_COUNTER_SET) has no sketch; its set grows as long as there is memory.
 *
 * A snapshot, little-endian:
 *
 *     "SEEC" | version u32 | kind u32 | flags u32 | cells u64 | seed u64 | slots u64 | used u64
 *            | checksum u64 | slots, or the sketch's cells | checksum u64 */
#include "sketch/counter.h"

#include "base/base.h"
#include "base/bits.h"
#include "base/hash.h"
#include "seen_counter.h"
#include "table/digests.h"

#include <math.h>
#include <string.h>

enum { VERSION = 1, SHARE = 4 }; /* memory of the set over that of the sketch, at most */
enum { FLAG_MANY = 1, FLAG_ZERO = 2, FLAG_SHORT = 4, FLAGS = 7 };

struct seen_counter {
    const struct counter_ops *ops; /* NULL: SEEN_COUNTER_SET */
    struct seen_allocator alloc;
    uint32_t kind;
    bool many;   /* the sketch counts */
    bool missed; /* SEEN_COUNTER_SET: there was no memory for a key */
    uint64_t cells, seed, bytes;
    struct digests few;
    _Alignas(64) unsigned char state[];
};

struct header {
    char magic[4];
    uint32_t version, kind, flags;
    uint64_t cells, seed, slots, used;
};

static const struct counter_ops *const kinds[] = {&counter_hll, &counter_fm, NULL};

/* -- life --------------------------------------------------------------------------------- */

static uint64_t state_bytes(const seen_counter *c) { return c->ops ? c->ops->bytes(c->cells) : 0; }

static uint64_t slots_most(const seen_counter *c) {
    if (!c->ops) return UINT64_MAX;
    uint64_t slots = 1;
    while (2 * slots * sizeof(seen_digest) <= SHARE * state_bytes(c)) slots *= 2;
    return slots;
}

static int make(seen_counter **out, uint32_t kind, uint64_t cells, uint64_t seed,
                const struct seen_allocator *alloc, struct seen_error *e) {
    const struct counter_ops *ops = kinds[kind];
    if (!alloc) alloc = &alloc_default;
    uint64_t bytes = sizeof(seen_counter) + (ops ? ops->bytes(cells) : 0);
    seen_counter *c = alloc->zalloc(alloc->ctx, bytes);
    if (!c)
        return error_set(e, SEEN_ENOMEM, 0, "no memory for a counter of %llu bytes",
                         (unsigned long long)bytes);
    c->ops = ops;
    c->kind = kind;
    c->alloc = *alloc;
    c->cells = cells;
    c->seed = seed;
    c->bytes = bytes;
    if (ops) ops->init(c->state, cells, seed);
    *out = c;
    return 0;
}

int seen_counter_new(seen_counter **out, uint32_t kind, double error, uint64_t seed,
                     const struct seen_allocator *alloc, struct seen_error *e) {
    *out = NULL;
    if (kind > SEEN_COUNTER_SET)
        return error_set(e, SEEN_EINVAL, 0, "there is no counter of kind %u", kind);
    const struct counter_ops *ops = kinds[kind];
    uint64_t cells = ops && error > 0 && error < 1 ? ops->size(error) : 0;
    if (ops && !cells)
        return error_set(e, SEEN_EREFUSED, 0,
                         "a counter of kind %s has no relative standard error of %g; ask for %s to "
                         "0.25",
                         ops->name, error, kind == SEEN_COUNTER_HLL ? "0.0011" : "0.001");
    return make(out, kind, cells, seed, alloc, e);
}

void seen_counter_free(seen_counter *c) {
    if (!c) return;
    struct seen_allocator alloc = c->alloc;
    digests_free(&c->few, &alloc);
    alloc.free(alloc.ctx, c, c->bytes);
}

uint64_t seen_counter_bytes(const seen_counter *c) {
    return c->bytes + c->few.slots * sizeof *c->few.slot;
}

void seen_counter_clear(seen_counter *c) {
    digests_free(&c->few, &c->alloc);
    c->missed = false;
    if (!c->many) return;
    memset(c->state, 0, state_bytes(c));
    c->ops->init(c->state, c->cells, c->seed);
    c->many = false;
}

/* -- work --------------------------------------------------------------------------------- */

static void become_many(seen_counter *c) {
    static const seen_digest zero = {0, 0};
    if (c->few.zero) c->ops->add(c->state, c->cells, 1, &zero);
    for (uint64_t i = 0; i < c->few.slots; i++)
        if (c->few.slot[i].lo || c->few.slot[i].hi)
            c->ops->add(c->state, c->cells, 1, &c->few.slot[i]);
    digests_free(&c->few, &c->alloc);
    c->many = true;
}

void seen_counter_add(seen_counter *c, size_t n, const seen_digest *digest) {
    uint64_t most = c->many ? 0 : slots_most(c);
    for (; !c->many && n; n--, digest++) {
        if (digests_add(&c->few, *digest, most, &c->alloc)) continue;
        if (!c->ops) {
            c->missed = true;
            continue;
        }
        become_many(c);
        break;
    }
    if (c->many) c->ops->add(c->state, c->cells, n, digest);
}

double seen_counter_estimate(const seen_counter *c, double *error) {
    double exact = c->missed ? INFINITY : 0;
    if (error) *error = c->many ? c->ops->error(c->cells) : exact;
    return c->many ? c->ops->estimate(c->state, c->cells) : (double)digests_count(&c->few);
}

int seen_counter_merge(seen_counter *into, const seen_counter *from, struct seen_error *e) {
    static const seen_digest zero = {0, 0};
    if (into->ops != from->ops || into->cells != from->cells || into->seed != from->seed)
        return error_set(e, SEEN_EMISMATCH, 0,
                         "only counters of the same kind, error and seed can be merged");
    into->missed |= from->missed;
    if (from->many && !into->many) become_many(into);
    if (from->many) into->ops->merge(into->state, from->state, into->cells);
    if (from->few.zero) seen_counter_add(into, 1, &zero);
    for (uint64_t i = 0; i < from->few.slots; i++)
        if (from->few.slot[i].lo || from->few.slot[i].hi)
            seen_counter_add(into, 1, &from->few.slot[i]);
    return 0;
}

/* -- snapshots ---------------------------------------------------------------------------- */

int seen_counter_save(const seen_counter *c, struct seen_writer writer, struct seen_error *e) {
    struct stream s = {.writer = writer};
    struct header h = {{'S', 'E', 'E', 'C'}, VERSION, c->kind, 0, c->cells, c->seed, 0, 0};
    h.flags =
        (c->many ? FLAG_MANY : 0) | (c->few.zero ? FLAG_ZERO : 0) | (c->missed ? FLAG_SHORT : 0);
    h.slots = c->few.slots;
    h.used = c->few.used;
    stream_begin(&s);
    int bad = stream_write(&s, &h, sizeof h) || stream_write_sum(&s);
    if (!bad && c->few.slots)
        bad = stream_write(&s, c->few.slot, c->few.slots * sizeof *c->few.slot);
    if (!bad && c->many) bad = stream_write(&s, c->state, state_bytes(c));
    if (bad || stream_write_sum(&s))
        return error_set(e, SEEN_EIO, 0, "the snapshot could not be written");
    return 0;
}

static bool header_sound(const struct header *h) {
    if (h->kind > SEEN_COUNTER_SET || h->flags & ~(uint32_t)FLAGS) return false;
    const struct counter_ops *ops = kinds[h->kind];
    if (ops ? !ops->valid(h->cells) : h->cells != 0) return false;
    if (ops ? h->flags & FLAG_SHORT : h->flags & FLAG_MANY) return false;
    if (h->flags & FLAG_MANY && (h->slots || h->used || h->flags & FLAG_ZERO)) return false;
    return !h->slots || (h->slots >= 16 && !(h->slots & (h->slots - 1)));
}

/* Reads the slots of the exact set, which may be no larger than seen_counter_add makes it. */
static int read_few(struct stream *s, const struct header *h, seen_counter *c,
                    struct seen_error *e) {
    c->few.used = h->used;
    c->few.zero = h->flags & FLAG_ZERO;
    if (h->slots > slots_most(c))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot's header makes no sense");
    if (h->slots) c->few.slot = c->alloc.zalloc(c->alloc.ctx, h->slots * sizeof *c->few.slot);
    if (h->slots && !c->few.slot) return error_set(e, SEEN_ENOMEM, 0, "no memory for a counter");
    c->few.slots = h->slots;
    if (h->slots && stream_read(s, c->few.slot, h->slots * sizeof *c->few.slot))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends in its keys");
    return 0;
}

static int read_body(struct stream *s, const struct header *h, seen_counter *c,
                     struct seen_error *e) {
    c->many = h->flags & FLAG_MANY;
    c->missed = h->flags & FLAG_SHORT;
    int bad = read_few(s, h, c, e);
    if (bad) return bad;
    if (c->many && stream_read(s, c->state, state_bytes(c)))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends in its cells");
    bad = stream_check_sum(s, "table", e);
    if (bad) return bad;
    bool sound = c->many ? c->ops->sound(c->state, c->cells, c->seed) : digests_sound(&c->few);
    return sound ? 0 : error_set(e, SEEN_EFORMAT, 0, "the snapshot's table makes no sense");
}

int seen_counter_load(seen_counter **out, struct seen_reader reader, size_t limit,
                      const struct seen_allocator *alloc, struct seen_error *e) {
    struct stream s = {.reader = reader};
    struct header h;
    seen_counter *c = NULL;
    *out = NULL;
    if (!limit) limit = SIZE_MAX;
    stream_begin(&s);
    int bad =
        stream_read_header(&s, &h, sizeof h, "SEEC", VERSION, "the snapshot is not a counter's", e);
    if (!bad) bad = stream_check_sum(&s, "header", e);
    if (!bad && !header_sound(&h))
        bad = error_set(e, SEEN_EFORMAT, 0, "the snapshot's header makes no sense");
    if (bad) return bad;
    uint64_t cells = kinds[h.kind] ? kinds[h.kind]->bytes(h.cells) : 0;
    if (h.slots > (limit - bits_min(limit, sizeof(seen_counter) + cells)) / sizeof(seen_digest) ||
        sizeof(seen_counter) + cells > limit)
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot needs more than the %zu bytes allowed",
                         limit);
    bad = make(&c, h.kind, h.cells, h.seed, alloc, e);
    if (!bad) bad = read_body(&s, &h, c, e);
    if (bad)
        seen_counter_free(c);
    else
        *out = c;
    return bad;
}
