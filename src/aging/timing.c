/* timing - the Timing Bloom filter: a Bloom filter whose cells say when they were last set.
 *
 * Idea       A record stamps its k cells with the clock.  It was seen within w iff none of its k
 *            stamps is older than w, for any w up to the window: old stamps need not be taken out.
 * Guarantee  No false negatives: cells only get younger.  False positives (1-(1-1/m)^(kw))^k with w
 *            keys among the records asked about.  Exact for N records (slack 0); a window of time
 *            is cut into ticks= steps and reaches at most 2/ticks too far.  The age is that of the
 *            oldest of the k cells: never above the true one, and below it only if later records
 *            hit all k, which is a false positive of a window as long as that age.
 * Refresh    last: a duplicate stamps its cells anew.  first: only records called new do; a cell
 *            that such a record shares still gets younger, so a key may count for longer (a false
 *            positive), never shorter.
 * Paper      Zhang, Guan: Detecting Duplicates over Sliding Windows with Small Memory, INFOCOM
 *            2008; as compared with in INFOCOM 2013, §II and §IV.
 * Layout     m cells of b bits without gaps; 0 is empty, else stamp = clock mod range + 1.
 *
 *                lines  |cell 0|cell 1|cell 2|  …  |cell m-1| < 64 bits unused |
 *                                 ▲ cursor: the sweep clears what has left the window
 *
 *                age    0 ──── live ──── N ── expired, to be swept ── range-1
 *                                        └── cycle, in which all m cells are visited ──┘
 *
 *            A stamp comes round after `range` ticks; each tick sweeps m/cycle cells, so that every
 *            cell is visited in each `cycle` = range - N - jump ticks and no stamp is met again.
 *            jump is the most that the clock moves at once: 1 for counts in one shard, else N,
 *            beyond which everything has left and `floor` says so without touching a cell.
 * Example    N = 3, range 65535, k = 1: stream a b c d e a.  a stamps its cell with 1, the last
 * record comes at clock 6: age 5 > 3, so it is new.  Had it come second, its age would be 1. Cost
 * k cache lines and the sweep: some m/N cells, side by side.
 */
#include "bits.h"
#include "detector.h"
#include "error.h"
#include "plan/plan.h"
#include "plan/theory.h"
#include "plan/theory_sliding.h"

#include <math.h>

#define BUCKETS    128 /* into which stamps are counted: a window takes up to half of them */
#define STAMP_MOST 56  /* bits a cell: read and written as 64 unaligned ones */
#define BATCH      16  /* records whose cells are fetched together */
#define K_MOST     64
#define TICKS      1024

/* What a snapshot keeps beside the cells. */
struct head {
    uint64_t clock;   /* logical ticks: those of the window's clock, but silences are one */
    uint64_t last;    /* tick of the window's clock at `clock` */
    uint64_t floor;   /* what was stamped before this logical tick counts no more */
    uint64_t cleared; /* 1: nothing counts (at birth and after a landmark) */
    uint64_t cursor;  /* next cell to sweep, */
    uint64_t owed;    /* and the part of one still owed, in 1/cycle */
    uint64_t landmarks;
    uint64_t fresh, until; /* records called new in the open piece of the account; its length */
    double expected, odds; /* false duplicates before it; p/(1-p) when it began */
};

struct state {
    struct head h;
    uint64_t phase; /* clock mod range */
    uint64_t reach; /* N: a stamp counts up to this age */
    uint64_t unit;  /* records or microseconds a tick */
    uint64_t range, cycle, cells, mask;
    uint32_t bits, shift, k, first;
    uint64_t stamped[BUCKETS]; /* cells stamped since `floor`, by the tick in steps of 2^shift */
};

#define STATE_BYTES ((sizeof(struct state) + 63) / 64 * 64)

/* -- geometry -------------------------------------------------------------------------------- */

static uint64_t unit_of(const struct seen_spec *spec) {
    return spec->unit == SEEN_MICROSECONDS ? bits_ceil_div(spec->length, spec->ticks) : 1;
}

/* Ages in ticks up to which a key may be inside the window. */
static uint64_t reach_of(const struct seen_spec *spec) {
    uint64_t unit = unit_of(spec);
    if (spec->unit != SEEN_MICROSECONDS) return spec->length;
    return unit == 1 ? spec->length - 1 : (spec->length - 1) / unit + 1;
}

static uint64_t jump_of(const struct seen_spec *spec) {
    bool steady = spec->unit == SEEN_RECORDS && spec->shards == 1;
    return steady ? 1 : bits_max(1, reach_of(spec));
}

static uint64_t range_of(uint64_t bits) { return ((uint64_t)1 << bits) - 1; }

static uint64_t cells_of(uint64_t lines, uint64_t bits) { return (lines * 512 - 64) / bits; }

static uint64_t size(const struct seen_plan *plan, const struct filter_ops *f) {
    (void)f;
    return STATE_BYTES + plan->spec.lines * 64;
}

/* -- planning -------------------------------------------------------------------------------- */

static double fp(const struct filter_shape *shape, double keys) {
    return theory_timing((double)cells_of(shape->lines, shape->stamp), keys, shape->k);
}

static double touches(const struct filter_shape *shape) { return shape->k; }

static uint64_t lines_size(const struct filter_shape *shape, uint64_t keys) {
    (void)keys;
    return shape->lines * 64;
}

static uint64_t granule(const struct filter_shape *shape) {
    (void)shape;
    return 1;
}

static const struct filter_ops sizing = {.name = "timing",
                                         .traits = SEEN_NO_FN,
                                         .k_most = K_MOST,
                                         .live_most = 1,
                                         .fp = fp,
                                         .touches = touches,
                                         .size = lines_size,
                                         .granule = granule};

/* The fewest bits with which a tick sweeps a cell a probe or so, of a small window a 2^15th of the
 * table; where the clock jumps, one call sweeps a 512th of it at most. */
static int choose_stamp(struct seen_spec *spec, struct seen_error *e) {
    uint64_t reach = reach_of(spec), jump = jump_of(spec), bits = 2;
    uint64_t cycle = bits_max(jump == 1 ? reach : reach * 512, 1 << 15), least = cycle / 16;
    if (reach > (uint64_t)1 << 46)
        return error_set(e, SEEN_EREFUSED, 0,
                         "filter=timing cannot stamp so long a window; use filter=exact");
    while (range_of(bits) < reach + jump + cycle) bits++;
    if (!options_has(spec, OPTION_STAMP)) spec->stamp = bits;
    if (spec->stamp > STAMP_MOST || range_of(spec->stamp) < reach + jump + least)
        return error_set(e, SEEN_EREFUSED, 0,
                         "filter=timing cannot sweep this window in time with stamp=%llu; use "
                         "stamp=%llu",
                         (unsigned long long)spec->stamp, (unsigned long long)bits);
    options_mark(spec, OPTION_STAMP);
    return 0;
}

static int choose_options(struct seen_plan *plan, struct seen_error *e) {
    struct seen_spec *spec = &plan->spec;
    uint64_t keys;
    bool sized = options_has(spec, OPTION_MEM) || options_has(spec, OPTION_LINES);
    int bad = plan_keys(&keys, spec, e);
    if (bad) return bad;
    if (!keys && !sized && !options_has(&plan->asked, OPTION_FILTER))
        return error_set(
            e, SEEN_EREFUSED, 0,
            "nothing says how many keys this window holds; give rate=, items= or mem=");
    if (options_has(spec, OPTION_OVERLOAD) && spec->overload != SEEN_KEEP)
        return error_set(e, SEEN_EREFUSED, 0,
                         "filter=timing does overload=keep only: the false-positive rate rises");
    spec->overload = SEEN_KEEP;
    options_mark(spec, OPTION_OVERLOAD);
    if (spec->unit != SEEN_MICROSECONDS) {
        if (options_has(spec, OPTION_TICKS))
            return error_set(e, SEEN_EREFUSED, 0,
                             "ticks= cuts windows of time, and this window counts records");
        return choose_stamp(spec, e);
    }
    if (!options_has(spec, OPTION_TICKS)) spec->ticks = TICKS;
    options_mark(spec, OPTION_TICKS);
    return choose_stamp(spec, e);
}

static int plan(struct seen_plan *plan, const struct filter_ops *none, struct seen_error *e) {
    (void)none;
    struct seen_spec *spec = &plan->spec;
    struct fit fit = {&sizing, 1, 1, spec->shards};
    plan->traits = sizing.traits;
    int bad = choose_options(plan, e);
    if (bad) return bad;
    uint64_t fixed =
        sizeof(struct seen_detector) + 64 + spec->shards * (sizeof(struct window) + STATE_BYTES);
    bad = plan_filter(plan, &fit, fixed, e);
    if (bad) return bad;
    uint64_t reach = reach_of(spec), unit = unit_of(spec);
    uint64_t cycle = range_of(spec->stamp) - reach - jump_of(spec);
    if (unit > 1) plan->slack = (double)((reach + 1) * unit) / (double)spec->length - 1;
    plan->fp_mean = plan->fp_full;
    plan->touches = (double)spec->k + (double)spec->lines / (double)cycle;
    return 0;
}

/* -- cells ----------------------------------------------------------------------------------- */

static unsigned char *cells(const struct state *s) { return (unsigned char *)s + STATE_BYTES; }

static uint64_t cell_get(const struct state *s, uint64_t i) {
    uint64_t word, bit = i * s->bits;
    memcpy(&word, cells(s) + bit / 8, 8);
    return word >> bit % 8 & s->mask;
}

static void cell_set(struct state *s, uint64_t i, uint64_t value) {
    uint64_t word, bit = i * s->bits;
    memcpy(&word, cells(s) + bit / 8, 8);
    word = (word & ~(s->mask << bit % 8)) | value << bit % 8;
    memcpy(cells(s) + bit / 8, &word, 8);
}

/* In ticks before `clock`; of an empty cell: more than any that counts. */
static uint64_t cell_age(const struct state *s, uint64_t cell) {
    if (!cell) return UINT64_MAX;
    return s->phase - (cell - 1) + (cell - 1 > s->phase ? s->range : 0);
}

static uint64_t since(const struct state *s) { return s->h.clock - s->h.floor; }
/* How many of the latest buckets are behind the one of the current tick. */
static uint64_t buckets_ago(const struct state *s, uint64_t age) {
    return (s->h.clock >> s->shift) - ((s->h.clock - age) >> s->shift);
}

static uint64_t *bucket(struct state *s, uint64_t ago) {
    return &s->stamped[((s->h.clock >> s->shift) - ago) % BUCKETS];
}

static bool counted(const struct state *s, uint64_t age) {
    return age <= since(s) && buckets_ago(s, age) < BUCKETS;
}

static void cell_replace(struct state *s, uint64_t i, uint64_t old, uint64_t value) {
    uint64_t age = cell_age(s, old);
    if (counted(s, age)) --*bucket(s, buckets_ago(s, age));
    if (value) ++*bucket(s, 0);
    cell_set(s, i, value);
}

static void place(const struct state *s, seen_digest d, uint64_t *at) {
    for (uint32_t i = 0; i < s->k; i++) at[i] = bits_range(bits_draw(d.lo, d.hi, i), s->cells);
}

/* Age of the oldest of a key's cells, which is the most that the key's can be. */
static uint64_t oldest(const struct state *s, const uint64_t *at) {
    uint64_t most = 0;
    for (uint32_t i = 0; i < s->k; i++) most = bits_max(most, cell_age(s, cell_get(s, at[i])));
    return most;
}

/* -- what is expected ------------------------------------------------------------------------- */

/* Stamps of the last `reach` ticks, counted by bucket; of the one across its end a part. */
static double live_cells(const struct state *s, uint64_t reach) {
    uint64_t width = (uint64_t)1 << s->shift, young = 0, old = s->h.clock & (width - 1);
    double sum = 0;
    for (uint64_t ago = 0; ago < BUCKETS && young <= reach; ago++) {
        double part = old <= reach ? 1 : (double)(reach - young + 1) / (double)(old - young + 1);
        sum += part * (double)s->stamped[((s->h.clock >> s->shift) - ago) % BUCKETS];
        young = old + 1;
        old += width;
    }
    return sum;
}

/* Share of the cells that count for a record `ahead` ticks after the last. */
static double fill_of(const struct state *s, uint64_t ahead) {
    if (s->h.cleared || ahead > s->reach) return 0;
    return fmin(1, live_cells(s, s->reach - ahead) / (double)s->cells);
}

static double odds_of(double p) { return p < .999999 ? p / (1 - p) : 1e6; }

/* Each record called new stands for p/(1-p) that were new and called duplicates. */
static double expected_now(const struct state *s) {
    double odds = s->h.fresh ? odds_of(pow(fill_of(s, 0), s->k)) : 0;
    return s->h.expected + (double)s->h.fresh * (s->h.odds + odds) / 2;
}

static void close_piece(struct state *s) {
    double fill = fill_of(s, 0);
    s->h.expected = expected_now(s);
    s->h.odds = odds_of(pow(fill, s->k));
    s->h.fresh = 0;
    s->h.until = 16 + (uint64_t)(fill * (double)s->cells / (64. * s->k));
}

/* -- the clock -------------------------------------------------------------------------------- */

static void sweep(struct state *s, uint64_t ticks) {
    bits_u128 due = (bits_u128)ticks * s->cells + s->h.owed;
    uint64_t n = (uint64_t)due / s->cycle, limit = bits_min(s->reach, since(s));
    if (due >> 64) n = (uint64_t)(due / s->cycle);
    s->h.owed = (uint64_t)(due - (bits_u128)n * s->cycle);
    for (n = bits_min(n, s->cells); n > 0; n--) {
        uint64_t cell = cell_get(s, s->h.cursor);
        if (cell && cell_age(s, cell) > limit) cell_replace(s, s->h.cursor, cell, 0);
        if (++s->h.cursor == s->cells) s->h.cursor = 0;
    }
}

/* The buckets between two ticks begin empty. */
static void open_buckets(struct state *s, uint64_t ahead) {
    uint64_t to = (s->h.clock + ahead) >> s->shift, from = s->h.clock >> s->shift;
    for (uint64_t b = from + 1; b <= to; b++) s->stamped[b % BUCKETS] = 0;
}

static void advance(struct state *s, uint64_t tick) {
    uint64_t ahead = tick - s->h.last;
    if (!s->h.cleared && ahead == 0) return;
    bool anew = s->h.cleared || ahead > s->reach;
    if (anew) {
        close_piece(s);
        ahead = 1;
    }
    open_buckets(s, ahead);
    s->h.clock += ahead;
    s->h.last = tick;
    s->phase += ahead;
    if (s->phase >= s->range) s->phase -= s->range;
    if (anew) {
        s->h.floor = s->h.clock;
        s->h.cleared = 0;
        s->h.odds = 0;
        memset(s->stamped, 0, sizeof s->stamped);
    }
    sweep(s, ahead);
}

static void init(struct window *w) {
    const struct seen_spec *spec = &w->plan->spec;
    struct state *s = w->state;
    s->unit = unit_of(spec);
    s->reach = reach_of(spec);
    s->bits = (uint32_t)spec->stamp;
    while (s->reach >> s->shift >= BUCKETS / 2) s->shift++;
    s->mask = s->range = range_of(s->bits);
    s->cycle = s->range - s->reach - jump_of(spec);
    s->cells = cells_of(spec->lines, s->bits);
    s->k = (uint32_t)spec->k;
    s->first = spec->refresh == SEEN_REFRESH_FIRST;
    s->h.cleared = 1;
}

static void destroy(struct window *w) { (void)w; }

/* -- work ------------------------------------------------------------------------------------- */

static uint8_t observe_one(struct state *s, uint64_t tick, const uint64_t *at) {
    advance(s, tick);
    bool seen = oldest(s, at) <= bits_min(s->reach, since(s));
    for (uint32_t i = 0; i < s->k && !(seen && s->first); i++)
        cell_replace(s, at[i], cell_get(s, at[i]), s->phase + 1);
    if (!seen && ++s->h.fresh >= s->h.until) close_piece(s);
    return seen;
}

static void observe(struct window *w, size_t n, const seen_digest *d, const uint64_t *at,
                    uint8_t *verdict) {
    struct state *s = w->state;
    uint64_t probe[BATCH][K_MOST];
    for (size_t i = 0; i < n; i += BATCH) {
        size_t batch = bits_min(n - i, BATCH);
        for (size_t j = 0; j < batch; j++) {
            place(s, d[i + j], probe[j]);
            for (uint32_t r = 0; r < s->k; r++)
                __builtin_prefetch(cells(s) + probe[j][r] * s->bits / 8, 1);
        }
        for (size_t j = 0; j < batch; j++)
            verdict[i + j] =
                observe_one(s, s->unit == 1 ? at[i + j] : at[i + j] / s->unit, probe[j]);
    }
}

static uint64_t find_one(const struct state *s, seen_digest d, uint64_t at) {
    uint64_t probe[K_MOST], tick = at / s->unit, ahead = tick - s->h.last;
    if (s->h.cleared || ahead > s->reach) return SEEN_NEVER;
    place(s, d, probe);
    uint64_t age = oldest(s, probe);
    if (age > since(s) || age > s->reach - ahead) return SEEN_NEVER;
    uint64_t end = (tick - ahead - age + 1) * s->unit - 1; /* of the tick it was seen in */
    if (s->h.last < age) return at;
    return at > end ? at - end : 0;
}

static void find(const struct window *w, size_t n, const seen_digest *d, uint64_t at,
                 uint64_t *age) {
    for (size_t i = 0; i < n; i++) age[i] = find_one(w->state, d[i], at);
}

static void landmark(struct window *w, uint64_t at) {
    struct state *s = w->state;
    if (s->h.cleared || at / s->unit - s->h.last > s->reach) return;
    close_piece(s);
    s->h.landmarks++;
    s->h.cleared = 1;
}

static void stats(const struct window *w, uint64_t at, struct seen_stats *out) {
    const struct state *s = w->state;
    double fill = fill_of(s, at / s->unit - s->h.last);
    double most = fmin(fill, 1 - 1 / (double)(s->cells + 1));
    out->stored += (uint64_t)(-log1p(-most) * (double)s->cells / s->k + .5);
    out->fp_now += pow(fill, s->k) / (double)w->plan->spec.shards;
    out->expected_false += expected_now(s);
    out->landmarks = bits_max(out->landmarks, s->h.landmarks);
}

static void clear_counters(struct window *w) {
    struct state *s = w->state;
    s->h.landmarks = s->h.fresh = 0;
    s->h.expected = 0;
}

/* -- snapshot --------------------------------------------------------------------------------- */

static int save(const struct window *w, struct seen_writer out) {
    const struct state *s = w->state;
    if (out.write(out.ctx, &s->h, sizeof s->h)) return -1;
    return out.write(out.ctx, cells(s), w->plan->spec.lines * 64);
}

static bool sane(const struct state *s, uint64_t now) {
    const struct head *h = &s->h;
    return h->clock < (uint64_t)1 << 62 && h->floor <= h->clock && h->last <= now / s->unit &&
           h->cleared <= 1 && h->cursor < s->cells && h->owed < s->cycle &&
           h->fresh < (uint64_t)1 << 62 && isfinite(h->expected) && h->expected >= 0 &&
           h->expected < 1e18 && h->odds >= 0 && h->odds <= 1e6;
}

static int load(struct window *w, uint64_t at, struct seen_reader in, uint64_t limit,
                struct seen_error *e) {
    (void)limit;
    struct state *s = w->state;
    if (in.read(in.ctx, &s->h, sizeof s->h) || in.read(in.ctx, cells(s), w->plan->spec.lines * 64))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends inside its cells");
    if (!sane(s, at))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot's window does not fit its spec");
    s->phase = s->h.clock % s->range;
    for (uint64_t i = 0; i < s->cells; i++) {
        uint64_t age = cell_age(s, cell_get(s, i));
        if (counted(s, age)) ++*bucket(s, buckets_ago(s, age));
    }
    return 0;
}

const struct window_ops aging_timing = {
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
