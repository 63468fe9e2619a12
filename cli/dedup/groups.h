/* groups.h - --group-by FIELD: records, unique and duplicates of each value of a field, exactly,
 * for so many values as there is room for; all others are one group more. */
#ifndef SEEN_GROUPS_H
#define SEEN_GROUPS_H

#include "read/record.h"

#include <stdio.h>

enum { GROUPS_NAME = 1024 }; /* bytes by which values are told apart */

struct groups {
    struct group *by_name;
    struct group **list; /* in the order in which they came: the others, no such field, and those
                            with names */
    uint32_t n, room;
    uint32_t most; /* groups with names */
    char *scratch; /* a value */
    size_t cap;
};

void groups_init(struct groups *, uint32_t most);
void groups_free(struct groups *);

uint32_t groups_find(struct groups *, const struct slice *); /* the group's number */
void groups_count(struct groups *, uint32_t group, uint8_t verdict);

/* The one with most records first. */
void groups_print_text(const struct groups *, const char *field, FILE *);
void groups_print_json(const struct groups *, const char *field, FILE *); /* "groups":… */

#endif
