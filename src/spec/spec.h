/* spec.h - reads and prints specs, the values of options, and numbers with units. */
#ifndef SPEC_H
#define SPEC_H

#include "seen.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* -- options by number (options.c, options.def) ------------------------------------------ */

/* A row of options.def with the id K is OPTION_K here. */
enum option {
#define OPTION(id, ...) OPTION_##id,
#include "spec/options.def"
    OPTION_COUNT
};

/* The option of a name, old names included; -1: there is none. */
int options_find(const char *name, size_t len);
bool options_serve(enum option, const char *filter); /* whether this structure takes it */

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

/* Sets a value, but the option does not count as given before options_mark. */
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

/* -- text that is written ----------------------------------------------------------------- */

/* A text in a buffer of fixed size, cut at its end. */
struct text {
    char *buf;
    size_t cap, len; /* len: of the whole text, also where it did not fit */
};

static inline struct text text_begin(char *buf, size_t cap) {
    if (cap) buf[0] = 0;
    return (struct text){buf, cap, 0};
}

static inline void text_add(struct text *t, const char *piece) {
    for (; *piece; piece++, t->len++)
        if (t->len + 1 < t->cap) t->buf[t->len] = *piece;
    if (t->cap) t->buf[t->len < t->cap ? t->len : t->cap - 1] = 0;
}

static inline void text_add_count(struct text *t, uint64_t value) {
    char number[32];
    snprintf(number, sizeof number, "%llu", (unsigned long long)value);
    text_add(t, number);
}

/* -- specs (spec.c) ----------------------------------------------------------------------- */

/* The i-th name that filter= may have, static; NULL after the last. */
typedef const char *(*spec_names)(size_t i);

/* What seen_spec_parse and seen_spec_set do, with the names that filter= may have. */
int spec_parse(struct seen_spec *, const char *text, spec_names, struct seen_error *);
int spec_set(struct seen_spec *, const char *name, const char *value, spec_names,
             struct seen_error *);

/* Refuses a word that is not the name of an option.  Returns SEEN_EINVAL. */
int spec_unknown_option(const char *name, size_t len, size_t where, struct seen_error *);

/* -- values of options (options.c) ---------------------------------------------------------- */

/* Sets an option to the value that `len` bytes of text say.  The text stands at column `where`. */
int value_parse(struct seen_spec *, int option, const char *text, size_t len, size_t where,
                spec_names, struct seen_error *);

/* Adds the text of an option's value: parsing it gives the value. */
void value_print(struct text *, const struct seen_spec *, enum option);

/* -- numbers with units (units.c) --------------------------------------------------------- */

/* Each reads all of a text of length `len`, or returns SEEN_EINVAL with a sentence.  `where` is the
 * column of the text in the line that the error reports. */
int units_count(uint64_t *value, const char *text, size_t len, size_t where, struct seen_error *);
int units_size(uint64_t *bytes, const char *text, size_t len, size_t where, struct seen_error *);
int units_span(uint64_t *us, const char *text, size_t len, size_t where, struct seen_error *);

/* Reads a count or a span of time; *span says which. */
int units_length(uint64_t *value, bool *span, const char *text, size_t len, size_t where,
                 struct seen_error *);

/* Read a share such as 0.01 or 1%, and a number of records a second, such as 500 or 1e9/d. */
int units_share(double *value, const char *text, size_t len, size_t where, struct seen_error *);
int units_rate(double *value, const char *text, size_t len, size_t where, struct seen_error *);

int units_print_real(double value, char *buf, size_t cap); /* shortest exact text */

/* Prints a size rounded up to at most five digits, for messages. */
int units_print_need(uint64_t bytes, char *buf, size_t cap);

/* The same as an option: "mem=20MiB", or "more than mem=256TiB" if mem= cannot be as large. */
int units_print_mem(uint64_t bytes, char *buf, size_t cap);

/* -- typing errors (options.c) --------------------------------------------------------------- */

/* The nearest of the names tried so far, all zero at first. */
struct slip {
    const char *name;
    size_t distance;
};

/* Compares a word with a name, and keeps the name if it is the nearest so far. */
void slip_try(struct slip *, const char *word, size_t len, const char *name);

/* "`what`'word' is not known; did you mean name?", or `else_say` instead if no name is near. */
int slip_refuse(const struct slip *, const char *what, const char *word, size_t len,
                const char *else_say, size_t where, struct seen_error *);

#endif
