/* lru - the buffer: the keys used most recently, as many as memory holds.
 *
 * Idea       A table of C digests, and a list of them by last occurrence.  A duplicate moves to the
 *            newest end (refresh=first: stays); a new key takes the place of the oldest.
 * Guarantee  No false positives, up to the digest's 128 bits.  A duplicate is missed if and only if
 *            C or more different keys came since its key did: false negatives are
 *            P(stack distance > C), whatever the stream.
 * Paper      Buffering: Deng, Rafiei, SIGMOD 2006, 2.2 and 5.2; Broder, Najork, Wiener, WWW 2003.
 * Layout     buffer.h, and two links a slot beside it, 32 bytes a key in all.
 *
 *                slot:  | digest | next | head |     link:  | newer | older |   (slot + 1, or 0)
 *                oldest ◄─────────── list ───────────► newest
 *                [vacant][vacant] a   c   b
 *                   └ forgotten keys wait at the oldest end for the next new ones
 *
 * Example    C = 2 on a b a c b: the second a is found and is now newer than b, c takes the place
 *            of b, so the second b is missed.
 * Cost       about six cache lines a record: chain, digest, links; for a new key those of the
 *            oldest as well.
 */
#include "buffer.h"
#include "error.h"

#include <stddef.h>

#define SLOT    32 /* bytes, links included */
#define TOUCHES 6
#define CHUNK   256

struct link {
    uint32_t newer, older;
};

struct state {
    uint64_t used;           /* slots in the list */
    uint64_t vacant;         /* of them, at its oldest end, those without a key */
    uint64_t newest, oldest; /* slot + 1 */
    uint64_t landmarks, pad[3];
    char block[];
};

struct list {
    struct state *s;
    struct buffer b;
    struct link *link;
};

static struct list list_of(const struct window *w) {
    uint64_t room = w->plan->spec.lines * 64 / SLOT;
    struct state *s = w->state;
    struct buffer b = {(struct buffer_slot *)(void *)s->block, room, s->used};
    return (struct list){s, b, (struct link *)(void *)(b.slot + room)};
}

static int plan(struct seen_plan *plan, const struct filter_ops *none, struct seen_error *e) {
    (void)none;
    plan->touches = TOUCHES;
    return buffer_plan(plan, sizeof(struct state), SLOT, e);
}

static uint64_t size(const struct seen_plan *plan, const struct filter_ops *none) {
    (void)none;
    return sizeof(struct state) + plan->spec.lines * 64;
}

static void init(struct window *w) { (void)w; }
static void destroy(struct window *w) { (void)w; }

/* -- the list ----------------------------------------------------------------------------- */

static void leave(struct list *l, uint32_t i) {
    struct link *me = &l->link[i];
    if (me->newer)
        l->link[me->newer - 1].older = me->older;
    else
        l->s->newest = me->older;
    if (me->older)
        l->link[me->older - 1].newer = me->newer;
    else
        l->s->oldest = me->newer;
}

static void enter_newest(struct list *l, uint32_t i) {
    l->link[i] = (struct link){0, (uint32_t)l->s->newest};
    if (l->s->newest)
        l->link[l->s->newest - 1].newer = i + 1;
    else
        l->s->oldest = i + 1;
    l->s->newest = i + 1;
}

static void enter_oldest(struct list *l, uint32_t i) {
    l->link[i] = (struct link){(uint32_t)l->s->oldest, 0};
    if (l->s->oldest)
        l->link[l->s->oldest - 1].older = i + 1;
    else
        l->s->newest = i + 1;
    l->s->oldest = i + 1;
}

/* A slot for a new key: a vacant one, one never used, or the oldest key's. */
static uint32_t make_room(struct list *l) {
    if (!l->s->vacant && l->s->used < l->b.room) {
        l->b.used = ++l->s->used;
        return (uint32_t)(l->s->used - 1);
    }
    uint32_t i = (uint32_t)l->s->oldest - 1;
    if (l->s->vacant)
        l->s->vacant--;
    else
        buffer_take(&l->b, i);
    leave(l, i);
    return i;
}

static void add(struct list *l, seen_digest d) {
    uint32_t i = make_room(l);
    buffer_put(&l->b, i, d);
    enter_newest(l, i);
}

/* -- work --------------------------------------------------------------------------------- */

static void observe(struct window *w, size_t n, const seen_digest *d, const uint64_t *at,
                    uint8_t *verdict) {
    (void)at;
    struct list l = list_of(w);
    bool renew = w->plan->spec.refresh == SEEN_REFRESH_LAST;
    for (size_t i = 0; i < n; i++) {
        if (i % 16 == 0)
            for (size_t j = i; j < n && j < i + 16; j++) buffer_prefetch(&l.b, d[j]);
        uint32_t slot = buffer_find(&l.b, d[i]);
        verdict[i] = slot != BUFFER_NONE;
        if (!verdict[i]) {
            add(&l, d[i]);
        } else if (renew) {
            leave(&l, slot);
            enter_newest(&l, slot);
        }
    }
}

/* No times are kept: the youngest age possible is that of the record before. */
static void find(const struct window *w, size_t n, const seen_digest *d, uint64_t at,
                 uint64_t *age) {
    (void)at;
    struct list l = list_of(w);
    for (size_t i = 0; i < n; i++) age[i] = buffer_find(&l.b, d[i]) != BUFFER_NONE ? 1 : SEEN_NEVER;
}

static void landmark(struct window *w, uint64_t at) {
    (void)at;
    struct state *s = w->state;
    if (!s->used) return;
    s->landmarks++;
    s->used = s->vacant = s->newest = s->oldest = 0;
}

static size_t forget(struct window *w, size_t n, const seen_digest *d, uint64_t at) {
    (void)at;
    struct list l = list_of(w);
    size_t gone = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t slot = buffer_find(&l.b, d[i]);
        if (slot == BUFFER_NONE) continue;
        buffer_take(&l.b, slot);
        leave(&l, slot);
        enter_oldest(&l, slot);
        l.s->vacant++;
        gone++;
    }
    return gone;
}

static void stats(const struct window *w, uint64_t at, struct seen_stats *out) {
    (void)at;
    const struct state *s = w->state;
    out->stored += s->used - s->vacant;
    out->landmarks = bits_max(out->landmarks, s->landmarks);
}

static void clear_counters(struct window *w) { ((struct state *)w->state)->landmarks = 0; }

/* -- snapshot: the digests, oldest first; where they stood makes no difference ------------ */

struct saved {
    uint64_t keys, used, landmarks;
};

static int save(const struct window *w, struct seen_writer out) {
    struct list l = list_of(w);
    seen_digest chunk[CHUNK];
    size_t n = 0;
    struct saved saved = {l.s->used - l.s->vacant, l.s->used > 0, l.s->landmarks};
    if (out.write(out.ctx, &saved, sizeof saved)) return -1;
    uint32_t i = (uint32_t)l.s->oldest;
    for (uint64_t skip = l.s->vacant; skip > 0; skip--) i = l.link[i - 1].newer;
    for (; i; i = l.link[i - 1].newer) {
        chunk[n++] = (seen_digest){l.b.slot[i - 1].lo, l.b.slot[i - 1].hi};
        if (n < CHUNK) continue;
        if (out.write(out.ctx, chunk, sizeof chunk)) return -1;
        n = 0;
    }
    return n ? out.write(out.ctx, chunk, n * sizeof *chunk) : 0;
}

static int load(struct window *w, uint64_t at, struct seen_reader in, uint64_t limit,
                struct seen_error *e) {
    (void)at, (void)limit;
    struct list l = list_of(w);
    struct saved saved;
    seen_digest d;
    if (in.read(in.ctx, &saved, sizeof saved))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends inside its window");
    if (saved.keys > l.b.room || saved.used > 1 || saved.landmarks >= (uint64_t)1 << 62 ||
        (saved.keys && !saved.used))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot's window does not fit its spec");
    l.s->landmarks = saved.landmarks;
    for (uint64_t i = 0; i < saved.keys; i++) {
        if (in.read(in.ctx, &d, sizeof d))
            return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends inside its table");
        if (buffer_find(&l.b, d) != BUFFER_NONE)
            return error_set(e, SEEN_EFORMAT, 0, "the snapshot holds a key twice");
        add(&l, d);
    }
    if (saved.used && !saved.keys) { /* all were forgotten: a landmark still is one */
        enter_oldest(&l, make_room(&l));
        l.s->vacant = 1;
    }
    return 0;
}

const struct window_ops aging_lru = {
    .name = "decaying",
    .plan = plan,
    .size = size,
    .init = init,
    .destroy = destroy,
    .observe = observe,
    .find = find,
    .landmark = landmark,
    .forget = forget,
    .stats = stats,
    .clear_counters = clear_counters,
    .save = save,
    .load = load,
};
