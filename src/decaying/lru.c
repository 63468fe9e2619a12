/* lru - the buffer: the keys used most recently, as many as memory holds.
 *
 * Idea       A table of C digests, and a list of them by last occurrence.  A duplicate moves to the
 *            newest end (refresh=first: stays); a new key takes the place of the oldest.
 * Guarantee  No false positives, up to the digest's 128 bits.  A duplicate is missed if and only if
 *            C or more different keys came since its key did: false negatives are
 *            P(stack distance > C), for every stream.
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
#include "base/base.h"
#include "decaying/recent.h"
#include "spec/spec.h"

#define SLOT    32 /* bytes, links included */
#define TOUCHES 6

enum { NEWEST, OLDEST }; /* ends of the list: slot + 1 */

struct link {
    uint32_t newer, older;
};

struct list {
    struct buffer *b;
    struct link *link;
};

static struct list list_of(struct buffer *b) { return (struct list){b, buffer_beside(b)}; }

static int plan(struct seen_plan *plan, struct seen_error *e) {
    plan->touches = TOUCHES;
    return recent_plan(plan, SLOT, e);
}

/* -- the list; vacant slots stand at its oldest end --------------------------------------- */

static void leave(struct list *l, uint32_t i) {
    struct link *me = &l->link[i];
    if (me->newer)
        l->link[me->newer - 1].older = me->older;
    else
        l->b->own[NEWEST] = me->older;
    if (me->older)
        l->link[me->older - 1].newer = me->newer;
    else
        l->b->own[OLDEST] = me->newer;
}

static void enter_newest(struct list *l, uint32_t i) {
    uint32_t before = (uint32_t)l->b->own[NEWEST];
    l->link[i] = (struct link){0, before};
    if (before)
        l->link[before - 1].newer = i + 1;
    else
        l->b->own[OLDEST] = i + 1;
    l->b->own[NEWEST] = i + 1;
}

static void enter_oldest(struct list *l, uint32_t i) {
    uint32_t before = (uint32_t)l->b->own[OLDEST];
    l->link[i] = (struct link){before, 0};
    if (before)
        l->link[before - 1].older = i + 1;
    else
        l->b->own[NEWEST] = i + 1;
    l->b->own[OLDEST] = i + 1;
}

/* A slot for a new key: a vacant one, one never used, or the oldest key's. */
static uint32_t make_room(struct list *l) {
    if (!l->b->vacant && l->b->used < l->b->room) return (uint32_t)l->b->used++;
    uint32_t i = (uint32_t)l->b->own[OLDEST] - 1;
    if (l->b->vacant)
        l->b->vacant--;
    else
        buffer_take(l->b, i);
    leave(l, i);
    return i;
}

/* -- work --------------------------------------------------------------------------------- */

static void observe(struct window *w, size_t n, const seen_digest *d, const uint64_t *at,
                    uint8_t *verdict) {
    (void)at;
    struct list l = list_of(w->state);
    bool renew = options_get(&w->plan->spec, OPTION_REFRESH) == SEEN_REFRESH_LAST;
    for (size_t i = 0; i < n; i++) {
        buffer_prefetch(l.b, i, n, d);
        uint32_t slot = buffer_find(l.b, d[i]);
        verdict[i] = slot != BUFFER_NONE;
        if (!verdict[i]) {
            slot = make_room(&l);
            buffer_put(l.b, slot, d[i]);
            enter_newest(&l, slot);
        } else if (renew) {
            leave(&l, slot);
            enter_newest(&l, slot);
        }
    }
}

static void vacate(struct buffer *b, uint32_t i) {
    struct list l = list_of(b);
    leave(&l, i);
    enter_oldest(&l, i);
}

static size_t forget(struct window *w, size_t n, const seen_digest *d, uint64_t at) {
    (void)at;
    return recent_forget(w, n, d, vacate);
}

/* -- snapshot: the digests, oldest first; where they stood makes no difference ------------ */

struct saved {
    uint64_t keys, used, landmarks;
};

static int save(const struct window *w, struct seen_writer out) {
    struct list l = list_of(w->state);
    struct recent_chunk chunk = {.out = out};
    struct saved saved = {l.b->used - l.b->vacant, l.b->used > 0, l.b->landmarks};
    if (out.write(out.ctx, &saved, sizeof saved)) return -1;
    uint32_t i = (uint32_t)l.b->own[OLDEST];
    for (uint64_t skip = l.b->vacant; skip > 0; skip--) i = l.link[i - 1].newer;
    for (; i; i = l.link[i - 1].newer) {
        seen_digest d = {l.b->slot[i - 1].lo, l.b->slot[i - 1].hi};
        if (recent_save_key(&chunk, d)) return -1;
    }
    return recent_save_rest(&chunk);
}

static int load(struct window *w, uint64_t at, struct seen_reader in, uint64_t limit,
                struct seen_error *e) {
    (void)at, (void)limit;
    struct list l = list_of(w->state);
    struct saved saved;
    if (in.read(in.ctx, &saved, sizeof saved))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends inside its window");
    if (saved.keys > l.b->room || saved.used > 1 || saved.landmarks >= MAX_COUNT ||
        (saved.keys && !saved.used))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot's window does not fit its spec");
    l.b->landmarks = saved.landmarks;
    for (uint32_t i = 0; i < saved.keys; i++) {
        int bad = recent_load_slot(l.b, false, in, e);
        if (bad) return bad;
        enter_newest(&l, i);
    }
    if (saved.used && !saved.keys) { /* all were forgotten: a landmark still is one */
        enter_oldest(&l, make_room(&l));
        l.b->vacant = 1;
    }
    return 0;
}

const struct window_ops aging_lru = {
    .name = "decaying",
    .plan = plan,
    .forecast = recent_forecast,
    .size = recent_size,
    .init = recent_init,
    .observe = observe,
    .find = recent_ages,
    .landmark = recent_landmark,
    .forget = forget,
    .stats = recent_stats,
    .clear_counters = recent_clear_counters,
    .save = save,
    .load = load,
};
