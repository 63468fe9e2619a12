/* values.h - values of fields in one run of bytes: of each its length, in two bytes, then its
 * bytes, so that `ab`,`c` and `a`,`bc` differ.
 *
 *     02 00 'a' 'b' 01 00 'c'
 */
#ifndef SEEN_GROUP_VALUES_H
#define SEEN_GROUP_VALUES_H

#include <stddef.h>
#include <stdio.h>

/* Writes one at `to`, which has room for len + 2 bytes; len is below 65536.  Returns the end. */
char *values_append(char *to, const char *value, size_t len);

/* The value at *at, which moves behind it. */
const char *values_next(const char **at, size_t *len);

/* The n values at `at` for programs: one as a string, several as an array. */
void values_print_json(const char *at, size_t n, FILE *);

#endif
