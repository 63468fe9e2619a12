/* control.h - the control sample: an exact twin of the window for a few keys, one a shard.
 *
 * Idea       A few keys are chosen by their digests.  For these keys the twin remembers exactly
 *            when each was last seen, so it knows for each of their records whether the verdict was
 *            right.  Its counts, divided by the share of keys chosen, estimate what the detector
 *            did to all keys, for any structure, load and stream.
 * Guarantee  The verdicts do not depend on the choice of keys, and the choice alone is random: the
 *            estimates are unbiased.  Their intervals (truth.c) hold the truth in 95 of 100
 *            runs; `make bench-truth` measures how often.
 * Rate       All keys at level 0; at each level more, half of them.  The level rises when the
 *            table is full, and at the shard's record 2^(14+level) up to level 8: few keys make a
 *            good estimate of many records, and cost little.
 * Layout     slots  open addressing by the key's tag; 16 bytes each: tag, clock of the last
 *                   occurrence + 1 (0: the slot is empty)
 *            tally  for each of four kinds and each of 32 groups of keys: records counted at this
 *                   level, and the weighted sum of those counted at levels before
 *
 *                | struct control | tally[4 x groups] | slot[slots] |
 *
 * Example    At level 3 a record of a sampled key stands for 8 records.  The detector calls it a
 *            duplicate; the twin has never met the key: one false duplicate was counted, 8 are
 *            estimated.
 * Cost       Half a nanosecond a record, to find out which are sampled; a cache line or two for
 *            each that is.
 *
 * Keys come in clusters (one key, many records), so that records are not independent.  The groups
 * show how much the sums scatter from key to key. */
#ifndef CONTROL_H
#define CONTROL_H

#include "window/window.h"

#include <stdbool.h>

#define CONTROL_GROUPS 32
#define CONTROL_LEVELS 39 /* halvings, and bits of the mask, which begins ... */
#define CONTROL_SHIFT  24 /* ... here: no structure reads both words there */

/* What the twin says of a verdict. */
enum control_kind {
    CONTROL_FALSE, /* duplicate, and the key was not in the window */
    CONTROL_TRUE,  /* duplicate, and the key was there */
    CONTROL_MISS,  /* new, and the key was in the window */
    CONTROL_FRESH, /* new, and the key was not there */
    CONTROL_KINDS
};

/* The records of one kind that were counted in one group of keys. */
struct control_tally {
    uint64_t now; /* at this level */
    double sum;   /* those before, each by its weight times sqrt(1 - 1/weight) */
};

struct control_slot {
    uint64_t tag, seen; /* seen: clock of the last occurrence + 1; 0: the slot is empty */
};

/* What a snapshot keeps, in addition to tallies and slots. */
struct control_saved {
    uint64_t level, used; /* used: slots that hold a key */
    uint64_t count[CONTROL_KINDS];
    uint64_t certain[CONTROL_KINDS]; /* of these, counted at level 0 */
    double total[CONTROL_KINDS];     /* estimated records, up to the last halving */
    double poisson[CONTROL_KINDS];   /* variance of it, if records were independent */
};

/* -- which records are sampled ------------------------------------------------------------ */

/* Writes the places of the sampled ones of n digests, in order; returns how many. */
typedef size_t pick_fn(const seen_digest *, size_t n, uint64_t mask, uint16_t *place);

/* A key is sampled if all bits of `mask` are 0 in lo ^ hi of its digest. */
static inline bool pick_one(seen_digest d, uint64_t mask) { return !((d.lo ^ d.hi) & mask); }

/* -- the sample --------------------------------------------------------------------------- */

struct control {
    struct control_saved saved;
    uint64_t slots, groups;
    pick_fn *pick;
    bool draw;        /* digests are not uniform: their sample bits are drawn */
    bool first;       /* refresh=first: only records called new are remembered */
    uint32_t digests; /* a key */
    uint64_t bits;    /* of a key, which count; 0: all */
    uint64_t certain,
        reach; /* greatest age inside the window; greatest in its slack; clock units */
};

/* The number of slots of a shard in a plan of `bytes` bytes (0: no sample), and the bytes of a
 * sample with that many slots. */
uint64_t control_slots(const struct seen_plan *, uint64_t bytes);
uint64_t control_bytes(uint64_t slots);

/* Begins an empty sample in zeroed memory. */
void control_init(struct control *, const struct resolved *, uint64_t slots, uint32_t cpu);

/* Notes n records of the shard with their verdicts.  `record` is the number of the first one. */
void control_observe(struct control *, const struct window *, uint64_t record, size_t n,
                     const seen_digest *, const uint64_t *at, const uint8_t *verdict);

void control_landmark(struct control *);                        /* all keys leave the window */
void control_forget(struct control *, seen_digest);             /* this key leaves the window */
void control_clear(struct control *);                           /* the tallies start again at 0 */
void control_add(struct control *, const struct control *from); /* adds the tallies of another */

/* Adds the keys of another sample.  Each is as old at `at` as it was there at from_at. */
void control_enter(struct control *, const struct window *, uint64_t at, const struct control *from,
                   const struct window *, uint64_t from_at);

int control_save(const struct control *, struct seen_writer);
int control_load(struct control *, uint64_t at, struct seen_reader, struct seen_error *);

/* The sums of one kind over shards. */
struct control_sum {
    double count, certain, total, poisson, weight; /* weight: the greatest of a shard's */
    double group[CONTROL_GROUPS];
    uint64_t groups;
};
void control_sum(const struct control *, enum control_kind, struct control_sum *);
uint64_t control_records(const struct control *); /* judged by the twin */

#endif
