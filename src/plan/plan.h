/* plan.h - planning that all windows share. */
#ifndef PLAN_H
#define PLAN_H

#include "plan/fit.h"
#include "spec/options.h"

#define PLAN_FP_DEFAULT  1e-9
#define PLAN_MEM_DEFAULT ((uint64_t)64 << 20)

/* Distinct keys expected in a window: items=, or rate= times the window, at most its records.  With
 * lateness=, the keys of all records that are kept.  0: no option gives it.  Refuses a rate= that
 * has no effect. */
int plan_keys(uint64_t *keys, const struct seen_spec *, struct seen_error *);

/* Records of a window divided by its distinct keys, at least 1.  A stretch x of the window, as a
 * share of it, holds at most a share of min(1, x plan_crowd) of its keys, for any repetition and
 * any bursts.  INFINITY: no option bounds the records of a window. */
double plan_crowd(const struct seen_spec *);

/* The share of its keys that a stretch of `span` holds beyond those of a window. */
double plan_beyond(const struct seen_spec *, double span);

/* Decides overload= for a structure with only one behaviour, `does`. */
int plan_overload(struct seen_plan *, uint32_t does, struct seen_error *);

/* The same for structures of sliding windows with a fixed size.  Refuses a spec that does not say
 * how many keys a window has. */
int plan_sliding(struct seen_plan *, uint32_t does, struct seen_error *);

/* Decides lines and k (or, for structures that grow, the most keys) of a filter in a window of the
 * given `fit`, whose state takes `fixed` bytes a detector besides; predicts errors and bytes. */
int plan_filter(struct seen_plan *, const struct fit *, uint64_t fixed, struct seen_error *);

/* Plans one structure, without comparing it with others. */
struct registry_choice;
int plan_choice(struct seen_plan *, const struct seen_spec *asked, const struct registry_choice *,
                struct seen_error *);

/* Inserts a plan into the n best plans so far, which stand best first, and keeps at most `cap` of
 * them.  Returns their new number. */
size_t plan_insert(struct seen_plan *plans, size_t n, size_t cap, const struct seen_plan *,
                   bool (*wins)(const struct seen_plan *, const struct seen_plan *));

/* Rounds up to three digits, so that a spec stays readable.  The result is above 0 and below 1. */
double plan_round_up(double rate);

/* Digests a key: a key of more than 128 bits takes several. */
uint32_t plan_digests(const struct seen_spec *);

/* The geometry that a resolved spec describes. */
struct filter_shape plan_shape(const struct seen_spec *, uint32_t live);

#endif
