/* rows.h - the keys of both sides in order: how many of their records match, and how they are
 * printed. */
#ifndef SEEN_DIFF_ROWS_H
#define SEEN_DIFF_ROWS_H

#include "commands/diff/side.h"
#include "commands/diff/sort.h"
#include "commands/diff/tally.h"
#include "seen.h"

/* How many records of a key match one to one, where a left and a right record match if
 * their times differ by at most a tolerance.
 *
 * Records come in order of time.  A record is matched with the oldest waiting record of the other
 * side that is within the tolerance.  If there is none, it waits.  So only one side waits.
 *
 * This matches as many as possible.  Let (a, b) be the first pair that the rule makes: no older
 * record can match anything.  Take any largest matching.  If it gives a and b other partners b' and
 * a', then b <= b' and a <= a', so (a, b) and (a', b') are within the tolerance as well.  If only
 * one of a and b has a partner, it can have the other one instead.  So some largest matching holds
 * (a, b), and the same follows for what remains.
 *
 * The records that wait are counted by time.  What memory does not hold of them goes to a file. */

/* Records of one side at one time. */
struct moment {
    seen_time time;
    uint64_t n;
};

/* Moments, first in, first out.  [front, front_n) of `head` go first, then the file's, then `tail`.
 */
struct queue {
    struct moment *head, *tail;
    size_t front, head_n, tail_n;
    int fd;                 /* -1: there is no file */
    uint64_t read, written; /* blocks */
    const char *folder;
};

struct match {
    uint64_t tolerance; /* microseconds */
    struct queue waiting;
    int side; /* of those waiting */
    uint64_t matched;
};

void match_init(struct match *, uint64_t tolerance, const char *folder);
void match_free(struct match *);

/* Begins a key. */
void match_begin(struct match *);
/* Adds the key's records of one time.  Times grow from call to call. */
void match_add(struct match *, seen_time, const uint64_t n[2]);

/* The keys of both sides in the order of their bytes, and how many of their records
 * match. */

struct pair {
    struct entry entry; /* its key has no time behind it */
    uint64_t matched;   /* records of either side */
};

struct pairs {
    struct tally *tally;
    bool timed; /* keys have a time behind them, and `match` says which records match */
    struct match match;
    struct entry ahead; /* timed: the first of the next key, if there is one */
    bool more;
    char *key; /* timed: of the key handed out */
    size_t room;
};

/* The tally has ended, and stays the caller's.  `tolerance`: microseconds, or NULL if keys have no
 * times: then as many records match as both sides have. */
void pairs_init(struct pairs *, struct tally *, const uint64_t *tolerance);
void pairs_free(struct pairs *);

/* False: there are no more.  The key is good until the next call. */
bool pairs_next(struct pairs *, struct pair *);

/* True if the two sides have the key a different number of times, or with different sums. */
bool pair_differs(const struct pair *);

enum rows_format { ROWS_TEXT, ROWS_CSV, ROWS_JSON };

struct rows {
    enum rows_format format;
    char delimiter; /* of CSV */
    bool matched, sums;
    unsigned places;  /* of sums, behind the point */
    bool varies;      /* keys have any number of fields, ... */
    char joint;       /* ... which a table shows in one column, with this byte between them */
    uint32_t columns; /* of the key */
    char **name;      /* [columns], the caller's */
    char *value;      /* what stands in one of them */
    size_t room;
};

/* Prints the line that names the columns; JSON has none. */
void rows_head(const struct rows *);
void rows_put(struct rows *, const struct pair *);
void rows_free(struct rows *);

struct account {
    uint64_t both, different; /* keys of both sides; those whose counts or sums differ */
    uint64_t only[2];         /* keys of one side */
    uint64_t matched;         /* records of either side */
};

void account_add(struct account *, const struct pair *);

/* Print the statistics on stderr. */
void account_text(const struct account *, const struct side[2], const struct tally *);
void account_json(const struct account *, const struct side[2], const struct tally *);

#endif
