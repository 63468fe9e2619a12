/* planner.h - plans single structures, and compares plans. */
#ifndef PLANNER_H
#define PLANNER_H

#include "detector/registry.h"

#include <stdbool.h>

/* Plans one structure, without comparing it with others. */
int planner_choice(struct seen_plan *, const struct seen_spec *asked,
                   const struct registry_choice *, struct seen_error *);

/* Inserts a plan into the n best plans so far, which stand best first, and keeps at most `cap` of
 * them.  Returns their new number. */
size_t planner_insert(struct seen_plan *plans, size_t n, size_t cap, const struct seen_plan *,
                      bool (*wins)(const struct seen_plan *, const struct seen_plan *));

#endif
