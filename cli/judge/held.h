/* held.h - records kept back for a while, one behind the other in one block of memory.
 *
 *     block   | held | gone | held | held | gone | held |      free |
 *                    └ first                             └ used     └ room
 *     held    | key 16 | clock 8 | link 4 | len 4 | gap 1 | of the reading | text | key | to 8
 * bytes |
 *
 * A place is a 32-bit number, in units of 8 bytes.  New records come last, so the block is in order
 * of arrival.  A record that goes leaves a gap; shelf_plan and shelf_slide close the gaps.  Beside
 * its text a record takes 33 bytes, up to 7 for the unit, and what of its reading is wanted. */
#ifndef SEEN_HELD_H
#define SEEN_HELD_H

#include "judge/judge.h"

/* What of a reading is held beside its key and one time. */
enum {
    HELD_TIME = 1,
    HELD_NUMBER = 2,
    HELD_GROUP = 4,
    HELD_FEED = 8,
    HELD_SERIAL = 16,
    HELD_KEY = 32
};

#define MAX_HELD ((uint64_t)32 << 30) /* bytes that places reach */

struct held {
    seen_digest key;
    uint64_t clock; /* the owner's: when it goes.  Without HELD_TIME also the record's time */
    uint32_t link;  /* the owner's, between shelf_slide and shelf_plan */
    uint32_t len;   /* of its text, which always has a line end, and its key */
    uint8_t gap;    /* how much shorter it is without; GONE */
    char bytes[];
};

struct shelf {
    char *block;
    size_t first, used, dead, room; /* bytes; dead: of records that are gone, from 0 to used */
    unsigned with;
    size_t more; /* bytes of the reading in front of each text */
    char end;    /* of a record */
};

/* A last record without its `end` gets it: others may follow. */
void shelf_init(struct shelf *, unsigned with, char end);
void shelf_free(struct shelf *);

static inline struct held *shelf_at(const struct shelf *s, uint32_t place) {
    return (struct held *)(void *)(s->block + (size_t)(place - 1) * 8);
}

/* True: the block would pass `limit` bytes with this record, or has gaps enough, so that closing
 * them comes first. */
bool shelf_crowded(const struct shelf *, const struct record *, const struct reading *,
                   size_t limit);

/* Holds a copy, or one sentence and exit 2; returns its place, from 1.  What shelf_at gave before
 * is void. */
uint32_t shelf_put(struct shelf *, const struct record *, const struct reading *, uint64_t clock,
                   uint32_t serial, size_t limit);

/* Lets a record go; it can be read until the next shelf_put or shelf_slide. */
void shelf_drop(struct shelf *, struct held *);

struct held *shelf_oldest(struct shelf *);                          /* or NULL */
struct held *shelf_next(const struct shelf *, const struct held *); /* in order; or NULL */

/* Closing gaps: shelf_plan puts into each link the record's place to be, for its owner to note.
 * shelf_slide moves them; links are the owner's again, and hold nothing. */
void shelf_plan(struct shelf *);
void shelf_slide(struct shelf *);

void shelf_reading(const struct shelf *, const struct held *, struct reading *);
uint32_t shelf_serial(const struct shelf *, const struct held *); /* of HELD_SERIAL */

/* -- let go: batches of them -------------------------------------------------------------- */

struct outlet {
    struct batch *batch; /* records stand in `text`, one behind the other */
    struct readable *read;
    char *text;
    size_t used, cap;
    char *keys; /* likewise, with HELD_KEY */
    size_t keys_used, keys_cap;
};

/* `with`: as of the shelf that records come from. */
void outlet_init(struct outlet *, unsigned with);
void outlet_free(struct outlet *);
void outlet_begin(struct outlet *);
bool outlet_full(const struct outlet *);
void outlet_take(struct outlet *, const struct shelf *, const struct held *, uint8_t verdict);
void outlet_end(struct outlet *); /* the batch can be used until the next begins */

#endif
