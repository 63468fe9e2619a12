/* top.h - the parts of `seen top`: the counters of a window, and its rows. */
#ifndef SEEN_COMMAND_TOP_H
#define SEEN_COMMAND_TOP_H

#include "judge/key.h"
#include "judge/window_options.h"
#include "seen_top.h"
#include "state/state.h"

#include <stdio.h>

/* -- what is counted in a window (counted.c) --------------------------------------------------- */

/* A key as it is shown: its values one after the other, which a table joins and JSON keeps
 * apart. */

enum { MAX_NAME = 1024 }; /* bytes of all values together; what is longer is cut */

struct name {
    size_t values, used;
    char bytes[MAX_NAME + 2]; /* of each value its length, in two bytes, and its bytes */
};

/* The key of record i. */
void name_of_key(struct name *, struct keyer *, const struct batch *, size_t i);

/* Checks a name from a state: do its bytes hold `values` values, and nothing else? */
bool name_is_sound(const struct name *);

/* The values with the delimiter between. */
void name_print_text(const struct name *, char delimiter, FILE *);

/* One value as a string, several as an array of strings. */
void name_print_json(const struct name *, FILE *);

struct ranking {
    seen_top *top;
    struct name **name; /* of each counter's key; NULL: none yet */
    uint64_t keep;      /* counters */
    uint64_t used;      /* of those */
};

void ranking_init(struct ranking *, uint64_t keep);
void ranking_free(struct ranking *);
void ranking_clear(struct ranking *);

/* Counts a key and returns its counter.  *taken: the counter is to be named. */
size_t ranking_add(struct ranking *, seen_digest key, bool *taken);
void ranking_name(struct ranking *, size_t counter, const struct name *);

/* For a state; and back again, into a ranking just made: false if the bytes cannot be right. */
void ranking_save(const struct ranking *, struct blocks_out *);
bool ranking_load(struct ranking *, struct blocks_in *);

/* How many partners `seen top --distinct` has not counted.
 *
 * The detector of pairs answers "duplicate" for some pairs that are new, at its rate p of that
 * moment.  So each pair that it does call new stands for p/(1-p) that it did not: of n counted
 * pairs, the number missed has a negative binomial distribution (n successes, each after failures
 * of probability p).  Its quantile, exceeded in 1 of 2000 cases, is what the error column has.
 * A key that takes over a counter takes its count over as well: no more of its own pairs than that
 * can have been counted before, and p was not higher then.
 *
 * Where p is above one half that says little, as p itself is known by formula only.  Then, and
 * wherever it is less, the error column has a bound without chance: how often "duplicate" was the
 * answer for the key.  Counters of their own bound that, by Space-Saving again.
 *
 * A detector that is short of memory may instead forget pairs and call them new once more; each
 * pair forgotten is counted once too often at most. */

struct missing {
    uint64_t counters, *count; /* [counters] as of seen_top */
    double *of;                /* [counters] expected */
    seen_top *duplicates;      /* keys, each time the answer was "duplicate" */
    uint64_t answers;          /* "duplicate", of all keys */
    double all;                /* expected, of all keys */
    double odds;               /* p/(1-p) now */
    uint64_t counted, due;     /* pairs; when the rate is to be asked for again */
    uint64_t forgotten;        /* before this window */
};

void missing_init(struct missing *, uint64_t counters);
void missing_free(struct missing *);

/* A window begins: the detector has just had a landmark, or is new. */
void missing_begin(struct missing *, const seen_detector *);

/* The pair just observed was called new, and counted; `taken`: its counter was another key's. */
void missing_note(struct missing *, const seen_detector *, size_t counter, bool taken);

/* ... was called a duplicate. */
void missing_duplicate(struct missing *, seen_digest key);

/* An upper bound for the missing partners of the key with this counter. */
uint64_t missing_most(const struct missing *, seen_digest key, size_t counter);

/* An estimate of the missing partners of all keys.  If *sure becomes false, it is an upper bound.
 */
double missing_all(const struct missing *, bool *sure);

/* An upper bound for the pairs of this window that were counted once too often. */
uint64_t missing_twice(const struct missing *, const seen_detector *);

/* Write and read the part of a state, with `used` counters in use.  missing_load comes after
 * missing_init; false: the bytes cannot be right. */
void missing_save(const struct missing *, uint64_t used, struct blocks_out *);
bool missing_load(struct missing *, uint64_t used, struct blocks_in *);

struct counted {
    struct ranking keys;
    seen_detector *pairs; /* NULL: every record counts */
    struct missing missing;
};

/* `pairs` is the plan of the detector of pairs; NULL: every record counts. */
struct counted *counted_new(uint64_t keep, const struct seen_plan *pairs);
void counted_free(struct counted *); /* NULL is fine */

/* Another window begins, in the same memory. */
void counted_clear(struct counted *);

/* For a state; and back again: NULL if the bytes cannot be right. */
void counted_save(const struct counted *, struct blocks_out *);
struct counted *counted_load(uint64_t keep, const struct seen_plan *pairs, struct blocks_in *);

struct partners {
    struct seen_plan plan; /* of the detectors */
    bool still;            /* no time passes in them */
    char *bytes;           /* scratch: a key's digest and its partner */
    size_t cap;
};

/* Each window has a detector of pairs; its own length is only for its size.  `jumping`: a detector
 * of a jumping window's part lives from that part's begin to the end of the whole window. */
void partners_plan(struct partners *, struct window_options *, struct input_options *,
                   bool jumping);
void partners_free(struct partners *);

/* Is this pair new in the window? */
bool partners_first(struct partners *, seen_detector *, seen_digest key,
                    const struct slice *partner, seen_time);

/* As many as fit into 256 MiB, and two at least: one of a window that is over and one of another.
 * At most `most`. */
uint64_t partners_windows(const struct partners *, uint64_t most);

/* -- rows (rows.c) ----------------------------------------------------------------------------- */

struct listing {
    bool json, distinct; /* distinct: partners are counted, not records */
    bool headed;         /* the heading of the table is printed */
    char delimiter;      /* between the values of a key */
};

/* Prints the heading of the table, once. */
void listing_heading(struct listing *);

/* Prints the row of a key in a window.  `windows` is the number of windows in which it was among
 * the most frequent keys. */
void listing_row(const struct listing *, const char *from, const struct name *,
                 const struct seen_heavy *, uint64_t windows);

/* Prints the first n of the keys that are counted once a window.  `list` has room for all of these
 * keys. */
void listing_persistent(const struct listing *, const struct ranking *windows,
                        struct seen_heavy *list, uint64_t n);

struct shortfall {
    uint64_t left_out;         /* rows that say nothing */
    uint64_t twice;            /* pairs that may have been counted twice */
    double missed, most_pairs; /* expected: of all windows; that came in one */
    bool missed_most;          /* `missed` is a bound */
};

/* Notes that a window ends.  At most `twice` of its pairs were counted twice. */
void shortfall_note(struct shortfall *, const struct missing *, uint64_t twice);

/* The detectors of pairs follow that plan; `keep` counters count keys. */
void shortfall_tell(const struct shortfall *, const struct seen_plan *pairs, uint64_t keep);

struct shown {
    struct listing listing;
    struct ranking windows;       /* in how many windows a key was among the rows */
    struct shortfall short_of;    /* what the rows lack */
    struct seen_heavy *list;      /* scratch: room for all counters */
    uint64_t number, keep, least; /* -n, --keep, --at-least */
    uint64_t ended;               /* windows */
};

/* number, keep and least are set. */
void shown_init(struct shown *);
void shown_free(struct shown *);

/* A window ends, which began at `from`: the keys that surely came often enough in the n parts
 * together, at most `number`.  With partners there is one part. */
void shown_put(struct shown *, const char *from, struct counted *const *parts, size_t n);

/* The input ends, and with it the listing. */
void shown_end(struct shown *);

#endif
