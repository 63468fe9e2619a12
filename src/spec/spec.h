/* spec.h - reads and prints specs, the values of options, and numbers with units. */
#ifndef SPEC_H
#define SPEC_H

#include "seen.h"
#include "spec/options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* -- text that is read -------------------------------------------------------------------- */

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

/* seen_spec_parse and seen_spec_set. */
int spec_parse(struct seen_spec *, const char *text, spec_names, struct seen_error *);
int spec_set(struct seen_spec *, const char *name, const char *value, spec_names,
             struct seen_error *);

/* Refuses a word that should be the name of an option. */
int spec_unknown_option(const char *name, size_t len, size_t where, struct seen_error *);

/* -- values of options (value.c) ---------------------------------------------------------- */

/* Sets an option to the value that `len` bytes of text say.  The text stands at column `where`. */
int value_parse(struct seen_spec *, int option, const char *text, size_t len, size_t where,
                spec_names, struct seen_error *);

/* Adds the text of an option's value: parsing it gives the value. */
void value_print(struct text *, const struct seen_spec *, enum option);

/* -- numbers with units (units.c) --------------------------------------------------------- */

/* Text of length `len`, which stands at column `where` of what the error is about. */
int units_count(uint64_t *value, const char *text, size_t len, size_t where, struct seen_error *);
int units_size(uint64_t *bytes, const char *text, size_t len, size_t where, struct seen_error *);
int units_span(uint64_t *us, const char *text, size_t len, size_t where, struct seen_error *);

/* A count or a span: *span says which. */
int units_length(uint64_t *value, bool *span, const char *text, size_t len, size_t where,
                 struct seen_error *);

/* A share such as 0.01 or 1%; a number of records a second, such as 500 or 1e9/d. */
int units_share(double *value, const char *text, size_t len, size_t where, struct seen_error *);
int units_rate(double *value, const char *text, size_t len, size_t where, struct seen_error *);

int units_print_real(double value, char *buf, size_t cap); /* the shortest that reads back */

/* A size to talk about: rounded up to where a person would. */
int units_print_need(uint64_t bytes, char *buf, size_t cap);

/* That as the mem= to ask for: "mem=20MiB", or that mem= cannot be so much. */
int units_print_mem(uint64_t bytes, char *buf, size_t cap);

/* -- typing errors (slip.c) --------------------------------------------------------------- */

/* The nearest of the names tried so far, all zero at first. */
struct slip {
    const char *name;
    size_t distance;
};

void slip_try(struct slip *, const char *word, size_t len, const char *name);

/* "`what`'word' is not known; did you mean name?", or `else_say` instead if no name is near. */
int slip_refuse(const struct slip *, const char *what, const char *word, size_t len,
                const char *else_say, size_t where, struct seen_error *);

#endif
