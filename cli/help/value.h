/* value.h - what the value of an option can be, as far as that can be listed. */
#ifndef SEEN_HELP_VALUE_H
#define SEEN_HELP_VALUE_H

#include "base/cli.h"

enum value_kind {
    VALUE_NONE,    /* a flag */
    VALUE_ANY,     /* a number, a name: nothing to list */
    VALUE_CHOICES, /* one of a few words */
    VALUE_FILE,
    VALUE_SPEC, /* words of the grammar of windows */
    VALUE_ZONE  /* a time zone */
};

struct value {
    enum value_kind kind;
    bool optional;   /* only as --name=value */
    char words[512]; /* of VALUE_CHOICES, a blank between */
};

/* Read from the placeholder in the option's row. */
struct value value_of(const struct option_row *);

/* A window, then name=value: every word that a spec may hold, a blank between. */
const char *value_spec_words(void);

#endif
