/* holding.h - records held back: --reorder sorts them, --keep last waits for the last of a key. */
#ifndef SEEN_JUDGE_HOLDING_H
#define SEEN_JUDGE_HOLDING_H

#include "judge/judge.h"

/* -- records in one block of memory (held.c) --------------------------------------------------- */

/* The parts of a reading that are held besides its digest and one time. */
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

uint32_t shelf_serial(const struct shelf *, const struct held *); /* of HELD_SERIAL */

/* -- let go: batches of them -------------------------------------------------------------- */

struct released {
    struct batch *batch; /* records stand in `text`, one behind the other */
    struct readable *read;
    char *text;
    size_t used, cap;
    char *keys; /* likewise, with HELD_KEY */
    size_t keys_used, keys_cap;
};

/* A batch of records that are let go.  released_begin empties it, released_take adds a record with
 * its verdict, and after released_end the batch can be read until the next released_begin.  `with`:
 * as of the shelf that the records come from. */
void released_init(struct released *, unsigned with);
void released_free(struct released *);
void released_begin(struct released *);
bool released_full(const struct released *);
void released_take(struct released *, const struct shelf *, const struct held *, uint8_t verdict);
void released_end(struct released *);

/* -- --reorder and --keep last (holding.c) ----------------------------------------------------- */

/* --reorder L: holds records back and lets them go in the order of their times.  Records of equal
 * times go in the order of their arrival.
 *
 * A record is let go when a record has come that is L younger, or at the end of the input.  A pause
 * of the input lets nothing go.  A record that is more than L late counts as L late, because older
 * ones have gone.  If `most` bytes are not enough, the oldest records go early and are counted.  A
 * record older than one that went early gets the time of that one: it is judged out of order and
 * counted as displaced. */

enum { REORDER_PARTS = 16 };

struct waiting {
    seen_time time;
    uint32_t place; /* on the shelf, which is in order of arrival */
};

struct reorder {
    uint64_t span; /* microseconds; 0: records are not held at all */
    size_t most;
    struct shelf shelf;
    struct waiting *heap; /* the oldest first */
    size_t n, room;
    size_t peak;
    seen_time newest, gone; /* the greatest time that came; the time of what was let go early */
    uint64_t clamped, early, displaced;
    uint64_t recent[REORDER_PARTS + 2]; /* bytes of the records whose times lie in each part */
    uint64_t recent_all, recent_most;   /* of all parts; at most, so long as there were records */
};

void reorder_init(struct reorder *, uint64_t span, size_t most, unsigned with, char end);
void reorder_free(struct reorder *);

void reorder_put(struct reorder *, const struct record *, const struct reading *);

/* Lets go of the oldest record if it is due; `all`: even if it is not.  NULL: no record is due.
 * The record can be read until the next reorder_put. */
const struct held *reorder_take(struct reorder *, bool all);

/* Estimates the bytes that would have held every record until it was due. */
double reorder_needed(const struct reorder *);

/* --keep last: lets the last record of each key in a window through, not the first.
 *
 * A record is held back until no other record of its key can come in its window.  A later record of
 * the same key in the same window replaces the held one, which is dropped.  A record is let go
 *
 *     sliding    when the window has passed since it.  In a chain of repeats, each at most a window
 *                after the one before, only the last goes.  refresh=first: when the window has
 *                passed since the key's first record: one record a window, the latest
 *     landmark   when the next window begins
 *
 * and at the end of the input.  Records go in their own order, under refresh=first in the order of
 * their keys' first records.  If `most` bytes are not enough, the oldest go early and are counted.
 * A record whose predecessor went early is counted as a repeat: both are printed.
 *
 * A held record is found by a hash table of places, chained through the records themselves: beside
 * its text it takes 33 bytes in the block, 4 to 8 in the table, and under refresh=first 8 to 12 in
 * the queue of first ones. */

struct keep {
    struct shelf shelf; /* in the order in which they go, unless refresh=first */
    uint32_t *head;     /* [heads] of each chain the first place; 0: none */
    size_t heads, n;
    uint32_t *queue;           /* refresh=first: places by the age of their keys; ... */
    size_t queue_room;         /* ... serial number s stands at s % queue_room */
    uint64_t queue_from, next; /* serial numbers */
    const struct seen_spec *spec;
    struct window_clock clock;
    uint64_t base;   /* records before the last landmark that was set */
    uint64_t window; /* landmark: its number */
    bool over;       /* landmark: a window ended, and what was held of it goes */
    bool again;      /* refresh=first: the record in hand takes a place, of ... */
    uint64_t again_clock;
    uint32_t again_serial;
    size_t most, peak;
    uint64_t early, repeats;
    double needed; /* bytes that would have held all, about; once records went early */
};

/* Keeps the spec of the window, landmark or sliding, which stays the caller's.  `with`: what is
 * held of a reading (held.h). */
void keep_init(struct keep *, const struct seen_spec *, size_t most, unsigned with, char end);
void keep_free(struct keep *);

/* For each record in turn:
 *
 *     keep_step   a record comes; `landmark`: a landmark was set before it
 *     keep_take   gives the records that go before it, one a call, then NULL; `all`: all go
 *     keep_drop   gives the held record of the same key, which goes, or NULL.  The new record takes
 *                 its place, unless the old one's window has ended (`over`)
 *     keep_put    holds the record; `known`: the window knows its key
 *
 * What keep_take and keep_drop give can be read until keep_put. */
void keep_step(struct keep *, const struct reading *, bool landmark);
const struct held *keep_take(struct keep *, bool all);
const struct held *keep_drop(struct keep *, const struct reading *, bool over);
void keep_put(struct keep *, const struct record *, const struct reading *, bool known);

/* Notes how many keys the window holds now: --keep last needs room for the last record of each. */
void keep_note_keys(struct keep *, uint64_t keys);

#endif
