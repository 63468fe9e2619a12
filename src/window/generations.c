/* generations - landmark and jumping windows over any filter.
 *
 * Idea       Time is cut into generations, and a filter keeps the youngest `live` of them apart
 *            (filter.h).  A landmark window is one live generation: at a landmark a new one begins
 *            and all before it is gone.  A jumping window of length N in Q sub-windows keeps the Q
 *            full ones and the current one, so it always covers N and at most N(1+1/Q):
 *
 *                landmark   ──────────────┤ current ──►
 *                jumping    ┤ full ┤ full ┤ … ┤ full ┤ current ──►
 *                           └─────── Q, N in all ────┘
 *
 * Guarantee  None added: false negatives none; false positives 1-(1-e)^live for a filter that errs
 *            at rate e with one full generation.
 * Paper      Metwally, Agrawal, El Abbadi, WWW 2005, §5.2.2 (landmark), §5.2.4 (jumping; theirs
 *            asks Q full sub-windows only, so that the youngest N/Q records are not yet seen).
 * Example    jumping:1h/12 has a generation of 5 minutes and 13 live ones; a click repeated within
 *            the hour is found, one after 65 minutes never.
 * Cost       the filter's; a generation's begin costs `live` table slices at most (table.h).
 *
 * Generations are counted logically: after a silence longer than the window they advance by `live`,
 * not by the wall clock, so that their 16-bit stamps cannot wrap unswept.
 */
#include "window/window.h"

#include "base/base.h"
#include "base/bits.h"
#include "plan/plan.h"
#include "spec/spec.h"

#include <math.h>

#define MONDAY ((uint64_t)4 * 86400 * 1000000) /* 1970-01-05, a Monday; weeks begin there */
#define WEEK   ((uint64_t)7 * 86400 * 1000000)

struct generations {
    struct rotation rotation;
    double others;    /* rate of the full generations; 0 if the filter is summed */
    double unnoticed; /* part of a key, below 1, that is still to be added to the current load */
    uint64_t step;    /* length of a generation on the clock; 0: by landmark only */
    uint64_t load[];  /* keys stored in each live generation, at generation mod live.  If the filter
                         is summed: then those of each that came again in a younger one */
};

static inline uint64_t generations_tallies(const struct filter_shape *s) {
    return (uint64_t)s->live * (s->summed ? 2 : 1);
}

/* -- planning ----------------------------------------------------------------------------- */

static uint64_t generations_step(const struct seen_spec *spec) {
    if (spec->unit == SEEN_UNIT_NONE) return 0;
    return spec->window == SEEN_WINDOW_JUMPING ? bits_ceil_div(spec->length, spec->subwindows)
                                               : spec->length;
}

static uint32_t generations_live(const struct seen_spec *spec) {
    return spec->window == SEEN_WINDOW_JUMPING
               ? 1 + (uint32_t)bits_ceil_div(spec->length, generations_step(spec))
               : 1;
}

/* How far beyond its length a window of `full` sub-windows reaches, in units of the clock. */
static uint64_t excess(uint64_t length, uint64_t full) {
    uint64_t step = bits_ceil_div(length, full);
    return (bits_ceil_div(length, step) + 1) * step - length;
}

/* The number of sub-windows to use instead of the given Q.  If Q divides the length, the window
 * reaches at most length/Q too far.  Otherwise this takes the next number that is as good, and then
 * as many as fit into the cells anyway, if the window reaches no further. */
static uint64_t round_subwindows(const struct seen_spec *spec, const struct filter_theory *f) {
    uint64_t length = spec->length, most = bits_min(f->live_most - 1, length),
             best = spec->subwindows;
    for (uint64_t q = best; q <= most && excess(length, best) > length / spec->subwindows; q++)
        if (excess(length, q) < excess(length, best)) best = q;
    uint32_t live = (uint32_t)best + 1;
    uint64_t filled = bits_min((f->columns ? f->columns(live) : live) - 1, most);
    if (excess(length, filled) <= excess(length, best)) best = filled;
    return bits_ceil_div(length, bits_ceil_div(length, best));
}

static uint64_t generations_bytes(const struct filter_shape *s) {
    return (sizeof(struct generations) + generations_tallies(s) * sizeof(uint64_t) + 63) / 64 * 64;
}

uint64_t generations_size(const struct seen_spec *spec, const struct filter_theory *f) {
    struct filter_shape shape = plan_shape(spec, generations_live(spec));
    return generations_bytes(&shape) + (f->size(&shape, 0) + 63) / 64 * 64;
}

static int settle_overload(struct seen_plan *plan, const struct filter_theory *f,
                           struct seen_error *e) {
    struct seen_spec *spec = &plan->spec;
    bool grows = f->traits & SEEN_GROWS, mem = options_has(spec, OPTION_MEM);
    uint32_t does = !grows ? SEEN_OVERLOAD_KEEP : mem ? SEEN_OVERLOAD_SHRINK : SEEN_OVERLOAD_GROW;
    bool fine = options_get(spec, OPTION_OVERLOAD) == does ||
                (grows && options_get(spec, OPTION_OVERLOAD) == SEEN_OVERLOAD_GROW);
    if (options_has(spec, OPTION_OVERLOAD) && !fine)
        return error_set(e, SEEN_EREFUSED, 0, "filter=%s in this window does overload=%s%s",
                         f->name, grows ? "grow, or shrink with mem=" : "keep",
                         grows ? "" : " only: the false-positive rate rises");
    if (!options_has(spec, OPTION_OVERLOAD)) options_set(spec, OPTION_OVERLOAD, does);
    return 0;
}

int generations_plan(struct seen_plan *plan, const struct filter_theory *f, struct seen_error *e) {
    struct seen_spec *spec = &plan->spec;
    plan->traits = f->traits;
    if (spec->window == SEEN_WINDOW_JUMPING) {
        if (spec->subwindows >= f->live_most)
            return error_set(e, SEEN_EREFUSED, 0,
                             "filter=%s keeps at most %u sub-windows apart, not %llu", f->name,
                             f->live_most - 1, (unsigned long long)spec->subwindows);
        if (!options_has(spec, OPTION_BLOCKS)) spec->subwindows = round_subwindows(spec, f);
    }
    int bad = settle_overload(plan, f, e);
    if (bad) return bad;
    uint32_t live = generations_live(spec);
    uint64_t step = generations_step(spec);
    double share = fmin(1, step ? plan_crowd(spec) * (double)step / (double)spec->length : 1);
    double all = live > 1 ? 1 + plan_beyond(spec, (double)step * live) : 1;
    struct fit fit = {f, live, share, options_get(spec, OPTION_SHARDS), true, all};
    struct filter_shape none = {.live = live, .spec = spec};
    uint64_t filter_fixed = f->size(&none, 0);
    struct seen_spec empty = *spec;
    options_assume(&empty, OPTION_BLOCKS, 0);
    uint64_t state = generations_size(&empty, f) - (filter_fixed + 63) / 64 * 64;
    bad = plan_filter(plan, &fit, detector_fixed(spec, state), e);
    if (bad) return bad;
    if (step) plan->slack = (double)(step * live) / (double)spec->length - 1;
    if (spec->window == SEEN_WINDOW_LANDMARK) plan->slack = 0;
    return 0;
}

/* -- loads -------------------------------------------------------------------------------- */

static uint32_t live_of(const struct window *w) { return w->filter.shape.live; }

static uint64_t *load_of(const struct window *w, uint64_t generation) {
    struct generations *s = w->state;
    return &s->load[generation % live_of(w)];
}

/* The keys of a generation that count in the rate of the window. */
static uint64_t keys_of(const struct window *w, uint64_t generation) {
    uint64_t load = *load_of(w, generation);
    if (!w->filter.shape.summed) return load;
    return load - bits_min(load, w->filter.renewed[generation % live_of(w)]);
}

/* -- life --------------------------------------------------------------------------------- */

static double rate_of(const struct filter *f, uint64_t load) {
    return load ? f->ops->theory.fp(&f->shape, (double)load) : 0;
}

/* Computes s->others after a change of generations.  Some formulas take too long for each call. */
static void renew_others(struct window *w) {
    struct generations *s = w->state;
    double none = 1, rate = 0;
    uint64_t last = 0; /* neighbours often have equal loads */
    for (uint32_t a = 1; !w->filter.shape.summed && a < live_of(w); a++) {
        uint64_t load = *load_of(w, s->rotation.generation - a);
        if (load != last) rate = rate_of(&w->filter, load);
        none *= 1 - rate;
        last = load;
    }
    s->others = 1 - none;
}

/* The rate of the window now. */
static double rate_now(const struct window *w) {
    const struct generations *s = w->state;
    uint64_t load = *load_of(w, s->rotation.generation);
    for (uint32_t a = 1; w->filter.shape.summed && a < live_of(w); a++)
        load += keys_of(w, s->rotation.generation - a);
    return 1 - (1 - rate_of(&w->filter, load)) * (1 - s->others);
}

/* The rate `steps` generations later, if no record comes until then. */
static double rate_after(const struct window *w, uint64_t steps) {
    const struct generations *s = w->state;
    double none = 1;
    uint64_t all = 0;
    for (uint64_t a = 0; a + steps < live_of(w); a++) {
        uint64_t load = keys_of(w, s->rotation.generation - a);
        all += load;
        if (!w->filter.shape.summed) none *= 1 - rate_of(&w->filter, load);
    }
    return w->filter.shape.summed ? rate_of(&w->filter, all) : 1 - none;
}

static void init(struct window *w) {
    const struct seen_spec *spec = &w->plan->spec;
    struct generations *s = w->state;
    uint32_t live = generations_live(spec);
    w->filter.shape = plan_shape(spec, live);
    w->filter.block = (char *)w->state + generations_bytes(&w->filter.shape);
    w->filter.renewed = w->filter.shape.summed ? s->load + live : NULL;
    w->filter.refresh_first = options_get(spec, OPTION_REFRESH) == SEEN_REFRESH_FIRST;
    s->step = generations_step(spec);
    bool weeks = spec->window == SEEN_WINDOW_LANDMARK && spec->unit == SEEN_UNIT_MICROSECONDS &&
                 s->step % WEEK == 0;
    s->rotation.boundary = !s->step ? UINT64_MAX : weeks ? MONDAY : s->step;
    s->rotation.generation = live;
    if (w->filter.ops->init) w->filter.ops->init(&w->filter);
}

static void destroy(struct window *w) {
    if (w->filter.ops->destroy) w->filter.ops->destroy(&w->filter);
}

static void move(struct window *w, struct seen_mover mover) {
    if (w->filter.ops->move) w->filter.ops->move(&w->filter, mover);
}

/* -- rotation ----------------------------------------------------------------------------- */

static void begin_generation(struct window *w) {
    struct generations *s = w->state;
    s->rotation.generation++;
    s->unnoticed = 0;
    *load_of(w, s->rotation.generation) = 0;
    if (w->filter.renewed) w->filter.renewed[s->rotation.generation % live_of(w)] = 0;
    w->filter.ops->advance(&w->filter, s->rotation.generation);
}

static bool empty(const struct window *w) {
    for (uint32_t a = 0; a < live_of(w); a++)
        if (*load_of(w, a)) return false;
    return true;
}

static void advance_to(struct window *w, uint64_t at) {
    struct generations *s = w->state;
    uint64_t steps = rotation_steps(&s->rotation, s->step, at);
    if (!empty(w)) {
        s->rotation.begun += bits_min(steps, live_of(w));
        for (uint64_t i = bits_min(steps, live_of(w)); i > 0; i--) begin_generation(w);
    }
    s->rotation.boundary += steps * s->step;
    renew_others(w);
}

static void landmark(struct window *w, uint64_t at) {
    struct generations *s = w->state;
    if (!empty(w)) {
        s->rotation.begun += live_of(w) > 1 ? live_of(w) : 1;
        for (uint32_t i = 0; i < live_of(w); i++) begin_generation(w);
    }
    if (w->plan->spec.unit == SEEN_UNIT_RECORDS) s->rotation.boundary = at + s->step;
    renew_others(w);
}

/* Windows begin at equal distances, so any boundary shows where all others are. */
static uint64_t since(const struct window *w, uint64_t at) {
    const struct generations *s = w->state;
    if (!s->step) return 0;
    uint64_t into = (at % s->step + s->step - s->rotation.boundary % s->step) % s->step;
    return at - bits_min(at, into);
}

/* -- work --------------------------------------------------------------------------------- */

static void observe(struct window *w, size_t n, const seen_digest *d, const uint64_t *at,
                    uint8_t *verdict) {
    struct generations *s = w->state;
    for (size_t i = 0; i < n;) {
        if (at[i] >= s->rotation.boundary) advance_to(w, at[i]);
        size_t run = rotation_run(&s->rotation, n - i, at + i);
        uint64_t *load = load_of(w, s->rotation.generation);
        *load += w->filter.ops->observe(&w->filter, s->rotation.generation, run,
                                        d + i * w->filter.shape.digests, verdict + i);
        i += run;
    }
}

static void prefetch(const struct window *w, seen_digest d) {
    if (w->filter.ops->prefetch) w->filter.ops->prefetch(&w->filter, d);
}

/* The generation at clock `at`, and in *start its beginning.  Moves nothing. */
static uint64_t generation_at(const struct window *w, uint64_t at, uint64_t *start) {
    const struct generations *s = w->state;
    uint64_t steps = rotation_steps(&s->rotation, s->step, at);
    *start = rotation_start(&s->rotation, s->step, at);
    return s->rotation.generation + (empty(w) ? 0 : bits_min(steps, live_of(w)));
}

static void find(const struct window *w, size_t n, const seen_digest *d, uint64_t at,
                 uint64_t *age) {
    const struct generations *s = w->state;
    uint64_t start, generation = generation_at(w, at, &start);
    uint32_t ago[DETECTOR_BATCH];
    for (size_t i = 0; i < n; i += DETECTOR_BATCH) {
        size_t batch = bits_min(n - i, DETECTOR_BATCH);
        w->filter.ops->find(&w->filter, generation, batch, d + i * w->filter.shape.digests, ago);
        for (size_t j = 0; j < batch; j++)
            age[i + j] = ago[j] == FILTER_NONE
                             ? SEEN_NEVER
                             : rotation_age(&w->plan->spec, s->step, start, at, ago[j]);
    }
}

static size_t forget(struct window *w, size_t n, const seen_digest *d, uint64_t at) {
    (void)at;
    struct generations *s = w->state;
    size_t gone = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t age;
        w->filter.ops->find(&w->filter, s->rotation.generation, 1, d + i, &age);
        if (!w->filter.ops->forget(&w->filter, s->rotation.generation, 1, d + i)) continue;
        gone++;
        uint64_t *load = load_of(w, s->rotation.generation - (age == FILTER_NONE ? 0 : age));
        if (!w->filter.ops->stored && *load) --*load;
    }
    renew_others(w);
    return gone;
}

/* The probes of a key are merged one by one, possibly long after each other.  So the cursor keeps
 * the match of generations with which the merge began. */
static bool merge(struct window *w, uint64_t at, const struct window *from, uint64_t from_at,
                  uint64_t most, struct merge_cursor *m) {
    struct generations *s = w->state;
    uint64_t *kept = m->place + FILTER_PLACES;
    bool begins = !m->place[0];
    if (at >= s->rotation.boundary) advance_to(w, at);
    struct filter_match match = {bits_min(kept[0], s->rotation.generation), kept[1], kept[2]};
    if (begins) {
        /* If our window is further on in its generation, their keys enter one generation younger.
         * Otherwise they would leave too early. */
        uint64_t start, from_start;
        generation_at(w, at, &start);
        uint64_t theirs = generation_at(from, from_at, &from_start);
        bool younger = s->step && at - start > from_at - from_start;
        match = (struct filter_match){s->rotation.generation, theirs, younger};
        kept[0] = match.into, kept[1] = match.from, kept[2] = match.younger;
    }
    bool last =
        w->filter.ops->merge(&w->filter, s->rotation.generation, &from->filter, &match, most, m);
    if (begins) {
        for (uint32_t a = 0; a < live_of(w); a++) {
            const struct generations *theirs = from->state;
            if (match.from - a > theirs->rotation.generation) continue;
            *load_of(w, filter_matching(&match, a)) += keys_of(from, match.from - a);
        }
    }
    renew_others(w);
    return last;
}

static void stats(const struct window *w, uint64_t at, struct seen_stats *out) {
    const struct generations *s = w->state;
    uint64_t start, now = generation_at(w, at, &start);
    uint64_t stored = 0, steps = now - s->rotation.generation;
    for (uint32_t a = 0; a < live_of(w); a++) {
        if (now - a > s->rotation.generation) continue;
        uint64_t load = keys_of(w, now - a);
        stored += load;
        if (load && s->step) stats_oldest(out, at - start + a * s->step);
    }
    out->stored += w->filter.ops->stored ? w->filter.ops->stored(&w->filter, now) : stored;
    double rate = steps ? rate_after(w, steps) : rate_now(w);
    out->fp_now += rate / (double)options_get(&w->plan->spec, OPTION_SHARDS);
    out->landmarks = bits_max(out->landmarks, s->rotation.begun);
    if (w->filter.ops->stats) w->filter.ops->stats(&w->filter, out);
}

static uint64_t boundary(const struct window *w) {
    return ((const struct generations *)w->state)->rotation.boundary;
}

/* Some of these keys would have been called duplicates by the current generation alone; they
 * changed nothing.  The others were found in full generations, and then stored in the current one.
 */
static void unnoticed(struct window *w, double keys) {
    struct generations *s = w->state;
    double own = rate_of(&w->filter, *load_of(w, s->rotation.generation)), all = rate_now(w), whole;
    s->unnoticed = modf(s->unnoticed + keys * (all > own ? own / all : 1), &whole);
    *load_of(w, s->rotation.generation) += (uint64_t)whole;
}

static void clear_counters(struct window *w) {
    struct generations *s = w->state;
    s->rotation.begun = 0;
    if (w->filter.ops->clear_counters) w->filter.ops->clear_counters(&w->filter);
}

/* -- snapshot ----------------------------------------------------------------------------- */

static int save(const struct window *w, struct seen_writer out) {
    const struct generations *s = w->state;
    if (out.write(out.ctx, &s->rotation, sizeof s->rotation) ||
        out.write(out.ctx, &s->unnoticed, sizeof s->unnoticed))
        return -1;
    if (out.write(out.ctx, s->load, generations_tallies(&w->filter.shape) * sizeof *s->load))
        return -1;
    return w->filter.ops->save(&w->filter, out);
}

static int load(struct window *w, uint64_t at, struct seen_reader in, uint64_t limit,
                struct seen_error *e) {
    (void)at;
    struct generations *s = w->state;
    uint64_t first = s->rotation.boundary, n = generations_tallies(&w->filter.shape);
    if (in.read(in.ctx, &s->rotation, sizeof s->rotation) ||
        in.read(in.ctx, &s->unnoticed, sizeof s->unnoticed) ||
        in.read(in.ctx, s->load, n * sizeof *s->load))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends inside its window");
    bool sane = rotation_sane(&s->rotation, &w->plan->spec, s->step, first, live_of(w));
    for (uint64_t i = 0; i < n; i++) sane &= s->load[i] < MAX_COUNT;
    sane = sane && s->unnoticed >= 0 && s->unnoticed < 1;
    if (!sane) return error_set(e, SEEN_EFORMAT, 0, "the snapshot's window does not fit its spec");
    int bad = w->filter.ops->load(&w->filter, s->rotation.generation, in, limit, e);
    if (!bad) renew_others(w);
    return bad;
}

#define GENERATIONS(label)                                                                         \
    {                                                                                              \
        .name = label, .init = init, .destroy = destroy, .move = move, .observe = observe,         \
        .prefetch = prefetch, .find = find, .landmark = landmark, .forget = forget,                \
        .merge = merge, .stats = stats, .boundary = boundary, .unnoticed = unnoticed,              \
        .clear_counters = clear_counters, .save = save, .load = load, .since = since,              \
    }

const struct window_ops window_landmark = GENERATIONS("landmark");
const struct window_ops window_jumping = GENERATIONS("jumping");
