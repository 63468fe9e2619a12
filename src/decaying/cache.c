/* cache - a fingerprint cache: sets of a few short fingerprints each, in the order of last use.
 *
 * Idea       A key has one set, and a fingerprint of f bits that stands for it there.  A record
 *            whose fingerprint is in its set is a duplicate and moves it to the front; any other is
 *            put in front, and the last of the B entries falls out.  Position says how old an
 *            entry is, so age takes no bits.
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
 * Planning   cache_plan.c: of all (B, f) with B/(2^f - 1) <= fp= the one that misses least under
 *            the gaps of decaying.h, which is the whole rule.
 * Example    fp=.01 gives B = 5, f = 9: 5/511 = .98 %, 11 sets a line.  A mebibyte holds 9e5 keys
 *            and finds half of them after 8.5e5 others.
 * Cost       one cache line a record.  Sets of up to 57 bits take no branch.
 */
#include "decaying/cache.h"

#include "base/base.h"
#include "decaying/cache_kernel.h"
#include "spec/options.h"
#include "theory/bloom.h"

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

/* -- wide sets, by words of 64 bits; and sets read entry by entry ------------------------- */

/* The entry of a set that holds the fingerprint; `ways` if none does. */
static inline uint32_t position(const struct cache_shape *g, const uint64_t *line, uint32_t bit,
                                uint64_t fingerprint) {
    for (uint32_t i = 0; i < g->ways; i++, bit += g->bits)
        if (entry(line, bit, g->bits) == fingerprint) return i;
    return g->ways;
}

static inline uint32_t held(const struct cache_shape *g, const uint64_t *line, uint32_t bit) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->ways; i++, bit += g->bits) n += entry(line, bit, g->bits) != 0;
    return n;
}

/* The bits of the word that begins at `first`, below `bit`. */
static inline uint64_t below(uint32_t first, uint32_t bit) {
    if (bit <= first) return 0;
    return bit - first >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << (bit - first)) - 1;
}

/* From the highest word down, as each takes bits from the one below. */
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

static void observe_portable(struct cache *c, const struct cache_shape *g, size_t n,
                             const seen_digest *d, uint8_t *verdict) {
    observe_any(c, g, n, d, verdict);
}

#if defined __x86_64__
/* The same code: places of a batch are found four at a time. */
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
    observe_portable(w->state, &g, n, d, verdict);
}

/* The youngest a key can be: what stands before it came after it. */
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

/* Entries of a set differ, so a new key is one of `held` with probability held/values. */
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

static uint64_t count(const struct cache *c, const struct cache_shape *g, const uint64_t *line) {
    uint64_t stored = 0;
    if (table_stamp(line) != (uint16_t)c->generation) return 0;
    for (uint32_t s = 0; s < g->sets; s++) stored += held(g, line, s * g->ways * g->bits);
    return stored;
}

/* Any table is one, but its entries must have been counted. */
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
        for (; i < next; i++) stored += count(c, &g, c->line[i]);
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
