/* unjudged.h - counts the records that cannot be judged, by cause, and describes the first of each.
 *
 * Code that leaves a record out of a batch notes the cause at the record's place in an array:
 *
 *     record     0  1  2  3  4
 *     order      0     2     4      what can be judged
 *     cause         F     T         why the others cannot
 *
 * Threads may do so before the batch's turn.  Counts, descriptions and --rejects follow the order
 * of the records.  A new cause is a value of enum cause, a name and a description in unjudged.c. */
#ifndef SEEN_UNJUDGED_H
#define SEEN_UNJUDGED_H

#include "output/sink.h"
#include "records/format/record.h"
#include "records/input_options.h"

enum { UNJUDGED_TEXT = 256 };

struct unjudged {
    const struct input_options *input;
    const struct layout *layout;
    const char *side;                  /* the name of the input, if there are two; or NULL */
    const seen_detector *detector;     /* the one that may refuse keys, for messages; or NULL */
    const uint32_t *slot;              /* fields besides key and time that have to be there ... */
    uint32_t slots;                    /* ... how many they are ... */
    const char *slot_option;           /* ... and the option that asks for them */
    uint64_t records;                  /* of this run */
    uint64_t n, by[CAUSES];            /* records that cannot be judged */
    char first[CAUSES][UNJUDGED_TEXT]; /* describes the first of each cause */
    struct sink *rejects;              /* the file of --rejects, or NULL */
    bool begun;                        /* a record has been written there */
    const char *header;                /* the first line of an empty file of rejects, or NULL */
    size_t header_len;
};

/* Options and layout stay the caller's.  Opens the file of --rejects, or dies with a sentence. */
void unjudged_init(struct unjudged *, const struct input_options *, const struct layout *);
void unjudged_free(struct unjudged *);

/* Names fields besides key and time that have to be there, by their slots, which stay the caller's,
 * and the option that asks for them. */
void unjudged_wants(struct unjudged *, const uint32_t *slot, uint32_t slots, const char *option);

/* Counts the next batch.  `now` is what the clock says.  All but the n records in `order` have a
 * cause.  Without an order, only records that lack a field named to unjudged_wants are counted. */
void unjudged_batch(struct unjudged *, const struct batch *, seen_time now, size_t n,
                    const uint16_t *order, const uint8_t *cause);

/* Counts a record that comes in pieces: it is too long, or its quote is not closed. */
void unjudged_piece(struct unjudged *, enum cause, uint64_t number, const char *p, size_t n,
                    bool first, bool last);

/* Describes what is wrong with a record of a batch. */
void unjudged_describe(const struct unjudged *, enum cause, const struct batch *, size_t i,
                       uint64_t number, seen_time now, char text[UNJUDGED_TEXT]);

const char *cause_name(enum cause); /* for JSON */

/* The cause of a record that lacks a field of key or time: it may not be of the format at all. */
enum cause cause_of_missing(const struct layout *, const struct record *);

/* Writes rejects that wait in the buffer.  unjudged_close also checks that all have arrived.  Both
 * return 0, or errno of a write that failed. */
int unjudged_flush(struct unjudged *);
int unjudged_close(struct unjudged *);

/* Ends the run.  A warning says what became of the records that could not be judged (`fate`, such
 * as "passed on unjudged"), unless `told` or --quiet.  True: the exit status is 2, because of
 * --strict or because no record could be judged. */
bool unjudged_end(struct unjudged *, const char *fate, bool told);

#endif
