/* group.h - groups of records: one for each value of a field, or for each set of values of several
 * fields (--group-by publisher,advertiser).
 *
 * Groups are numbered in the order in which they come, so a caller can keep its counts in an array.
 * All groups beyond `most` share the number GROUP_OTHERS.  All records that lack a field share
 * GROUP_LACKING.  A group takes about 90 bytes besides its values.  Every function that allocates
 * ends the process with a sentence if memory is short. */
#ifndef SEEN_GROUP_H
#define SEEN_GROUP_H

#include "records/columns.h"

#include <stdio.h>

enum { GROUP_OTHERS, GROUP_LACKING, GROUP_FIRST }; /* the first with values of its own */
enum { GROUP_VALUE = 1024 };                       /* longer values are cut to this many bytes */

struct names {
    struct name *by_value;
    struct name **list; /* by number; NULL for those below GROUP_FIRST */
    uint32_t n, room;   /* numbers given out, places in `list` */
    uint32_t most;      /* groups that get a number of their own, at most */
    uint32_t fields;    /* values of each group */
    size_t bytes;       /* of all groups: their keys, and `each` bytes besides */
    size_t most_bytes;  /* the bound of `bytes`; names_init sets none */
    size_t each;
    bool crowded;      /* the bound of bytes has kept a group out */
    char *key, *value; /* scratch */
    size_t value_room;
};

void names_init(struct names *, uint32_t fields, uint32_t most);
void names_free(struct names *);

/* The number of a record's group.  `field` are the record's fields, by slot. */
uint32_t names_find(struct names *, const struct fields *, const struct slice *field);

/* A group's key holds its values.  names_restore makes a group from a saved key.  False: the bytes
 * are not a key, or the group exists already. */
const char *names_key(const struct names *, uint32_t number, size_t *len);
bool names_restore(struct names *, const char *key, size_t len);

/* The group with that key, made if it is new.  The key comes from names with as many fields. */
uint32_t names_find_key(struct names *, const char *key, size_t len);

/* Enlarges an array with one element for each group, of `size` bytes, if it has fewer than there
 * are groups.  *room is the number of its elements; new ones are zero. */
void *names_array(const struct names *, void *array, uint32_t *room, size_t size);

/* The numbers of all groups from GROUP_FIRST on, in the order of `order`, as qsort_r sorts them.
 * The caller frees the list; *n becomes its length. */
uint32_t *names_sorted(const struct names *, int order(const void *, const void *, void *ctx),
                       const void *ctx, uint32_t *n);

/* Compares the values of two groups one by one, as memcmp does; for numbers from GROUP_FIRST on. */
int names_order(const struct names *, uint32_t a, uint32_t b);

/* The values with the separator between them.  Control characters become question marks.  Where
 * the separator is a comma, several values are quoted as in CSV. */
void names_put_text(const struct names *, uint32_t number, char separator, FILE *);

/* One value as a string, several as an array.  Bytes that are not UTF-8 are shown as Latin-1. */
void names_put_json(const struct names *, uint32_t number, FILE *);

/* -- values of fields in one run of bytes --------------------------------------------------- *
 *
 * Each value is its length, in two bytes, and its bytes, so that `ab`,`c` and `a`,`bc` differ:
 *
 *     02 00 'a' 'b' 01 00 'c'
 */

/* Writes a value at `to`, which has room for len + 2 bytes; len is below 65536.  Returns its
 * end. */
char *values_append(char *to, const char *value, size_t len);

/* The value at *at, which moves behind it. */
const char *values_next(const char **at, size_t *len);

/* Prints the n values at `at` as JSON: one as a string, several as an array. */
void values_print_json(const char *at, size_t n, FILE *);

#endif
