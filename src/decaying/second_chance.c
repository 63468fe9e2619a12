/* second_chance - the buffer with second chances: nearly lru, in less memory, without moving
 * entries.
 *
 * Idea       A table of C digests, each with a mark that its key came back, and a hand that goes
 *            round.  A new key takes the place of the first unmarked key that the hand meets.  The
 *            hand wipes the marks that it passes.  refresh=first sets no marks: first in, first
 *            out.
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
#include "decaying/recent.h"

#include "base/base.h"
#include "spec/spec.h"

#include <math.h>
#include <string.h>

#define SLOT    25
#define TOUCHES 4
#define CHANCES 64 /* marks wiped for one new key: no call works long */

enum { HAND }; /* the next slot it passes */
enum flag { PLAIN, CAME_BACK, VACANT };

static int plan(struct seen_plan *plan, struct seen_error *e) {
    plan->touches = TOUCHES;
    return recent_plan(plan, SLOT, e);
}

/* -- work --------------------------------------------------------------------------------- */

static uint32_t step(struct buffer *b) {
    uint64_t i = b->own[HAND];
    b->own[HAND] = i + 1 < b->room ? i + 1 : 0;
    return (uint32_t)i;
}

/* Finds a slot for a new key: one never used, or the first without a mark. */
static uint32_t make_room(struct buffer *b, uint8_t *flag) {
    if (b->used < b->room) return (uint32_t)b->used++;
    uint32_t i = step(b);
    for (int chance = 0; chance < CHANCES && flag[i] == CAME_BACK; chance++) {
        flag[i] = PLAIN;
        i = step(b);
    }
    if (flag[i] == VACANT)
        b->vacant--;
    else
        buffer_take(b, i);
    return i;
}

static void observe(struct window *w, size_t n, const seen_digest *d, const uint64_t *at,
                    uint8_t *verdict) {
    (void)at;
    struct buffer *b = w->state;
    uint8_t *flag = buffer_beside(b);
    bool renew = options_get(&w->plan->spec, OPTION_REFRESH) == SEEN_REFRESH_LAST;
    for (size_t i = 0; i < n; i++) {
        buffer_prefetch(b, i, n, d);
        uint32_t slot = buffer_find(b, d[i]);
        verdict[i] = slot != BUFFER_NONE;
        if (!verdict[i]) {
            slot = make_room(b, flag);
            buffer_put(b, slot, d[i]);
            flag[slot] = PLAIN;
        } else if (renew) {
            flag[slot] = CAME_BACK;
        }
    }
}

static void vacate(struct buffer *b, uint32_t i) { ((uint8_t *)buffer_beside(b))[i] = VACANT; }

static size_t forget(struct window *w, size_t n, const seen_digest *d, uint64_t at) {
    (void)at;
    return recent_forget(w, n, d, vacate);
}

/* -- snapshot: flags and digests in their places; loading builds the chains again --------- */

struct saved {
    uint64_t used, hand, landmarks;
};

static int save(const struct window *w, struct seen_writer out) {
    struct buffer *b = w->state;
    const uint8_t *flag = buffer_beside(b);
    struct recent_chunk chunk = {.out = out};
    struct saved saved = {b->used, b->own[HAND], b->landmarks};
    if (out.write(out.ctx, &saved, sizeof saved)) return -1;
    if (b->used && out.write(out.ctx, flag, b->used)) return -1;
    for (uint64_t i = 0; i < b->used; i++) {
        seen_digest none = {0, 0}, d = {b->slot[i].lo, b->slot[i].hi};
        if (recent_save_key(&chunk, flag[i] == VACANT ? none : d)) return -1;
    }
    return recent_save_rest(&chunk);
}

static int load(struct window *w, uint64_t at, struct seen_reader in, uint64_t limit,
                struct seen_error *e) {
    (void)at, (void)limit;
    struct buffer *b = w->state;
    uint8_t *flag = buffer_beside(b);
    struct saved saved;
    if (in.read(in.ctx, &saved, sizeof saved))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends inside its window");
    bool full = saved.used == b->room;
    if (saved.used > b->room || saved.hand >= b->room || (saved.hand && !full) ||
        saved.landmarks >= MAX_COUNT)
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot's window does not fit its spec");
    if (saved.used && in.read(in.ctx, flag, saved.used))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends inside its flags");
    b->own[HAND] = saved.hand;
    b->landmarks = saved.landmarks;
    for (uint64_t i = 0; i < saved.used; i++) {
        if (flag[i] > VACANT) return error_set(e, SEEN_EFORMAT, 0, "the snapshot holds a bad flag");
        int bad = recent_load_slot(b, flag[i] == VACANT, in, e);
        if (bad) return bad;
    }
    return 0;
}

/* -- forecasts for a stream whose gaps are known ------------------------------------------ */

/* The misses of second-chance on a stream whose gaps are known.  Derived for this project.
 *
 * The hand goes round in T records.  A new key stands just behind the hand and is found if it comes
 * again within T.  A key that was found is marked.  The hand comes by at a time that is uniform in
 * 0 to T and wipes the mark; at its next passing the key leaves, after T to 2T in all.
 *
 *     P(found | gap g) = (1 - f) [g < T] + f P(g < U(T, 2T))      f: the record before was found
 *
 * f depends on the gap before, because frequent keys stay; the sample has counted gaps in pairs.  T
 * follows from the size of the buffer: each record keeps its key there until the key comes again or
 * leaves, and the mean of these times is C records (as C = W(T) for LRU: Denning, Schwartz 1972).
 */

enum { ROUNDS = 30 };

/* Rows and columns are those of `pairs` in struct gap_counts. */
struct hand {
    const struct gap_counts *counts;
    double T;
    double found[GAP_PAIRED];  /* P(found | this gap); of a key's first record 0 */
    double column[GAP_PAIRED]; /* repeats with this gap */
};

static double from_of(size_t gap) { return gap_from(2 * (gap - 1)); }
static double share(double x) { return fmin(1, fmax(0, x)); }

/* How many records a marked key stays if its own next record comes after `gap` records. */
static double stays_marked(double gap, double T) {
    double x = share((gap - T) / T);
    return gap < T ? gap : T * (1 + x - x * x / 2);
}

/* The expected number of keys in the buffer. */
static double held(const struct hand *h) {
    double sum = 0;
    for (size_t i = 0; i < GAP_PAIRED; i++) {
        double all = h->column[i], plain = 0, marked = 0, again = 0;
        for (size_t b = 0; i == 0 && b < GAP_BUCKETS; b++) all += h->counts->first[b];
        if (!(all > 0)) continue;
        for (size_t j = 1; j < GAP_PAIRED; j++) {
            double n = h->counts->pairs[i][j], gap = (from_of(j) + from_of(j + 1) + 1) / 2;
            again += n;
            plain += n * fmin(gap, h->T);
            marked += n * stays_marked(gap, h->T);
        }
        plain += (all - again) * h->T;
        marked += (all - again) * h->T * 1.5;
        sum += (1 - h->found[i]) * plain + h->found[i] * marked;
    }
    return sum / h->counts->records;
}

static void turn(struct hand *h, double T) {
    h->T = T;
    for (int i = 0; i < ROUNDS; i++) {
        double next[GAP_PAIRED] = {0};
        for (size_t j = 1; j < GAP_PAIRED; j++) {
            double from = from_of(j), end = from_of(j + 1), marked = 0;
            if (!(h->column[j] > 0)) continue;
            for (size_t k = 0; k < GAP_PAIRED; k++) marked += h->counts->pairs[k][j] * h->found[k];
            marked /= h->column[j];
            next[j] = (1 - marked) * share((h->T - from) / (end - from)) +
                      marked * share(2 - (from + end - 1) / 2 / h->T);
        }
        memcpy(h->found, next, sizeof next);
    }
}

static struct forecast forecast(const struct seen_plan *plan, const struct gap_law *law) {
    struct hand h = {.counts = law->counts};
    struct forecast f = {plan->fp_full, 0};
    double lo = 1, hi = 0x1p46;
    for (size_t i = 0; i < GAP_PAIRED; i++)
        for (size_t j = 1; j < GAP_PAIRED; j++) h.column[j] += law->counts->pairs[i][j];
    while (hi > lo * 1.001) {
        double middle = sqrt(lo * hi);
        turn(&h, middle);
        *(held(&h) < (double)plan->capacity ? &lo : &hi) = middle;
    }
    turn(&h, lo);
    for (size_t b = 0; b < GAP_BUCKETS; b++) f.fn += law->at_gap[b] * (1 - h.found[gap_paired(b)]);
    return f;
}

const struct window_ops aging_second_chance = {
    .name = "decaying",
    .plan = plan,
    .forecast = forecast,
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
