/* truth.h - what a detector knows of its own errors: by the formulas (struct model), and from a
 * sample of keys whose truth it knows (control.c).  Each shard has both; their sums are the
 * detector's.
 *
 * The model's figures are finer if errors are rare.  They count while the window is as it was
 * planned and the sample does not contradict them.  Otherwise the sample's figures count. */
#ifndef TRUTH_H
#define TRUTH_H

#include "window/window.h"

#include <stdbool.h>

/* -- the model ---------------------------------------------------------------------------- */

/* How many duplicates were false, by the formulas.  If the false-positive rate is p, each record
 * called new stands for p/(1-p) that were new and called duplicates.  The stream of a shard is cut
 * into stretches.  A stretch is an eighth as long as the number of keys stored at its begin, and
 * ends when the window rotates.  The structure's rate is computed at both ends of a stretch; in
 * between the odds p/(1-p) follow a power of the load.  Stretches end at numbers of records, so
 * that the sum does not depend on batches.  A snapshot keeps this struct. */
struct model {
    uint64_t records;  /* of the shard, so far */
    uint64_t began;    /* number of the record that began this stretch */
    uint64_t until;    /* number of the record that begins the next stretch */
    uint64_t fresh;    /* records called new in this stretch */
    double odds, load; /* p/(1-p) and the keys stored when the stretch began */
    double expected;   /* false duplicates of the stretches before */
    double worst;      /* greatest rate met at the ends of stretches */
    double fullest;    /* greatest number of keys stored, likewise */
};

/* -- the control sample (control.c) ------------------------------------------------------- */

/* An exact twin of the window for a few keys, one a shard.
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

/* Write and read a sample.  control_load returns SEEN_EFORMAT for one that is not possible. */
int control_save(const struct control *, struct seen_writer);
int control_load(struct control *, uint64_t at, struct seen_reader, struct seen_error *);

/* The sums of one kind over shards. */
struct control_sum {
    double count, certain, total, poisson, weight; /* weight: the greatest of all shards */
    double group[CONTROL_GROUPS];
    uint64_t groups;
};
void control_sum(const struct control *, enum control_kind, struct control_sum *);
uint64_t control_records(const struct control *); /* judged by the twin */

/* -- the truth of a shard ----------------------------------------------------------------- */

/* At window.truth, in the detector's block.  Without a sample (control=0) it ends before `control`.
 */
struct truth {
    struct model model;
    struct control control;
};

/* Decides control= for a plan that takes plan->bytes without it.  False: the structure neither errs
 * nor forgets, so that a detector needs no truth. */
bool truth_plan(struct seen_plan *);

/* The bytes that a shard's truth takes. */
uint64_t truth_bytes(const struct seen_spec *);

/* Begins the truth of a new shard. */
void truth_init(struct window *, uint32_t cpu);

/* Has the window judge n records, and notes its verdicts. */
void truth_observe(struct window *, size_t n, const seen_digest *, const uint64_t *at,
                   uint8_t *verdict);

/* To be called before and after every other change of the window; `at` is its clock.  Then the kind
 * of change: a landmark, a key forgotten, statistics that begin again. */
void truth_before(struct window *, uint64_t at);
void truth_after(struct window *, uint64_t at);
void truth_landmark(struct window *);
void truth_forget(struct window *, seen_digest);
void truth_clear(struct window *);

/* To be called when a merge begins and when it ends.  The figures are added when it begins, the
 * keys of the sample when it ends. */
void truth_merge_begin(struct window *, const struct window *from, uint64_t from_at);
void truth_merge_end(struct window *, uint64_t at, const struct window *from, uint64_t from_at);

/* Fills in what seen_stats says of errors, from all shards of a detector whose clock is `at`. */
void truth_stats(const struct window *shards, uint64_t at, struct seen_stats *);

/* Write and read the model and the sample.  truth_load returns SEEN_EFORMAT for impossible numbers.
 */
int truth_save(const struct window *, struct seen_writer);
int truth_load(struct window *, uint64_t at, struct seen_reader, struct seen_error *);

#endif
