/* maxima.h - registers that know their greatest rank over any last part of a window: the "list of
 * future possible maxima" of Chabchoub and Hébrail, "Sliding HyperLogLog" (ICDM workshops 2010).
 *
 *     register   ->  (12:07, rank 1)  ->  (12:03, rank 4)  ->  (11:40, rank 9)
 *                    later ------------------------------------------- earlier
 *
 * What came earlier with no greater rank can be the maximum of no window any more, and is left out:
 * times fall and ranks rise along a list.  What falls out of the window is its end.  Times may come
 * in any order: the lists depend on the pairs alone.
 *
 * Example    Rank 2 at 12:05 is passed over by 12:07 (rank 1), and stands before 12:03.  Rank 5 at
 *            12:08 replaces the first two.
 * Cost       A list of n keys in the window has about ln(n) + 0.58 pairs, 16 bytes each, and at
 *            most one a rank.  A new pair looks at those it replaces and one more. */
#ifndef COUNT_MAXIMA_H
#define COUNT_MAXIMA_H

#include "seen.h"

#include <stdbool.h>

struct maxima_pair {
    seen_time time;
    uint32_t next; /* index + 1; 0: none */
    uint8_t rank;  /* 0: spare */
};

struct maxima {
    uint32_t *head; /* [m], the caller's: index + 1 of each register's latest pair */
    struct maxima_pair *pair;
    uint32_t room, used, spare; /* pairs: places, ever used, list of those handed back */
};

void maxima_free(struct maxima *, const struct seen_allocator *);

/* Makes room for `pairs` pairs; false: no memory. */
bool maxima_reserve(struct maxima *, uint64_t pairs, const struct seen_allocator *);

/* Adds a rank that came at this time.  False, and nothing has changed: no memory. */
bool maxima_add(struct maxima *, uint64_t reg, uint8_t rank, seen_time,
                const struct seen_allocator *);

/* Pairs earlier than `least` leave. */
void maxima_expire(struct maxima *, uint64_t reg, seen_time least);

/* The greatest rank since `least`; 0: none. */
uint8_t maxima_since(const struct maxima *, uint64_t reg, seen_time least);

#endif
