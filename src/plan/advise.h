/* advise.h - the message for a spec that no structure serves, or none that is of use.
 *
 * Every fix is tried before it is named: the spec with the fix plans. */
#ifndef ADVISE_H
#define ADVISE_H

#include "seen.h"

#include <stdbool.h>

/* Whether a plan chosen by the planner keeps the whole window, and errs at most at fp= or, where
 * that is less or not asked, at one new record in ten. */
bool advise_accepts(const struct seen_plan *);

/* The most items=, of `keys` or fewer, with which the spec plans, to three digits; 0 if none. */
double advise_items(const struct seen_spec *asked, double keys);

/* Refuses a spec without filter=.  `best` is the least bad plan, NULL if there is none; then *e
 * holds the first structure's refusal, which stands where no fix is found. */
int advise_refuse(const struct seen_spec *asked, const struct seen_plan *best, struct seen_error *);

#endif
