/* confirm.c - keeps the keys of duplicates and confirms later ones. */
#include "detector/confirm.h"

#include "base/base.h"
#include "base/bits.h"
#include "spec/spec.h"
#include "table/buffer.h"

#define CHUNK 128 /* keys written at once */

/* What the cache keeps in buffer.own: the slot that the next key enters, which in a full cache
 * holds the oldest key; the number of records confirmed. */
enum own { NEXT, CONFIRMED };

struct cache {
    struct buffer *b;
    uint64_t *stamp;
};

uint64_t confirm_bytes(uint64_t keys) {
    uint64_t each = sizeof(struct buffer_slot) + sizeof(uint64_t);
    return keys ? sizeof(struct buffer) + (keys * each + 63) / 64 * 64 : 0;
}

static struct cache cache_of(const seen_detector *d) {
    char *end = (char *)(uintptr_t)d + d->bytes;
    struct buffer *b =
        (struct buffer *)(void *)(end - confirm_bytes(options_get(&d->plan.spec, OPTION_VERIFY)));
    return (struct cache){b, buffer_beside(b)};
}

void confirm_init(seen_detector *d) {
    uint64_t keys = options_get(&d->plan.spec, OPTION_VERIFY);
    ((struct buffer *)(void *)((char *)d + d->bytes - confirm_bytes(keys)))->room = keys;
}

int confirm_plan(const struct seen_plan *plan, struct seen_error *e) {
    if (!options_has(&plan->spec, OPTION_VERIFY)) return 0;
    if (plan->traits & SEEN_NO_FP)
        return error_set(e, SEEN_EREFUSED, 0,
                         "filter=%s makes no false positives, so there is nothing to confirm; "
                         "leave verify= out",
                         plan->filter);
    if (options_get(&plan->spec, OPTION_REFRESH) == SEEN_REFRESH_FIRST)
        return error_set(e, SEEN_EREFUSED, 0,
                         "verify= confirms that a key came before, and under refresh=first only "
                         "accepted records count; use refresh=last");
    return 0;
}

/* -- the window --------------------------------------------------------------------------- */

/* The earliest clock that is certainly inside the window of a record at `at`. */
static uint64_t since(const seen_detector *d, uint64_t at) {
    const struct seen_spec *s = &d->plan.spec;
    const struct window *w = &d->shard[0]; /* all shards have the same clock and landmarks */
    if (s->window == SEEN_WINDOW_LANDMARK) return w->ops->since(w, at);
    if (s->window == SEEN_WINDOW_DECAYING) return 0;
    uint64_t reach = s->unit == SEEN_UNIT_RECORDS ? s->length : s->length - 1;
    return at - bits_min(at, reach);
}

/* Whether a key has a report later than `least`. */
static bool reported(const struct cache *c, uint32_t slot, uint64_t least) {
    return slot != BUFFER_NONE && c->stamp[slot] > least;
}

/* -- work --------------------------------------------------------------------------------- */

/* Enters a key that is not there, into a new slot or into that of the key that entered first. */
static uint32_t enter(struct cache *c, seen_digest d) {
    uint32_t slot = (uint32_t)c->b->own[NEXT];
    if (c->b->used < c->b->room)
        c->b->used++;
    else
        buffer_take(c->b, slot);
    buffer_put(c->b, slot, d);
    c->b->own[NEXT] = slot + 1 == c->b->room ? 0 : slot + 1;
    return slot;
}

void confirm_observe(seen_detector *d, size_t n, const seen_digest *digest, const uint64_t *at,
                     uint8_t *verdict) {
    struct cache c = cache_of(d);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = i; i % BITS_AHEAD == 0 && j < n && j < i + BITS_AHEAD; j++)
            if (verdict[j] != SEEN_NEW) buffer_fetch(c.b, digest[j]);
        if (verdict[i] == SEEN_NEW) continue;
        uint32_t slot = buffer_find(c.b, digest[i]);
        if (reported(&c, slot, since(d, at[i]))) {
            verdict[i] = SEEN_CONFIRMED;
            c.b->own[CONFIRMED]++;
        }
        if (slot == BUFFER_NONE) slot = enter(&c, digest[i]);
        c.stamp[slot] = at[i] + 1;
    }
}

void confirm_query(const seen_detector *d, size_t n, const seen_digest *digest, uint64_t at,
                   uint64_t within, uint8_t *verdict) {
    struct cache c = cache_of(d);
    uint64_t least = bits_max(since(d, at), at - bits_min(at, within));
    for (size_t i = 0; i < n; i++)
        if (verdict[i] != SEEN_NEW && reported(&c, buffer_find(c.b, digest[i]), least))
            verdict[i] = SEEN_CONFIRMED;
}

void confirm_landmark(seen_detector *d) {
    struct cache c = cache_of(d);
    c.b->used = c.b->own[NEXT] = 0;
}

/* The slot stays occupied until its turn comes. */
void confirm_forget(seen_detector *d, size_t n, const seen_digest *digest) {
    struct cache c = cache_of(d);
    for (size_t i = 0; i < n; i++) {
        uint32_t slot = buffer_find(c.b, digest[i]);
        if (slot != BUFFER_NONE) c.stamp[slot] = 0;
    }
}

uint64_t confirm_count(const seen_detector *d) { return cache_of(d).b->own[CONFIRMED]; }

void confirm_clear_counters(seen_detector *d) { cache_of(d).b->own[CONFIRMED] = 0; }

/* -- merge -------------------------------------------------------------------------------- */

/* The i-th slot in the order in which keys entered. */
static uint32_t by_age(const struct cache *c, uint64_t i) {
    uint64_t first = c->b->used == c->b->room ? c->b->own[NEXT] : 0;
    return (uint32_t)(first + i < c->b->room ? first + i : first + i - c->b->room);
}

/* The stamp of a report that at `at` is as old as the report `stamp` at from_at; 0 if it would be
 * before clock 0.  Reports of landmark and decaying windows count as if they came now. */
static uint64_t translate(const seen_detector *d, uint64_t stamp, uint64_t from_at, uint64_t at) {
    uint32_t window = d->plan.spec.window;
    uint64_t age =
        window == SEEN_WINDOW_LANDMARK || window == SEEN_WINDOW_DECAYING ? 0 : from_at + 1 - stamp;
    return age > at ? 0 : at + 1 - age;
}

void confirm_add_counters(seen_detector *into, const seen_detector *from) {
    cache_of(into).b->own[CONFIRMED] += confirm_count(from);
}

bool confirm_merge(seen_detector *into, uint64_t at, const seen_detector *from, uint64_t from_at,
                   uint64_t most, struct merge_cursor *m) {
    struct cache c = cache_of(into), other = cache_of(from);
    uint64_t least = since(from, from_at), i = bits_min(m->place[0], other.b->used);
    uint64_t end = i + bits_min(most, other.b->used - i);
    for (; i < end; i++) {
        uint32_t theirs = by_age(&other, i);
        uint64_t stamp = translate(into, other.stamp[theirs], from_at, at);
        if (!stamp || !reported(&other, theirs, least)) continue;
        seen_digest d = {other.b->slot[theirs].lo, other.b->slot[theirs].hi};
        uint32_t slot = buffer_find(c.b, d);
        bool there = slot != BUFFER_NONE;
        if (!there) slot = enter(&c, d);
        c.stamp[slot] = there ? bits_max(c.stamp[slot], stamp) : stamp;
    }
    m->place[0] = end;
    return end == other.b->used;
}

/* -- snapshot: the keys in the order in which they entered -------------------------------- */

struct saved {
    uint64_t keys, confirmed;
};

struct saved_key {
    seen_digest digest;
    uint64_t stamp;
};

int confirm_save(const seen_detector *d, struct seen_writer out) {
    struct cache c = cache_of(d);
    struct saved saved = {c.b->used, c.b->own[CONFIRMED]};
    struct saved_key chunk[CHUNK];
    size_t n = 0;
    if (out.write(out.ctx, &saved, sizeof saved)) return -1;
    for (uint64_t i = 0; i < c.b->used; i++) {
        uint32_t slot = by_age(&c, i);
        chunk[n++] = (struct saved_key){{c.b->slot[slot].lo, c.b->slot[slot].hi}, c.stamp[slot]};
        if (n < CHUNK) continue;
        if (out.write(out.ctx, chunk, sizeof chunk)) return -1;
        n = 0;
    }
    return n ? out.write(out.ctx, chunk, n * sizeof *chunk) : 0;
}

int confirm_load(seen_detector *d, struct seen_reader in, struct seen_error *e) {
    struct cache c = cache_of(d);
    struct saved saved;
    struct saved_key key;
    if (in.read(in.ctx, &saved, sizeof saved))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends before its cache");
    if (saved.keys > c.b->room || saved.confirmed > d->counters.duplicates)
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot's cache does not fit its spec");
    for (uint64_t i = 0; i < saved.keys; i++) {
        if (in.read(in.ctx, &key, sizeof key))
            return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends inside its cache");
        if (key.stamp > detector_now(d, 0) + 1 || !buffer_load(c.b, (uint32_t)i, key.digest))
            return error_set(e, SEEN_EFORMAT, 0,
                             "the snapshot's cache holds a key twice, or one from the future");
        c.stamp[i] = key.stamp;
    }
    c.b->used = saved.keys;
    c.b->own[NEXT] = saved.keys == c.b->room ? 0 : saved.keys;
    c.b->own[CONFIRMED] = saved.confirmed;
    return 0;
}
