/* tally.h - how often each side has each key, exactly, in bounded memory.
 *
 * A hash table holds one entry a key.  When its memory is full, the entries are sorted by key and
 * written to a temporary file, a run, and the table begins again.  In the end the runs are merged:
 *
 *     add   ->  table  ->  run (level 0) ... MERGED of them  ->  one run (level 1) ...
 *     next  <-  table, sorted, if it never was full; else all runs merged
 *
 * Keys are compared by their bytes; the hash only finds them. */
#ifndef SEEN_DIFF_TALLY_H
#define SEEN_DIFF_TALLY_H

#include "commands/diff/sort.h"
#include "seen.h"

#include <stddef.h>

/* A key as one string of bytes that sorts as its fields do, one after the other.
 *
 * In each field a NUL is written as 00 01, and the field ends in 00 00:
 *
 *     ("ab", "c")     61 62 00 00  63 00 00
 *     ("a\0", "c")    61 00 01 00 00  63 00 00
 *
 * So memcmp compares two keys field by field, no key is the beginning of another, and bytes of a
 * fixed length, such as a time, may follow. */

/* The most bytes that fields of `len` bytes in all take. */
static inline size_t packed_room(size_t len, size_t fields) { return 2 * len + 2 * fields; }

/* Appends a field at `out`; returns the bytes written. */
size_t packed_put(char *out, const char *value, size_t len);
/* Reads the field at *at into `out`, which has room for it, and moves *at behind it.  Returns the
 * value's length. */
size_t packed_get(const char **at, char *out);

enum { PACKED_TIME = 8 };

/* A time in PACKED_TIME bytes that sort as it does. */
void packed_put_time(char *out, seen_time);
seen_time packed_get_time(const char *at);

enum { MIN_TALLY = 1 << 20 }; /* bytes of memory */

/* Runs that are merged at once, and the most that wait: MERGED a level. */
enum { MERGED = 48, MAX_RUNS = 10 * MERGED };

struct tally_run {
    int fd;
    unsigned level;
};

struct slot {
    uint32_t tag; /* the upper half of the hash */
    uint32_t at;  /* where the entry is, in units of 16 bytes, plus 1; 0: nowhere */
};

struct tally {
    bool sums;
    uint64_t seed;      /* of sorting */
    const char *folder; /* for temporary files */
    struct slot *slot;  /* [mask + 1] */
    size_t mask;
    char *arena; /* [room]: entries from its front; to merge runs, their buffers */
    size_t room, used, n;
    char *out;             /* a run's buffer */
    struct sorted *sorted; /* behind the entries, once they are sorted */
    size_t next;           /* of them to be handed out */
    struct tally_run run[MAX_RUNS];
    size_t runs;
    struct merge_lane lane[MERGED];
    struct merge_lane *heap[MERGED];
    struct merge merge;
    bool merging;
    uint64_t spilled_runs, spilled_bytes; /* in all */
};

/* `mem` bytes at most, MIN_TALLY at least; with `sums` amounts are summed.  The folder stays the
 * caller's. */
void tally_init(struct tally *, uint64_t mem, const char *folder, bool sums, uint64_t seed);
void tally_free(struct tally *);

/* The longest key that can be counted. */
size_t tally_longest(const struct tally *);

/* Fetches what tally_add of this hash will look at: first the slot, later the entry. */
static inline void tally_prefetch_slot(const struct tally *t, uint64_t hash) {
    __builtin_prefetch(&t->slot[hash & t->mask]);
}
static inline void tally_prefetch_entry(const struct tally *t, uint64_t hash) {
    const struct slot *s = &t->slot[hash & t->mask];
    if (s->at) __builtin_prefetch(t->arena + (size_t)(s->at - 1) * 16);
}

/* One record more of that side.  Equal keys have equal hashes. */
void tally_add(struct tally *, uint64_t hash, const char *key, size_t len, int side,
               decimal amount);

/* All records were added: entries come in the order of their keys, good until the next call. */
void tally_end(struct tally *);
bool tally_next(struct tally *, struct entry *); /* false: there are no more */

#endif
