/* fit.c - searches for the size of a filter with its own formula. */
#include "plan/plan.h"

#include "base/bits.h"
#include "table/table.h"
#include "theory/bloom.h"
#include "theory/numeric.h"

#include <math.h>

#define MAX_LINES  ((uint64_t)1 << 42) /* 256 TiB */
#define LINES_NEAR 0x1p-14             /* found to one part in 4096, */
#define KEYS_NEAR  3e-6                /* and in 1e5 */

struct one_generation {
    const struct fit *fit;
    const struct filter_shape *shape;
    double older; /* keys of full generations that the same filter holds as well */
};

static double exact_rate(const void *ctx, double keys) {
    const struct one_generation *g = ctx;
    return g->fit->filter->fp(g->shape, keys);
}

/* The rate of one generation with `keys` keys; the mean over the shards if there are several. */
static double one_rate(const void *ctx, double keys) {
    const struct one_generation *g = ctx;
    keys += g->older;
    if (g->fit->shards == 1) return exact_rate(g, keys);
    if (g->fit->filter->fp_scattered) return g->fit->filter->fp_scattered(g->shape, keys);
    return theory_scattered(exact_rate, g, keys);
}

/* The number of different keys that can come to a shard; INFINITY: no limit. */
static double most_there_are(const struct fit *fit, const struct filter_shape *shape) {
    return fit->filter->most ? fit->filter->most(shape) / (double)fit->shards : INFINITY;
}

double fit_fp(const struct fit *fit, const struct filter_shape *shape, double keys) {
    struct one_generation g = {fit, shape, 0};
    double full = keys * fit->generation;
    if (keys > most_there_are(fit, shape)) return 1;
    if (shape->summed) return one_rate(&g, keys * fit->all);
    return theory_union(one_rate(&g, full), fit->live);
}

/* The mean rate of one generation while its number of keys grows from `from` to `to`. */
static double growing_rate(const struct one_generation *g, double from, double to) {
    const struct filter_theory *f = g->fit->filter;
    if (f->fp_filling && !(from > 0)) return f->fp_filling(g->shape, to, g->fit->shards > 1);
    if (g->fit->shards > 1 && !f->fp_scattered && to <= THEORY_MAX_GROWING)
        return theory_scattered_growing(exact_rate, g, from, to);
    struct one_generation older = *g;
    older.older = from;
    return theory_mean(one_rate, &older, to - from);
}

double fit_fp_mean(const struct fit *fit, const struct filter_shape *shape, double keys) {
    struct one_generation g = {fit, shape, 0};
    double full = keys * fit->generation;
    if (!fit->fills) return fit_fp(fit, shape, keys);
    if (shape->summed) return growing_rate(&g, keys * fit->all - full, keys * fit->all);
    double filling = growing_rate(&g, 0, full);
    double others = theory_union(one_rate(&g, full), fit->live - 1);
    return 1 - (1 - others) * (1 - filling) < 1e-6 ? others + filling
                                                   : 1 - (1 - others) * (1 - filling);
}

/* -- a search for the border between sizes that keep fp and sizes that do not --------------- */

/* The search is for the fewest granules of lines that hold `keys` keys at rate fp.  With of_keys,
 * it is for the most keys that the lines of the shape hold.  Each rate that is computed narrows the
 * interval in which the border lies, so no rate outside it is computed again. */
struct border {
    const struct fit *fit;
    struct filter_shape shape;
    double keys, fp;
    uint64_t granule;
    bool of_keys;
    double low, high; /* the border lies between these two */
};

/* Computes the rate at x and narrows the interval. */
static double border_rate(struct border *b, double x) {
    if (b->of_keys)
        b->keys = x;
    else
        b->shape.lines = (uint64_t)x * b->granule;
    double rate = fit_fp(b->fit, &b->shape, b->keys);
    if ((rate <= b->fp) == b->of_keys)
        b->low = fmax(b->low, x);
    else
        b->high = fmin(b->high, x);
    return rate;
}

/* Whether x keeps fp. */
static bool border_keeps(struct border *b, double x) {
    if (x <= b->low) return b->of_keys;
    if (x >= b->high) return !b->of_keys;
    return border_rate(b, x) <= b->fp;
}

/* Turns the rate of a Bloom filter into the logarithm of its load.  Over the logarithm of x this is
 * a straight line, on which the secant method converges fast. */
static double straight(double rate, uint32_t k) {
    return log(-log1p(-pow(rate, 1. / (k ? k : 1))));
}

/* Narrows the interval to a relative width of `near` with the secant method, starting at x.  The
 * search of the caller goes on from there. */
static void border_narrow(struct border *b, double x, double near, double most) {
    double goal = straight(b->fp, b->shape.k), last_x = 0, last_y = 0, step = 1, last_step;
    double slope = b->of_keys ? 1 : -1;
    for (int i = 0; i < 12 && b->low < most; i++) {
        x = fmin(fmax(x, 1), most);
        if (!b->of_keys) x = floor(x);
        if (x <= b->low || x >= b->high || (!b->of_keys && b->high - b->low <= 1)) break;
        double y = straight(border_rate(b, x), b->shape.k) - goal;
        if (!isfinite(y)) { /* the filter is so empty or full that the rate is 0 or 1 */
            last_x = 0;
            x *= (y > 0) == b->of_keys ? 1. / 16 : 16;
            continue;
        }
        if (last_x > 0) slope = (y - last_y) / log(x / last_x);
        last_step = step, last_x = x, last_y = y;
        step = -y / slope;
        if (!(fabs(step) < 100)) break;
        x *= exp(step);
        if (fabs(step * last_step) < near / 2) break; /* about the error of the method */
    }
    double below = x * (1 - near), above = x * (1 + near);
    if (!b->of_keys) below = floor(below), above = floor(above) + 1;
    if (below >= 1) border_keeps(b, below);
    if (above <= most) border_keeps(b, above);
}

static uint64_t granule_of(const struct fit *fit, const struct filter_shape *shape) {
    return fit->filter->granule ? fit->filter->granule(shape) : 1;
}

/* The fewest lines, in whole granules, for one k; shape.lines is the first guess.  0: even the most
 * lines are not enough. */
static uint64_t least_lines(const struct fit *fit, struct filter_shape shape, double keys,
                            double fp) {
    if (fit->filter->form) {
        struct filter_shape tried = shape;
        for (uint32_t i = 0; fit->filter->form(&tried, i); tried = shape, i++)
            if (fit_fp(fit, &tried, keys) <= fp) return tried.lines;
        return 0;
    }
    uint64_t granule = granule_of(fit, &shape), lo = 0, hi = 1;
    struct border b = {fit, shape, keys, fp, granule, false, 0, INFINITY};
    double most = (double)(MAX_LINES / granule), guess = (double)shape.lines;
    if (!shape.lines) guess = 1.45 * keys * shape.k / TABLE_BITS;
    border_narrow(&b, guess / (double)granule, LINES_NEAR, most);
    for (; !border_keeps(&b, (double)hi); lo = hi, hi *= 2)
        if (2 * hi * granule > MAX_LINES) return 0;
    while (lo + 1 < hi && (hi - lo) > hi >> 12) { /* to one part in 4096 */
        uint64_t middle = lo + (hi - lo) / 2;
        if (border_keeps(&b, (double)middle))
            hi = middle;
        else
            lo = middle;
    }
    return hi * granule;
}

uint64_t fit_least(const struct fit *fit, struct filter_shape shape) {
    if (!fit->filter->form) return granule_of(fit, &shape);
    return fit->filter->form(&shape, 0) ? shape.lines : 0;
}

struct filter_shape fit_whole(const struct fit *fit, struct filter_shape shape) {
    if (fit->filter->form) {
        struct filter_shape best = shape, tried = shape;
        best.lines = 0;
        for (uint32_t i = 0; fit->filter->form(&tried, i); tried = shape, i++)
            if (tried.lines <= shape.lines) best = tried;
        return best;
    }
    uint64_t granule = granule_of(fit, &shape);
    shape.lines = shape.lines / granule * granule;
    return shape;
}

/* The most keys that a shape holds at rate fp; `guess` may be 0. */
static double most_keys(const struct fit *fit, const struct filter_shape *shape, double fp,
                        double guess) {
    double lo = 0, hi = 1, most = most_there_are(fit, shape);
    if (isfinite(most) && fit_fp(fit, shape, most) <= fp) return most;
    struct border b = {fit, *shape, 0, fp, 0, true, 0, INFINITY};
    if (!(guess > 0)) guess = .69 * TABLE_BITS * (double)shape->lines / fmax(1, shape->k);
    border_narrow(&b, guess, KEYS_NEAR, 1e18);
    while (hi < 1e18 && border_keeps(&b, hi)) lo = hi, hi *= 2;
    while (hi - lo > .5 && hi - lo > hi * 1e-5) {
        double middle = lo + (hi - lo) / 2;
        if (border_keeps(&b, middle))
            lo = middle;
        else
            hi = middle;
    }
    return floor(lo);
}

/* -- which k -------------------------------------------------------------------------------- */

/* A walk tries one k after another, from a guess upwards or downwards.  On both sides of the best k
 * the number of lines grows.  With few lines it grows unevenly, because lines come in whole
 * granules. So the walk ends only after PATIENCE worse values in a row. */
#define PATIENCE 3

struct walk {
    uint32_t k, worse;
    int step;
};

static struct walk walk_from(uint32_t k, int step) { return (struct walk){k, 0, step}; }

static bool walk_on(struct walk *w, const struct fit *fit) {
    w->k += (uint32_t)w->step;
    return w->k > 0 && w->k <= fit->filter->k_most && w->worse < PATIENCE;
}

static bool walk_well(struct walk *w, bool well) {
    w->worse = well ? 0 : w->worse + 1;
    return well;
}

static uint32_t k_guess(const struct fit *fit, double k) {
    return (uint32_t)fmin(fmax(1, floor(k + .5)), fit->filter->k_most);
}

static struct filter_shape shape_with(const struct filter_shape *shape, uint64_t lines,
                                      uint32_t k) {
    struct filter_shape other = *shape;
    other.lines = lines;
    other.k = k;
    return other;
}

/* Whether a shape is valid and keeps fp. */
static bool keeps(const struct fit *fit, struct filter_shape shape, double keys, double fp) {
    return shape.lines >= fit_least(fit, shape) && fit_fp(fit, &shape, keys) <= fp;
}

/* Lowers the number of lines if k probes need fewer; false: they do not. */
static bool less_with(const struct fit *fit, struct filter_shape *shape, double keys, double fp,
                      uint32_t k) {
    struct filter_shape less = shape_with(shape, shape->lines - 1, k);
    if (!k || (shape->lines && !keeps(fit, fit_whole(fit, less), keys, fp))) return false;
    less.lines = least_lines(fit, shape_with(shape, shape->lines, k), keys, fp);
    if (!less.lines || (shape->lines && less.lines >= shape->lines)) return false;
    *shape = less;
    return true;
}

/* Sets k and lines to those of the k that needs the fewest lines. */
static void fewest_lines(const struct fit *fit, struct filter_shape *shape, double keys,
                         double fp) {
    shape->k = k_guess(fit, -log2(fp));
    shape->lines = least_lines(fit, *shape, keys, fp);
    while (less_with(fit, shape, keys, fp, shape->k / 2)) /* few keys need few probes */
        ;
    uint32_t guess = shape->k;
    for (int step = -1; step <= 1; step += 2)
        for (struct walk w = walk_from(guess, step); walk_on(&w, fit);) {
            struct filter_shape as_well = shape_with(shape, shape->lines, w.k);
            bool less = less_with(fit, shape, keys, fp, w.k);
            walk_well(&w, less || !shape->lines || keeps(fit, as_well, keys, fp));
        }
}

/* Returns a set of numbers of probes: bit k is 1 if k probes, fewer than the shape has, keep fp in
 * `lines` lines. */
static uint64_t fewer_probes(const struct fit *fit, const struct filter_shape *shape,
                             uint64_t lines, double keys, double fp) {
    uint64_t fewer = 0;
    for (struct walk w = walk_from(shape->k, -1); walk_on(&w, fit);) {
        struct filter_shape other = shape_with(shape, lines, w.k);
        bool whole = keeps(fit, fit_whole(fit, other), keys, fp);
        walk_well(&w, whole || keeps(fit, other, keys, fp));
        if (whole) fewer |= (uint64_t)1 << w.k;
    }
    return fewer;
}

bool fit_lines(const struct fit *fit, struct filter_shape *shape, double keys, double fp,
               uint32_t k, uint64_t budget) {
    bool choose = fit->filter->k_most && !k;
    struct filter_shape least = shape_with(shape, 0, fit->filter->k_most ? k : 0);
    if (choose)
        fewest_lines(fit, &least, keys, fp);
    else
        least.lines = least_lines(fit, least, keys, fp);
    if (!least.lines) return false;
    *shape = least;
    uint64_t most = (uint64_t)(1.05 * (double)least.lines);
    if (least.lines <= budget) most = bits_min(most, budget);
    uint64_t fewer = choose ? fewer_probes(fit, shape, most, keys, fp) : 0;
    for (uint32_t i = 1; i < shape->k; i++) {
        uint64_t lines = 0;
        if (fewer >> i & 1) lines = least_lines(fit, shape_with(shape, most, i), keys, fp);
        if (lines && lines <= most) *shape = shape_with(shape, lines, i);
    }
    return true;
}

static double keys_with(const struct fit *fit, const struct filter_shape *shape, double fp,
                        uint32_t k, double guess) {
    struct filter_shape whole = fit_whole(fit, shape_with(shape, shape->lines, k));
    return whole.lines ? most_keys(fit, &whole, fp, guess) : 0;
}

/* Sets k to the number of probes that holds the most keys, and returns these keys. */
static double most_keys_of_all(const struct fit *fit, struct filter_shape *shape, double fp) {
    uint32_t guess = k_guess(fit, -log2(fp));
    double most = keys_with(fit, shape, fp, guess, 0);
    while (!(most > 0) && guess > 1) most = keys_with(fit, shape, fp, --guess, 0);
    shape->k = guess;
    for (int step = -1; step <= 1; step += 2)
        for (struct walk w = walk_from(guess, step); walk_on(&w, fit);) {
            struct filter_shape other = shape_with(shape, shape->lines, w.k);
            bool whole = keeps(fit, fit_whole(fit, other), most, fp);
            if (!walk_well(&w, whole || keeps(fit, other, most, fp)) || !whole) continue;
            double keys = keys_with(fit, shape, fp, w.k, most);
            if (keys > most) most = keys, shape->k = w.k;
        }
    return most;
}

double fit_keys(const struct fit *fit, struct filter_shape *shape, double fp, uint32_t k) {
    if (!fit->filter->k_most || k)
        return keys_with(fit, shape, fp, shape->k = fit->filter->k_most ? k : 0, 0);
    double most = most_keys_of_all(fit, shape, fp), enough = most / 1.05;
    uint64_t fewer = most > 0 ? fewer_probes(fit, shape, shape->lines, enough, fp) : 0;
    for (uint32_t i = 1; i < shape->k; i++) {
        double keys = fewer >> i & 1 ? keys_with(fit, shape, fp, i, most) : 0;
        if (keys >= enough && keys > 0) most = keys, shape->k = i;
    }
    return most;
}

static double rate_in(const struct fit *fit, const struct filter_shape *shape, double keys) {
    return shape->lines ? fit_fp(fit, shape, keys) : 2;
}

double fit_rate(const struct fit *fit, struct filter_shape *shape, double keys, uint32_t k) {
    bool choose = fit->filter->k_most && !k;
    uint32_t guess = fit->filter->k_most ? k : 0;
    if (choose) guess = k_guess(fit, .69 * TABLE_BITS * (double)shape->lines / keys);
    shape->k = guess;
    struct filter_shape whole = fit_whole(fit, *shape);
    double least = rate_in(fit, &whole, keys);
    for (int step = -1; choose && step <= 1; step += 2)
        for (struct walk w = walk_from(guess, step); walk_on(&w, fit);) {
            struct filter_shape other = shape_with(shape, shape->lines, w.k);
            whole = fit_whole(fit, other);
            double rate = rate_in(fit, &whole, keys);
            bool less = rate < least || (rate <= least && w.k < shape->k);
            walk_well(&w, less || rate_in(fit, &other, keys) < least);
            if (less) least = rate, shape->k = w.k;
        }
    return least;
}
