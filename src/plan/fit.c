#include "plan/fit.h"

#include "bits.h"
#include "plan/theory.h"

#include <math.h>

#define LINES_MOST ((uint64_t)1 << 42) /* 256 TiB */

struct one_generation {
    const struct fit *fit;
    const struct filter_shape *shape;
    double older; /* keys of full generations that it holds besides */
};

static double exact_rate(const void *ctx, double keys) {
    const struct one_generation *g = ctx;
    return g->fit->filter->fp(g->shape, keys);
}

/* Rate of one generation that holds `keys`, in the mean over shards where there are several. */
static double one_rate(const void *ctx, double keys) {
    const struct one_generation *g = ctx;
    keys += g->older;
    if (g->fit->shards == 1) return exact_rate(g, keys);
    if (g->fit->filter->fp_scattered) return g->fit->filter->fp_scattered(g->shape, keys);
    return theory_scattered(exact_rate, g, keys);
}

/* Keys there can be at all, a shard. */
static double most_there_are(const struct fit *fit, const struct filter_shape *shape) {
    return fit->filter->most ? fit->filter->most(shape) / (double)fit->shards : INFINITY;
}

double fit_fp(const struct fit *fit, const struct filter_shape *shape, double keys) {
    struct one_generation g = {fit, shape, 0};
    double full = keys * fit->generation;
    if (keys > most_there_are(fit, shape)) return 1;
    if (shape->summed) return one_rate(&g, full * fit->live);
    return theory_union(one_rate(&g, full), fit->live);
}

double fit_fp_mean(const struct fit *fit, const struct filter_shape *shape, double keys) {
    struct one_generation g = {fit, shape, 0};
    double full = keys * fit->generation;
    if (shape->summed) {
        g.older = full * (fit->live - 1);
        return theory_mean(one_rate, &g, full);
    }
    double filling = theory_mean(one_rate, &g, full);
    double others = theory_union(one_rate(&g, full), fit->live - 1);
    return 1 - (1 - others) * (1 - filling) < 1e-6 ? others + filling
                                                   : 1 - (1 - others) * (1 - filling);
}

static uint32_t k_first(const struct fit *fit, uint32_t k) {
    return !fit->filter->k_most ? 0 : k ? k : 1;
}
static uint32_t k_last(const struct fit *fit, uint32_t k) {
    return !fit->filter->k_most ? 0 : k ? k : fit->filter->k_most;
}

/* The first of the structure's own sizes that will do. */
static uint64_t least_form(const struct fit *fit, const struct filter_shape *shape, double keys,
                           double fp) {
    struct filter_shape tried = *shape;
    for (uint32_t i = 0; fit->filter->form(&tried, i); tried = *shape, i++)
        if (fit_fp(fit, &tried, keys) <= fp) return tried.lines;
    return 0;
}

/* Binary search over whole granules for one k; 0 if even the most lines are not enough. */
static uint64_t least_lines(const struct fit *fit, struct filter_shape shape, double keys,
                            double fp) {
    if (fit->filter->form) return least_form(fit, &shape, keys, fp);
    uint64_t granule = fit->filter->granule(&shape), lo = 0, hi = 1;
    for (;; hi *= 2) {
        shape.lines = hi * granule;
        if (shape.lines > LINES_MOST) return 0;
        if (fit_fp(fit, &shape, keys) <= fp) break;
        lo = hi;
    }
    while (lo + 1 < hi && (hi - lo) > hi >> 12) { /* to one part in 4096 */
        uint64_t middle = lo + (hi - lo) / 2;
        shape.lines = middle * granule;
        if (fit_fp(fit, &shape, keys) <= fp)
            hi = middle;
        else
            lo = middle;
    }
    return hi * granule;
}

bool fit_lines(const struct fit *fit, struct filter_shape *shape, double keys, double fp,
               uint32_t k, uint64_t budget) {
    uint64_t lines[65] = {0}, least = 0;
    for (uint32_t i = k_first(fit, k); i <= k_last(fit, k); i++) {
        shape->k = i;
        lines[i] = least_lines(fit, *shape, keys, fp);
        if (lines[i] && (!least || lines[i] < least)) least = lines[i];
        if (least && lines[i] > 2 * least) break; /* past the minimum */
    }
    double most = 1.05 * (double)least;
    if (least <= budget) most = fmin(most, (double)budget);
    for (uint32_t i = k_first(fit, k); least && i <= k_last(fit, k); i++) {
        if (!lines[i] || (double)lines[i] > most) continue;
        shape->k = i;
        shape->lines = lines[i];
        return true;
    }
    return false;
}

uint64_t fit_least(const struct fit *fit, struct filter_shape shape) {
    if (!fit->filter->form) return fit->filter->granule(&shape);
    return fit->filter->form(&shape, 0) ? shape.lines : 0;
}

static struct filter_shape largest_form(const struct fit *fit, const struct filter_shape *shape) {
    struct filter_shape best = *shape, tried = *shape;
    best.lines = 0;
    for (uint32_t i = 0; fit->filter->form(&tried, i); tried = *shape, i++)
        if (tried.lines <= shape->lines) best = tried;
    return best;
}

struct filter_shape fit_whole(const struct fit *fit, struct filter_shape shape) {
    if (fit->filter->form) return largest_form(fit, &shape);
    uint64_t granule = fit->filter->granule(&shape);
    shape.lines = shape.lines / granule * granule;
    return shape;
}

static double most_keys(const struct fit *fit, const struct filter_shape *shape, double fp) {
    double lo = 0, hi = 1, most = most_there_are(fit, shape);
    if (isfinite(most) && fit_fp(fit, shape, most) <= fp) return most;
    while (hi < 1e18 && fit_fp(fit, shape, hi) <= fp) lo = hi, hi *= 2;
    while (hi - lo > .5 && hi - lo > hi * 1e-5) {
        double middle = lo + (hi - lo) / 2;
        if (fit_fp(fit, shape, middle) <= fp)
            lo = middle;
        else
            hi = middle;
    }
    return floor(lo);
}

double fit_keys(const struct fit *fit, struct filter_shape *shape, double fp, uint32_t k) {
    double keys[65] = {0}, most = 0;
    for (uint32_t i = k_first(fit, k); i <= k_last(fit, k); i++) {
        shape->k = i;
        struct filter_shape fits = fit_whole(fit, *shape);
        if (!fits.lines) continue;
        keys[i] = most_keys(fit, &fits, fp);
        most = fmax(most, keys[i]);
        if (keys[i] < most / 2) break;
    }
    for (shape->k = k_first(fit, k); keys[shape->k] < most / 1.05; shape->k++)
        ;
    return keys[shape->k];
}

double fit_rate(const struct fit *fit, struct filter_shape *shape, double keys, uint32_t k) {
    uint32_t best = 0;
    double least = 2;
    for (uint32_t i = k_first(fit, k); i <= k_last(fit, k); i++) {
        shape->k = i;
        struct filter_shape fits = fit_whole(fit, *shape);
        if (!fits.lines) continue;
        double rate = fit_fp(fit, &fits, keys);
        if (rate < least) least = rate, best = i;
    }
    shape->k = best;
    return least;
}
