/* group.h - groups of records: one for each value of a field, or for each set of values of several
 * fields (--group-by publisher,advertiser).
 *
 * Groups are numbered in the order in which they come, so that a caller can keep what it counts in
 * an array.  All groups beyond `most` share one number; so do all records that lack a field.
 * Memory: about 90 bytes a group besides its values.  Every function that allocates ends the
 * process with a sentence if memory is short. */
#ifndef SEEN_GROUP_H
#define SEEN_GROUP_H

#include "records/columns.h"

#include <stdio.h>

enum { GROUP_OTHERS, GROUP_LACKING, GROUP_FIRST }; /* the first with values of its own */
enum { GROUP_VALUE = 1024 };                       /* a value's bytes beyond these are not read */

struct names {
    struct name *by_value;
    struct name **list; /* by number; NULL for those below GROUP_FIRST */
    uint32_t n, room;   /* numbers given out, places in `list` */
    uint32_t most;      /* groups with values of their own, at most */
    uint32_t fields;    /* values of each */
    size_t bytes,
        most_bytes;    /* of all keys; `most_bytes` bounds them (no bound to begin with) ... */
    size_t each;       /* ... and the bytes that each takes besides its key */
    bool crowded;      /* it has kept a group out */
    char *key, *value; /* scratch */
    size_t value_room;
};

void names_init(struct names *, uint32_t fields, uint32_t most);
void names_free(struct names *);

/* The group of a record whose fields stand at `field`, by slots. */
uint32_t names_find(struct names *, const struct fields *, const struct slice *field);

/* A group's key: its values, in bytes.  names_restore makes the group of such a key again; false:
 * the bytes are not a key, or the group exists already. */
const char *names_key(const struct names *, uint32_t number, size_t *len);
bool names_restore(struct names *, const char *key, size_t len);

/* The group with that key, which is another's of as many fields; a new one if there is none. */
uint32_t names_find_key(struct names *, const char *key, size_t len);

/* As memcmp, value by value, for numbers from GROUP_FIRST on. */
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

/* Writes one at `to`, which has room for len + 2 bytes; len is below 65536.  Returns the end. */
char *values_append(char *to, const char *value, size_t len);

/* The value at *at, which moves behind it. */
const char *values_next(const char **at, size_t *len);

/* The n values at `at` for programs: one as a string, several as an array. */
void values_print_json(const char *at, size_t n, FILE *);

#endif
