/* groups.h - --group-by LIST and --sum LIST: records, unique ones and duplicates of each group, and
 * sums of amounts, exactly.  Without --group-by all records are one group. */
#ifndef SEEN_GROUPS_H
#define SEEN_GROUPS_H

#include "commands/dedup/sums.h"
#include "group/group.h"
#include "state/pack.h"

struct group {
    uint64_t of[VERDICTS]; /* records by verdict */
};

struct groups {
    bool grouped, summed; /* asked for */
    struct fields by;
    struct names names;
    struct sums sums;
    struct group *group; /* by number */
    struct sum *sum;     /* likewise, one a field */
    uint32_t room;
    size_t most_bytes; /* in a state; 0: no bound */
    uint64_t misread;  /* amounts that earlier runs could not read */
};

/* Nothing was read; `confirmed`, `confirms`: as in struct sums. */
void groups_init(struct groups *, const char *by, const char *sum, bool confirmed, bool confirms);
/* Bounds the bytes that all groups take in a state; to be called after groups_init.  When these are
 * full, new groups are counted together. */
void groups_bound(struct groups *, size_t bytes);
/* Sets the columns of `--group-by by` and `--sum sum`, once the header is known.  `by` and `sum`
 * may be NULL.  `most` bounds the groups with values of their own. */
void groups_columns(struct groups *, struct layout *, const char *by, const char *sum,
                    const struct header *, uint32_t most);
void groups_free(struct groups *);

/* Record `number` comes, whose fields stand at `field`, by slots: a number for it, under which
 * groups_count knows its group and its amounts. */
uint32_t groups_find(struct groups *, const struct slice *field, uint64_t number);
void groups_count(struct groups *, uint32_t found, uint8_t verdict); /* once each */
/* Counts a record with no known fields. */
void groups_count_lacking(struct groups *, uint64_t number);

/* For groups_pack.c: arrays for all groups that have a number; a group's sums. */
void groups_make_room(struct groups *);
struct sum *groups_sum(const struct groups *, uint32_t group);
uint64_t groups_misread(const struct groups *); /* amounts, so far */

/* The one with most records first. */
void groups_print_text(const struct groups *, FILE *);
void groups_print_json(const struct groups *, FILE *); /* "group_by":… ,"groups":… ,"sums":… */

/* For a state; and back again, into groups of the same options, or into fresh ones, which are then
 * only good for printing.  Believes nothing: false if the bytes cannot be right. */
void groups_pack(const struct groups *, struct packer *);
bool groups_unpack(struct groups *, const char *bytes, size_t len);
bool groups_unpack_fresh(struct groups *, const char *bytes, size_t len);

/* Amounts of this run are missing in the sums, or sums are too large: says so unless `quiet`. */
bool groups_lack(const struct groups *, bool quiet);

#endif
