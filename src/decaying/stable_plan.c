/* stable_plan - the parameters of the Stable Bloom filter, [DR06] 4.1 (theory/stable.h): P is Eq.
 * 17 rounded up, K the one with the fewest false negatives that plan.h assumes, Max 1 or, where
 * gap-max= is given, the best of 1, 3 and 7.  What is given stays. */
#include "decaying/stable.h"

#include "base/base.h"
#include "plan/plan.h"
#include "spec/spec.h"
#include "theory/bloom.h"
#include "theory/decaying.h"
#include "theory/numeric.h"

#include <math.h>

#define MAX_K     64
#define PATIENCE  4
#define NONE      2                   /* no rate */
#define SAME      1e-12               /* rates nearer than that are */
#define MAX_CELLS ((uint64_t)1 << 40) /* P is there as small as more cells could make it */

static struct theory_stable theory_of(const struct seen_spec *s, uint64_t lines) {
    double m = stable_cells(s, lines), K = (double)options_get(s, OPTION_K),
           Max = (double)options_get(s, OPTION_CELL_MAX);
    bool given = options_has(s, OPTION_DECREMENTS);
    return (struct theory_stable){
        m, K,
        given ? (double)options_get(s, OPTION_DECREMENTS)
              : theory_stable_p_whole(m, K, Max, options_real(s, OPTION_FP)),
        Max};
}

static bool too_many_for_each(const struct seen_spec *spec, double P) {
    return options_get(spec, OPTION_SPREAD) == SEEN_DECREMENT_EACH && P > STABLE_MAX_EACH;
}

/* The reach of a shard with this number of lines; 0: the cells are too few for any P. */
static double reach(const struct seen_spec *spec, uint64_t lines) {
    struct theory_stable s = theory_of(spec, lines);
    if (!options_has(spec, OPTION_DECREMENTS) && (s.P == 0 || too_many_for_each(spec, s.P)))
        return 0;
    return theory_stable_reach(&s);
}

/* About as many cells as a shard will have, for the choice of K and Max. */
static double about_cells(const struct seen_spec *s) {
    double shards = (double)options_get(s, OPTION_SHARDS), mem = (double)PLAN_MEM_DEFAULT;
    if (options_has(s, OPTION_BLOCKS))
        return fmax(1, (double)options_get(s, OPTION_BLOCKS)) * TABLE_BITS;
    if (options_has(s, OPTION_ITEMS))
        return fmax(1e4, 32 * (double)options_get(s, OPTION_ITEMS) / shards);
    if (options_has(s, OPTION_MEM)) mem = (double)options_get(s, OPTION_MEM);
    return fmax(TABLE_BITS, mem * 7.75 / shards);
}

/* The rate of false negatives with K probes in m cells; NONE: fp= cannot be kept. */
static double rate_with(const struct seen_spec *spec, double m, double K, double max) {
    bool given = options_has(spec, OPTION_DECREMENTS), fixed = options_has(spec, OPTION_K);
    double P = given ? (double)options_get(spec, OPTION_DECREMENTS)
                     : theory_stable_p_whole(m, K, max, options_real(spec, OPTION_FP));
    struct theory_stable s = {m, K, P, max};
    if (m <= K || (!given && P == 0)) return NONE;
    if (!fixed && theory_stable_fp(&s) > options_real(spec, OPTION_FP) * (1 + 1e-12)) return NONE;
    if (!fixed && too_many_for_each(spec, P)) return NONE;
    double most = theory_stable_fn(&s, decaying_gaps(spec)); /* of all gaps */
    return most < SAME ? most : theory_stable_fn_mean(&s, decaying_gaps(spec));
}

/* The best K for cells of 0 to `max`, and in *fn its rate of false negatives; 0: no K keeps fp=. */
static double best_k(const struct seen_spec *spec, double max, double *fn) {
    double m = floor(about_cells(spec) / stable_bits((uint64_t)max)), rate[MAX_K + 1];
    int best = 0;
    if (options_has(spec, OPTION_K)) {
        m = fmax(
            m, 8 / options_real(spec,
                                OPTION_FP)); /* the size is only a guess: no reason to refuse a k */
        *fn = rate_with(spec, m, (double)options_get(spec, OPTION_K), max);
        return *fn < NONE ? (double)options_get(spec, OPTION_K) : 0;
    }
    for (int K = 0; K <= MAX_K; K++) rate[K] = NONE;
    /* The rates rise on either side of the best K, which is seldom far from the guess.  Since P is
     * a whole number they rise unevenly: PATIENCE worse ones in a row end the search. */
    double near = floor(-log2(options_real(spec, OPTION_FP)) * max / (max + 1.2));
    int guess = (int)fmin(fmax(1, near), MAX_K);
    double least = rate[guess] = rate_with(spec, m, guess, max);
    for (int step = -1; step <= 1; step += 2)
        for (int K = guess + step, worse = 0; K >= 1 && K <= MAX_K && worse < PATIENCE; K += step) {
            rate[K] = rate_with(spec, m, K, max);
            worse = rate[K] < least + SAME ? 0 : worse + 1;
            least = fmin(least, rate[K]);
        }
    for (int K = 1; K <= MAX_K; K++)
        if (rate[K] < rate[best] - SAME) best = K;
    *fn = rate[best];
    return best;
}

static int choose_max_and_k(struct seen_plan *plan, struct seen_error *e) {
    struct seen_spec *spec = &plan->spec;
    static const double candidates[] = {1, 3, 7};
    double best = 2, K = 0, fn;
    size_t n = options_has(&plan->asked, OPTION_GAP_MAX) ? 3 : 1;
    if (options_has(spec, OPTION_K) && options_has(spec, OPTION_CELL_MAX)) return 0;
    for (size_t i = 0; i < (options_has(spec, OPTION_CELL_MAX) ? 1 : n); i++) {
        double max = options_has(spec, OPTION_CELL_MAX) ? (double)options_get(spec, OPTION_CELL_MAX)
                                                        : candidates[i];
        double k = best_k(spec, max, &fn);
        if (!(k > 0) || fn >= best) continue;
        best = fn, K = k;
        options_assume(spec, OPTION_CELL_MAX, (uint64_t)max);
    }
    if (K == 0)
        return error_set(e, SEEN_EREFUSED, 0,
                         "nothing keeps fp=%g with filter=stable here; allow a higher fp=, give "
                         "more mem=, or leave k=, decrements= and cell-max= out",
                         options_real(spec, OPTION_FP));
    options_assume(spec, OPTION_K, (uint64_t)K);
    return 0;
}

/* About the least number of lines at which a run of P cells is at most half of all cells. */
static uint64_t least_lines(const struct seen_spec *spec) {
    uint64_t lines = 1;
    for (; lines < (uint64_t)1 << 40; lines += 1 + lines / 8) {
        struct theory_stable s = theory_of(spec, lines);
        bool bounded = s.P > 0 || (options_has(spec, OPTION_DECREMENTS) &&
                                   options_get(spec, OPTION_DECREMENTS) == 0);
        if (bounded && s.m >= 2 * s.P && s.m > s.K) break;
    }
    return lines;
}

static int refuse_each(double P, struct seen_error *e) {
    return error_set(e, SEEN_EREFUSED, 0,
                     "spread=each picks %d cells a record at most, not %.0f; spread=run picks "
                     "any number",
                     STABLE_MAX_EACH, P);
}

/* Decides P and the rate that it keeps.  P = 0 has the rate 1, which no fp= can ask for. */
static int settle_p(struct seen_plan *plan, struct seen_error *e) {
    struct seen_spec *spec = &plan->spec;
    struct theory_stable s = theory_of(spec, options_get(spec, OPTION_BLOCKS));
    options_assume(spec, OPTION_DECREMENTS, (uint64_t)s.P);
    double fp = theory_stable_fp(&s);
    if (!options_has(spec, OPTION_FP) && options_has(spec, OPTION_DECREMENTS))
        options_assume_real(spec, OPTION_FP, plan_round_up(fp));
    if (fmin(fp, 1 - 1e-9) > options_real(spec, OPTION_FP) * (1 + 1e-12))
        return error_set(
            e, SEEN_EREFUSED, 0,
            "decrements=%llu bounds false positives at %.3g, above fp=%g; leave decrements= out",
            (unsigned long long)options_get(spec, OPTION_DECREMENTS), fp,
            options_real(spec, OPTION_FP));
    if (too_many_for_each(spec, s.P)) return refuse_each(s.P, e);
    static const enum option decided[] = {OPTION_FP, OPTION_K, OPTION_CELL_MAX, OPTION_DECREMENTS,
                                          OPTION_SPREAD};
    for (size_t i = 0; i < sizeof decided / sizeof *decided; i++) options_mark(spec, decided[i]);
    return 0;
}

int stable_plan(struct seen_plan *plan, struct seen_error *e) {
    struct seen_spec *spec = &plan->spec;
    int bad = decaying_settle(plan, e);
    if (!options_has(spec, OPTION_FP)) options_assume_real(spec, OPTION_FP, PLAN_FP_DEFAULT);
    if (!bad) bad = choose_max_and_k(plan, e);
    if (bad) return bad;
    double fewest = theory_of(spec, MAX_CELLS / TABLE_BITS).P;
    if (too_many_for_each(spec, fewest)) return refuse_each(fewest, e);
    struct decaying d = {STABLE_STATE, least_lines(spec), reach, detector_fixed};
    bad = decaying_lines(plan, &d, e);
    if (!bad) bad = settle_p(plan, e);
    if (bad) return bad;
    uint64_t lines = options_get(spec, OPTION_BLOCKS);
    struct theory_stable s = theory_of(spec, lines);
    double far = reach(spec, lines) * (double)options_get(spec, OPTION_SHARDS);
    bool each = options_get(spec, OPTION_SPREAD) == SEEN_DECREMENT_EACH;
    plan->capacity = (uint64_t)fmax(1, far);
    plan->fp_full = plan->fp_mean = theory_stable_fp(&s);
    plan->fn = theory_stable_fn_mean(&s, decaying_gaps(spec));
    plan->touches =
        s.K + (each ? s.P : 1 + s.P / stable_a_line(options_get(spec, OPTION_CELL_MAX)));
    return 0;
}

/* -- forecasts for a stream whose gaps are known ------------------------------------------ */

/* The errors of a Stable Bloom filter on a stream whose gaps are known.
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

#define VARIANT_K 32

bool stable_variant(struct seen_spec *spec, size_t i) {
    static const uint64_t max[] = {1, 3, 7}; /* [DR06] 4.1 */
    bool max_given = options_has(spec, OPTION_CELL_MAX), k_given = options_has(spec, OPTION_K);
    size_t ks = k_given ? 1 : VARIANT_K;
    if (i >= (max_given ? 1 : 3) * ks) return false;
    if (!max_given) options_assume(spec, OPTION_CELL_MAX, max[i / ks]);
    if (!k_given) options_assume(spec, OPTION_K, i % ks + 1);
    options_mark(spec, OPTION_CELL_MAX);
    options_mark(spec, OPTION_K);
    return true;
}

/* The state of a cell, followed from bucket to bucket. */
struct cell {
    double p, Max;    /* for all records of all shards */
    double untouched; /* log(1 - K/m), of a different key */
    double at, faded; /* so far: records, B(at) */
    double lost;
};

static double not_set(const struct cell *c, const struct gap_law *law, double records) {
    return exp(c->untouched * gap_law_keys(law, records));
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
        if (b > 0) {
            double faded = 1 - theory_few(law->centre[b], c.p, c.Max);
            c.lost += not_set(&c, law, (c.at + 1 + law->centre[b]) / 2) * (faded - c.faded);
            c.faded = faded;
            c.at = law->centre[b];
        }
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
