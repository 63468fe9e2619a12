/* truth.c - estimates how many verdicts of a detector were wrong, from formulas and from a sample.
 */
#include "truth/truth.h"

#include "base/base.h"
#include "base/bits.h"
#include "spec/spec.h"
#include "theory/bloom.h"
#include "theory/numeric.h"

#include <math.h>
#include <string.h>

#define OVERFULL 1.25 /* times the capacity: above it the formulas do not hold */
#define ALPHA    .05
#define RARE     .001 /* a model outside this interval of the sample is wrong */

/* -- the model ---------------------------------------------------------------------------- */

struct state {
    double rate, load;
};

static struct state state_of(const struct window *w, uint64_t at) {
    struct seen_stats s = {.oldest = SEEN_NEVER, .kept = SEEN_NEVER};
    w->ops->stats(w, at, &s);
    return (struct state){s.fp_now * (double)options_get(&w->plan->spec, OPTION_SHARDS),
                          (double)s.stored};
}

/* The mean, between two loads, of the power law through (l0, r0) and (l1, r1).  If the loads hardly
 * differ, the power is unknown and this is the mean of both rates. */
static double mean_between(double l0, double r0, double l1, double r1) {
    if (r1 <= 0 || l1 <= l0 * 1.01 + 1) return (r0 + r1) / 2;
    if (r0 <= 0 || l0 <= 0) return r1 / 2; /* the table was empty; stretches are short */
    double power = log(r1 / r0) / log(l1 / l0);
    if (fabs(power + 1) < 1e-9) return r1;
    return (r1 * l1 - r0 * l0) / (power + 1) / (l1 - l0);
}

/* The false duplicates of the open stretch.  If more than half of the new records are called
 * duplicates, few are left to estimate from, and the number of duplicates is the bound. */
static double stretch(const struct model *m, struct state now) {
    double duplicates = (double)(m->records - m->began - m->fresh);
    double odds = mean_between(m->load, m->odds, now.load, theory_odds(now.rate));
    double keys = m->fresh ? (double)m->fresh * odds : 0;
    return odds > 1 ? fmin(keys, duplicates) : keys;
}

/* Begins a stretch, for a window whose clock is `at`. */
static void model_open(struct model *m, const struct window *w, uint64_t at) {
    struct state now = state_of(w, at);
    m->odds = theory_odds(now.rate);
    m->load = now.load;
    m->fresh = 0;
    m->began = m->records;
    m->until = m->records + 16 + (uint64_t)now.load / 8;
    m->worst = fmax(m->worst, now.rate);
    m->fullest = fmax(m->fullest, now.load);
}

/* Ends the stretch, and tells the window how many new keys it called duplicates (ops->unnoticed).
 */
static void model_close(struct model *m, struct window *w, uint64_t at) {
    double more = stretch(m, state_of(w, at));
    m->expected += more;
    if (w->ops->unnoticed && more > 0) w->ops->unnoticed(w, more);
}

/* The false duplicates so far, including the open stretch. */
static double model_now(const struct model *m, const struct window *w, uint64_t at) {
    return m->expected + stretch(m, state_of(w, at));
}

/* Whether the numbers of a loaded model are possible. */
static bool model_sane(const struct model *m) {
    return m->records < MAX_COUNT && m->until > m->records && m->until < MAX_COUNT &&
           m->began <= m->records && m->fresh <= m->records - m->began && m->odds >= 0 &&
           m->odds <= 1e6 && m->load >= 0 && m->load < 1e18 && m->expected >= 0 &&
           m->expected < 1e18 && m->worst >= 0 && m->worst <= 1 && m->fullest >= 0 &&
           m->fullest < 1e18;
}

/* -- size --------------------------------------------------------------------------------- */

bool truth_plan(struct seen_plan *plan) {
    bool errs = !(plan->traits & SEEN_NO_FP);
    uint64_t slots = control_slots(plan, plan->bytes);
    if (!errs && !slots) return false;
    options_set(&plan->spec, OPTION_CONTROL, slots);
    return true;
}

uint64_t truth_bytes(const struct seen_spec *spec) {
    if (!options_has(spec, OPTION_CONTROL)) return 0;
    uint64_t model = offsetof(struct truth, control);
    return (model +
            (options_get(spec, OPTION_CONTROL) ? control_bytes(options_get(spec, OPTION_CONTROL))
                                               : 0) +
            63) /
           64 * 64;
}

/* The sample of a shard; NULL: it has none. */
static struct control *control_of(const struct window *w) {
    return options_get(&w->plan->spec, OPTION_CONTROL) ? &w->truth->control : NULL;
}

void truth_init(struct window *w, uint32_t cpu) {
    if (control_of(w))
        control_init(control_of(w), w->plan, options_get(&w->plan->spec, OPTION_CONTROL), cpu);
    model_open(&w->truth->model, w, 0);
}

/* -- work --------------------------------------------------------------------------------- */

/* The number of records, of n, that belong to the open stretch and to the current generation. */
static size_t run_of(const struct window *w, size_t n, const uint64_t *at) {
    uint64_t run = bits_min(n, w->truth->model.until - w->truth->model.records);
    uint64_t boundary = w->ops->boundary ? w->ops->boundary(w) : UINT64_MAX;
    if (at[run - 1] < boundary) return run;
    for (run = 0; at[run] < boundary;) run++;
    return run;
}

void truth_observe(struct window *w, size_t n, const seen_digest *d, const uint64_t *at,
                   uint8_t *verdict) {
    struct model *m = &w->truth->model;
    for (size_t i = 0, run; i < n; i += run) {
        run = run_of(w, n - i, at + i);
        bool rotates = run == 0;
        if (rotates) {
            model_close(m, w, w->ops->boundary(w) - 1);
            run = 1; /* the first record of the next generation */
        }
        const seen_digest *key = d + i * w->plan->digests;
        w->ops->observe(w, run, key, at + i, verdict + i);
        if (control_of(w))
            control_observe(control_of(w), w, m->records, run, key, at + i, verdict + i);
        m->records += run;
        m->fresh += run - bits_count(verdict + i, run);
        uint64_t clock = at[i + run - 1] + (w->plan->spec.unit != SEEN_UNIT_MICROSECONDS);
        if (!rotates && m->records < m->until) continue;
        if (!rotates) model_close(m, w, clock);
        model_open(m, w, clock);
    }
}

void truth_before(struct window *w, uint64_t at) { model_close(&w->truth->model, w, at); }
void truth_after(struct window *w, uint64_t at) { model_open(&w->truth->model, w, at); }

void truth_landmark(struct window *w) {
    if (control_of(w)) control_landmark(control_of(w));
}

void truth_forget(struct window *w, seen_digest d) {
    if (control_of(w)) control_forget(control_of(w), d);
}

void truth_clear(struct window *w) {
    struct model *m = &w->truth->model;
    m->expected = m->worst = m->fullest = 0;
    if (control_of(w)) control_clear(control_of(w));
}

/* -- merge -------------------------------------------------------------------------------- */

void truth_merge_begin(struct window *w, const struct window *from, uint64_t from_at) {
    struct model *m = &w->truth->model;
    const struct model *other = &from->truth->model;
    m->expected += model_now(other, from, from_at);
    m->worst = fmax(m->worst, other->worst);
    m->fullest = fmax(m->fullest, other->fullest);
    if (control_of(w)) control_add(control_of(w), control_of(from));
}

void truth_merge_end(struct window *w, uint64_t at, const struct window *from, uint64_t from_at) {
    if (control_of(w)) control_enter(control_of(w), w, at, control_of(from), from, from_at);
}

/* -- intervals ---------------------------------------------------------------------------- */

/* How many records of a kind there were.  The sample's sum is a total of weighted counts; its
 * interval is the gamma interval of Fay and Feuer (Statistics in Medicine 16, 1997), with the
 * greater of two variances: that of independent records, and that seen between groups of keys. */
struct estimate {
    double value, lo, hi;
};

static double variance(const struct control_sum *s) {
    double sum = 0, squares = 0, n = (double)s->groups;
    for (uint64_t g = 0; g < s->groups; g++) {
        sum += s->group[g];
        squares += s->group[g] * s->group[g];
    }
    return fmax(s->poisson, n / (n - 1) * (squares - sum * sum / n));
}

/* The interval of one sum.  The upper end assumes one more key of the greatest weight, because such
 * a key might have been sampled too. */
static struct estimate own(const struct control_sum *s, double alpha) {
    double r = s->total - s->certain, v = variance(s);
    struct estimate e = {s->total, s->total, s->total};
    if (r > 0 && v > 0) e.lo = s->certain + v / r * theory_gamma_quantile(r * r / v, alpha / 2);
    if (s->weight <= 1) return e; /* every key is sampled */
    double more = r + s->weight, wide = v + s->weight * s->weight;
    e.hi = s->certain + wide / more * theory_gamma_quantile(more * more / wide, 1 - alpha / 2);
    return e;
}

/* Estimates how many of `all` verdicts are of one kind, from a sample's sums of this kind and of
 * the other one (`others`); both kinds together make `all`.  alpha: the chance that the truth lies
 * outside the interval.
 *
 * The two sums contradict each other if a few keys have most of the records and none of them is in
 * the sample.  Then `even` decides, the one of the two sums that depends least on a few keys.
 */
static struct estimate interval_sample(const struct control_sum *s,
                                       const struct control_sum *others,
                                       const struct control_sum *even, double all, double alpha) {
    struct estimate e = own(s, alpha), o = own(others, alpha);
    o = (struct estimate){all - o.value, all - o.hi, all - o.lo};
    bool contradict = e.hi < o.lo || o.hi < e.lo; /* frequent keys are missing from the sample */
    const struct control_sum *lesser = variance(others) < variance(s) ? others : s;
    if ((contradict ? even : lesser) == others) e = o;
    double least = fmin(s->count, all), most = all - fmin(others->count, all - least);
    e.value = fmin(fmax(e.value, least), most);
    e.lo = fmin(fmax(e.lo, least), most);
    e.hi = fmin(fmax(e.hi, least), most);
    return e;
}

/* The interval of the model's figure, if the model errs by about a tenth. */
static struct estimate interval_model(double expected, double alpha) {
    double v = 2 * expected + expected * expected / 100;
    if (expected <= 0) return (struct estimate){0, 0, 0};
    double shape = expected * expected / v, scale = v / expected;
    return (struct estimate){expected, scale * theory_gamma_quantile(shape, alpha / 2),
                             scale * theory_gamma_quantile(shape, 1 - alpha / 2)};
}

/* -- figures ------------------------------------------------------------------------------ */

struct sums {
    struct control_sum kind[CONTROL_KINDS];
    double model, fullest;
};

static struct sums sums_of(const struct window *shard, uint64_t at, struct seen_stats *out) {
    struct sums s = {0};
    for (uint64_t i = 0; i < options_get(&shard->plan->spec, OPTION_SHARDS); i++) {
        const struct window *w = &shard[i];
        const struct truth *t = w->truth;
        s.model += model_now(&t->model, w, at);
        s.fullest += t->model.fullest;
        out->fp_worst = fmax(out->fp_worst, t->model.worst);
        if (!control_of(w)) continue;
        for (int kind = 0; kind < CONTROL_KINDS; kind++)
            control_sum(&t->control, kind, &s.kind[kind]);
        out->sampled_keys += t->control.saved.used;
        out->sampled_records += control_records(&t->control);
    }
    return s;
}

/* Whether the window is nearly as planned, so that the formulas hold.  In a decaying window only
 * few of the records called new may be misses, because the formulas count them as new keys. */
static bool as_planned(const struct resolved *plan, const struct seen_stats *out, double fullest) {
    bool roomy = !plan->capacity || fullest <= OVERFULL * (double)plan->capacity ||
                 out->fp_worst <= plan->fp_full;
    if (plan->spec.window == SEEN_WINDOW_DECAYING) roomy = out->missed_hi <= out->unique / 10;
    return roomy && !out->saturated && !out->forgotten &&
           options_get(&plan->spec, OPTION_REFRESH) == SEEN_REFRESH_LAST;
}

static void put_false(struct seen_stats *out, struct estimate e) {
    out->expected_false = e.value;
    out->false_lo = (uint64_t)fmax(0, e.lo);
    out->false_hi = (uint64_t)e.hi;
}

/* False duplicates are spread evenly over keys: a key that was called a duplicate is stored, so it
 * is not a false duplicate again while it stays in the window.  (With refresh=first it is not
 * stored.) */
static struct estimate sample_false(const struct sums *s, double all, double alpha) {
    const struct control_sum *f = &s->kind[CONTROL_FALSE];
    return interval_sample(f, &s->kind[CONTROL_TRUE], f, all, alpha);
}

static void tell_false(const struct resolved *plan, const struct sums *s, struct seen_stats *out) {
    double all = (double)out->duplicates;
    struct estimate model = interval_model(fmin(s->model, all), ALPHA);
    model.hi = fmin(model.hi, all);
    bool planned = as_planned(plan, out, s->fullest);
    if (!out->sampled_records) {
        if (!planned) model.lo = 0, model.hi = all; /* nothing is known */
        put_false(out, (struct estimate){model.value, floor(model.lo + .5), floor(model.hi + .5)});
        return;
    }
    struct estimate sample = sample_false(s, all, ALPHA);
    struct estimate wide = sample_false(s, all, RARE);
    bool agrees = model.value >= wide.lo && model.value <= wide.hi &&
                  model.hi - model.lo <= sample.hi - sample.lo;
    if (planned && agrees) {
        put_false(out, (struct estimate){model.value, floor(model.lo + .5), floor(model.hi + .5)});
        return;
    }
    out->source = SEEN_FROM_SAMPLE;
    bool vague = sample.hi - sample.lo > sample.value;
    if (vague && model.value >= sample.lo && model.value <= sample.hi) sample.value = model.value;
    put_false(out, (struct estimate){sample.value, floor(sample.lo), ceil(sample.hi)});
}

/* A structure without false negatives that forgot nothing has no misses, unless the sample has one.
 */
static void tell_missed(const struct resolved *plan, const struct sums *s, struct seen_stats *out) {
    double all = (double)out->unique;
    bool none = plan->traits & SEEN_NO_FN && !out->forgotten && s->kind[CONTROL_MISS].count == 0;
    if (none) return;
    if (!out->sampled_records) {
        out->missed_hi = out->unique; /* nothing is known */
        return;
    }
    const struct control_sum *fresh = &s->kind[CONTROL_FRESH];
    struct estimate e = interval_sample(&s->kind[CONTROL_MISS], fresh, fresh, all, ALPHA);
    out->expected_missed = e.value;
    out->missed_lo = (uint64_t)fmax(0, floor(e.lo));
    out->missed_hi = (uint64_t)ceil(e.hi);
}

void truth_stats(const struct window *shard, uint64_t at, struct seen_stats *out) {
    const struct resolved *plan = shard->plan;
    struct sums s = sums_of(shard, at, out);
    tell_missed(plan, &s, out);
    if (plan->traits & SEEN_NO_FP)
        put_false(out, (struct estimate){0, 0, 0});
    else
        tell_false(plan, &s, out);
}

/* -- snapshot ----------------------------------------------------------------------------- */

int truth_save(const struct window *w, struct seen_writer out) {
    if (out.write(out.ctx, &w->truth->model, sizeof w->truth->model)) return -1;
    return control_of(w) ? control_save(control_of(w), out) : 0;
}

int truth_load(struct window *w, uint64_t at, struct seen_reader in, struct seen_error *e) {
    if (in.read(in.ctx, &w->truth->model, sizeof w->truth->model))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends before the account of its errors");
    if (!model_sane(&w->truth->model))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot's account of its errors makes no sense");
    return control_of(w) ? control_load(control_of(w), at, in, e) : 0;
}
