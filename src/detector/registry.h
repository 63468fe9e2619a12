/* registry.h - the table of all structures.  A new one is one row in registry.c. */
#ifndef REGISTRY_H
#define REGISTRY_H

#include "detector/detector.h"

/* One way to serve a window: an aging structure, or a window over a filter. */
struct registry_choice {
    const struct window_ops *ops;
    const struct filter_ops *filter; /* NULL for a structure that ages by itself */
    const char *name;                /* its filter= name */
};

bool registry_known(const char *name, size_t len);
void registry_names(char *buf, size_t cap); /* "blocked, bloom, …" */

/* The i-th way to serve `window` (enum seen_window) under filter= `name` ("" for any); false when
 * there are no more. */
bool registry_pick(uint32_t window, const char *name, size_t i, struct registry_choice *);

/* The i-th filter, or NULL after the last. */
const struct filter_ops *registry_filter(size_t i);

#endif
