/* timed-cuckoo - a cuckoo table of time stamps: any window up to N, and when a key was last seen.
 *
 * Idea       One stamp a key instead of a Bloom filter's k: a key stands in one of its two places,
 *            in table 0 or 1, and is known by the other place and a short signature.  Stored with
 *            it, the other place also says where to move it when its own is wanted.
 * Guarantee  No false negatives.  False positives n 2^-s/lambda^2 with n keys in two tables of
 *            lambda cells and s bits of signature; ages are exact but for those.  Exact for N
 *            records; a window of time is cut into ticks= steps and reaches at most 2/ticks too
 *            far.  overload=saturate: while a key that found no place may be in the window, keys
 *            that are not found are called duplicates.
 * Refresh    last: a duplicate gets a new stamp.  first: it keeps its stamp.
 * Paper      Near-optimal Approximate Membership Query over Time-decaying Windows, INFOCOM 2013,
 *            §IV.  Its distance counts the current record: its w is our w-1.  Differences: an item
 *            of the list L that comes again is looked for there too (the paper's insertion forgets
 *            to, and would list it again); both ends are tried before the list; L has a bounded
 *            size, so one item a record is looked at for expiry, not the oldest.
 * Layout     two tables of lambda cells, table 0 and then table 1 (cuckoo_cells.h): flat, or with
 *            packed=1 in lines of variable length, where an empty cell costs one bit (§IV.B).  A
 *            key that is wanted in a full line moves another one of the line, as it would the
 *            cell's.
 *
 *                cell   | stamp, b bits | place in the other table, log2 lambda | signature, s |
 *                L      | digest, 128 bits | logical stamp |   up to 64 of them
 *
 *                x ──┬─ h0(x) ─► table 0 | . . . [t, h1(x), S(x)] . . |
 *                    └─ h1(x) ─► table 1 | . . . . or [t, h0(x), S(x)] |
 *
 * Example    N = 1e6, lambda = 2N: places of 21 bits twice are a signature of 42, so that even
 *            with s = 0 a new key is called a duplicate once in 4e6 times.  Flat, 4N cells of 42
 *            bits are 168 bits a record of the window.  With packed=1 a line of 512 bits serves 36
 *            cells and has room for 11 keys.  On average it holds 9: 57 bits a record.
 * Cost       two cache lines a record, some for moves (`moves` at most from either end), and the
 *            sweep, side by side: some 2 lambda/N cells, or a line every 9 records or so.
 */
#include "sliding/timed_cuckoo.h"
#include "base/base.h"
#include "spec/spec.h"
#include "table/table.h"
#include "theory/sliding.h"

#include <math.h>

#define BATCH 16

/* -- places ------------------------------------------------------------------------------- */

struct item {
    seen_digest digest;
    uint64_t cell[2], key[2]; /* where it may stand, and what would stand there */
};

static struct item item_of(const struct timed_cuckoo *s, seen_digest d) {
    struct item x = {.digest = d};
    uint64_t sign = s->signature ? bits_draw(d.lo, d.hi, 2) >> (64 - s->signature) : 0;
    for (uint32_t j = 0; j < 2; j++) x.cell[j] = bits_range(bits_draw(d.lo, d.hi, j), s->lambda);
    for (uint32_t j = 0; j < 2; j++) x.key[j] = x.cell[1 - j] | sign << s->place;
    x.cell[1] += s->lambda;
    return x;
}

/* -- insertion ---------------------------------------------------------------------------- */

/* The key in cell i, if there is one, counts no more and will be written over. */
static void count_out(struct timed_cuckoo *s, uint64_t i) {
    stamps_count(&s->t, cuckoo_get(&s->c, i).stamp, false);
}

/* Makes room for a key in cell `at` by moving others, each to its other place, or changes nothing.
 * Which key must move follows from the cell that is wanted, so that a path that meets itself never
 * ends, and is given up. */
static bool make_room(struct timed_cuckoo *s, uint64_t at) {
    uint64_t wanted[TIMED_CUCKOO_MAX_MOVES + 1], victim[TIMED_CUCKOO_MAX_MOVES], n = 0;
    for (wanted[0] = at; !cuckoo_room(&s->c, &s->t, wanted[n]); n++) {
        if (n == s->moves) return false;
        victim[n] = cuckoo_victim(&s->c, wanted[n]);
        uint64_t place = cuckoo_get(&s->c, victim[n]).key & (((uint64_t)1 << s->place) - 1);
        wanted[n + 1] = victim[n] < s->lambda ? place + s->lambda : place;
    }
    count_out(s, wanted[n]);
    for (; n > 0; n--) {
        uint64_t from = victim[n - 1], place = ((uint64_t)1 << s->place) - 1;
        struct cuckoo_key k = cuckoo_get(&s->c, from);
        k.key = (k.key & ~place) | (from < s->lambda ? from : from - s->lambda);
        cuckoo_put(&s->c, wanted[n], k);
        if (from != wanted[n - 1]) cuckoo_erase(&s->c, from);
    }
    return true;
}

/* The table in which a key can go to its cell: of two that have room, the one whose line has more.
 * If neither has, one gets room by moves, tried in random order. UINT32_MAX: neither can. */
static uint32_t find_table(struct timed_cuckoo *s, const struct item *x) {
    uint32_t room[2];
    for (uint32_t j = 0; j < 2; j++) room[j] = cuckoo_room(&s->c, &s->t, x->cell[j]);
    uint32_t j = room[1] > room[0];
    if (room[j]) {
        count_out(s, x->cell[j]);
        return j;
    }
    s->h.random = s->h.random * 6364136223846793005u + 1442695040888963407u;
    j = (uint32_t)(s->h.random >> 63);
    if (make_room(s, x->cell[j])) return j;
    return make_room(s, x->cell[1 - j]) ? 1 - j : UINT32_MAX;
}

static void insert(struct timed_cuckoo *s, const struct item *x) {
    uint32_t j = find_table(s, x);
    if (j == UINT32_MAX) {
        if (s->h.listed < TIMED_CUCKOO_LIST) {
            s->h.list[s->h.listed++] = (struct timed_cuckoo_listed){x->digest, s->t.h.clock};
        } else {
            s->h.lost++;
            s->h.flood = s->t.h.clock + 1;
        }
        return;
    }
    stamps_count(&s->t, 0, true);
    cuckoo_put(&s->c, x->cell[j], (struct cuckoo_key){s->t.phase + 1, x->key[j]});
}

/* -- search ------------------------------------------------------------------------------- */

struct found {
    uint64_t age;          /* UINT64_MAX: not found */
    uint64_t cell, listed; /* where; UINT64_MAX: not there */
    struct cuckoo_key key; /* in that cell */
};

static struct found search(const struct timed_cuckoo *s, const struct item *x) {
    struct found f = {UINT64_MAX, UINT64_MAX, UINT64_MAX, {0, 0}};
    for (uint32_t j = 0; j < 2; j++) {
        struct cuckoo_key k = cuckoo_get(&s->c, x->cell[j]);
        uint64_t age = stamps_age(&s->t, k.stamp);
        if (k.key == x->key[j] && age < f.age && age <= stamps_limit(&s->t))
            f.age = age, f.cell = x->cell[j], f.key = k;
    }
    for (uint64_t i = 0; i < s->h.listed; i++) {
        const struct timed_cuckoo_listed *l = &s->h.list[i];
        uint64_t age = s->t.h.clock - l->stamp;
        if (l->digest.lo != x->digest.lo || l->digest.hi != x->digest.hi) continue;
        if (age > stamps_limit(&s->t)) continue;
        f.listed = i;
        f.age = bits_min(f.age, age);
    }
    return f;
}

/* The least age that a lost key can have. */
static uint64_t flood_age(const struct timed_cuckoo *s) {
    return s->h.flood ? s->t.h.clock - (s->h.flood - 1) : UINT64_MAX;
}

/* -- work --------------------------------------------------------------------------------- */

static void advance(struct timed_cuckoo *s, uint64_t tick) {
    struct timed_cuckoo_head *h = &s->h;
    for (uint64_t n = stamps_advance(&s->t, tick); n > 0; n--) {
        uint64_t part = s->t.h.cursor;
        cuckoo_sweep(&s->c, &s->t, part);
        s->t.h.cursor = part + 1 == s->t.cells ? 0 : part + 1;
    }
    if (!h->listed) return;
    if (h->check >= h->listed) h->check = 0;
    if (s->t.h.clock - h->list[h->check].stamp > stamps_limit(&s->t)) {
        h->list[h->check] = h->list[--h->listed];
        h->list[h->listed] = (struct timed_cuckoo_listed){{0, 0}, 0};
    } else {
        h->check++;
    }
}

static uint8_t observe_one(struct timed_cuckoo *s, uint64_t tick, const struct item *x) {
    advance(s, tick);
    struct found f = search(s, x);
    bool seen = f.age <= stamps_limit(&s->t) || flood_age(s) <= stamps_limit(&s->t);
    if (seen && s->first) return 1;
    if (f.cell != UINT64_MAX) {
        stamps_count(&s->t, f.key.stamp, true);
        f.key.stamp = s->t.phase + 1;
        cuckoo_put(&s->c, f.cell, f.key);
    } else if (f.listed != UINT64_MAX) {
        s->h.list[f.listed].stamp = s->t.h.clock;
    } else {
        insert(s, x);
    }
    return seen;
}

static void observe(struct window *w, size_t n, const seen_digest *d, const uint64_t *at,
                    uint8_t *verdict) {
    struct timed_cuckoo *s = w->state;
    struct item x[BATCH];
    for (size_t i = 0; i < n; i += BATCH) {
        size_t batch = bits_min(n - i, BATCH);
        for (size_t j = 0; j < batch; j++) {
            x[j] = item_of(s, d[i + j]);
            __builtin_prefetch(cuckoo_line(&s->c, x[j].cell[0]), 1);
            __builtin_prefetch(cuckoo_line(&s->c, x[j].cell[1]), 1);
        }
        for (size_t j = 0; j < batch; j++)
            verdict[i + j] =
                observe_one(s, s->t.unit == 1 ? at[i + j] : at[i + j] / s->t.unit, &x[j]);
    }
}

static uint64_t find_one(const struct timed_cuckoo *s, seen_digest d, uint64_t at) {
    uint64_t ahead = at / s->t.unit - s->t.h.last;
    if (stamps_expired(&s->t, at / s->t.unit)) return SEEN_NEVER;
    struct item x = item_of(s, d);
    uint64_t age = bits_min(search(s, &x).age, flood_age(s));
    if (age > stamps_since(&s->t) || age > s->t.reach - ahead) return SEEN_NEVER;
    return stamps_age_at(&s->t, age, at);
}

static void find(const struct window *w, size_t n, const seen_digest *d, uint64_t at,
                 uint64_t *age) {
    for (size_t i = 0; i < n; i++) age[i] = find_one(w->state, d[i], at);
}

/* -- life --------------------------------------------------------------------------------- */

static void init(struct window *w) {
    const struct seen_spec *spec = &w->plan->spec;
    struct timed_cuckoo *s = w->state;
    s->lambda = options_get(spec, OPTION_LAMBDA);
    s->place = cuckoo_place_bits(options_get(spec, OPTION_LAMBDA));
    s->signature = (uint32_t)options_get(spec, OPTION_SIGNATURE);
    s->moves = (uint32_t)options_get(spec, OPTION_MOVES);
    s->first = options_get(spec, OPTION_REFRESH) == SEEN_REFRESH_FIRST;
    s->h.random = options_get(spec, OPTION_SEED);
    cuckoo_init(&s->c, spec, TIMED_CUCKOO_BYTES - offsetof(struct timed_cuckoo, c));
    stamps_init(&s->t, spec, s->c.parts);
}

static void landmark(struct window *w, uint64_t at) {
    struct timed_cuckoo *s = w->state;
    if (stamps_expired(&s->t, at / s->t.unit)) return;
    s->h.landmarks++;
    s->t.h.cleared = 1;
}

static void stats(const struct window *w, uint64_t at, struct seen_stats *out) {
    const struct timed_cuckoo *s = w->state;
    uint64_t ahead = at / s->t.unit - s->t.h.last;
    bool expired = stamps_expired(&s->t, at / s->t.unit);
    uint64_t limit = expired ? 0 : bits_min(stamps_since(&s->t), s->t.reach - ahead);
    out->stored += (uint64_t)(stamps_live_ahead(&s->t, ahead) + .5);
    for (uint64_t i = 0; i < s->h.listed && !expired; i++)
        out->stored += s->t.h.clock - s->h.list[i].stamp <= limit;
    bool flood = !expired && flood_age(s) <= limit;
    out->fp_now += (flood ? 1
                          : theory_timed_cuckoo((double)s->lambda, stamps_live_ahead(&s->t, ahead),
                                                s->signature)) /
                   (double)options_get(&w->plan->spec, OPTION_SHARDS);
    out->saturated += s->h.lost;
    out->listed += s->h.listed;
    out->landmarks = bits_max(out->landmarks, s->h.landmarks);
}

static void clear_counters(struct window *w) {
    struct timed_cuckoo *s = w->state;
    s->h.landmarks = s->h.lost = 0;
}

/* -- snapshot ----------------------------------------------------------------------------- */

static int save(const struct window *w, struct seen_writer out) {
    const struct timed_cuckoo *s = w->state;
    if (out.write(out.ctx, &s->h, sizeof s->h) || out.write(out.ctx, &s->t.h, sizeof s->t.h))
        return -1;
    return out.write(out.ctx, cuckoo_bytes(&s->c), s->c.lines * 64);
}

static bool sane(const struct timed_cuckoo *s) {
    const struct timed_cuckoo_head *h = &s->h;
    bool fine = h->landmarks < MAX_COUNT && h->lost < MAX_COUNT && h->listed <= TIMED_CUCKOO_LIST &&
                h->flood <= s->t.h.clock + 1;
    for (uint64_t i = 0; i < TIMED_CUCKOO_LIST; i++) fine &= h->list[i].stamp <= s->t.h.clock;
    return fine;
}

static int load(struct window *w, uint64_t at, struct seen_reader in, uint64_t limit,
                struct seen_error *e) {
    (void)limit;
    struct timed_cuckoo *s = w->state;
    if (in.read(in.ctx, &s->h, sizeof s->h) || in.read(in.ctx, &s->t.h, sizeof s->t.h))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends before its cells");
    if (!stamps_sane(&s->t, at) || !sane(s))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot's window does not fit its spec");
    s->t.phase = s->t.h.clock % s->t.range;
    uint64_t cell = 0;
    for (uint64_t i = 0; i < s->c.lines;) {
        if (!(i = table_read(in, cuckoo_bytes(&s->c), i, s->c.lines)))
            return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends inside its cells");
        uint64_t end = cuckoo_cells_within(&s->c, i);
        const char *wrong = cuckoo_wrong(&s->c, cell, end, s->lambda);
        if (wrong) return error_set(e, SEEN_EFORMAT, 0, "%s", wrong);
        for (; cell < end; cell++) stamps_tally(&s->t, cuckoo_get(&s->c, cell).stamp);
    }
    return 0;
}

const struct window_ops aging_timed_cuckoo = {
    .name = "sliding",
    .plan = timed_cuckoo_plan,
    .size = timed_cuckoo_size,
    .init = init,
    .observe = observe,
    .find = find,
    .landmark = landmark,
    .stats = stats,
    .clear_counters = clear_counters,
    .save = save,
    .load = load,
};
