/* pairs.h - the keys of both sides in the order of their bytes, and how many of their records
 * match. */
#ifndef SEEN_DIFF_PAIRS_H
#define SEEN_DIFF_PAIRS_H

#include "commands/diff/match.h"
#include "commands/diff/tally.h"

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

/* Do the two sides have it differently? */
bool pair_differs(const struct pair *);

#endif
