/* any.h - the keys of a record under --any: each of its fields, or each word or n-gram of them.
 *
 *     record  ->  fields (parts.h)  ->  words, n-grams (cut.h)  ->  digests, a few thousand at once
 *                                                                   ->  lists (lists.h)
 *
 * Empty fields are not keys.  A record may lack some of several fields: the others decide.
 * Each thread has one of its own; lists do not change. */
#ifndef SEEN_FILTER_ANY_H
#define SEEN_FILTER_ANY_H

#include "commands/filter/lists.h"

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

#endif
