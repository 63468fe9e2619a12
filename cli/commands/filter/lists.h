/* lists.h - the lists of `seen filter`: one list as a filter, or many lists asked at once. */
#ifndef SEEN_FILTER_LISTS_H
#define SEEN_FILTER_LISTS_H

#include "commands/filter/cut.h"
#include "judge/key.h"

/* How many records pass that hold no key of a list: of m keys each is taken for one of a
 * list's with probability e, so that a record passes with 1-(1-e)^m. */

enum { CHANCE_KEYS = 1024 };

struct chance {
    uint64_t records, keys;   /* so far */
    uint64_t by[CHANCE_KEYS]; /* records by how many keys they have */
    uint64_t more,
        more_keys; /* records with as many or more, and their keys: counted as if all were alike */
};

void chance_note(struct chance *, uint32_t keys);

/* The mean of 1-(1-e)^m over the records; m is the keys of each. */
double chance_record(const struct chance *, double e);

enum { MAX_LISTS = 64 };

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
    struct list list[MAX_LISTS];
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

/* The keys of a record under --any: each of its fields, or each word or n-gram of them.
 *
 *     record  ->  fields (parts.h)  ->  words, n-grams (cut.h)  ->  digests, a few thousand at once
 *                                                                   ->  lists (lists.h)
 *
 * Empty fields are not keys.  A record may lack some of several fields: the others decide.
 * Each thread has one of its own; lists do not change. */

/* The n records of a batch that have a key, and the lists that hold it. */
struct matched {
    size_t n;
    seen_digest digest[BATCH]; /* not under --any */
    uint16_t order[BATCH];
    uint64_t lists[BATCH]; /* bit i: list i */
    uint32_t keys[BATCH];  /* how many were looked up; under --any */
    uint8_t cause[BATCH];  /* of the others, at their places */
};

struct any {
    const struct lists *lists;
    const struct layout *layout;
    struct keyer keyer;
    bool *met;   /* [keys of the layout] fields that some record had; NULL: none known yet */
    char *word;  /* scratch */
    size_t room; /* of it */
    size_t n;    /* keys that wait, and the places of their records: */
    seen_digest digest[BATCH];
    uint16_t owner[BATCH];
};

void any_init(struct any *, const struct lists *, const struct layout *, uint32_t max_record);
void any_free(struct any *);

void any_batch(struct any *, const struct batch *, struct matched *);

/* The first key of record i that is in a list, for each of the lists in `wanted`, in their order.
 */
void any_keys(struct any *, const struct batch *, size_t i, uint64_t wanted,
              void (*take)(void *ctx, const char *key, size_t len), void *ctx);

/* e of all lists together: that a key is taken for one of any of them. */
double chance_key(const struct lists *);

#endif
