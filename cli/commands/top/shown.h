/* shown.h - the rows of `seen top`: which keys of a window, and in how many windows each was. */
#ifndef SEEN_TOP_SHOWN_H
#define SEEN_TOP_SHOWN_H

#include "commands/top/counted.h"
#include "commands/top/listing.h"
#include "commands/top/shortfall.h"

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
