/* fp-lru - FPbuffering: the buffer lru, and a coin for every key that it does not hold.
 *
 * Idea       lru loses duplicates and calls no new key one, so how it compares with a structure
 *            that does both hangs on how many duplicates a stream has.  A key that is not in the
 *            buffer is therefore called a duplicate with probability q = fp=.  A key enters the
 *            buffer regardless of its coin, so the buffer is that of lru.
 * Guarantee  False positives at rate q, on every stream.  A duplicate is missed as often as by
 *            lru, times 1-q.  Made for comparisons, and used where filter= names it.
 * Paper      FPbuffering: Deng, Rafiei, SIGMOD 2006, 5.2.
 * Layout     lru's.  Coins need no state: each is drawn from the key, the record's number and the
 *            seed.  So batches and shards make no difference, and a query sees the same coin as the
 *            next record would.
 *
 *                in the buffer? ──yes──► duplicate
 *                     └────no──► draw(key, number, seed) < q x 2^64 ? ──yes──► duplicate
 *                                                                     └─no───► new
 *
 * Example    C = 2, q = 1/4 on a b a c b: the second a is in the buffer; a, b, c and the second b
 *            are not, and each of them is called new three times in four.
 * Cost       lru's, and two multiplications a key that is not in the buffer.
 */
#include "decaying/recent.h"
#include "plan/plan.h"
#include "spec/spec.h"
#include "theory/bloom.h"
#include "theory/decaying.h"

extern const struct window_ops aging_lru;

static int plan(struct seen_plan *plan, struct seen_error *e) {
    struct seen_spec *spec = &plan->spec;
    int bad = aging_lru.plan(plan, e);
    if (bad) return bad;
    if (!options_has(spec, OPTION_FP)) options_set_real(spec, OPTION_FP, PLAN_FP_DEFAULT);
    plan->traits &= ~(uint32_t)SEEN_NO_FP;
    plan->fp_full = plan->fp_mean = options_real(spec, OPTION_FP);
    plan->fn = theory_buffer_fn_coin(plan->fn, options_real(spec, OPTION_FP));
    return 0;
}

static struct forecast forecast(const struct seen_plan *plan, const struct gap_law *law) {
    struct forecast f = recent_forecast(plan, law);
    return (struct forecast){options_real(&plan->spec, OPTION_FP),
                             theory_buffer_fn_coin(f.fn, options_real(&plan->spec, OPTION_FP))};
}

/* -- the coin ----------------------------------------------------------------------------- */

static bool coin(const struct seen_spec *spec, seen_digest d, uint64_t at) {
    uint64_t key = bits_draw(d.lo, d.hi, DRAW_COIN);
    return bits_draw(key ^ options_get(spec, OPTION_SEED), at, DRAW_COIN) <
           (uint64_t)(options_real(spec, OPTION_FP) * 0x1p64);
}

static void observe(struct window *w, size_t n, const seen_digest *d, const uint64_t *at,
                    uint8_t *verdict) {
    aging_lru.observe(w, n, d, at, verdict);
    for (size_t i = 0; i < n; i++)
        if (!verdict[i]) verdict[i] = coin(&w->plan->spec, d[i], at[i]);
}

static void find(const struct window *w, size_t n, const seen_digest *d, uint64_t at,
                 uint64_t *age) {
    recent_ages(w, n, d, at, age);
    for (size_t i = 0; i < n; i++)
        if (age[i] == SEEN_NEVER && coin(&w->plan->spec, d[i], at)) age[i] = 1;
}

/* A landmark empties the buffer and leaves the coins. */
static void stats(const struct window *w, uint64_t at, struct seen_stats *out) {
    const struct seen_spec *spec = &w->plan->spec;
    recent_stats(w, at, out);
    out->fp_now += options_real(spec, OPTION_FP) / (double)options_get(spec, OPTION_SHARDS);
}

/* -- the rest is lru's -------------------------------------------------------------------- */

static size_t forget(struct window *w, size_t n, const seen_digest *d, uint64_t at) {
    return aging_lru.forget(w, n, d, at);
}

static int save(const struct window *w, struct seen_writer out) { return aging_lru.save(w, out); }

static int load(struct window *w, uint64_t at, struct seen_reader in, uint64_t limit,
                struct seen_error *e) {
    return aging_lru.load(w, at, in, limit, e);
}

const struct window_ops aging_fp_lru = {
    .name = "decaying",
    .by_name = true,
    .plan = plan,
    .forecast = forecast,
    .size = recent_size,
    .init = recent_init,
    .observe = observe,
    .find = find,
    .landmark = recent_landmark,
    .forget = forget,
    .stats = stats,
    .clear_counters = recent_clear_counters,
    .save = save,
    .load = load,
};
