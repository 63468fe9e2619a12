/* timing - the Timing Bloom filter: a Bloom filter whose cells say when they were last set.
 *
 * Idea       A record stamps its k cells with the clock.  It was seen within w iff none of its k
 *            stamps is older than w, for any w up to the window: old stamps need not be taken out.
 * Guarantee  No false negatives: cells only get younger.  False positives (1-(1-1/m)^(kw))^k with w
 *            keys among the records asked about.  Exact for N records (slack 0); a window of time
 *            is cut into ticks= steps and reaches at most 2/ticks too far.  The age is that of the
 *            oldest of the k cells: never above the true one, and below it only if later records
 *            hit all k, which is a false positive of a window as long as that age.
 * Refresh    last: a duplicate stamps its cells again.  first: only records called new stamp.  They
 *            also make cells younger that other keys share, so a key may count for longer (a false
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
 *            record comes at clock 6: age 5 > 3, so it is new.  Had it come second, its age would
 *            be 1.
 * Cost       k cache lines and the sweep: some m/N cells, side by side.
 */
#include "base/base.h"
#include "plan/plan.h"
#include "sliding/stamps.h"
#include "spec/spec.h"
#include "table/table.h"
#include "theory/bloom.h"
#include "theory/sliding.h"
#include "window/window.h"

#include <math.h>

#define MAX_K 64

struct state {
    uint64_t landmarks;
    struct stamps t;
    uint32_t bits, k, first;
};

#define STATE_BYTES ((sizeof(struct state) + 63) / 64 * 64)

/* -- geometry ----------------------------------------------------------------------------- */

static uint64_t cells_of(uint64_t lines, uint64_t bits) { return (lines * 512 - 64) / bits; }

static uint64_t size(const struct seen_spec *spec) {
    return STATE_BYTES + options_get(spec, OPTION_BLOCKS) * 64;
}

/* -- planning ----------------------------------------------------------------------------- */

static double fp(const struct filter_shape *shape, double keys) {
    return theory_timing((double)cells_of(shape->lines, shape->stamp), keys, shape->k);
}

static double touches(const struct filter_shape *shape) { return shape->k; }

static uint64_t lines_size(const struct filter_shape *shape, uint64_t keys) {
    (void)keys;
    return shape->lines * 64;
}

static const struct filter_theory theory = {.name = "timing",
                                            .traits = SEEN_NO_FN,
                                            .k_most = MAX_K,
                                            .live_most = 1,
                                            .fp = fp,
                                            .touches = touches,
                                            .size = lines_size};

static int plan(struct seen_plan *plan, struct seen_error *e) {
    struct seen_spec *spec = &plan->spec;
    struct fit fit = {&theory, 1, 1, options_get(spec, OPTION_SHARDS), false, 1};
    plan->traits = theory.traits;
    int bad = stamps_plan(plan, SEEN_OVERLOAD_KEEP, e);
    if (bad) return bad;
    uint64_t fixed = detector_fixed(spec, STATE_BYTES);
    bad = plan_filter(plan, &fit, fixed, e);
    if (bad) return bad;
    plan->touches = (double)options_get(spec, OPTION_K) +
                    (double)options_get(spec, OPTION_BLOCKS) * stamps_swept(spec);
    return 0;
}

/* -- cells -------------------------------------------------------------------------------- */

static unsigned char *cells(const struct state *s) { return (unsigned char *)s + STATE_BYTES; }

static uint64_t cell_get(const struct state *s, uint64_t i) {
    return bits_field(cells(s), i * s->bits, s->bits);
}

static void cell_replace(struct state *s, uint64_t i, uint64_t value) {
    stamps_count(&s->t, cell_get(s, i), value != 0);
    bits_field_set(cells(s), i * s->bits, s->bits, value);
}

static void place(const struct state *s, seen_digest d, uint64_t *at) {
    for (uint32_t i = 0; i < s->k; i++) at[i] = bits_range(bits_draw(d.lo, d.hi, i), s->t.cells);
}

/* The age of the oldest cell of a key: the key itself cannot be older. */
static uint64_t oldest(const struct state *s, const uint64_t *at) {
    uint64_t most = 0;
    for (uint32_t i = 0; i < s->k; i++)
        most = bits_max(most, stamps_age(&s->t, cell_get(s, at[i])));
    return most;
}

/* -- the clock ---------------------------------------------------------------------------- */

/* Moves the clock on and sweeps the cells that are due. */
static void advance(struct state *s, uint64_t tick) {
    uint64_t n = stamps_advance(&s->t, tick), limit = stamps_limit(&s->t);
    for (; n > 0; n--) {
        uint64_t cell = cell_get(s, s->t.h.cursor);
        if (cell && stamps_age(&s->t, cell) > limit) cell_replace(s, s->t.h.cursor, 0);
        if (++s->t.h.cursor == s->t.cells) s->t.h.cursor = 0;
    }
}

static void init(struct window *w) {
    const struct seen_spec *spec = &w->plan->spec;
    struct state *s = w->state;
    stamps_init(&s->t, spec,
                cells_of(options_get(spec, OPTION_BLOCKS), options_get(spec, OPTION_STAMP)));
    s->bits = (uint32_t)options_get(spec, OPTION_STAMP);
    s->k = (uint32_t)options_get(spec, OPTION_K);
    s->first = options_get(spec, OPTION_REFRESH) == SEEN_REFRESH_FIRST;
}

/* -- work --------------------------------------------------------------------------------- */

static void observe(struct window *w, size_t n, const seen_digest *d, const uint64_t *at,
                    uint8_t *verdict) {
    struct state *s = w->state;
    uint64_t probe[BITS_AHEAD][MAX_K];
    for (size_t i = 0; i < n; i += BITS_AHEAD) {
        size_t batch = bits_min(n - i, BITS_AHEAD);
        for (size_t j = 0; j < batch; j++) {
            place(s, d[i + j], probe[j]);
            for (uint32_t r = 0; r < s->k; r++)
                __builtin_prefetch(cells(s) + probe[j][r] * s->bits / 8, 1);
        }
        for (size_t j = 0; j < batch; j++) {
            advance(s, s->t.unit == 1 ? at[i + j] : at[i + j] / s->t.unit);
            bool seen = oldest(s, probe[j]) <= stamps_limit(&s->t);
            for (uint32_t r = 0; r < s->k && !(seen && s->first); r++)
                cell_replace(s, probe[j][r], s->t.phase + 1);
            verdict[i + j] = seen;
        }
    }
}

static void find(const struct window *w, size_t n, const seen_digest *d, uint64_t at,
                 uint64_t *age) {
    const struct state *s = w->state;
    uint64_t probe[MAX_K], ahead = at / s->t.unit - s->t.h.last;
    for (size_t i = 0; i < n; i++) {
        age[i] = SEEN_NEVER;
        if (stamps_expired(&s->t, at / s->t.unit)) continue;
        place(s, d[i], probe);
        uint64_t back = oldest(s, probe);
        if (back > stamps_since(&s->t) || back > s->t.reach - ahead) continue;
        age[i] = stamps_age_at(&s->t, back, at);
    }
}

static void landmark(struct window *w, uint64_t at) {
    struct state *s = w->state;
    if (stamps_expired(&s->t, at / s->t.unit)) return;
    s->landmarks++;
    s->t.h.cleared = 1;
}

static void stats(const struct window *w, uint64_t at, struct seen_stats *out) {
    const struct state *s = w->state;
    double fill =
        fmin(1, stamps_live_ahead(&s->t, at / s->t.unit - s->t.h.last) / (double)s->t.cells);
    double cells = (double)s->t.cells;
    out->stored += (uint64_t)(theory_bloom_keys(cells, fill * cells, s->k) + .5);
    out->fp_now += pow(fill, s->k) / (double)options_get(&w->plan->spec, OPTION_SHARDS);
    out->landmarks = bits_max(out->landmarks, s->landmarks);
}

static void clear_counters(struct window *w) {
    struct state *s = w->state;
    s->landmarks = 0;
}

/* -- snapshot ----------------------------------------------------------------------------- */

static int save(const struct window *w, struct seen_writer out) {
    const struct state *s = w->state;
    if (out.write(out.ctx, &s->landmarks, sizeof s->landmarks) ||
        out.write(out.ctx, &s->t.h, sizeof s->t.h))
        return -1;
    return out.write(out.ctx, cells(s), options_get(&w->plan->spec, OPTION_BLOCKS) * 64);
}

/* A cell is counted once all its bits are there. */
static int load_cells(struct state *s, uint64_t lines, struct seen_reader in) {
    uint64_t cell = 0;
    for (uint64_t i = 0; i < lines;) {
        if (!(i = table_read(in, cells(s), i, lines))) return -1;
        for (uint64_t end = bits_min(s->t.cells, i * 512 / s->bits); cell < end; cell++)
            stamps_tally(&s->t, cell_get(s, cell));
    }
    return 0;
}

static int load(struct window *w, uint64_t at, struct seen_reader in, uint64_t limit,
                struct seen_error *e) {
    (void)limit;
    struct state *s = w->state;
    if (in.read(in.ctx, &s->landmarks, sizeof s->landmarks) ||
        in.read(in.ctx, &s->t.h, sizeof s->t.h))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends before its cells");
    if (!stamps_sane(&s->t, at) || s->landmarks >= MAX_COUNT)
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot's window does not fit its spec");
    s->t.phase = s->t.h.clock % s->t.range;
    if (load_cells(s, options_get(&w->plan->spec, OPTION_BLOCKS), in))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends inside its cells");
    return 0;
}

const struct window_ops aging_timing = {
    .name = "sliding",
    .plan = plan,
    .size = size,
    .init = init,
    .observe = observe,
    .find = find,
    .landmark = landmark,
    .stats = stats,
    .clear_counters = clear_counters,
    .save = save,
    .load = load,
};
