/* side.h - reads one of the two inputs: its records are counted by key. */
#ifndef SEEN_DIFF_SIDE_H
#define SEEN_DIFF_SIDE_H

#include "commands/diff/tally.h"
#include "judge/key.h"
#include "records/reader.h"

struct side {
    struct input_options input; /* of one file; the caller's to fill in, as is the following */
    const char *sum;            /* the field of the amount, or NULL */
    bool timed;                 /* keys have their record's time behind them */
    int which;                  /* LEFT or RIGHT */
    uint64_t seed;              /* of hashes: the same on both sides */
    struct tally *tally;

    bool resolved;  /* the key's fields are known: ... */
    int64_t fields; /* ... how many there are, or PARTS_VARY */
    char **name;    /* what their columns are called: one column if they vary */
    uint64_t records, counted, left_out;
    uint64_t misread, first_misread; /* amounts that count as nothing; the first one's record */
    decimal total;                   /* of all amounts */
    unsigned places;                 /* of the amounts, behind the point */

    struct reader reader;
    struct keyer keyer[MAX_THREADS];
    uint32_t slot; /* of the amount */
    char *key;     /* those of a batch */
    size_t room;
    size_t at[BATCH + 1]; /* where in `key` each begins */
    uint64_t hash[BATCH];
};

/* Counts the records and warns of those that could not be counted.  False if there is no answer:
 * the input could not be read to its end, or none of its records could be counted.  `resolved` is
 * called when the key's fields are known, before any record. */
bool side_read(struct side *, void (*resolved)(void *ctx, struct side *), void *ctx);
void side_free(struct side *);

/* The number of columns of the key, and the name of the file. */
uint32_t side_columns(const struct side *);
const char *side_name(const struct side *);

#endif
