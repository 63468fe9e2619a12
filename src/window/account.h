/* account.h - how many duplicates were false, by expectation, while a filter fills.
 *
 * Each record called new stands for p/(1-p) that were new and called duplicates, p being the
 * false-positive rate at its time.  What the current generation adds follows its load, closely a
 * power of it over a short piece: so it is computed at the ends and the middle of pieces, each a
 * quarter as long as all before, and integrated between.
 *
 * A filter that is asked as a whole (shape.summed) errs by all its keys instead of by generations:
 * then they are the load.  A key that comes again in a younger generation is one of them all the
 * while, so that the full generations lose what the current one gains. */
#ifndef ACCOUNT_H
#define ACCOUNT_H

#include "filter/filter.h"

struct account_sum {
    double expected;  /* false duplicates */
    double unnoticed; /* of them, keys that are still to be added to the load, below one */
};

/* Keys thrown in. */
struct account_load {
    uint64_t own; /* of the current generation */
    uint64_t all; /* that the rate grows with: its own, or where summed those of the whole window */
};

/* What a snapshot keeps, the open piece with it: who loads it goes on as if nothing had been. */
struct account_saved {
    struct account_sum sum;
    double odds; /* what the current one added to p/(1-p) when the open piece began ... */
    struct account_load from; /* ... at this load; */
    uint64_t until;           /* it is to be closed at this one, of its own */
    uint64_t fresh;           /* records called new in it */
};

struct account {
    struct account_saved saved;
    double others; /* rate of the full generations; where summed none errs apart, so 0 */
};

double account_rate(const struct filter *, uint64_t load); /* of one generation */

/* Begins a piece. */
void account_open(struct account *, const struct filter *, struct account_load);

/* Ends it.  Returns the keys that the current generation took for its own: they changed nothing,
 * but the formulas count every key thrown in, so they are to be added to its load. */
uint64_t account_close(struct account *, const struct filter *, struct account_load);

/* The sum with the open piece. */
struct account_sum account_now(const struct account *, const struct filter *, struct account_load);

bool account_sane(const struct account_saved *, struct account_load now); /* a loaded one */

#endif
