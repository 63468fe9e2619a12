/* missing.h - how many partners `seen top --distinct` has not counted.
 *
 * The detector of pairs answers "duplicate" for some pairs that are new, at its rate p of that
 * moment.  So each pair that it does call new stands for p/(1-p) that it did not: of n counted
 * pairs, the number missed has a negative binomial distribution (n successes, each after failures
 * of probability p).  Its quantile, exceeded in 1 of 2000 cases, is what the error column has.
 * A key that takes over a counter takes its count over as well: no more of its own pairs than that
 * can have been counted before, and p was not higher then.
 *
 * Where p is above one half that says little, as p itself is known by formula only.  Then, and
 * wherever it is less, the error column has a bound without chance: how often "duplicate" was the
 * answer for the key.  Counters of their own bound that, by Space-Saving again.
 *
 * A detector that is short of memory may instead forget pairs and call them new once more; each
 * pair forgotten is counted once too often at most. */
#ifndef SEEN_TOP_MISSING_H
#define SEEN_TOP_MISSING_H

#include "state/blocks.h"

struct missing {
    uint64_t counters, *count; /* [counters] as of seen_top */
    double *of;                /* [counters] expected */
    seen_top *duplicates;      /* keys, each time the answer was "duplicate" */
    uint64_t answers;          /* "duplicate", of all keys */
    double all;                /* expected, of all keys */
    double odds;               /* p/(1-p) now */
    uint64_t counted, due;     /* pairs; when the rate is to be asked for again */
    uint64_t forgotten;        /* before this window */
};

void missing_init(struct missing *, uint64_t counters);
void missing_free(struct missing *);

/* A window begins: the detector has just had a landmark, or is new. */
void missing_begin(struct missing *, const seen_detector *);

/* The pair just observed was called new, and counted; `taken`: its counter was another key's. */
void missing_note(struct missing *, const seen_detector *, size_t counter, bool taken);

/* ... was called a duplicate. */
void missing_duplicate(struct missing *, seen_digest key);

/* An upper bound for the missing partners of the key with this counter. */
uint64_t missing_most(const struct missing *, seen_digest key, size_t counter);

/* An estimate of the missing partners of all keys.  If *sure becomes false, it is an upper bound.
 */
double missing_all(const struct missing *, bool *sure);

/* An upper bound for the pairs of this window that were counted once too often. */
uint64_t missing_twice(const struct missing *, const seen_detector *);

/* Write and read the part of a state, with `used` counters in use.  missing_load comes after
 * missing_init; false: the bytes cannot be right. */
void missing_save(const struct missing *, uint64_t used, struct blocks_out *);
bool missing_load(struct missing *, uint64_t used, struct blocks_in *);

#endif
