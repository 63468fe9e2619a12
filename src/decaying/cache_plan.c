/* cache_plan - ways and bits of the fingerprint cache.  One rule: of all (B, f) with
 * B/(2^f - 1) <= fp= the one with the fewest false negatives that decaying.h assumes
 * (theory/cache.h); of equals the smaller set.  What is given stays. */
#include "base/base.h"
#include "decaying/cache.h"
#include "plan/decaying.h"
#include "plan/plan.h"
#include "spec/options.h"
#include "theory/bloom.h"
#include "theory/decaying.h"
#include "theory/numeric.h"

#include <math.h>

#define BITS_MOST 48 /* of an entry: signature= goes no further */

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

/* Lines that a shard will have, nearly: what ways and bits are chosen for. */
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
    for (uint64_t bits = given ? options_get(spec, OPTION_SIGNATURE) : 2; bits <= BITS_MOST;
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
    for (; ways <= CACHE_WAYS_MOST; ways++) {
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
            options_get(spec, OPTION_SIGNATURE) <= BITS_MOST)
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
    struct decaying d = {CACHE_STATE, 1, reach};
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
    if (i >= (given ? 1 : CACHE_WAYS_MOST)) return false;
    if (given) return true;
    options_set(spec, OPTION_SET_SIZE, i + 1);
    return true;
}

static double fp_after(const void *ctx, double keys) { return theory_cache_fp_after(ctx, keys); }

/* What counts is the different keys between; each shard gets its part of them. */
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
