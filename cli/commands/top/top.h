/* top.h - the parts of `seen top`: the counters of a window, and its rows. */
#ifndef SEEN_COMMAND_TOP_H
#define SEEN_COMMAND_TOP_H

#include "judge/key.h"
#include "judge/window_options.h"
#include "seen_top.h"
#include "state/state.h"

#include <stdio.h>

/* -- what is counted in a window (counted.c) --------------------------------------------------- */

/* A key as it is printed: its values one after the other.  A table joins them; JSON does not. */

enum { MAX_NAME = 1024 }; /* bytes of all values together; longer names are cut */

struct name {
    size_t values, used;
    char bytes[MAX_NAME + 2]; /* of each value its length, in two bytes, and its bytes */
};

/* The key of record i. */
void name_of_key(struct name *, struct keyer *, const struct batch *, size_t i);

/* The values with the delimiter between. */
void name_print_text(const struct name *, char delimiter, FILE *);

struct ranking {
    seen_top *top;
    struct name **name; /* of each counter's key; NULL: not named yet */
    uint64_t keep;      /* counters */
    uint64_t used;      /* counters in use */
};

void ranking_init(struct ranking *, uint64_t keep);
void ranking_free(struct ranking *);

/* Counts a key and returns its counter.  *taken: the counter was another key's and needs a name. */
size_t ranking_add(struct ranking *, seen_digest key, bool *taken);
void ranking_name(struct ranking *, size_t counter, const struct name *);

/* Write a ranking to a state, and read it into a new one.  False: the bytes cannot be right. */
void ranking_save(const struct ranking *, struct blocks_out *);
bool ranking_load(struct ranking *, struct blocks_in *);

/* How many partners `seen top --distinct` has not counted.
 *
 * The detector of pairs calls some new pairs duplicates, at its rate p of that moment.  Each pair
 * that it calls new thus stands for p/(1-p) pairs that it missed.  For n counted pairs, the number
 * missed has a negative binomial distribution (n successes, each after failures of probability p).
 * The error column has its quantile, which is exceeded in 1 of 2000 cases.  A key that takes over a
 * counter also takes over its count: at most that many of its own pairs were counted before, and p
 * was not higher then.
 *
 * If p is above one half, the quantile says little, because p is known by formula only.  Another
 * bound needs no chance: how often the detector called a pair of this key a duplicate.  More
 * counters of Space-Saving bound this number.  The error column has the lesser bound.
 *
 * A detector that is short of memory may forget pairs and call them new once more.  Each forgotten
 * pair is counted at most once too often. */

struct missing {
    uint64_t counters, *count; /* [counters] pairs counted, by the counters of seen_top */
    double *of;                /* [counters] pairs expected to be missing */
    seen_top *duplicates;      /* counts the answers "duplicate" of each key */
    uint64_t answers;          /* "duplicate", for all keys */
    double all;                /* pairs expected to be missing, of all keys */
    double odds;               /* p/(1-p) now */
    uint64_t counted, due;     /* pairs counted; at how many p is read again */
    uint64_t forgotten;        /* pairs forgotten before this window */
};

/* Notes that the last pair was called new and counted.  `taken`: its counter was another key's. */
void missing_note(struct missing *, const seen_detector *, size_t counter, bool taken);

/* Notes that the last pair was called a duplicate. */
void missing_duplicate(struct missing *, seen_digest key);

/* An upper bound for the missing partners of the key with this counter. */
uint64_t missing_most(const struct missing *, seen_digest key, size_t counter);

/* An estimate of the missing partners of all keys.  If *sure becomes false, it is an upper bound.
 */
double missing_all(const struct missing *, bool *sure);

/* An upper bound for the pairs of this window that were counted once too often. */
uint64_t missing_twice(const struct missing *, const seen_detector *);

struct counted {
    struct ranking keys;
    seen_detector *pairs; /* NULL: every record counts */
    struct missing missing;
};

/* `pairs` is the plan of the detector of pairs; NULL: every record counts. */
struct counted *counted_new(uint64_t keep, const struct seen_plan *pairs);
void counted_free(struct counted *); /* NULL is fine */

/* Begins another window in the same memory. */
void counted_clear(struct counted *);

/* Write to a state and read back.  NULL: the bytes cannot be right. */
void counted_save(const struct counted *, struct blocks_out *);
struct counted *counted_load(uint64_t keep, const struct seen_plan *pairs, struct blocks_in *);

struct partners {
    struct seen_plan plan; /* of the detectors */
    bool still;            /* their windows have no length in time */
    char *bytes;           /* scratch: a key's digest and its partner */
    size_t cap;
};

/* Plans the detector of pairs that each window has.  `jumping`: the detector of a sub-window lives
 * until the end of the jumping window that begins with it. */
void partners_plan(struct partners *, struct window_options *, struct input_options *,
                   bool jumping);
void partners_free(struct partners *);

/* Is this pair new in the window? */
bool partners_first(struct partners *, seen_detector *, seen_digest key,
                    const struct slice *partner, seen_time);

/* How many windows may be open at once: as many as fit into 256 MiB, at least two, at most
 * `most`. */
uint64_t partners_windows(const struct partners *, uint64_t most);

/* -- rows (rows.c) ----------------------------------------------------------------------------- */

struct listing {
    bool json, distinct; /* distinct: partners are counted instead of records */
    bool headed;         /* the heading of the table is printed */
    char delimiter;      /* between the values of a key */
};

struct shortfall {
    uint64_t left_out; /* rows whose error is as large as their count */
    uint64_t twice;    /* pairs that may have been counted twice */
    double missed;     /* pairs expected to be missing, in all windows */
    double most_pairs; /* pairs expected in the window that had most */
    bool missed_most;  /* `missed` is an upper bound */
};

/* Warns of all that.  `pairs` is the plan of the detectors of pairs; `keep` counters count keys. */
void shortfall_tell(const struct shortfall *, const struct seen_plan *pairs, uint64_t keep);

struct shown {
    struct listing listing;
    struct ranking windows;       /* in how many windows a key was among the rows */
    struct shortfall short_of;    /* what is missing in the rows */
    struct seen_heavy *list;      /* scratch: room for all counters */
    uint64_t number, keep, least; /* -n, --keep, --at-least */
    uint64_t ended;               /* windows */
};

/* The caller sets number, keep and least before. */
void shown_init(struct shown *);
void shown_free(struct shown *);

/* Prints the rows of a window that ends: at most `number` keys that surely came often enough in its
 * n parts together.  `from` is its beginning.  With partners there is one part. */
void shown_put(struct shown *, const char *from, struct counted *const *parts, size_t n);

/* Ends the listing at the end of the input. */
void shown_end(struct shown *);

#endif
