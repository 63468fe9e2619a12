/* timed-cuckoo - a cuckoo table of time stamps: any window up to N, and when a key was last seen.
 *
 * Idea       One stamp a key instead of a Bloom filter's k: a key stands in one of its two places,
 * in table 0 or 1, and is known by the other place and a short signature.  Stored with it, the
 *            other place also says where to move it when its own is wanted.
 * Guarantee  No false negatives.  False positives n 2^-s/lambda^2 with n keys in two tables of
 * lambda cells and s bits of signature; ages are exact but for those.  Exact for N records; a
 *            window of time is cut into ticks= steps and reaches at most 2/ticks too far.
 *            overload=saturate: while a key that found no place may be in the window, keys that are
 *            not found are called duplicates.
 * Refresh    last: a duplicate is stamped anew.  first: it is not.
 * Paper      Near-optimal Approximate Membership Query over Time-decaying Windows, INFOCOM 2013,
 *            §IV.  Its distance counts the current record: its w is our w-1.  Differences: an item
 * of the list L that comes again is looked for there too (the paper's insertion forgets to, and
 *            would list it again); both ends are tried before the list; L has a bounded size.
 * Layout     cells without gaps, table 0 and then table 1; 0 is the empty stamp (stamps.h).
 *
 *                cell   | stamp, b bits | place in the other table, log2 lambda | signature, s |
 *                L      | digest, 128 bits | logical stamp |   up to 64 of them
 *
 *                x ──┬─ h0(x) ─► table 0 | . . . [t, h1(x), S(x)] . . |
 *                    └─ h1(x) ─► table 1 | . . . . or [t, h0(x), S(x)] |
 *
 * Example    N = 1e6, lambda = 2N: places of 21 bits twice are a signature of 42, so that even with
 *            s = 0 a new key is called a duplicate once in 4e6 times: 4N cells of 42 bits.
 * Cost       two cache lines a record, some for moves (`moves` at most from either end), and the
 *            sweep: some 2 lambda/N cells, side by side.
 */
#include "aging/stamps.h"
#include "error.h"
#include "plan/plan.h"
#include "plan/theory_sliding.h"
#include "spec/units.h"

#include <math.h>
#include <stdio.h>

#define LIST       64
#define MOVES      64 /* by default */
#define MOVES_MOST 256
#define FIELD_MOST 56 /* bits read at once, unaligned */
#define BATCH      16

struct listed {
    seen_digest digest;
    uint64_t stamp; /* logical tick */
};

/* What a snapshot keeps beside the clock and the cells. */
struct head {
    uint64_t landmarks, lost; /* lost: keys that found no place */
    uint64_t flood;           /* logical tick of the last of them, plus 1; 0: none */
    uint64_t fresh;           /* records called new since the odds were renewed */
    double expected, odds;    /* false duplicates; p/(1-p) */
    uint64_t random;          /* which table is tried first */
    uint64_t listed, check;   /* length of L; its next item to be looked at for expiry */
    struct listed list[LIST];
};

struct state {
    struct head h;
    struct stamps t;
    uint64_t lambda, entry; /* cells a table; bits a cell */
    uint32_t stamp, place, signature, moves, first;
};

#define STATE_BYTES ((sizeof(struct state) + 63) / 64 * 64)

/* -- planning ----------------------------------------------------------------------------- */

static uint32_t place_bits(uint64_t lambda) {
    uint32_t bits = 1;
    while (bits < 63 && lambda > (uint64_t)1 << bits) bits++;
    return bits;
}

static uint64_t cells_bytes(const struct seen_spec *spec) {
    bits_u128 bits =
        (bits_u128)(2 * spec->lambda) * (spec->stamp + place_bits(spec->lambda) + spec->signature);
    return (uint64_t)((bits + 64 + 511) / 512) * 64;
}

static uint64_t size(const struct seen_plan *plan, const struct filter_ops *f) {
    (void)f;
    return STATE_BYTES + cells_bytes(&plan->spec);
}

struct demand {
    double mean, keys; /* a shard's on average; and as many as chance may give it */
    uint64_t room;     /* bytes for a shard's cells */
};

/* Sets lambda and the signature that fp asks for; whether that fits. */
static bool fits(struct seen_spec *spec, const struct demand *d, double lambda, double keys) {
    uint64_t bits = 0;
    spec->lambda = (uint64_t)lambda;
    while (theory_timed_cuckoo(lambda, keys, (double)bits) > spec->fp && bits < FIELD_MOST) bits++;
    if (!options_has(spec, OPTION_SIGNATURE)) spec->signature = bits;
    return cells_bytes(spec) <= d->room;
}

static double least_lambda(double keys) { return ceil(1.05 * keys) + 2; }

static int refuse(struct seen_plan *plan, const struct demand *d, uint64_t fixed,
                  struct seen_error *e) {
    struct seen_spec *spec = &plan->spec;
    char takes[32], has[32];
    struct demand less = *d;
    double shards = (double)spec->shards;
    fits(spec, d, least_lambda(d->keys), d->keys);
    uint64_t need = fixed + spec->shards * cells_bytes(spec);
    seen_print_size(bits_ceil_div(need, 1024) * 1024, takes, sizeof takes);
    seen_print_size(spec->mem, has, sizeof has);
    while (less.keys > 1 && !fits(spec, d, least_lambda(less.keys), less.keys)) less.keys *= .97;
    double items = (less.keys - 6 * sqrt(less.keys)) * shards * .99;
    if (items < 1)
        return error_set(e, SEEN_EREFUSED, 0, "mem=%s is too small for filter=%s here", has,
                         plan->filter);
    return error_set(e, SEEN_EREFUSED, 0,
                     "%.6g keys need mem=%s with filter=%s; mem=%s allows items=%.0f",
                     d->mean * shards, takes, plan->filter, has, floor(items));
}

static int choose_tables(struct seen_plan *plan, const struct demand *d, uint64_t fixed,
                         struct seen_error *e) {
    struct seen_spec *spec = &plan->spec;
    if (options_has(spec, OPTION_LAMBDA)) {
        double lambda = (double)spec->lambda, keys = d->keys > 0 ? d->keys : ceil(lambda / 2);
        if (fits(spec, d, lambda, keys)) return 0;
        return error_set(e, SEEN_EREFUSED, 0, "lambda=%.0f does not fit into mem=", lambda);
    }
    if (d->keys > 0) {
        double lambda = 2 * d->keys, least = least_lambda(d->keys);
        if (lambda < least) lambda = least;
        while (lambda > least && !fits(spec, d, lambda, d->keys))
            lambda = fmax(least, floor(lambda * .995));
        return fits(spec, d, lambda, d->keys) ? 0 : refuse(plan, d, fixed, e);
    }
    double lambda = floor(4. * (double)d->room / (double)(spec->stamp + 1));
    while (lambda >= 4 && !fits(spec, d, lambda, ceil(lambda / 2))) lambda = floor(lambda * .995);
    if (lambda >= 4) return 0;
    return error_set(e, SEEN_EREFUSED, 0, "mem= is too small for filter=%s here", plan->filter);
}

static int predict(struct seen_plan *plan, const struct demand *d, struct seen_error *e) {
    struct seen_spec *spec = &plan->spec;
    double lambda = (double)spec->lambda, s = (double)spec->signature;
    double keys = d->mean > 0 ? d->mean : ceil(lambda / 2), shards = (double)spec->shards;
    plan->fp_full = plan->fp_mean = theory_timed_cuckoo(lambda, keys, s);
    if (place_bits(spec->lambda) + spec->signature > FIELD_MOST)
        return error_set(e, SEEN_EREFUSED, 0, "filter=%s has no cells wide enough for fp=%g",
                         plan->filter, spec->fp);
    if (plan->fp_full > spec->fp * (1 + 1e-9)) {
        if (options_has(&plan->asked, OPTION_FP))
            return error_set(e, SEEN_EREFUSED, 0,
                             "signature=%llu gives fp=%.3g; leave it out and it follows from fp=",
                             (unsigned long long)spec->signature, plan->fp_full);
        spec->fp = fmin(plan->fp_full * 1.0001, 1 - 1e-9);
    }
    double most = fmax(d->mean, fmin(spec->fp * lambda * lambda * exp2(s), lambda / 2));
    plan->capacity = (uint64_t)fmax(1, ceil(most * shards - 1e-6));
    plan->touches = 2 + (double)cells_bytes(spec) / 64 * stamps_swept(spec);
    uint64_t lines = cells_bytes(spec) / 64;
    if (options_has(spec, OPTION_LINES) && spec->lines != lines)
        return error_set(e, SEEN_EREFUSED, 0, "lambda=%llu takes lines=%llu; leave lines= out",
                         (unsigned long long)spec->lambda, (unsigned long long)lines);
    spec->lines = lines;
    static const enum option decided[] = {OPTION_FP, OPTION_LAMBDA, OPTION_SIGNATURE, OPTION_MOVES,
                                          OPTION_LINES};
    for (size_t i = 0; i < 5; i++) options_mark(spec, decided[i]);
    return 0;
}

static int plan(struct seen_plan *plan, const struct filter_ops *none, struct seen_error *e) {
    (void)none;
    struct seen_spec *spec = &plan->spec;
    uint64_t keys;
    plan->traits = SEEN_NO_FN;
    int bad = stamps_plan(plan, SEEN_SATURATE, e);
    if (!bad) bad = plan_keys(&keys, spec, e);
    if (bad) return bad;
    if (options_has(spec, OPTION_LINES) && !options_has(spec, OPTION_LAMBDA))
        return error_set(e, SEEN_EREFUSED, 0,
                         "filter=%s is sized by lambda=, not by lines=", plan->filter);
    if (!options_has(spec, OPTION_FP)) spec->fp = PLAN_FP_DEFAULT;
    if (!options_has(spec, OPTION_MOVES)) spec->moves = MOVES;
    if (!keys && !options_has(spec, OPTION_MEM) && !options_has(spec, OPTION_LAMBDA)) {
        spec->mem = PLAN_MEM_DEFAULT;
        options_mark(spec, OPTION_MEM);
    }
    double mean = (double)keys / (double)spec->shards;
    struct demand d = {mean, ceil(mean), UINT64_MAX};
    if (spec->shards > 1 && keys) d.keys = fmin((double)keys, ceil(mean + 5 * sqrt(mean) + 5));
    uint64_t fixed = detector_fixed(spec, STATE_BYTES);
    if (options_has(spec, OPTION_MEM))
        d.room = spec->mem > fixed ? (spec->mem - fixed) / spec->shards : 0;
    bad = choose_tables(plan, &d, fixed, e);
    return bad ? bad : predict(plan, &d, e);
}

/* -- cells -------------------------------------------------------------------------------- */

static unsigned char *cells(const struct state *s) { return (unsigned char *)s + STATE_BYTES; }

static uint64_t field_get(const struct state *s, uint64_t bit, uint32_t bits) {
    uint64_t word;
    memcpy(&word, cells(s) + bit / 8, 8);
    return word >> bit % 8 & (((uint64_t)1 << bits) - 1);
}

static void field_set(struct state *s, uint64_t bit, uint32_t bits, uint64_t value) {
    uint64_t word, mask = ((uint64_t)1 << bits) - 1;
    memcpy(&word, cells(s) + bit / 8, 8);
    word = (word & ~(mask << bit % 8)) | value << bit % 8;
    memcpy(cells(s) + bit / 8, &word, 8);
}

static uint64_t stamp_get(const struct state *s, uint64_t i) {
    return field_get(s, i * s->entry, s->stamp);
}

static void stamp_set(struct state *s, uint64_t i, uint64_t stamp) {
    field_set(s, i * s->entry, s->stamp, stamp);
}

/* The place in the other table, and above it the signature. */
static uint64_t key_get(const struct state *s, uint64_t i) {
    return field_get(s, i * s->entry + s->stamp, s->place + s->signature);
}

static void key_set(struct state *s, uint64_t i, uint64_t key) {
    field_set(s, i * s->entry + s->stamp, s->place + s->signature, key);
}

static bool dead(const struct state *s, uint64_t i) {
    return stamps_age(&s->t, stamp_get(s, i)) > stamps_limit(&s->t);
}

struct item {
    seen_digest digest;
    uint64_t cell[2], key[2]; /* where it may stand, and what would stand there */
};

static struct item item_of(const struct state *s, seen_digest d) {
    struct item x = {.digest = d};
    uint64_t sign = s->signature ? bits_draw(d.lo, d.hi, 2) >> (64 - s->signature) : 0;
    for (uint32_t j = 0; j < 2; j++) x.cell[j] = bits_range(bits_draw(d.lo, d.hi, j), s->lambda);
    for (uint32_t j = 0; j < 2; j++) x.key[j] = x.cell[1 - j] | sign << s->place;
    x.cell[1] += s->lambda;
    return x;
}

/* Where the key in cell i stands when it stands in the other table. */
static uint64_t other(const struct state *s, uint64_t i) {
    uint64_t place = key_get(s, i) & (((uint64_t)1 << s->place) - 1);
    return i < s->lambda ? place + s->lambda : place;
}

/* -- insertion ---------------------------------------------------------------------------- */

/* Makes room in cell `at` by moving keys, each to its other place, or changes nothing. */
static bool make_room(struct state *s, uint64_t at) {
    uint64_t path[MOVES_MOST + 1], n = 0, sign = ~(((uint64_t)1 << s->place) - 1);
    for (path[0] = at; !dead(s, path[n]); n++) {
        if (n == s->moves) return false;
        path[n + 1] = other(s, path[n]);
    }
    stamps_count(&s->t, stamp_get(s, path[n]), false);
    for (; n > 0; n--) {
        uint64_t from = path[n - 1], back = from < s->lambda ? from : from - s->lambda;
        stamp_set(s, path[n], stamp_get(s, from));
        key_set(s, path[n], (key_get(s, from) & sign) | back);
    }
    stamp_set(s, at, 0);
    return true;
}

static uint32_t draw_table(struct state *s) {
    s->h.random = s->h.random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(s->h.random >> 63);
}

static void insert(struct state *s, const struct item *x) {
    uint32_t j = dead(s, x->cell[0]) ? 0 : dead(s, x->cell[1]) ? 1 : draw_table(s);
    if (!make_room(s, x->cell[j]) && !make_room(s, x->cell[j = 1 - j])) {
        if (s->h.listed < LIST) {
            s->h.list[s->h.listed++] = (struct listed){x->digest, s->t.h.clock};
        } else {
            s->h.lost++;
            s->h.flood = s->t.h.clock + 1;
        }
        return;
    }
    stamps_count(&s->t, 0, true);
    stamp_set(s, x->cell[j], s->t.phase + 1);
    key_set(s, x->cell[j], x->key[j]);
}

/* -- search ------------------------------------------------------------------------------- */

struct found {
    uint64_t age;          /* UINT64_MAX: not found */
    uint64_t cell, listed; /* where; UINT64_MAX: not there */
};

static struct found search(const struct state *s, const struct item *x) {
    struct found f = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
    for (uint32_t j = 0; j < 2; j++) {
        uint64_t age = stamps_age(&s->t, stamp_get(s, x->cell[j]));
        if (age < f.age && age <= stamps_limit(&s->t) && key_get(s, x->cell[j]) == x->key[j])
            f.age = age, f.cell = x->cell[j];
    }
    for (uint64_t i = 0; i < s->h.listed; i++) {
        const struct listed *l = &s->h.list[i];
        uint64_t age = s->t.h.clock - l->stamp;
        if (l->digest.lo != x->digest.lo || l->digest.hi != x->digest.hi) continue;
        if (age > stamps_limit(&s->t)) continue;
        f.listed = i;
        f.age = bits_min(f.age, age);
    }
    return f;
}

/* The youngest age a key may have that was lost. */
static uint64_t flood_age(const struct state *s) {
    return s->h.flood ? s->t.h.clock - (s->h.flood - 1) : UINT64_MAX;
}

/* -- work --------------------------------------------------------------------------------- */

static void sweep(struct state *s, uint64_t n) {
    for (; n > 0; n--) {
        uint64_t i = s->t.h.cursor, stamp = stamp_get(s, i);
        if (stamp && dead(s, i)) {
            stamps_count(&s->t, stamp, false);
            stamp_set(s, i, 0);
        }
        s->t.h.cursor = i + 1 == s->t.cells ? 0 : i + 1;
    }
}

static void advance(struct state *s, uint64_t tick) {
    struct head *h = &s->h;
    sweep(s, stamps_advance(&s->t, tick));
    if (!h->listed) return;
    if (h->check >= h->listed) h->check = 0;
    if (s->t.h.clock - h->list[h->check].stamp > stamps_limit(&s->t)) {
        h->list[h->check] = h->list[--h->listed];
        h->list[h->listed] = (struct listed){{0, 0}, 0};
    } else {
        h->check++;
    }
}

static double rate(const struct state *s, uint64_t ahead) {
    return theory_timed_cuckoo((double)s->lambda, stamps_live_ahead(&s->t, ahead), s->signature);
}

/* Each record called new stands for p/(1-p) that were new and called duplicates. */
static void account(struct state *s) {
    if (s->h.fresh++ % 64 == 0) {
        double p = rate(s, 0);
        s->h.odds = p < .999 ? p / (1 - p) : 1e3;
    }
    s->h.expected += s->h.odds;
}

static uint8_t observe_one(struct state *s, uint64_t tick, const struct item *x) {
    advance(s, tick);
    struct found f = search(s, x);
    bool seen = f.age <= stamps_limit(&s->t) || flood_age(s) <= stamps_limit(&s->t);
    if (seen && s->first) return 1;
    if (f.cell != UINT64_MAX) {
        stamps_count(&s->t, stamp_get(s, f.cell), true);
        stamp_set(s, f.cell, s->t.phase + 1);
    } else if (f.listed != UINT64_MAX) {
        s->h.list[f.listed].stamp = s->t.h.clock;
    } else {
        insert(s, x);
    }
    if (!seen) account(s);
    return seen;
}

static void observe(struct window *w, size_t n, const seen_digest *d, const uint64_t *at,
                    uint8_t *verdict) {
    struct state *s = w->state;
    struct item x[BATCH];
    for (size_t i = 0; i < n; i += BATCH) {
        size_t batch = bits_min(n - i, BATCH);
        for (size_t j = 0; j < batch; j++) {
            x[j] = item_of(s, d[i + j]);
            __builtin_prefetch(cells(s) + x[j].cell[0] * s->entry / 8, 1);
            __builtin_prefetch(cells(s) + x[j].cell[1] * s->entry / 8, 1);
        }
        for (size_t j = 0; j < batch; j++)
            verdict[i + j] =
                observe_one(s, s->t.unit == 1 ? at[i + j] : at[i + j] / s->t.unit, &x[j]);
    }
}

static uint64_t find_one(const struct state *s, seen_digest d, uint64_t at) {
    uint64_t ahead = at / s->t.unit - s->t.h.last;
    if (stamps_anew(&s->t, at / s->t.unit)) return SEEN_NEVER;
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
    struct state *s = w->state;
    s->lambda = spec->lambda;
    s->stamp = (uint32_t)spec->stamp;
    s->place = place_bits(spec->lambda);
    s->signature = (uint32_t)spec->signature;
    s->entry = s->stamp + s->place + s->signature;
    s->moves = (uint32_t)spec->moves;
    s->first = spec->refresh == SEEN_REFRESH_FIRST;
    s->h.random = spec->seed;
    stamps_init(&s->t, spec, 2 * spec->lambda);
}

static void destroy(struct window *w) { (void)w; }

static void landmark(struct window *w, uint64_t at) {
    struct state *s = w->state;
    if (stamps_anew(&s->t, at / s->t.unit)) return;
    s->h.landmarks++;
    s->t.h.cleared = 1;
}

static void stats(const struct window *w, uint64_t at, struct seen_stats *out) {
    const struct state *s = w->state;
    uint64_t ahead = at / s->t.unit - s->t.h.last;
    bool anew = stamps_anew(&s->t, at / s->t.unit);
    uint64_t limit = anew ? 0 : bits_min(stamps_since(&s->t), s->t.reach - ahead);
    out->stored += (uint64_t)(stamps_live_ahead(&s->t, ahead) + .5);
    for (uint64_t i = 0; i < s->h.listed && !anew; i++)
        out->stored += s->t.h.clock - s->h.list[i].stamp <= limit;
    bool flood = !anew && flood_age(s) <= limit;
    out->fp_now += (flood ? 1 : rate(s, ahead)) / (double)w->plan->spec.shards;
    out->expected_false += s->h.expected;
    out->saturated += s->h.lost;
    out->listed += s->h.listed;
    out->landmarks = bits_max(out->landmarks, s->h.landmarks);
}

static void clear_counters(struct window *w) {
    struct state *s = w->state;
    s->h.landmarks = s->h.lost = s->h.fresh = 0;
    s->h.expected = 0;
}

/* -- snapshot ----------------------------------------------------------------------------- */

static int save(const struct window *w, struct seen_writer out) {
    const struct state *s = w->state;
    if (out.write(out.ctx, &s->h, sizeof s->h) || out.write(out.ctx, &s->t.h, sizeof s->t.h))
        return -1;
    return out.write(out.ctx, cells(s), cells_bytes(&w->plan->spec));
}

static bool sane(const struct state *s) {
    const struct head *h = &s->h;
    bool fine = h->listed <= LIST && h->flood <= s->t.h.clock + 1 && isfinite(h->expected) &&
                h->expected >= 0 && h->expected < 1e18 && h->odds >= 0 && h->odds <= 1e3;
    for (uint64_t i = 0; i < LIST; i++) fine &= h->list[i].stamp <= s->t.h.clock;
    return fine;
}

static int load(struct window *w, uint64_t at, struct seen_reader in, uint64_t limit,
                struct seen_error *e) {
    (void)limit;
    struct state *s = w->state;
    if (in.read(in.ctx, &s->h, sizeof s->h) || in.read(in.ctx, &s->t.h, sizeof s->t.h) ||
        in.read(in.ctx, cells(s), cells_bytes(&w->plan->spec)))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends inside its cells");
    bool fine = stamps_sane(&s->t, at) && sane(s);
    s->t.phase = s->t.h.clock % s->t.range;
    for (uint64_t i = 0; i < s->t.cells && fine; i++) {
        uint64_t *bucket = stamps_bucket(&s->t, stamps_age(&s->t, stamp_get(s, i)));
        if (bucket) ++*bucket;
        fine = other(s, i) - (i < s->lambda ? s->lambda : 0) < s->lambda;
    }
    return fine ? 0 : error_set(e, SEEN_EFORMAT, 0, "the snapshot's window does not fit its spec");
}

const struct window_ops aging_timed_cuckoo = {
    .name = "sliding",
    .plan = plan,
    .size = size,
    .init = init,
    .destroy = destroy,
    .observe = observe,
    .find = find,
    .landmark = landmark,
    .stats = stats,
    .clear_counters = clear_counters,
    .save = save,
    .load = load,
};
