/* store.c - an exact set of digests with a queue by age, in chunks. */
#include "table/store.h"

#include "base/base.h"
#include "base/bits.h"

#include <string.h>

#define CHUNK    4096 /* entries, and buckets, in a chunk */
#define MAX_KEYS (UINT32_MAX - CHUNK)

struct entry {
    seen_digest digest;
    uint64_t stamp;
    uint32_t older, newer, chain; /* index + 1; 0: none */
};

struct store_chunk {
    struct entry entry[CHUNK];
    uint32_t bucket[CHUNK]; /* index + 1 of its first entry */
};

static struct entry *at(const struct store *s, uint32_t ref) {
    return &s->chunks[(ref - 1) / CHUNK]->entry[(ref - 1) % CHUNK];
}

static uint32_t *bucket(const struct store *s, uint32_t b) {
    return &s->chunks[b / CHUNK]->bucket[b % CHUNK];
}

/* Linear hashing: a bucket that is already split is addressed with one bit more than the others. */
static uint32_t bucket_of(const struct store *s, seen_digest d) {
    uint32_t mask = ~(uint32_t)0 >> __builtin_clz(s->buckets - 1 ? s->buckets - 1 : 1);
    uint32_t b = (uint32_t)(bits_draw(d.lo, d.hi, 0) >> 32) & mask; /* hash=int mixes nothing */
    return b < s->buckets ? b : b & (mask >> 1);
}

static uint32_t lookup(const struct store *s, seen_digest d) {
    if (!s->buckets) return 0;
    uint32_t ref = *bucket(s, bucket_of(s, d));
    for (const struct entry *entry; ref; ref = entry->chain) {
        entry = at(s, ref);
        if (entry->digest.lo == d.lo && entry->digest.hi == d.hi) break;
    }
    return ref;
}

/* -- life --------------------------------------------------------------------------------- */

uint64_t store_bytes(uint64_t keys) {
    uint64_t chunks = bits_max(1, bits_ceil_div(keys, CHUNK)), directory = 8;
    while (directory < chunks) directory *= 2;
    return chunks * sizeof(struct store_chunk) + directory * sizeof(void *);
}

void store_init(struct store *s, const struct seen_allocator *alloc, uint64_t most) {
    *s = (struct store){.alloc = alloc, .kept = UINT64_MAX};
    s->most = (uint32_t)(most && most < MAX_KEYS ? most : MAX_KEYS);
}

void store_free(struct store *s) {
    for (uint32_t i = 0; i < s->chunk_count; i++)
        s->alloc->free(s->alloc->ctx, s->chunks[i], sizeof(struct store_chunk));
    if (s->chunks) s->alloc->free(s->alloc->ctx, s->chunks, s->directory * sizeof(void *));
    store_init(s, s->alloc, s->most);
}

void store_move(struct store *s, const struct seen_allocator *alloc, struct seen_mover mover) {
    size_t bytes = s->directory * sizeof(void *);
    struct store_chunk **moved = bytes ? mover.move(mover.ctx, s->chunks, bytes) : NULL;
    if (moved) s->chunks = moved;
    s->alloc = alloc;
}

void store_empty(struct store *s) {
    uint64_t forgotten = s->forgotten, kept = s->kept;
    store_free(s);
    s->forgotten = forgotten;
    s->kept = kept;
}

/* Adds a chunk, and doubles the directory if it is full. */
static bool grow(struct store *s) {
    if (s->chunk_count == s->directory) {
        uint32_t room = s->directory ? s->directory * 2 : 8;
        struct store_chunk **wider = s->alloc->zalloc(s->alloc->ctx, room * sizeof(void *));
        if (!wider) return false;
        if (s->chunks) {
            memcpy(wider, s->chunks, s->chunk_count * sizeof(void *));
            s->alloc->free(s->alloc->ctx, s->chunks, s->directory * sizeof(void *));
        }
        s->bytes += (room - s->directory) * sizeof(void *);
        s->chunks = wider;
        s->directory = room;
    }
    struct store_chunk *chunk = s->alloc->zalloc(s->alloc->ctx, sizeof *chunk);
    if (!chunk) return false;
    s->chunks[s->chunk_count++] = chunk;
    s->bytes += sizeof *chunk;
    if (!s->buckets) s->buckets = 2;
    return true;
}

/* Adds a bucket.  The keys that now belong to it leave the bucket from which it was split. */
static void split(struct store *s) {
    uint32_t fresh = s->buckets, old = fresh & ~((uint32_t)1 << (31 - __builtin_clz(fresh)));
    s->buckets++;
    uint32_t *link = bucket(s, old), *to = bucket(s, fresh);
    while (*link) {
        struct entry *entry = at(s, *link);
        if (bucket_of(s, entry->digest) == old) {
            link = &entry->chain;
            continue;
        }
        uint32_t moved = *link;
        *link = entry->chain;
        entry->chain = *to;
        *to = moved;
    }
}

/* -- the queue ---------------------------------------------------------------------------- */

static void leave_queue(struct store *s, struct entry *entry) {
    *(entry->older ? &at(s, entry->older)->newer : &s->oldest) = entry->newer;
    *(entry->newer ? &at(s, entry->newer)->older : &s->newest) = entry->older;
}

/* Puts an entry just before `next` in the queue; 0: at the newest end. */
static void join_queue(struct store *s, uint32_t ref, uint64_t stamp, uint32_t next) {
    struct entry *entry = at(s, ref);
    entry->stamp = stamp;
    entry->older = next ? at(s, next)->older : s->newest;
    entry->newer = next;
    *(entry->older ? &at(s, entry->older)->newer : &s->oldest) = ref;
    *(next ? &at(s, next)->older : &s->newest) = ref;
}

static void drop(struct store *s, uint32_t ref) {
    struct entry *entry = at(s, ref);
    uint32_t *link = bucket(s, bucket_of(s, entry->digest));
    while (*link != ref) link = &at(s, *link)->chain;
    *link = entry->chain;
    leave_queue(s, entry);
    entry->chain = s->spare;
    s->spare = ref;
    s->size--;
}

/* At most two keys leave at each record, so no call is slow when many keys expire at once. */
void store_expire(struct store *s, uint64_t least) {
    for (int i = 0; i < 2 && s->oldest && at(s, s->oldest)->stamp < least; i++) drop(s, s->oldest);
}

/* -- test and add ------------------------------------------------------------------------- */

/* Counts a key stamped `stamp` that is lost at `now`, inside the window. */
static void count_forgotten(struct store *s, uint64_t stamp, uint64_t now) {
    s->forgotten++;
    s->kept = bits_min(s->kept, now > stamp ? now - stamp - 1 : 0);
}

/* Finds an entry for one key: one handed back, one not yet used, one of a new chunk, or that of the
 * oldest key.  Returns 0 if the key itself would be the oldest, or if there is no memory at all. */
static uint32_t take(struct store *s, uint64_t stamp, uint64_t now, uint64_t least) {
    bool full = s->size >= s->most;
    if (!s->spare && !full && s->used == s->chunk_count * (uint64_t)CHUNK) full = !grow(s);
    if (full) {
        if (!s->oldest || at(s, s->oldest)->stamp > stamp) return 0;
        uint64_t oldest = at(s, s->oldest)->stamp;
        if (oldest >= least) count_forgotten(s, oldest, now);
        drop(s, s->oldest);
    }
    uint32_t ref = s->spare;
    if (ref)
        s->spare = at(s, ref)->chain;
    else
        ref = ++s->used;
    return ref;
}

/* Adds a key that is not held, before `next` in the queue. */
static void insert(struct store *s, seen_digest d, uint64_t stamp, uint32_t next, uint64_t now,
                   uint64_t least) {
    uint32_t ref = take(s, stamp, now, least);
    if (!ref) {
        count_forgotten(s, stamp, now);
        return;
    }
    if (s->size >= s->buckets && s->buckets < s->chunk_count * (uint64_t)CHUNK) split(s);
    uint32_t *head = bucket(s, bucket_of(s, d));
    at(s, ref)->digest = d;
    at(s, ref)->chain = *head;
    *head = ref;
    join_queue(s, ref, stamp, next);
    s->size++;
}

void store_fetch(const struct store *s, size_t n, const seen_digest *d) {
    if (!s->buckets) return;
    const uint32_t *head[BITS_AHEAD];
    for (size_t i = 0; i < n; i++) __builtin_prefetch(head[i] = bucket(s, bucket_of(s, d[i])), 1);
    for (size_t i = 0; i < n; i++)
        if (*head[i]) __builtin_prefetch(at(s, *head[i]), 1);
}

void store_add(struct store *s, seen_digest d, uint64_t stamp, uint64_t now, uint64_t least) {
    insert(s, d, stamp, 0, now, least);
}

size_t store_observe(struct store *s, size_t n, const seen_digest *d, const uint64_t *stamp,
                     size_t stride, uint64_t reach, bool refresh_first, uint8_t *verdict) {
    size_t changed = 0;
    for (size_t i = 0; i < n; i++) {
        if (i % BITS_AHEAD == 0) store_fetch(s, n - i < BITS_AHEAD ? n - i : BITS_AHEAD, d + i);
        uint64_t now = stamp[i * stride], least = now > reach ? now - reach : 0;
        store_expire(s, least);
        uint32_t ref = lookup(s, d[i]);
        struct entry *entry = ref ? at(s, ref) : NULL;
        verdict[i] = entry && entry->stamp >= least;
        if (verdict[i] && (refresh_first || entry->stamp == now)) continue;
        changed++;
        if (entry) {
            leave_queue(s, entry);
            join_queue(s, ref, now, 0);
        } else {
            insert(s, d[i], now, 0, now, least);
        }
    }
    return changed;
}

bool store_find(const struct store *s, seen_digest d, uint64_t *stamp) {
    uint32_t ref = lookup(s, d);
    if (ref) *stamp = at(s, ref)->stamp;
    return ref != 0;
}

/* Walks the queue from both ends at once, so the smaller part decides the time.  If both parts are
 * large, the keys between are assumed to be spread evenly over time. */
uint64_t store_live(const struct store *s, uint64_t least, uint64_t most) {
    uint32_t old = s->oldest, young = s->newest;
    for (uint64_t n = 0; old; n++) {
        uint64_t first = at(s, old)->stamp, last = at(s, young)->stamp;
        if (first >= least) return s->size - n;
        if (last < least) return n;
        if (n == most)
            return n + (uint64_t)((double)(s->size - 2 * n) * (double)(last - least) /
                                  (double)(last - first));
        old = at(s, old)->newer;
        young = at(s, young)->older;
    }
    return 0;
}

void store_clear_counters(struct store *s) {
    s->forgotten = 0;
    s->kept = UINT64_MAX;
}

bool store_forget(struct store *s, seen_digest d) {
    uint32_t ref = lookup(s, d);
    if (ref) drop(s, ref);
    return ref != 0;
}

/* -- merge, save, load -------------------------------------------------------------------- */

/* A merge in progress.  It walks both queues from their oldest ends, so each key finds its place.
 */
struct merging {
    struct store *into;
    const struct store *from;
    struct store_moment here, there;
    uint64_t shift, left; /* steps */
    uint32_t coming;      /* in `from`: the key to merge next */
    uint32_t next;        /* in `into`: all keys before this one are as old as `coming` or older */
};

/* The stamp of a key of `from`, in the time of `into`. */
static uint64_t translated(const struct merging *g, uint32_t ref) {
    uint64_t stamp = at(g->from, ref)->stamp;
    uint64_t age = g->there.now - bits_min(g->there.now, stamp);
    age = age > g->shift ? age - g->shift : 0;
    return g->here.now > age ? g->here.now - age : 0;
}

/* Merges the key that comes; false if the steps are used up before its place is found. */
static bool merge_key(struct merging *g) {
    const struct entry *theirs = at(g->from, g->coming);
    uint64_t stamp = translated(g, g->coming);
    g->left--;
    if (theirs->stamp < g->there.least || stamp < g->here.least) return true;
    while (g->next && at(g->into, g->next)->stamp <= stamp) {
        g->next = at(g->into, g->next)->newer;
        if (!g->left) return false;
        g->left--;
    }
    uint32_t ref = lookup(g->into, theirs->digest);
    if (!ref) {
        insert(g->into, theirs->digest, stamp, g->next, g->here.now, g->here.least);
    } else if (at(g->into, ref)->stamp < stamp) {
        leave_queue(g->into, at(g->into, ref));
        join_queue(g->into, ref, stamp, g->next);
    }
    return true;
}

/* Goes on where the piece before ended.  The cursor holds two digests, because entries may have
 * been reused since: that of the key to merge next, and that of the key before g->next.  The second
 * key may have expired or been seen again.  Then the walk starts behind the last merged key that is
 * still in its place, or at the oldest end if none is. */
static void resume(struct merging *g, const struct merge_cursor *m) {
    if (!m->place[0]) return;
    g->coming = lookup(g->from, (seen_digest){m->place[1], m->place[2]});
    if (!g->coming) return;
    uint32_t ref = lookup(g->into, (seen_digest){m->place[3], m->place[4]}), back = g->coming;
    uint64_t stamp = translated(g, back);
    uint64_t oldest = g->next ? at(g->into, g->next)->stamp : UINT64_MAX;
    while (!ref || at(g->into, ref)->stamp > stamp) {
        back = at(g->from, back)->older;
        if (!back || stamp < oldest || at(g->from, back)->stamp < g->there.least) return;
        ref = lookup(g->into, at(g->from, back)->digest);
        stamp = translated(g, back);
    }
    g->next = at(g->into, ref)->newer;
}

/* Writes the cursor that resume() reads. */
static void remember(const struct merging *g, struct merge_cursor *m) {
    m->place[0] = 1;
    if (!g->coming) return;
    const struct entry *coming = at(g->from, g->coming);
    uint32_t before = g->next ? at(g->into, g->next)->older : g->into->newest;
    seen_digest behind = before ? at(g->into, before)->digest : (seen_digest){0};
    m->place[1] = coming->digest.lo, m->place[2] = coming->digest.hi;
    m->place[3] = behind.lo, m->place[4] = behind.hi;
}

bool store_merge(struct store *into, struct store_moment here, const struct store *from,
                 struct store_moment there, uint64_t shift, uint64_t most, struct merge_cursor *m) {
    struct merging g = {into, from, here, there, shift, most, from->oldest, into->oldest};
    resume(&g, m);
    while (g.coming && g.left && merge_key(&g)) g.coming = at(from, g.coming)->newer;
    remember(&g, m);
    return !g.coming;
}

struct saved {
    uint64_t forgotten, kept, count;
};

struct record {
    seen_digest digest;
    uint64_t stamp;
};

#define RECORDS 128 /* keys written or read at once; few, because a server waits while they enter */

int store_save(const struct store *s, struct seen_writer w) {
    struct saved saved = {s->forgotten, s->kept, s->size};
    struct record records[RECORDS];
    size_t n = 0;
    int bad = w.write(w.ctx, &saved, sizeof saved);
    for (uint32_t i = s->oldest; i && !bad; i = at(s, i)->newer) {
        records[n++] = (struct record){at(s, i)->digest, at(s, i)->stamp};
        if (n < RECORDS && at(s, i)->newer) continue;
        bad = w.write(w.ctx, records, n * sizeof *records);
        n = 0;
    }
    return bad;
}

int store_load(struct store *s, uint64_t newest, uint64_t back, struct seen_reader r,
               uint64_t limit, struct seen_error *e) {
    struct record records[RECORDS];
    struct saved saved;
    if (r.read(r.ctx, &saved, sizeof saved))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends before its keys");
    uint64_t count = saved.count, last = 0;
    if (saved.forgotten >= MAX_COUNT)
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot's keys forgotten make no sense");
    if (count > s->most || store_bytes(count) > limit)
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot claims %llu keys, more than it may hold",
                         (unsigned long long)count);
    while (count) {
        size_t n = count < RECORDS ? (size_t)count : RECORDS;
        if (r.read(r.ctx, records, n * sizeof *records))
            return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends inside its keys");
        for (size_t i = 0; i < n; i++) {
            if (records[i].stamp + back < last || records[i].stamp > newest ||
                lookup(s, records[i].digest))
                return error_set(e, SEEN_EFORMAT, 0,
                                 "the snapshot's keys are out of order or doubled");
            last = bits_max(last, records[i].stamp);
            uint32_t held = s->size;
            insert(s, records[i].digest, records[i].stamp, 0, last, 0);
            if (s->size == held)
                return error_set(e, SEEN_ENOMEM, 0, "no memory for the snapshot's keys");
        }
        count -= n;
    }
    s->forgotten = saved.forgotten;
    s->kept = saved.kept;
    return 0;
}
