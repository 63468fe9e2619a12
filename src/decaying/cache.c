/* cache - a fingerprint cache: sets of a few short fingerprints each, in the order of last use.
 *
 * Idea       A key has one set, and a fingerprint of f bits that stands for it there.  A record
 *            whose fingerprint is in its set is a duplicate and moves it to the front.  Another one
 *            enters at the front, and the last of the B entries is removed.  The position of an
 *            entry shows its age, so no bits are needed for it.
 * Guarantee  False positives at most B/(2^f - 1), on every stream at every time; less until all
 *            sets are full.  False negatives: none while fewer than B other keys lie between, then
 *            P(B or more different ones came to the set since): theory/cache.h.
 * Paper      None: made for the problem of Deng, Rafiei, SIGMOD 2006 (stable), from an LRU cache
 *            of B ways and the fingerprints of Fan et al., CoNEXT 2014 (cuckoo filter).
 * Layout     lines as in filter/table.h.  Sets lie side by side and none crosses a line; 0 is an
 *            entry not yet used.
 *
 *                line:  | set 0 | set 1 | … | set 496/(B f) - 1 | spare | stamp, 16 bits |
 *                          │
 *                          └──  | newest | … | oldest |      B entries of f bits, lowest first
 *
 *            The digest's low half says which set, its high half the fingerprint.
 * Planning   The planner takes the pair (B, f) that misses least under the gaps of plan/plan.h,
 *            those with B/(2^f - 1) <= fp=.
 * Example    fp=.01 gives B = 5, f = 9: 5/511 = .98 %, 11 sets a line.  A mebibyte holds 9e5 keys
 *            and finds half of them after 8.5e5 others.
 * Cost       one cache line a record.  Sets of up to 57 bits take no branch.
 */
#include "decaying/cache.h"

#include "base/base.h"
#include "decaying/cache_kernel.h"
#include "plan/plan.h"
#include "spec/spec.h"
#include "theory/bloom.h"
#include "theory/decaying.h"
#include "theory/numeric.h"

#include <math.h>

static struct cache_shape shape_of(const struct window *w) {
    const struct seen_spec *s = &w->plan->spec;
    return (struct cache_shape){
        options_get(s, OPTION_BLOCKS), (uint32_t)options_get(s, OPTION_SET_SIZE),
        (uint32_t)options_get(s, OPTION_SIGNATURE),
        cache_sets(options_get(s, OPTION_SET_SIZE), options_get(s, OPTION_SIGNATURE)),
        options_get(s, OPTION_REFRESH) == SEEN_REFRESH_LAST};
}

static uint64_t size(const struct seen_spec *spec) {
    return sizeof(struct cache) + options_get(spec, OPTION_BLOCKS) * 64;
}

static void init(struct window *w) {
    ((struct cache *)w->state)->generation = 1; /* zeroed lines are of generation 0 */
}

/* -- work --------------------------------------------------------------------------------- */

/* The entry of a set that holds the fingerprint; `ways` if none does. */
static inline uint32_t position(const struct cache_shape *g, const uint64_t *line, uint32_t bit,
                                uint64_t fingerprint) {
    for (uint32_t i = 0; i < g->ways; i++, bit += g->bits)
        if (entry(line, bit, g->bits) == fingerprint) return i;
    return g->ways;
}

/* The bits of the word that begins at `first`, below `bit`. */
static inline uint64_t below(uint32_t first, uint32_t bit) {
    if (bit <= first) return 0;
    return bit - first >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << (bit - first)) - 1;
}

/* Moves a fingerprint to the front of a wide set, word by word.  The highest word comes first,
 * because each word takes bits from the one below. */
ALWAYS_INLINE bool touch_wide(struct cache *c, const struct cache_shape *g, uint64_t *line,
                              uint32_t bit, uint64_t fingerprint) {
    uint32_t at = position(g, line, bit, fingerprint), last = g->ways - 1;
    bool found = at < g->ways;
    if (found && !g->renew) return true;
    c->stored += !found && !entry(line, bit + last * g->bits, g->bits);
    uint32_t enter = bit + g->bits, to = enter + (found ? at : last) * g->bits;
    for (uint32_t i = (to - 1) / 64 + 1; i-- > bit / 64;) {
        uint32_t first = i * 64;
        uint64_t up = line[i] << g->bits | (i ? line[i - 1] >> (64 - g->bits) : 0);
        uint64_t mask = below(first, to) & ~below(first, bit);
        uint64_t own = first <= bit    ? fingerprint << (bit - first)
                       : first < enter ? fingerprint >> (first - bit)
                                       : 0;
        line[i] = (line[i] & ~mask) | (up & mask & ~below(first, enter)) | own;
    }
    return found;
}

#if defined __x86_64__
/* The same code, compiled so that the places of four keys are computed at once. */
__attribute__((target("avx2,bmi2"))) static void observe_avx2(struct cache *c,
                                                              const struct cache_shape *g, size_t n,
                                                              const seen_digest *d,
                                                              uint8_t *verdict) {
    observe_any(c, g, n, d, verdict);
}
#endif

static void observe(struct window *w, size_t n, const seen_digest *d, const uint64_t *at,
                    uint8_t *verdict) {
    (void)at;
    struct cache_shape g = shape_of(w);
#if defined __x86_64__
    if (w->filter.cpu >= CPU_AVX512) {
        cache_observe_avx512(w->state, &g, n, d, verdict);
        return;
    }
    if (w->filter.cpu == CPU_AVX2) {
        observe_avx2(w->state, &g, n, d, verdict);
        return;
    }
#endif
    observe_any(w->state, &g, n, d, verdict);
}

/* The least age of a key: the entries before it came later. */
static void find(const struct window *w, size_t n, const seen_digest *d, uint64_t at,
                 uint64_t *age) {
    (void)at;
    const struct cache *c = w->state;
    struct cache_shape g = shape_of(w);
    for (size_t i = 0; i < n; i++) {
        struct cache_place p = cache_place(&g, d[i]);
        const uint64_t *line = c->line[p.line];
        uint32_t before = g.ways;
        if (table_stamp(line) == (uint16_t)c->generation)
            before = position(&g, line, p.bit, p.fingerprint);
        age[i] = before < g.ways ? 1 + before : SEEN_NEVER;
    }
}

static void landmark(struct window *w, uint64_t at) {
    (void)at;
    struct cache *c = w->state;
    uint64_t i, end;
    if (!c->stored) return;
    c->landmarks++;
    c->generation++;
    c->stored = 0;
    for (table_slice(c->generation, options_get(&w->plan->spec, OPTION_BLOCKS), &i, &end); i < end;
         i++)
        table_freshen(c->line[i], c->generation);
}

/* The entries of a set differ, so a new key matches one of n entries with probability n/values. */
static void stats(const struct window *w, uint64_t at, struct seen_stats *out) {
    (void)at;
    const struct cache *c = w->state;
    struct cache_shape g = shape_of(w);
    double values = (double)cache_values(g.bits), sets = (double)g.lines * g.sets;
    out->stored += c->stored;
    out->fp_now +=
        (double)c->stored / sets / values / (double)options_get(&w->plan->spec, OPTION_SHARDS);
    out->landmarks = bits_max(out->landmarks, c->landmarks);
}

static void clear_counters(struct window *w) { ((struct cache *)w->state)->landmarks = 0; }

/* -- snapshot ----------------------------------------------------------------------------- */

static int save(const struct window *w, struct seen_writer out) {
    return out.write(out.ctx, w->state, size(&w->plan->spec));
}

/* Any bytes are a valid table, but the number of entries must be right. */
static int load(struct window *w, uint64_t at, struct seen_reader in, uint64_t limit,
                struct seen_error *e) {
    (void)at, (void)limit;
    struct cache *c = w->state;
    struct cache_shape g = shape_of(w);
    uint64_t most = (uint64_t)1 << 56, stored = 0;
    if (in.read(in.ctx, c, sizeof *c))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends before its table");
    bool fits = c->generation && c->generation < most && c->landmarks < most;
    for (uint64_t i = 0, next; fits && i < g.lines;) {
        if (!(next = table_read(in, c->line, i, g.lines)))
            return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends inside its table");
        for (; i < next; i++)
            for (uint32_t k = 0; k < g.sets * g.ways; k++)
                stored += table_stamp(c->line[i]) == (uint16_t)c->generation &&
                          entry(c->line[i], k * g.bits, g.bits) != 0;
    }
    if (!fits || stored != c->stored)
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot's window does not fit its spec");
    return 0;
}

const struct window_ops aging_cache = {
    .name = "decaying",
    .plan = cache_plan,
    .forecast = cache_forecast,
    .variant = cache_variant,
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

/* -- planning ----------------------------------------------------------------------------- */

#define MAX_BITS 48 /* of an entry: signature= goes no further */

static struct theory_cache theory_of(const struct seen_spec *s, uint64_t lines) {
    return (struct theory_cache){(double)lines * cache_sets(options_get(s, OPTION_SET_SIZE),
                                                            options_get(s, OPTION_SIGNATURE)),
                                 (double)options_get(s, OPTION_SET_SIZE),
                                 (double)cache_values(options_get(s, OPTION_SIGNATURE)),
                                 options_get(s, OPTION_REFRESH) == SEEN_REFRESH_FIRST};
}

static double reach(const struct seen_spec *spec, uint64_t lines) {
    struct theory_cache c = theory_of(spec, lines);
    return theory_cache_reach(&c);
}

/* About as many lines as a shard will have, for the choice of ways and bits. */
static uint64_t about_lines(const struct seen_spec *s) {
    uint64_t mem = options_has(s, OPTION_MEM) ? options_get(s, OPTION_MEM) : PLAN_MEM_DEFAULT;
    if (options_has(s, OPTION_BLOCKS)) return bits_max(1, options_get(s, OPTION_BLOCKS));
    if (options_has(s, OPTION_ITEMS))
        return 1 + options_get(s, OPTION_ITEMS) / options_get(s, OPTION_SHARDS) / 32;
    return 1 + mem / options_get(s, OPTION_SHARDS) / 64;
}

/* The fewest fingerprint bits that keep fp with `ways` entries a set, or signature= if it is given;
 * 0 if they do not keep fp.  More bits would only leave less room for entries. */
static uint64_t bits_for(const struct seen_spec *spec, uint64_t ways) {
    bool given = options_has(spec, OPTION_SIGNATURE);
    for (uint64_t bits = given ? options_get(spec, OPTION_SIGNATURE) : 2; bits <= MAX_BITS;
         bits++) {
        if (bits < 2 || ways * bits > TABLE_BITS) return 0;
        if ((double)ways / (double)cache_values(bits) <=
            options_real(spec, OPTION_FP) * (1 + 1e-12))
            return bits;
        if (given) return 0;
    }
    return 0;
}

/* Sets ways to 0 if no number of ways keeps fp. */
static void choose(struct seen_spec *spec) {
    struct seen_spec best = *spec, s = *spec;
    uint64_t lines = about_lines(spec);
    bool given = options_has(spec, OPTION_SET_SIZE);
    double least = 2;
    options_assume(&best, OPTION_SET_SIZE, 0);
    uint64_t ways = given ? options_get(spec, OPTION_SET_SIZE) : 1;
    for (; ways <= CACHE_MAX_WAYS; ways++) {
        options_assume(&s, OPTION_SET_SIZE, ways);
        options_assume(&s, OPTION_SIGNATURE, bits_for(spec, ways));
        if (options_get(&s, OPTION_SIGNATURE)) {
            struct theory_cache c = theory_of(&s, lines);
            double fn = theory_cache_fn_mean(&c, decaying_gaps(spec));
            if (fn < least - 1e-12) least = fn, best = s;
        }
        if (given) break;
    }
    *spec = best;
}

static int settle(struct seen_plan *plan, struct seen_error *e) {
    struct seen_spec *spec = &plan->spec;
    bool both = options_has(spec, OPTION_SET_SIZE) && options_has(spec, OPTION_SIGNATURE);
    if (!options_has(spec, OPTION_FP)) {
        options_assume_real(spec, OPTION_FP, PLAN_FP_DEFAULT);
        if (both && options_get(spec, OPTION_SIGNATURE) > 1 &&
            options_get(spec, OPTION_SIGNATURE) <= MAX_BITS)
            options_assume_real(
                spec, OPTION_FP,
                plan_round_up((double)options_get(spec, OPTION_SET_SIZE) /
                              (double)cache_values(options_get(spec, OPTION_SIGNATURE))));
    }
    choose(spec);
    if (!options_get(spec, OPTION_SET_SIZE))
        return error_set(e, SEEN_EREFUSED, 0,
                         "nothing keeps fp=%g with filter=cache here; allow a higher fp=, or leave "
                         "set-size= and signature= out",
                         options_real(spec, OPTION_FP));
    options_mark(spec, OPTION_FP);
    options_mark(spec, OPTION_SET_SIZE);
    options_mark(spec, OPTION_SIGNATURE);
    return 0;
}

int cache_plan(struct seen_plan *plan, struct seen_error *e) {
    struct seen_spec *spec = &plan->spec;
    int bad = decaying_settle(plan, e);
    if (!bad) bad = settle(plan, e);
    if (bad) return bad;
    struct decaying d = {CACHE_STATE, 1, reach, detector_fixed};
    bad = decaying_lines(plan, &d, e);
    if (bad) return bad;
    struct theory_cache c = theory_of(spec, options_get(spec, OPTION_BLOCKS));
    plan->capacity =
        (uint64_t)fmax(1, theory_cache_reach(&c) * (double)options_get(spec, OPTION_SHARDS));
    plan->fp_full = plan->fp_mean = theory_cache_fp(&c);
    plan->fn = theory_cache_fn_mean(&c, decaying_gaps(spec));
    plan->touches = 1;
    return 0;
}

/* -- for a stream whose gaps are known ------------------------------------------------------ */

bool cache_variant(struct seen_spec *spec, size_t i) {
    bool given = options_has(spec, OPTION_SET_SIZE);
    if (i >= (given ? 1 : CACHE_MAX_WAYS)) return false;
    if (given) return true;
    options_set(spec, OPTION_SET_SIZE, i + 1);
    return true;
}

static double fp_after(const void *ctx, double keys) { return theory_cache_fp_after(ctx, keys); }

/* A miss depends on the number of different keys between, and each shard gets its part of them. */
struct forecast cache_forecast(const struct seen_plan *plan, const struct gap_law *law) {
    double shards = (double)options_get(&plan->spec, OPTION_SHARDS);
    struct theory_cache c = theory_of(&plan->spec, options_get(&plan->spec, OPTION_BLOCKS));
    struct forecast f = {theory_cache_fp(&c), 0};
    if (law->run < INFINITY) f.fp = theory_mean(fp_after, &c, gap_law_keys(law, law->run) / shards);
    for (size_t b = 0; b < GAP_BUCKETS; b++) {
        double depth = (gap_from(b) + gap_from(b + 1) - 1) / 2;
        if (law->at_depth[b] > 0)
            f.fn += law->at_depth[b] * (1 - theory_cache_found(&c, depth / shards));
    }
    return f;
}
