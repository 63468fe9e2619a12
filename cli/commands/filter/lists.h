/* lists.h - the lists of `seen filter`: each a set of keys, made for their number.
 *
 * A set takes some keys for its own that are not: each such key with probability e, as --fp asks.
 * A record of m keys has m chances, so that it passes a list that holds none of them with
 * probability 1-(1-e)^m. */
#ifndef SEEN_FILTER_LISTS_H
#define SEEN_FILTER_LISTS_H

#include "commands/filter/cut.h"
#include "judge/key_list.h"

enum { LISTS_MOST = 64 };

struct list {
    const char *name;
    seen_detector *set;
    seen_digest *digest; /* while it is read */
    size_t n, room;
    uint64_t matches; /* records */
    uint64_t idle;    /* its keys that are none into which values are cut, and ... */
    char first[64];   /* ... the first of them */
};

struct lists {
    struct list list[LISTS_MOST];
    size_t n;
    const char *fp; /* --fp; NULL: not given */
    bool exact, invert;
    const struct cut *cut; /* of values; NULL: each is a key as it is */
    seen_detector *hasher; /* keys of lists and records become digests as under its spec */
};

void lists_add(struct lists *, const char *name);

/* After the options were read.  Dies if the system gives no random seed. */
void lists_init(struct lists *);
void lists_free(struct lists *);

/* Reads all lists: of keys as records of that layout have them. */
void lists_read(struct lists *, const struct input_options *, const struct layout *);

/* in[i]: in which lists digest i is, bit l for the l-th.  Any thread may ask. */
void lists_find(const struct lists *, size_t n, const seen_digest *, uint64_t *in);

/* e of a list. */
double list_fp(const struct list *);

#endif
