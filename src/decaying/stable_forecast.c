/* stable_forecast - the errors of a Stable Bloom filter on a stream whose gaps are known.
 *
 * [DR06] 3.6 and 4.1: Eq. 15 adds up, over all repeats, the rate at which each is missed.  A cell
 * that was last set l records ago is 0 with probability B(l) = P(Bin(l, p) >= Max): Eqs. 2, 10 and
 * 12.  Eqs. 3 and 11 take each record to set a cell with probability k, so that none of l records
 * does with (1-k)^l, and leave it to phi that records of one key set the same cells: Eq. 18.  Here
 * the sample says how many different keys are among l records, W(l), and each sets K of m cells:
 *
 *     Q(l) = (1 - K/m)^W(l)                  no record of the last l sets the cell
 *     lost(g) = sum of Q(l) (B(l) - B(l-1))  over l = 1 … g: Eq. 9, the terms put together by parts
 *
 * With different keys only, W(l) = l, and this is Eq. 9.  A filter that began i records ago has a
 * share lost(i) + Q(i) (1 - B(i)) of zeros, in the limit lost(INFINITY): Eqs. 1 and 7. */
#include "decaying/stable.h"
#include "spec/options.h"
#include "theory/bloom.h"
#include "theory/decaying.h"
#include "theory/numeric.h"

#include <math.h>

#define K_MOST 32

bool stable_variant(struct seen_spec *spec, size_t i) {
    static const uint64_t max[] = {1, 3, 7}; /* [DR06] 4.1 */
    bool max_given = options_has(spec, OPTION_CELL_MAX), k_given = options_has(spec, OPTION_K);
    size_t ks = k_given ? 1 : K_MOST;
    if (i >= (max_given ? 1 : 3) * ks) return false;
    if (!max_given) options_assume(spec, OPTION_CELL_MAX, max[i / ks]);
    if (!k_given) options_assume(spec, OPTION_K, i % ks + 1);
    options_mark(spec, OPTION_CELL_MAX);
    options_mark(spec, OPTION_K);
    return true;
}

/* A cell, bucket by bucket. */
struct cell {
    double p, Max;    /* for all records of all shards */
    double untouched; /* log(1 - K/m), of a different key */
    double at, faded; /* so far: records, B(at) */
    double lost;
};

static double not_set(const struct cell *c, const struct gap_law *law, double records) {
    return exp(c->untouched * gap_law_keys(law, records));
}

static void go_on(struct cell *c, const struct gap_law *law, double to) {
    double faded = 1 - theory_few(to, c->p, c->Max);
    c->lost += not_set(c, law, (c->at + 1 + to) / 2) * (faded - c->faded);
    c->faded = faded;
    c->at = to;
}

struct forecast stable_forecast(const struct seen_plan *plan, const struct gap_law *law) {
    const struct seen_spec *spec = &plan->spec;
    double m = stable_cells(spec, options_get(spec, OPTION_BLOCKS)),
           K = (double)options_get(spec, OPTION_K),
           shards = (double)options_get(spec, OPTION_SHARDS);
    struct cell c = {(double)options_get(spec, OPTION_DECREMENTS) / m / shards,
                     (double)options_get(spec, OPTION_CELL_MAX),
                     log1p(-K / m) / shards,
                     0,
                     0,
                     0};
    struct forecast f = {0, 0};
    double fresh = 0;
    for (size_t b = 0; b < GAP_BUCKETS; b++) {
        double from = gap_from(b), width = gap_from(b + 1) - from;
        if (b > 0) go_on(&c, law, law->centre[b]);
        f.fn += law->at_gap[b] * -expm1(K * log1p(-fmin(1, c.lost)));
        if (from >= law->run || isinf(law->run)) continue;
        double zeros = c.lost + not_set(&c, law, c.at) * (1 - c.faded);
        double came = (law->keys[b + 1] - law->keys[b]) * fmin(1, (law->run - from) / width);
        fresh += came;
        f.fp += came * pow(1 - fmin(1, zeros), K);
    }
    f.fp = isinf(law->run) ? pow(1 - fmin(1, c.lost), K) : f.fp / fmax(fresh, 1);
    return f;
}
