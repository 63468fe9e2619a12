/* diff.h - the parts of `seen diff`: sorting on disk, the keys of a side, their counts, the
 * rows. */
#ifndef SEEN_COMMAND_DIFF_H
#define SEEN_COMMAND_DIFF_H

#include "base/text.h"
#include "judge/key.h"
#include "records/reader.h"
#include "seen.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* -- sorting (sort.c) -------------------------------------------------------------------------- */

enum { LEFT, RIGHT };

struct entry {
    const char *key; /* as packed_put writes it, perhaps with a time behind it */
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

/* Sorts as memcmp does.  No string may be the beginning of another one.  The seed keeps made-up
 * input from making the sort slow; the order does not depend on it. */
void sort_texts(struct sorted *, size_t n, uint64_t seed);

/* Temporary files with sorted runs of entries.
 *
 * A file has no name, or loses it at once.  So its space is free again when the process ends.  Each
 * failure ends the process with one sentence. */

int spill_open(const char *folder);
void spill_write(int fd, const char *folder, const void *bytes, size_t n);
/* Reads up to n bytes; returns how many, 0 at the end. */
size_t spill_read(int fd, const char *folder, void *bytes, size_t n);
void spill_seek(int fd, const char *folder, uint64_t offset);

enum {
    SPILL_HEAD = 64, /* bytes of an entry without its key, at most */
    SPILL_BUFFER = 64 << 10
};

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

/* -- reading a run ------------------------------------------------------------------------ */

struct spill_in {
    int fd;
    const char *folder;
    bool sums;
    char *buf; /* [cap], the caller's; the longest entry must fit */
    size_t cap, begin, end;
    struct entry at; /* the current entry; its key is in the buffer */
};

void spill_in_init(struct spill_in *, int fd, const char *folder, bool sums, char *buf, size_t cap);

struct merge_lane {
    struct spill_in in;
    uint64_t begin; /* the key's first eight bytes, which decide most comparisons */
};

struct merge {
    struct merge_lane **heap; /* the caller's */
    size_t n;                 /* lanes that have an entry */
    char *key;                /* of the last entry; room for the longest key */
};

/* The caller has set `in` of each lane.  `heap` has room for all lanes, `key` for the longest
 * key. */
void merge_begin(struct merge *, struct merge_lane *, struct merge_lane **heap, size_t n,
                 char *key);
/* False at the end.  The key is good until the next call. */
bool merge_next(struct merge *, struct entry *);

/* -- counts of keys (tally.c) ------------------------------------------------------------------ */

/* A key as one string of bytes, which sorts like its fields one after the other.
 *
 * In each field a NUL is written as 00 01, and the field ends in 00 00:
 *
 *     ("ab", "c")     61 62 00 00  63 00 00
 *     ("a\0", "c")    61 00 01 00 00  63 00 00
 *
 * So memcmp compares two keys field by field, no key is the beginning of another, and bytes of a
 * fixed length, such as a time, may follow. */

/* The most bytes that fields with `len` bytes together take. */
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

/* Runs that are merged at once, and the most runs that wait: MERGED of each level. */
enum { MERGED = 48, MAX_RUNS = 10 * MERGED };

struct tally_run {
    int fd;
    unsigned level;
};

struct slot {
    uint32_t tag; /* the upper half of the hash */
    uint32_t at;  /* 1 + the place of the entry, in units of 16 bytes; 0: the slot is empty */
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
    struct sorted *sorted; /* the sorted list, which stands behind the entries */
    size_t next;           /* the entry of the list that tally_next gives next */
    struct tally_run run[MAX_RUNS];
    size_t runs;
    struct merge_lane lane[MERGED];
    struct merge_lane *heap[MERGED];
    struct merge merge;
    bool merging;
    uint64_t spilled_runs, spilled_bytes; /* in all */
};

/* Takes at most `mem` bytes, which are at least MIN_TALLY.  `sums`: adds up amounts, too.  The
 * folder stays the caller's. */
void tally_init(struct tally *, uint64_t mem, const char *folder, bool sums, uint64_t seed);
void tally_free(struct tally *);

/* The longest key that can be counted. */
size_t tally_longest(const struct tally *);

/* Prefetch the memory that tally_add needs for this hash: first the slot, later the entry. */
static inline void tally_prefetch_slot(const struct tally *t, uint64_t hash) {
    __builtin_prefetch(&t->slot[hash & t->mask]);
}
static inline void tally_prefetch_entry(const struct tally *t, uint64_t hash) {
    const struct slot *s = &t->slot[hash & t->mask];
    if (s->at) __builtin_prefetch(t->arena + (size_t)(s->at - 1) * 16);
}

/* Counts a record of that side.  Equal keys have equal hashes. */
void tally_add(struct tally *, uint64_t hash, const char *key, size_t len, int side,
               decimal amount);

/* Call tally_end after the last record.  Then tally_next gives the entries in the order of their
 * keys, each good until the next call. */
void tally_end(struct tally *);
bool tally_next(struct tally *, struct entry *); /* false: there are no more */

/* -- a side (side.c) --------------------------------------------------------------------------- */

struct side {
    /* The caller fills in these: */
    struct input_options input; /* of one file */
    const char *sum;            /* the field of the amount, or NULL */
    bool timed;                 /* the record's time follows each key */
    int which;                  /* LEFT or RIGHT */
    uint64_t seed;              /* of hashes, the same for both sides */
    struct tally *tally;

    bool resolved;  /* the fields of the key are known */
    int64_t fields; /* their number, or PARTS_VARY */
    char **name;    /* the names of their columns; one column if the number varies */
    uint64_t records, counted, left_out;
    uint64_t misread, first_misread; /* amounts that cannot be read; the record of the first one */
    decimal total;                   /* of all amounts */
    unsigned places;                 /* of the amounts, behind the point */

    struct reader reader;
    struct keyer keyer[MAX_THREADS];
    uint32_t slot; /* of the amount */
    char *key;     /* the keys of a batch */
    size_t room;
    size_t at[BATCH + 1]; /* where each of them begins */
    uint64_t hash[BATCH];
};

/* Counts the records and warns of those that could not be counted.  False if there is no answer:
 * the input could not be read to its end, or none of its records could be counted.  `resolved` is
 * called when the key's fields are known, before any record. */
bool side_read(struct side *, void (*resolved)(void *ctx, struct side *), void *ctx);
void side_free(struct side *);

/* The number of columns of the key, and the name of the file. */
uint32_t side_columns(const struct side *);
const char *side_name(const struct side *);

/* -- rows (rows.c) ----------------------------------------------------------------------------- */

/* Counts how many records of a key match one to one.  A left and a right record match if their
 * times differ by at most a tolerance.
 *
 * Records come in order of time.  A record is matched with the oldest waiting record of the other
 * side that is within the tolerance.  If there is none, it waits.  So only one side waits.
 *
 * This matches as many as possible.  Let (a, b) be the first pair that the rule makes: no older
 * record can match anything.  Take any largest matching.  If it gives a and b other partners b' and
 * a', then b <= b' and a <= a', so (a, b) and (a', b') are within the tolerance as well.  If only
 * one of a and b has a partner, it can have the other one instead.  So some largest matching holds
 * (a, b), and the same follows for what remains.
 *
 * Records that wait are counted by time.  If memory does not hold them, they go to a file. */

/* Records of one side at one time. */
struct moment {
    seen_time time;
    uint64_t n;
};

/* Moments, first in, first out.  [front, front_n) of `head` go first, then the file's, then `tail`.
 */
struct queue {
    struct moment *head, *tail;
    size_t front, head_n, tail_n;
    int fd;                 /* -1: there is no file */
    uint64_t read, written; /* blocks */
    const char *folder;
};

struct match {
    uint64_t tolerance; /* microseconds */
    struct queue waiting;
    int side; /* of those waiting */
    uint64_t matched;
};

/* The keys of both sides in the order of their bytes, and how many of their records match. */

struct pair {
    struct entry entry; /* its key has no time behind it */
    uint64_t matched;   /* records of either side */
};

struct pairs {
    struct tally *tally;
    bool timed; /* keys have a time behind them, and `match` says which records match */
    struct match match;
    struct entry ahead; /* timed: the first entry of the next key, if `more` */
    bool more;
    char *key; /* timed: the key of the last pair */
    size_t room;
};

/* tally_end has been called for the tally, which stays the caller's.  `tolerance` is in
 * microseconds.  NULL: keys have no times, and as many records match as both sides have. */
void pairs_init(struct pairs *, struct tally *, const uint64_t *tolerance);
void pairs_free(struct pairs *);

/* False: there are no more.  The key is good until the next call. */
bool pairs_next(struct pairs *, struct pair *);

/* True if the two sides have the key a different number of times, or with different sums. */
bool pair_differs(const struct pair *);

enum rows_format { ROWS_TEXT, ROWS_CSV, ROWS_JSON };

struct rows {
    enum rows_format format;
    char delimiter; /* of CSV */
    bool matched, sums;
    unsigned places;  /* of sums, behind the point */
    bool varies;      /* the number of fields varies; a table shows them in one column */
    char joint;       /* the byte between fields in that column */
    uint32_t columns; /* of the key */
    char **name;      /* [columns], the caller's */
    char *value;      /* scratch: one value */
    size_t room;
};

/* Prints the line that names the columns; JSON has none. */
void rows_head(const struct rows *);
void rows_put(struct rows *, const struct pair *);
void rows_free(struct rows *);

struct totals {
    uint64_t both, different; /* keys of both sides; those whose counts or sums differ */
    uint64_t only[2];         /* keys of one side */
    uint64_t matched;         /* records of either side */
};

void totals_add(struct totals *, const struct pair *);

/* Print the statistics on stderr. */
void totals_text(const struct totals *, const struct side[2], const struct tally *);
void totals_json(const struct totals *, const struct side[2], const struct tally *);

#endif
