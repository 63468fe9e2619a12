/* held.h - records kept back for a while, one behind the other in one block of memory.
 *
 *     block   | held | gone | held | held | gone | held |      free |
 *                    └ first                             └ used     └ room
 *     held    | key 16 | clock 8 | link 4 | len 4 | gap 1 | reading | text | key | padding |
 *
 * A place is a 32-bit number, in units of 8 bytes.  New records come last, so the block is in order
 * of arrival.  A record that goes leaves a gap; shelf_plan and shelf_slide close the gaps.  Beside
 * its text a record takes 33 bytes, up to 7 for padding, and the parts of its reading that its
 * owner asked for. */
#ifndef SEEN_HELD_H
#define SEEN_HELD_H

#include "judge/judge.h"

/* The parts of a reading that are held beside its digest and one time. */
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

/* Makes an empty shelf.  `with`: the parts of a reading to hold.  A record that lacks its `end`,
 * the last of a file, gets it: others may follow. */
void shelf_init(struct shelf *, unsigned with, char end);
void shelf_free(struct shelf *);

static inline struct held *shelf_at(const struct shelf *s, uint32_t place) {
    return (struct held *)(void *)(s->block + (size_t)(place - 1) * 8);
}

/* True if gaps must be closed before this record is held: the block would grow beyond `limit`
 * bytes, or a tenth of it is gaps. */
bool shelf_crowded(const struct shelf *, const struct record *, const struct reading *,
                   size_t limit);

/* Holds a copy and returns its place, from 1; dies if memory is short.  Pointers from shelf_at are
 * invalid afterwards. */
uint32_t shelf_put(struct shelf *, const struct record *, const struct reading *, uint64_t clock,
                   uint32_t serial, size_t limit);

/* Lets a record go; it can be read until the next shelf_put or shelf_slide. */
void shelf_drop(struct shelf *, struct held *);

/* The oldest record that is held, and the next one in order of arrival; NULL: there is none. */
struct held *shelf_oldest(struct shelf *);
struct held *shelf_next(const struct shelf *, const struct held *);

/* Closes gaps in two steps.  shelf_plan writes each record's future place into its link, so that
 * the owner can note it.  shelf_slide moves the records and sets their links to 0. */
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

/* A batch of records that are let go.  outlet_begin empties it, outlet_take adds a record with its
 * verdict, and after outlet_end the batch can be read until the next outlet_begin.  `with`: as of
 * the shelf that the records come from. */
void outlet_init(struct outlet *, unsigned with);
void outlet_free(struct outlet *);
void outlet_begin(struct outlet *);
bool outlet_full(const struct outlet *);
void outlet_take(struct outlet *, const struct shelf *, const struct held *, uint8_t verdict);
void outlet_end(struct outlet *);

#endif
