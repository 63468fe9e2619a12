/* listing.h - prints the rows of `seen top`: one for each of a window's most frequent keys. */
#ifndef SEEN_TOP_LISTING_H
#define SEEN_TOP_LISTING_H

#include "commands/top/ranking.h"

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

#endif
