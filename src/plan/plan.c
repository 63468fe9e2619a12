/* plan.c - spec -> plan: what would serve, how large it must be, which is best.
 *
 * Planning a resolved spec gives the same spec again, so a snapshot, a benchmark row and a spec
 * pasted from `seen plan` all mean the same structure for ever. */
#include "plan/plan.h"

#include "bits.h"
#include "confirm.h"
#include "error.h"
#include "hash.h"
#include "plan/theory.h"
#include "registry.h"
#include "spec/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct filter_shape plan_shape(const struct seen_spec *spec, uint32_t live) {
    return (struct filter_shape){.lines = spec->lines,
                                 .k = (uint32_t)spec->k,
                                 .live = live,
                                 .width = (uint32_t)spec->width,
                                 .stamp = (uint32_t)spec->stamp,
                                 .generations = (uint32_t)spec->generations,
                                 .length = spec->length,
                                 .bits = (uint32_t)spec->bits,
                                 .substring = (uint32_t)spec->substring,
                                 .summed = spec->by == SEEN_SUBTRACT};
}

int plan_keys(uint64_t *keys, const struct seen_spec *spec, struct seen_error *e) {
    bool items = options_has(spec, OPTION_ITEMS), rate = options_has(spec, OPTION_RATE);
    if (rate && spec->unit != SEEN_MICROSECONDS)
        return error_set(e, SEEN_EREFUSED, 0,
                         "rate= sizes windows of time, and this window is not one; give items= "
                         "instead");
    double counted = 0;
    if (rate) counted = fmax(1, ceil(spec->rate * (double)spec->length / 1e6));
    if (spec->unit == SEEN_RECORDS) counted = (double)spec->length;
    if (items && (!counted || (double)spec->items < counted)) counted = (double)spec->items;
    if (counted > 1e15)
        return error_set(e, SEEN_EREFUSED, 0,
                         "%.3g keys in a window are too many; the most is 1e15", counted);
    *keys = (uint64_t)counted;
    return 0;
}

int plan_overload(struct seen_plan *plan, uint32_t does, struct seen_error *e) {
    struct seen_spec *spec = &plan->spec;
    size_t n;
    if (options_has(spec, OPTION_OVERLOAD) && spec->overload != does)
        return error_set(e, SEEN_EREFUSED, 0, "filter=%s does overload=%s only", plan->filter,
                         seen_options(&n)[OPTION_OVERLOAD].choices[does]);
    spec->overload = does;
    options_mark(spec, OPTION_OVERLOAD);
    return 0;
}

int plan_sliding(struct seen_plan *plan, uint32_t does, struct seen_error *e) {
    struct seen_spec *spec = &plan->spec;
    uint64_t keys = 0;
    bool sized = options_has(spec, OPTION_MEM) || options_has(spec, OPTION_LINES) ||
                 options_has(spec, OPTION_LAMBDA);
    int bad = plan_keys(&keys, spec, e);
    if (!bad) bad = plan_overload(plan, does, e);
    if (bad) return bad;
    if (!keys && !sized && !options_has(&plan->asked, OPTION_FILTER))
        return error_set(
            e, SEEN_EREFUSED, 0,
            "nothing says how many keys this window holds; give rate=, items= or mem=");
    return 0;
}

/* -- one filter in one window ------------------------------------------------------------- */

struct request {
    struct seen_plan *plan;
    const struct fit *fit;
    struct filter_shape shape; /* a shard's */
    double keys;               /* a shard's; 0 if unknown */
    double fp;                 /* allowed */
    uint64_t budget;           /* lines a shard; 0 if memory is not given */
    uint64_t fixed;
    bool one_size; /* the options leave no other */
};

static uint64_t bytes_of(const struct request *r, const struct filter_shape *shape) {
    return r->fixed + r->plan->spec.shards * r->fit->filter->size(shape, 0);
}

#define USELESS .9 /* a false-positive rate that nobody can want */

/* A whole number, to three digits. */
static double round_down(double keys) {
    double unit = pow(10, fmax(0, floor(log10(fmax(keys, 1))) - 2));
    return floor(keys / unit) * unit;
}

static bool errs(const struct request *r) { return !(r->plan->traits & SEEN_NO_FP); }

/* Names the fixes: the memory it would take, or the rate and the keys this memory allows. */
static int refuse(struct request *r, uint64_t needed, struct seen_error *e) {
    char fp[40] = "", takes[32], has[32], rate[48] = "no fp, or ", keys[48];
    const struct seen_spec *spec = &r->plan->spec;
    struct filter_shape shape = r->shape;
    shape.lines = r->budget;
    double least = fit_rate(r->fit, &shape, r->keys, (uint32_t)spec->k);
    if (least < USELESS) snprintf(rate, sizeof rate, "fp=%.2g, or ", least * 1.1);
    double most = fit_keys(r->fit, &shape, r->fp, (uint32_t)spec->k) * (double)spec->shards;
    snprintf(keys, sizeof keys, "%.3g", round_down(most * .999));
    if (errs(r)) {
        snprintf(fp, sizeof fp, " at fp=");
        units_print_real(r->fp, fp + strlen(fp), sizeof fp - strlen(fp));
    } else {
        rate[0] = 0;
    }
    units_print_need(needed, takes, sizeof takes);
    seen_print_size(spec->mem, has, sizeof has);
    bool named = options_has(&r->plan->asked, OPTION_FILTER);
    return error_set(e, SEEN_EREFUSED, 0, "%.6g keys%s need mem=%s%s%s; mem=%s allows %sitems=%s",
                     r->keys * (double)spec->shards, fp, takes, named ? " with filter=" : "",
                     named ? r->plan->filter : "", has, rate, keys);
}

/* The length of key or substring that was asked for, which alone makes it this large. */
static uint32_t *length_asked(const struct request *r, struct filter_shape *shape) {
    bool substrings = options_serve(OPTION_SUBSTRING, r->plan->filter);
    enum option length = substrings ? OPTION_SUBSTRING : OPTION_BITS;
    if (!r->fit->filter->form || !options_has(&r->plan->asked, length)) return NULL;
    return substrings ? &shape->substring : &shape->bits;
}

static int too_small(const struct request *r, struct seen_error *e) {
    char has[32], least[32];
    const struct seen_spec *spec = &r->plan->spec;
    struct filter_shape one = r->shape, fits;
    one.k = one.k ? one.k : 1;
    one.lines = fit_least(r->fit, one);
    if (options_has(spec, OPTION_LINES))
        return error_set(
            e, SEEN_EREFUSED, 0, "lines=%llu are too few for filter=%s here; give %llu",
            (unsigned long long)spec->lines, r->plan->filter, (unsigned long long)one.lines);
    seen_print_size(spec->mem, has, sizeof has);
    units_print_need(bytes_of(r, &one), least, sizeof least);
    fits = r->shape;
    fits.lines = r->budget;
    uint32_t *length = length_asked(r, &fits), asked = length ? *length : 0;
    if (length) *length = 0;
    if (length && (fits = fit_whole(r->fit, fits)).lines) {
        const char *name = length == &fits.bits ? "bits" : "substring";
        return error_set(e, SEEN_EREFUSED, 0,
                         "filter=%s with %s=%u needs mem=%s; mem=%s allows %s=%u", r->plan->filter,
                         name, asked, least, has, name, *length);
    }
    return error_set(e, SEEN_EREFUSED, 0,
                     "mem=%s is too small for filter=%s here, which takes %s empty", has,
                     r->plan->filter, least);
}

static int none_large_enough(struct request *r, struct seen_error *e) {
    char fp[40] = "";
    if (errs(r)) snprintf(fp, sizeof fp, " at fp=%g", r->fp);
    const char *fix = "";
    if (r->fit->filter->form)
        fix = length_asked(r, &r->shape) ? "; leave substring= out" : "; more bits= may do";
    return error_set(e, SEEN_EREFUSED, 0, "no filter=%s is large enough for %.6g keys%s%s",
                     r->plan->filter, fmax(1, r->keys * (double)r->plan->spec.shards), fp, fix);
}

/* To three digits, so that the spec stays readable; never 0, which no spec may ask for. */
double plan_round_up(double rate) {
    rate = fmax(rate, 1e-300);
    double unit = pow(10, floor(log10(rate)) - 2);
    char text[32];
    snprintf(text, sizeof text, "%.3g", ceil(rate / unit * (1 - 1e-12)) * unit);
    return fmin(strtod(text, NULL), 1 - 1e-9);
}

/* Lines and probes, from whichever of lines=, items=, fp= and mem= are given. */
static int choose_geometry(struct request *r, struct seen_error *e) {
    struct seen_spec *spec = &r->plan->spec;
    struct filter_shape *shape = &r->shape;
    uint32_t k = options_has(spec, OPTION_K) ? (uint32_t)spec->k : 0;
    bool fp_given = options_has(spec, OPTION_FP) && errs(r);
    if (options_has(spec, OPTION_LINES)) {
        shape->lines = spec->lines;
        if (!spec->lines)
            return error_set(e, SEEN_EREFUSED, 0,
                             "filter=%s needs lines; lines=0 (no limit) is for filter=exact",
                             r->plan->filter);
        if (r->budget && shape->lines > r->budget)
            return error_set(e, SEEN_EREFUSED, 0,
                             "lines=%llu do not fit into mem=; leave one of them out",
                             (unsigned long long)spec->lines);
    } else if (r->keys > 0 && (fp_given || (!r->budget && !r->one_size))) {
        if (!fit_lines(r->fit, shape, r->keys, r->fp, k, r->budget)) return none_large_enough(r, e);
        if (r->budget && shape->lines > r->budget) return refuse(r, bytes_of(r, shape), e);
        *shape = fit_whole(r->fit, *shape);
        return 0;
    } else {
        shape->lines = r->budget ? r->budget : fit_least(r->fit, *shape);
    }
    struct filter_shape smallest = *shape;
    smallest.k = k ? k : 1;
    if (shape->lines < fit_least(r->fit, smallest)) return too_small(r, e);
    if (r->keys > 0 && !fp_given) {
        double rate = fit_rate(r->fit, shape, r->keys, k);
        if (rate >= USELESS && !options_has(spec, OPTION_LINES) &&
            fit_lines(r->fit, shape, r->keys, r->fp, k, r->budget))
            return refuse(r, bytes_of(r, shape), e);
        if (errs(r)) r->fp = plan_round_up(rate);
    } else if (fit_keys(r->fit, shape, r->fp, k) < 1 && !options_has(spec, OPTION_LINES)) {
        return none_large_enough(r, e);
    }
    *shape = fit_whole(r->fit, *shape);
    if (!shape->lines) return too_small(r, e);
    return 0;
}

static int refuse_growing(const struct request *r, struct seen_error *e) {
    const struct seen_spec *spec = &r->plan->spec;
    char takes[32], has[32];
    uint64_t needed = r->fixed + spec->shards * r->fit->filter->size(&r->shape, (uint64_t)r->keys);
    units_print_need(needed, takes, sizeof takes);
    seen_print_size(spec->mem, has, sizeof has);
    return error_set(e, SEEN_EREFUSED, 0,
                     "filter=%s needs mem=%s for %.6g keys, and mem=%s holds %llu", r->plan->filter,
                     takes, r->keys * (double)spec->shards, has,
                     (unsigned long long)(spec->lines * spec->shards));
}

#define GROWING_MOST 4294963199 /* keys that the 32-bit references of store.h reach */

/* The most keys a shard of a structure that grows can hold in `mem` bytes. */
static uint64_t keys_within(const struct request *r, uint64_t mem) {
    uint64_t lo = 0, hi = GROWING_MOST + (uint64_t)1;
    uint64_t room = mem > r->fixed ? (mem - r->fixed) / r->plan->spec.shards : 0;
    while (lo + 1 < hi) {
        uint64_t middle = lo + (hi - lo) / 2;
        if (r->fit->filter->size(&r->shape, middle) <= room)
            lo = middle;
        else
            hi = middle;
    }
    return lo;
}

/* Structures that grow have no geometry: memory bounds their keys, if it is given. */
static int size_growing(struct request *r, struct seen_error *e) {
    struct seen_plan *plan = r->plan;
    struct seen_spec *spec = &plan->spec;
    const struct filter_ops *f = r->fit->filter;
    double most = 1e15;
    if (options_has(spec, OPTION_MEM)) most = (double)keys_within(r, spec->mem);
    if (!options_has(spec, OPTION_LINES)) spec->lines = most < 1e15 ? (uint64_t)most : 0;
    double keys = r->keys > 0 ? r->keys : (double)spec->lines;
    if (options_has(spec, OPTION_MEM) && !spec->lines) return too_small(r, e);
    if (spec->lines && keys > (double)spec->lines && options_has(&plan->asked, OPTION_ITEMS))
        return refuse_growing(r, e);
    if (spec->lines) keys = fmin(keys, (double)spec->lines);
    plan->capacity = spec->lines ? spec->lines * spec->shards : 0;
    plan->bytes = r->fixed + spec->shards * f->size(&r->shape, (uint64_t)keys);
    plan->fp_full = plan->fp_mean = ldexp(fmax(keys, 1), -128);
    options_mark(spec, OPTION_LINES);
    return 0;
}

/* Marks an option as decided, where the structure has it. */
static void decide(struct seen_spec *spec, enum option option) {
    if (options_serve(option, spec->filter)) options_mark(spec, option);
}

static void predict(struct request *r) {
    struct seen_plan *plan = r->plan;
    struct seen_spec *spec = &plan->spec;
    double shards = (double)spec->shards;
    struct filter_shape shape = r->shape;
    double most = fit_keys(r->fit, &shape, r->fp, shape.k);
    double keys = r->keys > 0 ? r->keys : most;
    plan->capacity = (uint64_t)fmax(1, fmax(most, r->keys) * shards + .5);
    plan->bytes = bytes_of(r, &r->shape);
    plan->fp_full = fit_fp(r->fit, &r->shape, keys);
    plan->fp_mean = fit_fp_mean(r->fit, &r->shape, keys);
    spec->lines = r->shape.lines;
    spec->k = r->shape.k;
    spec->bits = r->shape.bits;
    spec->substring = r->shape.substring;
    static const enum option decided[] = {OPTION_LINES, OPTION_K, OPTION_BITS, OPTION_SUBSTRING};
    for (size_t i = 0; i < sizeof decided / sizeof *decided; i++) decide(spec, decided[i]);
    if (!errs(r)) return;
    spec->fp = r->fp;
    options_mark(spec, OPTION_FP);
}

int plan_filter(struct seen_plan *plan, const struct fit *fit, uint64_t fixed,
                struct seen_error *e) {
    struct seen_spec *spec = &plan->spec;
    const struct filter_ops *f = fit->filter;
    uint64_t keys;
    int bad = plan_keys(&keys, spec, e);
    if (!bad && f->settle) bad = f->settle(spec, fit->live, e);
    if (bad) return bad;
    struct request r = {.plan = plan, .fit = fit, .fixed = fixed};
    r.shape = plan_shape(spec, fit->live);
    r.keys = (double)keys / (double)spec->shards;
    if (f->most) r.keys = fmin(r.keys, f->most(&r.shape) / (double)spec->shards);
    plan->touches = f->touches(&r.shape);
    if (f->traits & SEEN_GROWS) return size_growing(&r, e);
    if (options_has(spec, OPTION_K) && spec->k > f->k_most)
        return error_set(e, SEEN_EREFUSED, 0, "filter=%s takes k=%u probes at most, not %llu",
                         f->name, f->k_most, (unsigned long long)spec->k);
    r.fp = options_has(spec, OPTION_FP) ? spec->fp : PLAN_FP_DEFAULT;
    struct filter_shape other = r.shape;
    r.one_size = options_has(spec, OPTION_LINES) || (f->form && !f->form(&other, 1));
    if (!keys && !options_has(spec, OPTION_MEM) && !r.one_size) {
        spec->mem = PLAN_MEM_DEFAULT;
        options_mark(spec, OPTION_MEM);
    }
    if (options_has(spec, OPTION_MEM)) {
        struct filter_shape none = {.live = fit->live};
        uint64_t room = spec->mem > fixed ? (spec->mem - fixed) / spec->shards : 0;
        r.budget = (room - bits_min(room, f->size(&none, 0))) / 64;
        if (!r.budget) return too_small(&r, e);
    }
    bad = choose_geometry(&r, e);
    if (bad) return bad;
    plan->touches = f->touches(&r.shape);
    predict(&r);
    return 0;
}

/* -- all that could serve, and the best of them ------------------------------------------- */

/* Was an option given that only such structures have? */
static bool asked_for(const struct seen_plan *plan) {
    size_t n;
    const struct seen_option *o = seen_options(&n);
    for (size_t i = 0; i < n; i++)
        if (o[i].of && i != OPTION_K && options_has(&plan->asked, (enum option)i)) return true;
    return *plan->asked.filter;
}

static int check_hash(const struct seen_plan *plan, struct seen_error *e) {
    size_t n;
    const char *name = seen_options(&n)[OPTION_HASH].choices[plan->spec.hash];
    if (!hash_available(plan->spec.hash))
        return error_set(e, SEEN_EREFUSED, 0,
                         "hash=%s is not in this build; install libsodium and build again", name);
    if (plan->spec.hash >= SEEN_INT && !(plan->traits & SEEN_ANY_DIGEST))
        return error_set(e, SEEN_EREFUSED, 0,
                         "filter=%s needs keys spread evenly, and hash=%s leaves them as they are; "
                         "use hash=xxh3, or filter=exact",
                         plan->filter, name);
    bool others = plan->spec.hash != plan->asked.hash,
         unsure = plan->spec.hash >= SEEN_INT && !(plan->traits & SEEN_NO_FP);
    if ((others || unsure) && !asked_for(plan))
        return error_set(e, SEEN_EREFUSED, 0, "filter=%s with hash=%s %s; name it if you want it",
                         plan->filter, name,
                         others ? "takes other keys than were asked for" : "promises no fp=");
    return 0;
}

/* Options of other structures mean nothing here. */
static int check_options(const struct seen_plan *plan, struct seen_error *e) {
    size_t n;
    const struct seen_option *o = seen_options(&n);
    for (size_t i = 0; i < n; i++)
        if (options_has(&plan->asked, (enum option)i) &&
            !options_serve((enum option)i, plan->filter))
            return error_set(e, SEEN_EREFUSED, 0, "%s= is for filter=%s only; leave it out here",
                             o[i].name, o[i].of);
    return 0;
}

static int plan_choice(struct seen_plan *plan, const struct seen_spec *asked,
                       const struct registry_choice *c, struct seen_error *e) {
    memset(plan, 0, sizeof *plan);
    plan->spec = plan->asked = *asked;
    plan->window = c->ops->name;
    plan->filter = c->name;
    struct seen_spec *spec = &plan->spec;
    snprintf(spec->filter, sizeof spec->filter, "%s", c->name);
    if (!options_has(spec, OPTION_SHARDS)) spec->shards = 1;
    int bad = check_options(plan, e);
    if (!bad) bad = c->ops->plan(plan, c->filter, e);
    if (!bad) bad = check_hash(plan, e);
    if (!bad) bad = confirm_plan(plan, e);
    static const enum option decided[] = {OPTION_FILTER, OPTION_REFRESH, OPTION_HASH,
                                          OPTION_SHARDS};
    for (size_t i = 0; i < sizeof decided / sizeof *decided; i++) options_mark(spec, decided[i]);
    if (!bad && !(plan->traits & SEEN_GROWS)) plan->bytes = detector_bytes(plan, c->ops, c->filter);
    if (!bad && (plan->bytes > SIZE_MAX / 2 || plan->bytes > (uint64_t)1 << 48))
        bad = error_set(e, SEEN_EREFUSED, 0, "this would take %.3g GiB; ask for less",
                        (double)plan->bytes / 1073741824);
    return bad;
}

/* Sliding windows: the least memory a key, of those that hold the asked rate and all the keys. What
 * keeps the keys themselves is judged as the rest: it errs less, and takes the more the less fp. */
static bool better_sliding(const struct seen_plan *a, const struct seen_plan *b) {
    uint64_t keys = 0;
    plan_keys(&keys, &a->asked, NULL);
    bool a_special = a->traits & SEEN_BY_NAME, b_special = b->traits & SEEN_BY_NAME;
    if (a_special != b_special) return b_special;
    bool a_short = a->capacity && a->capacity < keys, b_short = b->capacity && b->capacity < keys;
    if (a_short != b_short) return b_short;
    double allowed = a->asked.fp > 0 ? a->asked.fp : PLAN_FP_DEFAULT;
    bool a_misses = a->fp_full > allowed * 1.001, b_misses = b->fp_full > allowed * 1.001;
    if (a_misses != b_misses) return b_misses;
    double a_each = (double)a->bytes / (double)(keys || !a->capacity ? 1 : a->capacity);
    double b_each = (double)b->bytes / (double)(keys || !b->capacity ? 1 : b->capacity);
    return a_each != b_each ? a_each < b_each : a->touches < b->touches;
}

/* In decaying windows the furthest reach (or, reach being asked, the least memory) by a factor of
 * two, then the fewest false negatives under the assumption of decaying.h.  In others the fewest
 * cache lines a record, among those near the least memory, the most keys and the asked rate;
 * structures that grow only if nothing else serves. */
static bool better(const struct seen_plan *a, const struct seen_plan *b) {
    if (a->spec.window == SEEN_SLIDING) return better_sliding(a, b);
    bool a_grows = a->traits & SEEN_GROWS, b_grows = b->traits & SEEN_GROWS;
    bool a_special = a->traits & SEEN_BY_NAME, b_special = b->traits & SEEN_BY_NAME;
    if (a_special != b_special) return b_special;
    if (a_grows != b_grows) return b_grows;
    double allowed = a->asked.fp > 0 ? a->asked.fp : PLAN_FP_DEFAULT;
    bool a_misses = a->fp_full > allowed * 1.001, b_misses = b->fp_full > allowed * 1.001;
    if (a_misses != b_misses) return b_misses;
    if (a_misses && a->fp_full != b->fp_full) return a->fp_full < b->fp_full;
    bool a_fat = a->bytes > 2 * b->bytes || a->capacity < b->capacity / 2;
    bool b_fat = b->bytes > 2 * a->bytes || b->capacity < a->capacity / 2;
    if (a_fat != b_fat) return b_fat;
    if (a->spec.window == SEEN_DECAYING && a->fn != b->fn) return a->fn < b->fn;
    if (a->touches != b->touches) return a->touches < b->touches;
    return a->bytes < b->bytes;
}

static void explain(struct seen_plan *best, int others) {
    if (options_has(&best->asked, OPTION_FILTER))
        snprintf(best->reason, sizeof best->reason, "asked for by name%s",
                 best->spec.hash >= SEEN_INT && !(best->traits & SEEN_NO_FP)
                     ? "; fp is that of keys with uniform bits, as ids seldom have"
                     : "");
    else if (!others && best->spec.overload == SEEN_SHRINK && best->traits & SEEN_GROWS)
        snprintf(best->reason, sizeof best->reason,
                 "the only structure that fits; of more than %llu keys it forgets the oldest",
                 (unsigned long long)best->capacity);
    else if (!others)
        snprintf(best->reason, sizeof best->reason, "the only structure that serves this window");
    else if (best->spec.window == SEEN_SLIDING)
        snprintf(best->reason, sizeof best->reason,
                 "least memory of those that hold the window at this rate");
    else if (best->spec.window == SEEN_DECAYING)
        snprintf(best->reason, sizeof best->reason,
                 "keeps fp= and reaches furthest back; misses %.2g if gaps are as gaps= says",
                 best->fn);
    else
        snprintf(best->reason, sizeof best->reason,
                 "fewest cache lines a record (%.3g) within twice the least memory", best->touches);
}

/* Structures that grow, or are for special wishes, stand aside where a bounded one was asked to fit
 * and could not; under hash=int and hash=raw none was. */
static bool stands_aside(const struct seen_plan *plan, size_t refused) {
    if (!refused || asked_for(plan)) return false;
    return plan->traits & SEEN_BY_NAME ||
           (plan->traits & SEEN_GROWS && plan->asked.hash < SEEN_INT);
}

static int nothing_serves(const struct seen_spec *asked, struct seen_error *e) {
    if (*asked->filter)
        return error_set(e, SEEN_EREFUSED, 0,
                         "filter=%s does not serve this window; leave filter= out and the planner "
                         "chooses",
                         asked->filter);
    return error_set(e, SEEN_EREFUSED, 0,
                     "no structure in this version serves this window; use landmark, jumping or "
                     "sliding");
}

int seen_plan_all(struct seen_plan *plans, size_t cap, const struct seen_spec *asked,
                  struct seen_error *e) {
    struct registry_choice c;
    struct seen_plan plan;
    size_t n = 0, refused = 0;
    if (!asked->window) return error_set(e, SEEN_EINVAL, 0, "the spec has no window");
    for (size_t i = 0; registry_pick(asked->window, asked->filter, i, &c); i++) {
        if (plan_choice(&plan, asked, &c, refused ? NULL : e)) { /* the first refusal is told */
            refused++;
            continue;
        }
        if (n == 0 && stands_aside(&plan, refused)) continue;
        size_t at = n;
        while (at > 0 && better(&plan, &plans[at - 1])) at--;
        if (at >= cap) continue;
        if (n < cap) n++;
        memmove(plans + at + 1, plans + at, (n - at - 1) * sizeof *plans);
        plans[at] = plan;
    }
    if (!n) return refused ? (e ? e->code : SEEN_EREFUSED) : nothing_serves(asked, e);
    explain(&plans[0], (int)n - 1);
    return (int)n;
}

int seen_plan_make(struct seen_plan *plan, const struct seen_spec *asked, struct seen_error *e) {
    struct seen_plan plans[16];
    int n = seen_plan_all(plans, sizeof plans / sizeof *plans, asked, e);
    if (n < 0) return n;
    *plan = plans[0];
    return 0;
}
