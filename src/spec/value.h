/* value.h - the value of one option: from text, as text. */
#ifndef VALUE_H
#define VALUE_H

#include "spec/options.h"
#include "spec/spec.h"
#include "spec/text.h"

/* Sets an option to the value that `len` bytes of text say.  The text stands at column `where`. */
int value_parse(struct seen_spec *, int option, const char *text, size_t len, size_t where,
                spec_names, struct seen_error *);

/* Adds the text of an option's value: parsing it gives the value. */
void value_print(struct text *, const struct seen_spec *, enum option);

#endif
