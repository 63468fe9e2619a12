/* spec.h - specs as text.  The names that filter= may have are handed down: the table of structures
 * stands on a floor above. */
#ifndef SPEC_H
#define SPEC_H

#include "seen.h"

/* The i-th name that filter= may have, static; NULL after the last. */
typedef const char *(*spec_names)(size_t i);

/* seen_spec_parse and seen_spec_set. */
int spec_parse(struct seen_spec *, const char *text, spec_names, struct seen_error *);
int spec_set(struct seen_spec *, const char *name, const char *value, spec_names,
             struct seen_error *);

/* Refuses a word that should be the name of an option. */
int spec_unknown_option(const char *name, size_t len, size_t where, struct seen_error *);

#endif
