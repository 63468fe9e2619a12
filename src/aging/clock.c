/* clock - the buffer with second chances: nearly lru, for less memory and without moving anything.
 *
 * Idea       A table of C digests, each with a mark that its key came back, and a hand that goes
 *            round.  A new key takes the place of the first unmarked one under the hand; marks that
 *            the hand passes are wiped.  refresh=first marks nothing: first in, first out.
 * Guarantee  No false positives, up to the digest's 128 bits.  False negatives depend on the
 *            stream, within a point of lru's with as many keys on streams like those of the tests.
 * Paper      The clock of Broder, Najork, Wiener, WWW 2003; Deng, Rafiei, SIGMOD 2006, 5.5.
 * Layout     buffer.h, and a byte of flags a slot beside it.
 *
 *                slot:  | digest | next | head |     flag: 0, came back, vacant      25 bytes a key
 *                          a'   b    c'   d            a', c' came back
 *                          ▲ hand: wipes a', takes b for the new key, stops behind it
 *
 * Example    C = 2 on a b a c b: the second a is marked, so c takes the place of b, and the second
 *            b is missed.
 * Cost       about four cache lines a record.  The hand passes each slot it wipes once for the
 *            duplicate that marked it, and at most CHANCES of them in a row, then takes the next.
 */
#include "buffer.h"
#include "error.h"

#include <stddef.h>

#define SLOT    25
#define TOUCHES 4
#define CHANCES 64 /* marks wiped for one new key: no call works long */
#define CHUNK   256

enum flag { PLAIN, CAME_BACK, VACANT };

struct state {
    uint64_t used, vacant; /* slots that exist, and of them those whose key was forgotten */
    uint64_t hand, landmarks;
    uint64_t pad[4];
    char block[];
};

struct dial {
    struct state *s;
    struct buffer b;
    uint8_t *flag;
};

static struct dial dial_of(const struct window *w) {
    uint64_t room = w->plan->spec.lines * 64 / SLOT;
    struct state *s = w->state;
    struct buffer b = {(struct buffer_slot *)(void *)s->block, room, s->used};
    return (struct dial){s, b, (uint8_t *)(b.slot + room)};
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

/* -- work --------------------------------------------------------------------------------- */

static uint32_t step(struct dial *d) {
    uint64_t i = d->s->hand;
    d->s->hand = i + 1 < d->b.room ? i + 1 : 0;
    return (uint32_t)i;
}

/* A slot for a new key: one never used, or the first without a mark. */
static uint32_t make_room(struct dial *d) {
    if (d->s->used < d->b.room) {
        d->b.used = ++d->s->used;
        return (uint32_t)(d->s->used - 1);
    }
    uint32_t i = step(d);
    for (int chance = 0; chance < CHANCES && d->flag[i] == CAME_BACK; chance++) {
        d->flag[i] = PLAIN;
        i = step(d);
    }
    if (d->flag[i] == VACANT)
        d->s->vacant--;
    else
        buffer_take(&d->b, i);
    return i;
}

static void observe(struct window *w, size_t n, const seen_digest *digest, const uint64_t *at,
                    uint8_t *verdict) {
    (void)at;
    struct dial d = dial_of(w);
    bool renew = w->plan->spec.refresh == SEEN_REFRESH_LAST;
    for (size_t i = 0; i < n; i++) {
        if (i % 16 == 0)
            for (size_t j = i; j < n && j < i + 16; j++) buffer_prefetch(&d.b, digest[j]);
        uint32_t slot = buffer_find(&d.b, digest[i]);
        verdict[i] = slot != BUFFER_NONE;
        if (!verdict[i]) {
            slot = make_room(&d);
            buffer_put(&d.b, slot, digest[i]);
            d.flag[slot] = PLAIN;
        } else if (renew) {
            d.flag[slot] = CAME_BACK;
        }
    }
}

/* No times are kept: the youngest age possible is that of the record before. */
static void find(const struct window *w, size_t n, const seen_digest *digest, uint64_t at,
                 uint64_t *age) {
    (void)at;
    struct dial d = dial_of(w);
    for (size_t i = 0; i < n; i++)
        age[i] = buffer_find(&d.b, digest[i]) != BUFFER_NONE ? 1 : SEEN_NEVER;
}

static void landmark(struct window *w, uint64_t at) {
    (void)at;
    struct state *s = w->state;
    if (!s->used) return;
    s->landmarks++;
    s->used = s->vacant = s->hand = 0;
}

static size_t forget(struct window *w, size_t n, const seen_digest *digest, uint64_t at) {
    (void)at;
    struct dial d = dial_of(w);
    size_t gone = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t slot = buffer_find(&d.b, digest[i]);
        if (slot == BUFFER_NONE) continue;
        buffer_take(&d.b, slot);
        d.flag[slot] = VACANT;
        d.s->vacant++;
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

/* -- snapshot: flags and digests in their places; chains are laid anew -------------------- */

struct saved {
    uint64_t used, hand, landmarks;
};

static int save(const struct window *w, struct seen_writer out) {
    struct dial d = dial_of(w);
    struct saved saved = {d.s->used, d.s->hand, d.s->landmarks};
    seen_digest chunk[CHUNK];
    if (out.write(out.ctx, &saved, sizeof saved)) return -1;
    if (saved.used && out.write(out.ctx, d.flag, saved.used)) return -1;
    for (uint64_t i = 0; i < saved.used; i += CHUNK) {
        uint64_t n = bits_min(CHUNK, saved.used - i);
        for (uint64_t j = 0; j < n; j++) {
            bool none = d.flag[i + j] == VACANT;
            chunk[j] =
                none ? (seen_digest){0, 0} : (seen_digest){d.b.slot[i + j].lo, d.b.slot[i + j].hi};
        }
        if (out.write(out.ctx, chunk, n * sizeof *chunk)) return -1;
    }
    return 0;
}

static int load(struct window *w, uint64_t at, struct seen_reader in, uint64_t limit,
                struct seen_error *e) {
    (void)at, (void)limit;
    struct dial d = dial_of(w);
    struct saved saved;
    seen_digest digest;
    if (in.read(in.ctx, &saved, sizeof saved))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends inside its window");
    bool full = saved.used == d.b.room;
    if (saved.used > d.b.room || saved.hand >= d.b.room || (saved.hand && !full) ||
        saved.landmarks >= (uint64_t)1 << 62)
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot's window does not fit its spec");
    if (saved.used && in.read(in.ctx, d.flag, saved.used))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends inside its flags");
    for (uint64_t i = 0; i < saved.used; i++) {
        if (in.read(in.ctx, &digest, sizeof digest))
            return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends inside its table");
        bool vacant = d.flag[i] == VACANT;
        if (d.flag[i] > VACANT || (!vacant && buffer_find(&d.b, digest) != BUFFER_NONE))
            return error_set(e, SEEN_EFORMAT, 0, "the snapshot holds a key twice, or a bad flag");
        d.b.used = i + 1;
        if (!vacant) buffer_put(&d.b, (uint32_t)i, digest);
        d.s->vacant += vacant;
    }
    d.s->used = saved.used;
    d.s->hand = saved.hand;
    d.s->landmarks = saved.landmarks;
    return 0;
}

const struct window_ops aging_clock = {
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
