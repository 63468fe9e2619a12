/* fit.h - finds the size of any filter, by a search with the filter's own formula. */
#ifndef FIT_H
#define FIT_H

#include "theory/shape.h"

/* The task of a filter in one shard. */
struct fit {
    const struct filter_theory *filter;
    uint32_t live;     /* generations, the current one included */
    double generation; /* share of the window's keys that one may hold, e.g. 1 or 1/Q */
    uint64_t shards;   /* with several, the number of keys in each is random */
    bool fills;        /* the youngest generation begins empty; else all are always full */
    double all;        /* share that all generations hold together, if the filter is their sum */
};

/* The false-positive rate if every generation is full; and the mean while the current one fills, if
 * it does. */
double fit_fp(const struct fit *, const struct filter_shape *, double keys);
double fit_fp_mean(const struct fit *, const struct filter_shape *, double keys);

/* The fewest lines that a shape can have; and the largest valid shape within its lines (0 lines:
 * there is none). */
uint64_t fit_least(const struct fit *, struct filter_shape);
struct filter_shape fit_whole(const struct fit *, struct filter_shape);

/* Finds the fewest lines for `keys` keys at rate fp, and sets shape->lines and ->k.  With k = 0 it
 * chooses k: the fewest probes that need at most 5 % more lines than the best number, and at most
 * `budget` lines (0: any) if some k fits.  False: no size is enough. */
bool fit_lines(const struct fit *, struct filter_shape *, double keys, double fp, uint32_t k,
               uint64_t budget);

/* The most keys that shape->lines hold at rate fp; with k = 0 it chooses ->k as well. */
double fit_keys(const struct fit *, struct filter_shape *, double fp, uint32_t k);

/* The least rate for `keys` keys in shape->lines; with k = 0 it chooses ->k as well. */
double fit_rate(const struct fit *, struct filter_shape *, double keys, uint32_t k);

#endif
