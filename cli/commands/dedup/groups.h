/* groups.h - --group-by LIST and --sum LIST: records, unique ones and duplicates of each group, and
 * sums of amounts, exactly.  Without --group-by all records are one group. */
#ifndef SEEN_DEDUP_GROUPS_H
#define SEEN_DEDUP_GROUPS_H

#include "base/pack.h"
#include "base/text.h"
#include "group/group.h"
#include "records/columns.h"
#include <stdio.h>

/* -- amounts ------------------------------------------------------------------------------ */

/* --sum LIST: exact sums of the amounts in fields, such as the cost of clicks, by verdict.
 *
 * gross = net + dropped + unjudged: `net` is the amount of the records that were not seen before,
 * `dropped` that of duplicates.  An amount that cannot be read counts as nothing, and is counted.
 *
 * A record's amounts are read before its verdict is known.  They wait under a ticket, a number that
 * the record carries along even if it is held back for a while. */

/* The amounts of one field in one group. */
struct sum {
    decimal of[VERDICTS];
    uint64_t unreadable;
    bool too_large; /* a sum did not fit */
};

/* The first amount of a field that could not be read. */
struct misread {
    uint64_t number; /* of its record; 0: there is none */
    bool absent;     /* the record has no such field */
    char value[44];  /* its beginning */
};

struct sums {
    struct fields fields;
    bool confirmed; /* only confirmed duplicates are dropped */
    bool confirms;  /* some duplicates are confirmed */
    unsigned *places;
    struct misread *misread;
    decimal *waiting; /* of each ticket, one amount a field, ... */
    uint32_t *group;  /* ... and the record's group */
    uint32_t *ticket; /* those not in use, a stack */
    uint32_t tickets, unused;
    char *value; /* scratch */
    size_t value_room;
};

/* Prepares the sums of the fields, whose columns are known; dies if memory is short. */
void sums_init(struct sums *);
void sums_free(struct sums *);

/* Reads the amounts of record `number` and returns their ticket.  `field`: its fields by slots.
 * Those that cannot be read are counted in `sum`, which is the group's, one a field. */
uint32_t sums_read(struct sums *, uint32_t group, struct sum *sum, const struct slice *field,
                   uint64_t number);
static inline uint32_t sums_group(const struct sums *s, uint32_t ticket) {
    return s->group[ticket];
}

/* Counts a record whose fields are not known: none of its amounts can be read. */
void sums_lacking(struct sums *, struct sum *, uint64_t number);

/* Adds the amounts of a ticket to the sums of that verdict, and frees the ticket. */
void sums_count(struct sums *, struct sum *, uint8_t verdict, uint32_t ticket);

/* Adds one group's sums to another's. */
void sums_add(const struct sums *, struct sum *into, const struct sum *from);

/* Print the columns of a table: the names, then the amounts of a group.  `total` decides which
 * columns the table has. */
void sums_put_names(const struct sums *, const struct sum *total, FILE *);
void sums_put_row(const struct sums *, const struct sum *total, const struct sum *group, FILE *);

/* Prints "sums":{"cost":{"gross":"4.50",…}}: decimal strings, or null for a sum that did not
 * fit. */
void sums_put_json(const struct sums *, const struct sum *group, FILE *);

/* What the totals lack, more than `misread` amounts that are known of: says so unless `quiet`. True
 * if they lack anything. */
bool sums_lack(const struct sums *, const struct sum *total, uint64_t misread, bool quiet);
uint64_t sums_misread(const struct sums *, const struct sum *total);

/* -- groups ------------------------------------------------------------------------------- */

struct group_counts {
    uint64_t of[VERDICTS]; /* records by verdict */
};

struct groups {
    bool grouped, summed; /* asked for */
    struct fields by;
    struct names names;
    struct sums sums;
    struct group_counts *group; /* by number */
    struct sum *sum;            /* likewise, one a field */
    uint32_t room;
    size_t most_bytes; /* in a state; 0: no bound */
    uint64_t misread;  /* amounts that earlier runs could not read */
};

/* Makes empty groups.  `confirmed` and `confirms`: as in struct sums. */
void groups_init(struct groups *, const char *by, const char *sum, bool confirmed, bool confirms);
/* Bounds the bytes that all groups take in a state; to be called after groups_init.  When these are
 * full, new groups are counted together. */
void groups_bound(struct groups *, size_t bytes);
/* Sets the columns of `--group-by by` and `--sum sum`, once the header is known.  `by` and `sum`
 * may be NULL.  `most` bounds the groups with values of their own. */
void groups_columns(struct groups *, struct layout *, const char *by, const char *sum,
                    const struct header *, uint32_t most);
void groups_free(struct groups *);

/* Finds the group of record `number`.  `field`: its fields by slots.  Returns a number under which
 * groups_count knows its group and its amounts. */
uint32_t groups_find(struct groups *, const struct slice *field, uint64_t number);
/* Counts a record that groups_find found, once. */
void groups_count(struct groups *, uint32_t found, uint8_t verdict);
/* Counts a record with no known fields. */
void groups_count_lacking(struct groups *, uint64_t number);

/* For groups_pack.c: arrays for all groups that have a number; a group's sums. */
void groups_make_room(struct groups *);
struct sum *groups_sum(const struct groups *, uint32_t group);
uint64_t groups_misread(const struct groups *); /* amounts, so far */

/* Print the groups; the one with most records comes first. */
void groups_print_text(const struct groups *, FILE *);
void groups_print_json(const struct groups *, FILE *); /* "group_by":… ,"groups":… ,"sums":… */

/* Pack the groups for a state, and unpack them into groups of the same options, or into fresh ones,
 * which are then only good for printing.  Believes nothing: false if the bytes cannot be right. */
void groups_pack(const struct groups *, struct packer *);
bool groups_unpack(struct groups *, const char *bytes, size_t len);
bool groups_unpack_fresh(struct groups *, const char *bytes, size_t len);

/* True if amounts of this run are missing in the sums or sums are too large; warns unless
 * `quiet`. */
bool groups_lack(const struct groups *, bool quiet);

#endif
