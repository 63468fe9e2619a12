/* listing.h - what `seen top` prints: a row for each of a window's most frequent keys. */
#ifndef SEEN_TOP_LISTING_H
#define SEEN_TOP_LISTING_H

#include "top/ranking.h"

struct listing {
    bool json, distinct; /* distinct: partners are counted, not records */
    bool headed;         /* the heading of the table is printed */
    char delimiter;      /* between the values of a key */
};

/* Unless it is printed already. */
void listing_heading(struct listing *);

/* A key of a window, which was among the most frequent ones of so many. */
void listing_row(const struct listing *, const char *from, const struct name *,
                 const struct seen_heavy *, uint64_t windows);

/* The first n of the keys counted once a window, of which `list` has room for all. */
void listing_persistent(const struct listing *, const struct ranking *windows,
                        struct seen_heavy *list, uint64_t n);

#endif
