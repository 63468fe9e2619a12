/* merge.h - sorted runs as one: entries in the order of their keys, each key once. */
#ifndef SEEN_DIFF_MERGE_H
#define SEEN_DIFF_MERGE_H

#include "commands/diff/spill.h"

struct merge_lane {
    struct spill_in in;
    uint64_t begin; /* the key's first eight bytes, so that most comparisons end there */
};

struct merge {
    struct merge_lane **heap; /* the caller's */
    size_t n;                 /* lanes that have an entry */
    char *key;                /* of the entry handed out: room for the longest */
};

/* Lanes' `in` are ready to be read; `heap` has room for all, `key` for the longest key. */
void merge_begin(struct merge *, struct merge_lane *, struct merge_lane **heap, size_t n,
                 char *key);
/* False at the end.  The key is good until the next call. */
bool merge_next(struct merge *, struct entry *);

#endif
