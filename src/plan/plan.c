/* plan.c - finds the number of keys in a window and the size of a filter for them.  Any of blocks=,
 * items=, fp= and mem= may be given.  The others follow from them, or the spec is refused with
 * values that would be accepted. */
#include "plan/plan.h"

#include "base/base.h"
#include "base/bits.h"
#include "spec/spec.h"
#include "theory/sliding.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

double plan_crowd(const struct seen_spec *spec) {
    uint64_t keys = 0;
    double records = (double)spec->length;
    if (spec->unit == SEEN_UNIT_NONE) return 1;
    if (spec->unit == SEEN_UNIT_MICROSECONDS)
        records = options_has(spec, OPTION_RATE)
                      ? ceil(options_real(spec, OPTION_RATE) * records / 1e6)
                      : INFINITY;
    plan_keys(&keys, spec, NULL);
    return keys ? fmax(1, records / (double)keys) : INFINITY;
}

double plan_beyond(const struct seen_spec *spec, double span) {
    double more = span / (double)spec->length - 1;
    return more > 0 ? fmin(1, plan_crowd(spec) * more) : 0;
}

uint32_t plan_digests(const struct seen_spec *spec) {
    return options_has(spec, OPTION_BITS)
               ? (uint32_t)bits_ceil_div(options_get(spec, OPTION_BITS), 128)
               : 1;
}

struct filter_shape plan_shape(const struct seen_spec *spec, uint32_t live) {
    return (struct filter_shape){.lines = options_get(spec, OPTION_BLOCKS),
                                 .k = (uint32_t)options_get(spec, OPTION_K),
                                 .live = live,
                                 .width = (uint32_t)options_get(spec, OPTION_WIDTH),
                                 .stamp = (uint32_t)options_get(spec, OPTION_STAMP),
                                 .generations = (uint32_t)options_get(spec, OPTION_GENERATIONS),
                                 .spec = spec,
                                 .crowd = plan_crowd(spec),
                                 .bits = (uint32_t)options_get(spec, OPTION_BITS),
                                 .substring = (uint32_t)options_get(spec, OPTION_SUBSTRING),
                                 .digests = plan_digests(spec),
                                 .summed =
                                     options_get(spec, OPTION_COMBINE) == SEEN_COMBINE_SUBTRACT};
}

int plan_keys(uint64_t *keys, const struct seen_spec *spec, struct seen_error *e) {
    bool items = options_has(spec, OPTION_ITEMS), rate = options_has(spec, OPTION_RATE);
    if (rate && spec->unit != SEEN_UNIT_MICROSECONDS)
        return error_set(e, SEEN_EREFUSED, 0,
                         "rate= sizes windows of time, and this window is not one; give items= "
                         "instead");
    double counted = 0;
    double span = (double)spec->length +
                  (double)options_get(spec, OPTION_LATENESS); /* kept, late records included */
    if (rate) counted = fmax(1, ceil(options_real(spec, OPTION_RATE) * span / 1e6));
    if (spec->unit == SEEN_UNIT_RECORDS) counted = (double)spec->length;
    double windows = options_get(spec, OPTION_LATENESS) ? span / (double)spec->length : 1;
    if (items && (counted == 0 || (double)options_get(spec, OPTION_ITEMS) * windows < counted))
        counted = ceil((double)options_get(spec, OPTION_ITEMS) * windows);
    if (counted > 1e15)
        return error_set(e, SEEN_EREFUSED, 0,
                         "%.3g keys in a window are too many; the most is 1e15", counted);
    *keys = (uint64_t)counted;
    return 0;
}

int plan_overload(struct seen_plan *plan, uint32_t does, struct seen_error *e) {
    struct seen_spec *spec = &plan->spec;
    if (options_has(spec, OPTION_OVERLOAD) && options_get(spec, OPTION_OVERLOAD) != does)
        return error_set(e, SEEN_EREFUSED, 0, "filter=%s does overload=%s only", plan->filter,
                         seen_option(OPTION_OVERLOAD)->choices[does]);
    options_set(spec, OPTION_OVERLOAD, does);
    return 0;
}

int plan_sliding(struct seen_plan *plan, uint32_t does, struct seen_error *e) {
    struct seen_spec *spec = &plan->spec;
    uint64_t keys = 0;
    bool sized = options_has(spec, OPTION_MEM) || options_has(spec, OPTION_BLOCKS) ||
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

/* -- the size of a filter ----------------------------------------------------------------- */

struct request {
    struct seen_plan *plan;
    const struct fit *fit;
    struct filter_shape shape; /* a shard's */
    double keys;               /* a shard's; 0 if unknown */
    double fp;                 /* allowed */
    double most;               /* keys that it holds at that rate; 0 if not yet known */
    uint64_t budget;           /* lines a shard; 0 if memory is not given */
    uint64_t fixed;
    bool one_size; /* the options leave only one size */
};

static uint64_t bytes_of(const struct request *r, const struct filter_shape *shape) {
    return r->fixed + options_get(&r->plan->spec, OPTION_SHARDS) * r->fit->filter->size(shape, 0);
}

#define USELESS .9 /* a false-positive rate that is of no use */

static bool errs(const struct request *r) { return !(r->plan->traits & SEEN_NO_FP); }

/* Refuses a spec with too little memory.  The sentence names the memory that is needed, and the
 * rate and keys that the given memory allows. */
static int refuse(struct request *r, uint64_t needed, struct seen_error *e) {
    char fp[40] = "", takes[48], has[32], rate[48] = "no fp, or ", keys[48];
    if (!e) return SEEN_EREFUSED; /* to find the sentence takes longer than to plan */
    const struct seen_spec *spec = &r->plan->spec;
    struct filter_shape shape = r->shape;
    shape.lines = r->budget;
    double least = fit_rate(r->fit, &shape, r->keys, (uint32_t)options_get(spec, OPTION_K));
    if (least < USELESS) snprintf(rate, sizeof rate, "fp=%.2g, or ", least * 1.1);
    double most = advise_items(&r->plan->asked, r->keys * (double)options_get(spec, OPTION_SHARDS));
    snprintf(keys, sizeof keys, "%.0f", most);
    if (errs(r)) {
        bool given = options_has(&r->plan->asked, OPTION_FP);
        snprintf(fp, sizeof fp, given ? " at fp=" : " at a rate of ");
        units_print_real(r->fp, fp + strlen(fp), sizeof fp - strlen(fp));
    } else {
        rate[0] = 0;
    }
    units_print_mem(needed, takes, sizeof takes);
    seen_print_size(options_get(spec, OPTION_MEM), has, sizeof has);
    bool named = options_has(&r->plan->asked, OPTION_FILTER);
    return error_set(e, SEEN_EREFUSED, 0, "%.6g keys%s need %s%s%s; mem=%s allows %sitems=%s",
                     r->keys * (double)options_get(spec, OPTION_SHARDS), fp, takes,
                     named ? " with filter=" : "", named ? r->plan->filter : "", has, rate, keys);
}

/* If a given bits= or substring= alone decides the size: the field of the shape with this length;
 * else NULL. */
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
    if (options_has(spec, OPTION_BLOCKS))
        return error_set(e, SEEN_EREFUSED, 0,
                         "blocks=%llu are too few for filter=%s here; give %llu",
                         (unsigned long long)options_get(spec, OPTION_BLOCKS), r->plan->filter,
                         (unsigned long long)one.lines);
    seen_print_size(options_get(spec, OPTION_MEM), has, sizeof has);
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
    return error_set(
        e, SEEN_EREFUSED, 0, "no filter=%s is large enough for %.6g keys%s%s", r->plan->filter,
        fmax(1, r->keys * (double)options_get(&r->plan->spec, OPTION_SHARDS)), fp, fix);
}

double plan_round_up(double rate) {
    rate = fmax(rate, 1e-300);
    double unit = pow(10, floor(log10(rate)) - 2);
    char text[32];
    snprintf(text, sizeof text, "%.3g", ceil(rate / unit * (1 - 1e-12)) * unit);
    return fmin(strtod(text, NULL), 1 - 1e-9);
}

/* Decides lines and probes from blocks=, items=, fp= and mem=, as far as they are given. */
static int choose_geometry(struct request *r, struct seen_error *e) {
    struct seen_spec *spec = &r->plan->spec;
    struct filter_shape *shape = &r->shape;
    uint32_t k = options_has(spec, OPTION_K) ? (uint32_t)options_get(spec, OPTION_K) : 0;
    bool fp_given = options_has(spec, OPTION_FP) && errs(r);
    if (options_has(spec, OPTION_BLOCKS)) {
        shape->lines = options_get(spec, OPTION_BLOCKS);
        if (!options_get(spec, OPTION_BLOCKS))
            return error_set(e, SEEN_EREFUSED, 0,
                             "filter=%s needs lines; blocks=0 (no limit) is for filter=exact",
                             r->plan->filter);
        if (r->budget && shape->lines > r->budget)
            return error_set(e, SEEN_EREFUSED, 0,
                             "blocks=%llu do not fit into mem=; leave one of them out",
                             (unsigned long long)options_get(spec, OPTION_BLOCKS));
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
        if (rate >= USELESS && !options_has(spec, OPTION_BLOCKS) &&
            fit_lines(r->fit, shape, r->keys, r->fp, k, r->budget))
            return refuse(r, bytes_of(r, shape), e);
        if (errs(r)) r->fp = plan_round_up(rate);
    } else {
        r->most = fit_keys(r->fit, shape, r->fp, k);
        if (r->most < 1 && !options_has(spec, OPTION_BLOCKS)) return none_large_enough(r, e);
    }
    *shape = fit_whole(r->fit, *shape);
    if (!shape->lines) return too_small(r, e);
    return 0;
}

static int refuse_growing(const struct request *r, struct seen_error *e) {
    const struct seen_spec *spec = &r->plan->spec;
    char takes[48], has[32];
    uint64_t needed = r->fixed + options_get(spec, OPTION_SHARDS) *
                                     r->fit->filter->size(&r->shape, (uint64_t)r->keys);
    units_print_mem(needed, takes, sizeof takes);
    seen_print_size(options_get(spec, OPTION_MEM), has, sizeof has);
    return error_set(
        e, SEEN_EREFUSED, 0, "filter=%s needs %s for %.6g keys, and mem=%s holds %llu",
        r->plan->filter, takes, r->keys * (double)options_get(spec, OPTION_SHARDS), has,
        (unsigned long long)(options_get(spec, OPTION_BLOCKS) * options_get(spec, OPTION_SHARDS)));
}

#define MAX_GROWING 4294963199 /* keys that store.h can number with 32 bits */

/* The most keys a shard of a structure that grows can hold in `mem` bytes. */
static uint64_t keys_within(const struct request *r, uint64_t mem) {
    uint64_t lo = 0, hi = MAX_GROWING + (uint64_t)1;
    uint64_t room =
        mem > r->fixed ? (mem - r->fixed) / options_get(&r->plan->spec, OPTION_SHARDS) : 0;
    while (lo + 1 < hi) {
        uint64_t middle = lo + (hi - lo) / 2;
        if (r->fit->filter->size(&r->shape, middle) <= room)
            lo = middle;
        else
            hi = middle;
    }
    return lo;
}

/* Structures that grow have no geometry.  If mem= is given, it limits the number of their keys. */
static int size_growing(struct request *r, struct seen_error *e) {
    struct seen_plan *plan = r->plan;
    struct seen_spec *spec = &plan->spec;
    const struct filter_theory *f = r->fit->filter;
    double most = 1e15;
    if (options_has(spec, OPTION_MEM)) most = (double)keys_within(r, options_get(spec, OPTION_MEM));
    if (!options_has(spec, OPTION_BLOCKS) ||
        !options_get(spec, OPTION_BLOCKS)) /* blocks=0: no limit but mem= */
        options_assume(spec, OPTION_BLOCKS, most < 1e15 ? (uint64_t)most : 0);
    double keys = r->keys > 0 ? r->keys : (double)options_get(spec, OPTION_BLOCKS);
    if (options_has(spec, OPTION_MEM) && !options_get(spec, OPTION_BLOCKS)) return too_small(r, e);
    if (options_get(spec, OPTION_BLOCKS) && keys > (double)options_get(spec, OPTION_BLOCKS) &&
        options_has(&plan->asked, OPTION_ITEMS))
        return refuse_growing(r, e);
    if (options_get(spec, OPTION_BLOCKS))
        keys = fmin(keys, (double)options_get(spec, OPTION_BLOCKS));
    plan->capacity = options_get(spec, OPTION_BLOCKS)
                         ? options_get(spec, OPTION_BLOCKS) * options_get(spec, OPTION_SHARDS)
                         : 0;
    plan->bytes = r->fixed + options_get(spec, OPTION_SHARDS) * f->size(&r->shape, (uint64_t)keys);
    plan->fp_full = plan->fp_mean = ldexp(fmax(keys, 1), -128);
    options_mark(spec, OPTION_BLOCKS);
    return 0;
}

static void predict(struct request *r) {
    struct seen_plan *plan = r->plan;
    struct seen_spec *spec = &plan->spec;
    double shards = (double)options_get(spec, OPTION_SHARDS);
    struct filter_shape shape = r->shape;
    double most = r->most > 0 ? r->most : fit_keys(r->fit, &shape, r->fp, shape.k);
    double keys = r->keys > 0 ? r->keys : most;
    plan->capacity = (uint64_t)fmax(1, fmax(most, r->keys) * shards + .5);
    plan->bytes = bytes_of(r, &r->shape);
    plan->fp_full = fit_fp(r->fit, &r->shape, keys);
    plan->fp_mean = fit_fp_mean(r->fit, &r->shape, keys);
    options_assume(spec, OPTION_BLOCKS, r->shape.lines);
    options_assume(spec, OPTION_K, r->shape.k);
    options_assume(spec, OPTION_BITS, r->shape.bits);
    options_assume(spec, OPTION_SUBSTRING, r->shape.substring);
    static const enum option decided[] = {OPTION_BLOCKS, OPTION_K, OPTION_BITS, OPTION_SUBSTRING};
    for (size_t i = 0; i < sizeof decided / sizeof *decided; i++) {
        bool probes = decided[i] == OPTION_K && r->fit->filter->k_most;
        if (probes || options_serve(decided[i], options_name(spec, OPTION_FILTER)))
            options_mark(spec, decided[i]);
    }
    if (!errs(r)) return;
    options_set_real(spec, OPTION_FP, r->fp);
}

int plan_filter(struct seen_plan *plan, const struct fit *fit, uint64_t fixed,
                struct seen_error *e) {
    struct seen_spec *spec = &plan->spec;
    const struct filter_theory *f = fit->filter;
    uint64_t keys;
    int bad = plan_keys(&keys, spec, e);
    if (!bad && f->settle) bad = f->settle(spec, fit->live, e);
    if (bad) return bad;
    struct request r = {.plan = plan, .fit = fit, .fixed = fixed};
    r.shape = plan_shape(spec, fit->live);
    r.keys = (double)keys / (double)options_get(spec, OPTION_SHARDS);
    if (f->most)
        r.keys = fmin(r.keys, f->most(&r.shape) / (double)options_get(spec, OPTION_SHARDS));
    plan->touches = f->touches(&r.shape);
    if (f->traits & SEEN_GROWS) return size_growing(&r, e);
    if (options_has(spec, OPTION_K) && options_get(spec, OPTION_K) > f->k_most)
        return error_set(e, SEEN_EREFUSED, 0, "filter=%s takes k=%u probes at most, not %llu",
                         f->name, f->k_most, (unsigned long long)options_get(spec, OPTION_K));
    r.fp = options_has(spec, OPTION_FP) ? options_real(spec, OPTION_FP) : PLAN_FP_DEFAULT;
    struct filter_shape other = r.shape;
    r.one_size = options_has(spec, OPTION_BLOCKS) || (f->form && !f->form(&other, 1));
    if (!keys && !options_has(spec, OPTION_MEM) && !r.one_size) {
        options_set(spec, OPTION_MEM, PLAN_MEM_DEFAULT);
    }
    if (options_has(spec, OPTION_MEM)) {
        struct filter_shape none = {.live = fit->live, .spec = spec};
        uint64_t room =
            options_get(spec, OPTION_MEM) > fixed
                ? (options_get(spec, OPTION_MEM) - fixed) / options_get(spec, OPTION_SHARDS)
                : 0;
        r.budget = (room - bits_min(room, f->size(&none, 0))) / 64;
        if (!r.budget) return too_small(&r, e);
    }
    bad = choose_geometry(&r, e);
    if (bad) return bad;
    plan->touches = f->touches(&r.shape);
    predict(&r);
    /* A plan with blocks= keeps fp= as well, or is refused. */
    bool both = options_has(&plan->asked, OPTION_BLOCKS) && options_has(&plan->asked, OPTION_FP);
    if (!both || !errs(&r) || plan->fp_full <= r.fp * (1 + 1e-9)) return 0;
    return error_set(e, SEEN_EREFUSED, 0,
                     "blocks=%llu give fp=%.3g here; leave blocks= out and they follow from fp=",
                     (unsigned long long)r.shape.lines, plan->fp_full);
}

/* -- lower bounds beside a plan's bits a key (theory/sliding.h) --------------------------- */

#define DIGEST_BITS 128

/* The number of keys in the window of a plan, or its capacity if that is less or no option gives
 * the number. */
static double keys_of(const struct seen_plan *plan) {
    uint64_t keys = 0;
    bool told = !plan_keys(&keys, &plan->spec, NULL) && keys;
    if (!told || (plan->capacity && plan->capacity < keys)) keys = plan->capacity;
    return (double)keys;
}

void seen_plan_bounds(const struct seen_plan *plan, double universe, struct seen_bounds *out) {
    uint32_t window = plan->spec.window;
    bool slides = window == SEEN_WINDOW_SLIDING || window == SEEN_WINDOW_JUMPING;
    double n = keys_of(plan), fp = plan->fp_full;
    *out = (struct seen_bounds){.keys = n,
                                .universe = universe,
                                .bits = NAN,
                                .set = NAN,
                                .dynamic = NAN,
                                .sliding = NAN,
                                .ordered = NAN,
                                .ratio = NAN};
    if (!(universe > 0)) {
        bool bits = options_has(&plan->spec, OPTION_BITS) &&
                    options_get(&plan->spec, OPTION_BITS) < DIGEST_BITS;
        out->universe = ldexp(1, bits ? (int)options_get(&plan->spec, OPTION_BITS) : DIGEST_BITS);
    }
    if (n < 1) return;
    out->bits = 8 * (double)plan->bytes / n;
    if (!(plan->traits & SEEN_NO_FN) || n > out->universe) return;
    bool exact = plan->traits & SEEN_NO_FP || fp <= 0;
    out->set = exact ? theory_bound_exact(n, out->universe) / n : theory_bound_static(n, fp) / n;
    if (!exact) out->dynamic = theory_bound_dynamic(n, fp) / n;
    if (!exact && slides) out->sliding = theory_bound_sliding(n, plan->slack * n, fp) / n;
    double ordered = theory_bound_decaying(n, out->universe, exact ? 0 : fp) / n;
    if (window == SEEN_WINDOW_SLIDING && ordered > 0) out->ordered = ordered;
    out->ratio = out->bits / fmax(fmax(out->set, out->sliding), out->ordered); /* passes over NAN */
}
