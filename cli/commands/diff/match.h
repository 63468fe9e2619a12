/* match.h - how many records of a key match one to one, where a left and a right record match if
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
#ifndef SEEN_DIFF_MATCH_H
#define SEEN_DIFF_MATCH_H

#include "commands/diff/entry.h"
#include "seen.h"

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

void match_begin(struct match *); /* a key */
/* Its records at one time, which is later than those before. */
void match_add(struct match *, seen_time, const uint64_t n[2]);

#endif
