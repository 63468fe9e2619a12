/* groups.h - --group-by LIST and --sum LIST: records, unique ones and duplicates of each group, and
 * sums of amounts, exactly.  Without --group-by all records are one group. */
#ifndef SEEN_GROUPS_H
#define SEEN_GROUPS_H

#include "dedup/sums.h"
#include "group/names.h"

struct groups {
    bool grouped, summed; /* asked for */
    struct fields by;
    struct names names;
    struct sums sums;
    struct group *group; /* by number */
    struct sum *sum;     /* likewise, one a field */
    uint32_t room;
};

/* Nothing was read; `confirmed`, `confirms`: as in struct sums. */
void groups_init(struct groups *, const char *by, const char *sum, bool confirmed, bool confirms);
/* The columns are known: of `--group-by by` and `--sum sum`, either of which may be NULL.  `most`
 * bounds the groups with values of their own. */
void groups_columns(struct groups *, struct layout *, const char *by, const char *sum,
                    const struct header *, uint32_t most);
void groups_free(struct groups *);

/* Record `number` comes, whose fields stand at `field`, by slots: a number for it, under which
 * groups_count knows its group and its amounts. */
uint32_t groups_find(struct groups *, const struct slice *field, uint64_t number);
void groups_count(struct groups *, uint32_t found, uint8_t verdict); /* once each */
/* A record none of whose fields are known. */
void groups_count_lacking(struct groups *, uint64_t number);

/* The one with most records first. */
void groups_print_text(const struct groups *, FILE *);
void groups_print_json(const struct groups *, FILE *); /* "group_by":… ,"groups":… ,"sums":… */

/* Amounts are missing in the sums, or sums are too large: says so unless `quiet`. */
bool groups_lack(const struct groups *, bool quiet);

#endif
