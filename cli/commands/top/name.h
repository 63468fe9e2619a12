/* name.h - a key as it is shown: its values one after the other, which a table joins and JSON keeps
 * apart. */
#ifndef SEEN_TOP_NAME_H
#define SEEN_TOP_NAME_H

#include "judge/key.h"

#include <stdio.h>

enum { NAME_MOST = 1024 }; /* bytes of all values together; what is longer is cut */

struct name {
    size_t values, used;
    char bytes[NAME_MOST + 2]; /* of each value its length, in two bytes, and its bytes */
};

/* The key of record i. */
void name_of_key(struct name *, struct keyer *, const struct batch *, size_t i);

/* Checks a name from a state: do its bytes hold `values` values, and nothing else? */
bool name_is_sound(const struct name *);

/* The values with the delimiter between. */
void name_print_text(const struct name *, char delimiter, FILE *);

/* One value as a string, several as an array of strings. */
void name_print_json(const struct name *, FILE *);

#endif
