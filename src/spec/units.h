/* units.h - numbers as people write them: 1e6, 64M, 1.5h, 1%, 1e9/d; units.c has the grammar. */
#ifndef UNITS_H
#define UNITS_H

#include "seen.h"

#include <stdbool.h>

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

#endif
