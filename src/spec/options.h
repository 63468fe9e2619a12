/* options.h - the options of a spec by number.  options.def has their rows; a row with the id K is
 * OPTION_K here. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "seen.h"

#include <stdbool.h>

enum option {
#define OPTION(id, ...) OPTION_##id,
#include "spec/options.def"
    OPTION_COUNT
};

/* The option of a name, old names included; -1: there is none. */
int options_find(const char *name, size_t len);
bool options_serve(enum option, const char *filter); /* does this structure take it? */

static inline bool options_has(const struct seen_spec *s, enum option o) {
    return s->given >> o & 1;
}

/* The value of an option, 0, 0.0 or "" if it has none. */
static inline uint64_t options_get(const struct seen_spec *s, enum option o) {
    return s->value[o].count;
}

static inline double options_real(const struct seen_spec *s, enum option o) {
    return s->value[o].real;
}

static inline const char *options_name(const struct seen_spec *s, enum option o) {
    return s->value[o].name ? s->value[o].name : "";
}

/* Marks an option as given. */
static inline void options_mark(struct seen_spec *s, enum option o) {
    s->given |= (uint64_t)1 << o;
}

/* Gives a value for the time being: the option does not count as given before options_mark. */
static inline void options_assume(struct seen_spec *s, enum option o, uint64_t value) {
    s->value[o].count = value;
}

static inline void options_assume_real(struct seen_spec *s, enum option o, double value) {
    s->value[o].real = value;
}

/* Gives an option a value. */
static inline void options_set(struct seen_spec *s, enum option o, uint64_t value) {
    s->value[o].count = value;
    options_mark(s, o);
}

static inline void options_set_real(struct seen_spec *s, enum option o, double value) {
    s->value[o].real = value;
    options_mark(s, o);
}

/* `name` must outlive the spec: a name of the registry. */
static inline void options_set_name(struct seen_spec *s, enum option o, const char *name) {
    s->value[o].name = name;
    options_mark(s, o);
}

static inline void options_unset(struct seen_spec *s, enum option o) {
    s->value[o] = (union seen_value){0};
    s->given &= ~((uint64_t)1 << o);
}

#endif
