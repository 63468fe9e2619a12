/* registry.h - the table of all structures.  A new one is one row in registry.c. */
#ifndef REGISTRY_H
#define REGISTRY_H

#include "window/window.h"

/* One way to serve a window: an aging structure, or a window over a filter. */
struct registry_choice {
    const struct window_ops *ops;
    const struct filter_ops *filter; /* NULL for a structure that ages by itself */
    const char *name;                /* its filter= name */
};

/* Decides every option that plan->spec leaves open, and predicts errors and memory. */
int registry_plan(const struct registry_choice *, struct seen_plan *, struct seen_error *);

/* Bytes of one shard's state under a resolved spec. */
uint64_t registry_state(const struct registry_choice *, const struct seen_spec *);

/* The i-th way to serve `window` (enum seen_window) under filter= `name` ("" for any); false when
 * there are no more. */
bool registry_pick(uint32_t window, const char *name, size_t i, struct registry_choice *);

/* The formulas of the i-th filter, or NULL after the last. */
const struct filter_theory *registry_filter(size_t i);

#endif
