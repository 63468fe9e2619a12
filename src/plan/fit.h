/* fit.h - how large a filter must be, for any filter: its own formula, turned around. */
#ifndef FIT_H
#define FIT_H

#include "filter/filter.h"

/* What a filter has to serve, a shard. */
struct fit {
    const struct filter_ops *filter;
    uint32_t live;     /* generations, the current one included */
    double generation; /* share of the window's keys that one may hold, e.g. 1 or 1/Q */
    uint64_t shards;   /* of several each gets its keys by chance */
    bool fills;        /* the youngest generation does, from none; else all are always full */
    double all;        /* share that all may hold together, where the filter is their sum */
};

/* False-positive rate when every generation is full; and the mean while the current one fills,
 * if it does. */
double fit_fp(const struct fit *, const struct filter_shape *, double keys);
double fit_fp_mean(const struct fit *, const struct filter_shape *, double keys);

/* The fewest lines a shape can have; and the largest within its lines (none: 0 lines). */
uint64_t fit_least(const struct fit *, struct filter_shape);
struct filter_shape fit_whole(const struct fit *, struct filter_shape);

/* Least lines for `keys` at rate fp, with k probes or (k = 0) with the fewest probes that need at
 * most 5 % more lines than the best number, and no more than `budget` (0: any) if some k does not;
 * sets shape->lines and ->k; false if nothing does. */
bool fit_lines(const struct fit *, struct filter_shape *, double keys, double fp, uint32_t k,
               uint64_t budget);

/* Most keys that shape->lines hold at rate fp; chooses ->k likewise (k = 0). */
double fit_keys(const struct fit *, struct filter_shape *, double fp, uint32_t k);

/* Least rate for `keys` in shape->lines; chooses ->k (k = 0). */
double fit_rate(const struct fit *, struct filter_shape *, double keys, uint32_t k);

#endif
