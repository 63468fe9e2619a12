/* registry.c - the table of all structures. */
#include "detector/block.h"

#include "spec/spec.h"
#include "window/window.h"

#include <string.h>

#define FILTER(name, file)                extern const struct filter_ops filter_##name;
#define WINDOW(window, ops, filter, file) extern const struct window_ops ops;
#include "detector/structures.def"

static const struct filter_ops *const filters[] = {
#define FILTER(name, file) &filter_##name,
#define WINDOW(window, ops, filter, file)
#include "detector/structures.def"
};

/* Windows over any filter (no name), and structures that age by themselves. */
static const struct {
    uint32_t window;
    const struct window_ops *ops;
    const char *name;
} windows[] = {
#define FILTER(name, file)
#define WINDOW(window, ops, filter, file) {SEEN_WINDOW_##window, &ops, filter},
#include "detector/structures.def"
};

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* The i-th choice of all windows and names. */
static bool choice(size_t i, uint32_t *window, struct registry_choice *c) {
    for (size_t w = 0; w < COUNT(windows); w++) {
        size_t ways = windows[w].name ? 1 : COUNT(filters);
        if (i >= ways) {
            i -= ways;
            continue;
        }
        *window = windows[w].window;
        c->ops = windows[w].ops;
        c->filter = windows[w].name ? NULL : filters[i];
        c->name = windows[w].name ? windows[w].name : filters[i]->theory.name;
        return true;
    }
    return false;
}

bool registry_pick(uint32_t window, const char *name, size_t i, struct registry_choice *out) {
    uint32_t serves;
    struct registry_choice c;
    for (size_t all = 0; choice(all, &serves, &c); all++) {
        if (serves != window || (*name && strcmp(name, c.name) != 0)) continue;
        if (i-- > 0) continue;
        *out = c;
        return true;
    }
    return false;
}

int registry_plan(const struct registry_choice *c, struct seen_plan *plan, struct seen_error *e) {
    return c->filter ? generations_plan(plan, &c->filter->theory, e) : c->ops->plan(plan, e);
}

uint64_t registry_state(const struct registry_choice *c, const struct seen_spec *spec) {
    return c->filter ? generations_size(spec, &c->filter->theory) : c->ops->size(spec);
}

/* Lists a name that serves several windows once. */
const char *seen_filter_name(size_t i) {
    uint32_t window;
    struct registry_choice c, earlier;
    for (size_t all = 0; choice(all, &window, &c); all++) {
        bool told = false;
        for (size_t j = 0; j < all && choice(j, &window, &earlier); j++)
            told |= !strcmp(earlier.name, c.name);
        if (!told && i-- == 0) return c.name;
    }
    return NULL;
}

/* -- specs: the parser gets the names of structures from here ------------------------------ */

int seen_spec_parse(struct seen_spec *spec, const char *text, struct seen_error *e) {
    return spec_parse(spec, text, seen_filter_name, e);
}

int seen_spec_set(struct seen_spec *spec, const char *name, const char *value,
                  struct seen_error *e) {
    return spec_set(spec, name, value, seen_filter_name, e);
}

const struct filter_theory *registry_filter(size_t i) {
    return i < COUNT(filters) ? &filters[i]->theory : NULL;
}
