/* rows.h - the rows of `seen top`: which keys of a window, and in how many windows each was. */
#ifndef SEEN_TOP_ROWS_H
#define SEEN_TOP_ROWS_H

#include "commands/top/counted.h"
#include "seen_top.h"

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
