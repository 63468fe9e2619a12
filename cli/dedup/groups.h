/* groups.h - --group-by LIST: records, unique ones and duplicates of each group, exactly. */
#ifndef SEEN_GROUPS_H
#define SEEN_GROUPS_H

#include "group/names.h"

struct groups {
    struct fields by;
    struct names names;
    struct group *group; /* by number */
    uint32_t room;
};

/* `most` bounds the groups with values of their own. */
void groups_init(struct groups *, struct layout *, const char *list, const struct header *,
                 uint32_t most);
void groups_free(struct groups *);

/* The number of the group of a record whose fields stand at `field`, by slots. */
uint32_t groups_find(struct groups *, const struct slice *field);
void groups_count(struct groups *, uint32_t group, uint8_t verdict);

/* The one with most records first. */
void groups_print_text(const struct groups *, FILE *);
void groups_print_json(const struct groups *, FILE *); /* "group_by":… ,"groups":… */

#endif
