/* sums.h - --sum LIST: exact sums of the amounts in fields, such as the cost of clicks, by verdict.
 *
 * gross = net + dropped + unjudged: `net` is the amount of the records that were not seen before,
 * `dropped` that of duplicates.  An amount that cannot be read counts as nothing, and is counted.
 *
 * A record's amounts are read before its verdict is known.  They wait under a ticket, a number that
 * the record carries along even if it is held back for a while. */
#ifndef SEEN_SUMS_H
#define SEEN_SUMS_H

#include "base/number.h"
#include "records/columns.h"

#include <stdio.h>

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

/* The fields must have been found.  Ends the process with a sentence if memory is short. */
void sums_init(struct sums *);
void sums_free(struct sums *);

/* Reads the amounts of record `number`, whose fields stand at `field`, by slots: a ticket.  Those
 * that cannot be read are counted in `sum`, which is the group's, one a field. */
uint32_t sums_read(struct sums *, uint32_t group, struct sum *sum, const struct slice *field,
                   uint64_t number);
static inline uint32_t sums_group(const struct sums *s, uint32_t ticket) {
    return s->group[ticket];
}

/* Likewise of a record whose fields are not known: there is nothing to wait for. */
void sums_lacking(struct sums *, struct sum *, uint64_t number);

/* The verdict is known; the ticket has served. */
void sums_count(struct sums *, struct sum *, uint8_t verdict, uint32_t ticket);

/* Adds one group's sums to another's. */
void sums_add(const struct sums *, struct sum *into, const struct sum *from);

/* Columns of a table: names, then the amounts of a group.  `total` decides which columns there are.
 */
void sums_put_names(const struct sums *, const struct sum *total, FILE *);
void sums_put_row(const struct sums *, const struct sum *total, const struct sum *group, FILE *);

/* "sums":{"cost":{"gross":"4.50",…}}: decimal strings, or null for a sum that did not fit. */
void sums_put_json(const struct sums *, const struct sum *group, FILE *);

/* What the totals lack, more than `misread` amounts that are known of: says so unless `quiet`. True
 * if they lack anything. */
bool sums_lack(const struct sums *, const struct sum *total, uint64_t misread, bool quiet);
uint64_t sums_misread(const struct sums *, const struct sum *total);

#endif
