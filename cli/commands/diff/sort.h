/* sort.h - entries by key: sorted in memory and in temporary files, and merged again. */
#ifndef SEEN_DIFF_SORT_H
#define SEEN_DIFF_SORT_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LEFT, RIGHT };

struct entry {
    const char *key; /* as packed_put writes it (tally.h), perhaps with a time behind it */
    size_t len;
    uint64_t n[2];  /* records of the left and of the right side */
    decimal sum[2]; /* of their amounts */
};

/* Adds the counts and sums of another entry of the same key.  Dies if a sum does not fit. */
void entry_add(struct entry *, const struct entry *more);

struct text {
    uint32_t len;
    char bytes[];
};

/* One string to be sorted: only `text` needs to be set. */
struct sorted {
    uint64_t chunk;
    const struct text *text;
};

/* By memcmp.  No string may be the beginning of another one.  The order does not depend on the
 * seed, which keeps made-up input from making the sort slow. */
void sort_texts(struct sorted *, size_t n, uint64_t seed);

/* Temporary files, and sorted runs of entries in them.
 *
 * A file never has a name, or loses it at once, so its space is free again however the process
 * ends. Each failure ends the process with one sentence. */

int spill_open(const char *folder);
void spill_write(int fd, const char *folder, const void *bytes, size_t n);
/* Reads up to n bytes; returns how many, 0 at the end. */
size_t spill_read(int fd, const char *folder, void *bytes, size_t n);
void spill_seek(int fd, const char *folder, uint64_t offset);

enum {
    SPILL_HEAD = 64,
    SPILL_BUFFER = 64 << 10
}; /* SPILL_HEAD: an entry without its key, at most */

/* -- writing a run ------------------------------------------------------------------------ */

struct spill_out {
    int fd;
    const char *folder;
    bool sums;
    uint64_t bytes; /* written */
    size_t n;       /* of the buffer's bytes */
    char *buf;      /* [SPILL_BUFFER], the caller's */
};

void spill_begin(struct spill_out *, const char *folder, bool sums, char *buf);
void spill_entry(struct spill_out *, const struct entry *);
int spill_end(struct spill_out *); /* the file, at its beginning */

/* -- reading one -------------------------------------------------------------------------- */

struct spill_in {
    int fd;
    const char *folder;
    bool sums;
    char *buf; /* [cap], the caller's: an entry must fit */
    size_t cap, begin, end;
    struct entry at; /* whose key is in the buffer */
};

void spill_in_init(struct spill_in *, int fd, const char *folder, bool sums, char *buf, size_t cap);
bool spill_next(struct spill_in *); /* false at the end, and the file is closed */

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
