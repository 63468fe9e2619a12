/* unjudged.h - records that cannot be judged: why not, how many, and the first of each kind.
 *
 * Code that leaves a record out of a batch notes the cause in an array at the record's place:
 *
 *     record     0  1  2  3  4
 *     order      0     2     4      what can be judged
 *     cause         F     T         why the others cannot
 *
 * Threads may do so ahead of the batch's turn.  Counting, the sentences and --rejects come in
 * order. A new cause is a value of enum cause and a row of the table in unjudged.c. */
#ifndef SEEN_UNJUDGED_H
#define SEEN_UNJUDGED_H

#include "output/sink.h"
#include "records/format/record.h"
#include "records/input_options.h"

enum { UNJUDGED_TEXT = 256 };

struct unjudged {
    const struct input_options *input;
    const struct layout *layout;
    const char *side;              /* its name, where two inputs are told apart; or NULL */
    const seen_detector *detector; /* refuses keys under hash=int and hash=raw; NULL: none does */
    const uint32_t *slot;          /* of fields beside key and time that have to be there, ... */
    uint32_t slots;                /* ... how many, and ... */
    const char *slot_option;       /* ... the option that asks for them */
    uint64_t records;              /* of this run */
    uint64_t n, by[CAUSES];        /* of those: what cannot be judged */
    char first[CAUSES][UNJUDGED_TEXT]; /* what was wrong with the first of them */
    struct sink *rejects;              /* where they go; NULL: on, as the others do */
    bool begun;                        /* a record has gone there */
    const char *header;                /* comes first, in a file that is empty; NULL: none */
    size_t header_len;
};

/* Options and layout stay the caller's.  Opens the file of --rejects, or dies with a sentence. */
void unjudged_init(struct unjudged *, const struct input_options *, const struct layout *);
void unjudged_free(struct unjudged *);

/* Fields beside key and time have to be there: their slots, which stay the caller's, and the option
 * that asks for them. */
void unjudged_wants(struct unjudged *, const uint32_t *slot, uint32_t slots, const char *option);

/* The next batch, and what the clock says: all but the n records in `order` have a cause.  Without
 * an order only those have one that lack a field beside key and time. */
void unjudged_batch(struct unjudged *, const struct batch *, seen_time now, size_t n,
                    const uint16_t *order, const uint8_t *cause);

/* A record that is too long, or whose quote is not closed, in as many pieces as it takes. */
void unjudged_piece(struct unjudged *, enum cause, uint64_t number, const char *p, size_t n,
                    bool first, bool last);

/* What was wrong with a record of a batch, in words. */
void unjudged_describe(const struct unjudged *, enum cause, const struct batch *, size_t i,
                       uint64_t number, seen_time now, char text[UNJUDGED_TEXT]);

const char *cause_name(enum cause); /* in JSON */

/* Why a record has no value in a field that is wanted. */
enum cause cause_of_missing(const struct layout *, const struct record *);

/* Rejects that wait in the buffer are written; the last time, that they arrived is asked.  0, or
 * errno of a write that failed. */
int unjudged_flush(struct unjudged *);
int unjudged_close(struct unjudged *);

/* Ends the run.  Says what became of the records that could not be judged (`fate`: "passed on
 * unjudged"), unless `told` or --quiet.  True: the exit status is 2, because of --strict or because
 * no record could be judged. */
bool unjudged_end(struct unjudged *, const char *fate, bool told);

#endif
