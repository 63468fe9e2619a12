/* cache.h - the fingerprint cache as formulas.  Derived for this project.
 *
 * `sets` sets of `ways` entries, each one of `values` fingerprints; a key's set and fingerprint are
 * uniform.  The fingerprints of a set all differ, in the order of their last use, and a set that
 * has once filled stays full. */
#ifndef THEORY_CACHE_H
#define THEORY_CACHE_H

#include <stdbool.h>

struct theory_cache {
    double sets, ways, values;
    bool fifo; /* in the order of their first use (refresh=first) */
};

/* P(a new key is called a duplicate) of a full cache, exactly: ways/values.  The most that it ever
 * is, on every stream. */
double theory_cache_fp(const struct theory_cache *);

/* The same once `keys` different keys came to an empty one: a set then holds as many entries as
 * values came to it, `ways` at most. */
double theory_cache_fp_after(const struct theory_cache *, double keys);

/* P(a key is called a duplicate after `gap` records of other keys, all different).
 *
 * What a set holds are the `ways` values used last.  If fewer than that came, the key's is among
 * them; if more came, it is as likely there as any other: f + (1-f) ways/values, where
 * f = P(D < ways) and D, the number of different values that came to the set, is binomial: each of
 * `values` came with probability 1-exp(-gap/(sets values)).
 *
 * fifo: the key leaves when `ways` values that were not there have come, each of a Poisson number
 * of mean gap/sets being one with probability 1-ways/values.  Without chance matches, which would
 * add ways/values at most. */
double theory_cache_found(const struct theory_cache *, double gap);

/* Mean of 1-found over gaps from 1 to `most`, all orders of magnitude alike (decaying.h). */
double theory_cache_fn_mean(const struct theory_cache *, double most);

/* The gap at which half the keys are still found; 0 where even gap 1 is not. */
double theory_cache_reach(const struct theory_cache *);

#endif
