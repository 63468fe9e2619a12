/* cache_plan - ways and bits of the fingerprint cache.  One rule: of all (B, f) with
 * B/(2^f - 1) <= fp= the one with the fewest false negatives that decaying.h assumes
 * (theory/cache.h); of equals the smaller set.  What is given stays. */
#include "base/base.h"
#include "decaying/cache.h"
#include "plan/decaying.h"
#include "plan/plan.h"
#include "theory/bloom.h"
#include "theory/decaying.h"
#include "theory/numeric.h"

#include <math.h>

#define BITS_MOST 48 /* of an entry: signature= goes no further */

static struct theory_cache theory_of(const struct seen_spec *s, uint64_t lines) {
    return (struct theory_cache){(double)lines * cache_sets(s->ways, s->signature), (double)s->ways,
                                 (double)cache_values(s->signature),
                                 s->refresh == SEEN_REFRESH_FIRST};
}

static double reach(const struct seen_spec *spec, uint64_t lines) {
    struct theory_cache c = theory_of(spec, lines);
    return theory_cache_reach(&c);
}

/* Lines that a shard will have, nearly: what ways and bits are chosen for. */
static uint64_t about_lines(const struct seen_spec *s) {
    uint64_t mem = options_has(s, OPTION_MEM) ? s->mem : PLAN_MEM_DEFAULT;
    if (options_has(s, OPTION_LINES)) return bits_max(1, s->lines);
    if (options_has(s, OPTION_ITEMS)) return 1 + s->items / s->shards / 32;
    return 1 + mem / s->shards / 64;
}

/* The fewest fingerprint bits that keep fp with `ways` entries a set, or signature= if it is given;
 * 0 if they do not keep fp.  More bits would only leave less room for entries. */
static uint64_t bits_for(const struct seen_spec *spec, uint64_t ways) {
    bool given = options_has(spec, OPTION_SIGNATURE);
    for (uint64_t bits = given ? spec->signature : 2; bits <= BITS_MOST; bits++) {
        if (bits < 2 || ways * bits > TABLE_BITS) return 0;
        if ((double)ways / (double)cache_values(bits) <= spec->fp * (1 + 1e-12)) return bits;
        if (given) return 0;
    }
    return 0;
}

/* Sets ways to 0 if no number of ways keeps fp. */
static void choose(struct seen_spec *spec) {
    struct seen_spec best = *spec, s = *spec;
    uint64_t lines = about_lines(spec);
    bool given = options_has(spec, OPTION_WAYS);
    double least = 2;
    best.ways = 0;
    for (s.ways = given ? spec->ways : 1; s.ways <= CACHE_WAYS_MOST; s.ways++) {
        s.signature = bits_for(spec, s.ways);
        if (s.signature) {
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
    bool both = options_has(spec, OPTION_WAYS) && options_has(spec, OPTION_SIGNATURE);
    if (!options_has(spec, OPTION_FP)) {
        spec->fp = PLAN_FP_DEFAULT;
        if (both && spec->signature > 1 && spec->signature <= BITS_MOST)
            spec->fp = plan_round_up((double)spec->ways / (double)cache_values(spec->signature));
    }
    choose(spec);
    if (!spec->ways)
        return error_set(e, SEEN_EREFUSED, 0,
                         "nothing keeps fp=%g with filter=cache here; allow a higher fp=, or leave "
                         "ways= and signature= out",
                         spec->fp);
    options_mark(spec, OPTION_FP);
    options_mark(spec, OPTION_WAYS);
    options_mark(spec, OPTION_SIGNATURE);
    return 0;
}

int cache_plan(struct seen_plan *plan, struct seen_error *e) {
    struct seen_spec *spec = &plan->spec;
    int bad = decaying_settle(plan, e);
    if (!bad) bad = settle(plan, e);
    if (bad) return bad;
    struct decaying d = {CACHE_STATE, 1, reach};
    bad = decaying_lines(plan, &d, e);
    if (bad) return bad;
    struct theory_cache c = theory_of(spec, spec->lines);
    plan->capacity = (uint64_t)fmax(1, theory_cache_reach(&c) * (double)spec->shards);
    plan->fp_full = plan->fp_mean = theory_cache_fp(&c);
    plan->fn = theory_cache_fn_mean(&c, decaying_gaps(spec));
    plan->touches = 1;
    return 0;
}

/* -- for a stream whose gaps are known ------------------------------------------------------ */

bool cache_variant(struct seen_spec *spec, size_t i) {
    bool given = options_has(spec, OPTION_WAYS);
    if (i >= (given ? 1 : CACHE_WAYS_MOST)) return false;
    if (given) return true;
    spec->ways = i + 1;
    options_mark(spec, OPTION_WAYS);
    return true;
}

static double fp_after(const void *ctx, double keys) { return theory_cache_fp_after(ctx, keys); }

/* What counts is the different keys between; each shard gets its part of them. */
struct forecast cache_forecast(const struct seen_plan *plan, const struct gap_law *law) {
    double shards = (double)plan->spec.shards;
    struct theory_cache c = theory_of(&plan->spec, plan->spec.lines);
    struct forecast f = {theory_cache_fp(&c), 0};
    if (law->run < INFINITY) f.fp = theory_mean(fp_after, &c, gap_law_keys(law, law->run) / shards);
    for (size_t b = 0; b < GAP_BUCKETS; b++) {
        double depth = (gap_from(b) + gap_from(b + 1) - 1) / 2;
        if (law->at_depth[b] > 0)
            f.fn += law->at_depth[b] * (1 - theory_cache_found(&c, depth / shards));
    }
    return f;
}
