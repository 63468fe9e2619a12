/* filter.h - the parts of `seen filter`: keys cut out of values, lists, and what is printed. */
#ifndef SEEN_COMMAND_FILTER_H
#define SEEN_COMMAND_FILTER_H

#include "judge/key.h"
#include "output/sink.h"
#include "records/run_stats.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* -- values cut into keys (cut.c) -------------------------------------------------------------- */

enum { MAX_GRAM = 1024, CUT_MARKS = 64 };

struct cut {
    bool words;
    uint32_t gram;            /* characters of an n-gram; 0: none */
    uint32_t mark[CUT_MARKS]; /* delimiters of the user's */
    size_t marks;             /* 0: words are letters and digits */
    bool ascii[128];          /* which ASCII characters divide words */
};

/* Read the values of --words and --ngrams, or die.  NULL: words are letters and digits. */
void cut_take_words(struct cut *, const char *delimiters);
void cut_take_gram(struct cut *, const char *number);

static inline bool cut_any(const struct cut *c) { return c->words || c->gram; }

/* A walk over the keys of a value, which stays the caller's. */
struct cutter {
    const struct cut *cut;
    const char *at, *end, *to; /* to: the end of the last n-gram */
};

/* -- lists (lists.c) --------------------------------------------------------------------------- */

/* How many records pass a list by chance.  Each of m keys is taken for a key of the list with
 * probability e, so a record passes with probability 1-(1-e)^m. */

enum { CHANCE_KEYS = 1024 };

struct chance {
    uint64_t records, keys;   /* so far */
    uint64_t by[CHANCE_KEYS]; /* records by their number of keys */
    uint64_t more,
        more_keys; /* records with as many or more, and their keys: counted as if all were alike */
};

void chance_note(struct chance *, uint32_t keys);

/* The mean of 1-(1-e)^m over the records; m is the number of keys of each. */
double chance_record(const struct chance *, double e);

enum { MAX_LISTS = 64 };

struct list {
    const char *name;
    seen_detector *set;
    seen_digest *digest; /* its keys, while it is read */
    size_t n, room;
    uint64_t matches; /* records that match */
    uint64_t idle;    /* keys that no value can be cut into, and ... */
    char first[64];   /* ... the first of them */
};

struct lists {
    struct list list[MAX_LISTS];
    size_t n;
    const char *fp; /* --fp; NULL: not given */
    bool exact, invert;
    const struct cut *cut; /* how values become keys; NULL: each is a key as it is */
    seen_detector *hasher; /* its spec says how keys of lists and records become digests */
};

void lists_add(struct lists *, const char *name);

/* Call this after the options were read.  Dies if the system gives no random seed. */
void lists_init(struct lists *);
void lists_free(struct lists *);

/* Reads all lists.  Their keys have the fields that the layout's keys have. */
void lists_read(struct lists *, const struct input_options *, const struct layout *);

/* Sets bit l of in[i] if digest i is in the l-th list.  Any thread may call it. */
void lists_find(const struct lists *, size_t n, const seen_digest *, uint64_t *in);

/* The keys of a record under --any: each of its fields, or each word or n-gram of them.
 *
 *     record  ->  fields (parts.h)  ->  words, n-grams (cut.h)  ->  digests, a few thousand at once
 *                                                                   ->  lists (lists.h)
 *
 * Empty fields are not keys.  A record may lack some of several fields: the others decide.
 * Each thread has one of its own; lists do not change. */

/* The n records of a batch that have a key, and the lists that have this key. */
struct matched {
    size_t n;
    seen_digest digest[BATCH]; /* not set under --any */
    uint16_t order[BATCH];
    uint64_t lists[BATCH]; /* bit i: list i */
    uint32_t keys[BATCH];  /* under --any: how many were looked up */
    uint8_t cause[BATCH];  /* why the other records have no key, at their places */
};

struct any {
    const struct lists *lists;
    const struct layout *layout;
    struct keyer keyer;
    bool *met;  /* [keys of the layout] has a record had this field? NULL: no record came yet */
    char *word; /* scratch, of `room` bytes */
    size_t room;
    size_t n; /* keys that wait to be looked up, and the places of their records */
    seen_digest digest[BATCH];
    uint16_t owner[BATCH];
};

void any_init(struct any *, const struct lists *, const struct layout *, uint32_t max_record);
void any_free(struct any *);

void any_batch(struct any *, const struct batch *, struct matched *);

/* Gives `take` the first key of record i that is in a list, for each list in `wanted`, in order. */
void any_keys(struct any *, const struct batch *, size_t i, uint64_t wanted,
              void (*take)(void *ctx, const char *key, size_t len), void *ctx);

/* The probability that a key is taken for a key of any list. */
double chance_key(const struct lists *);

/* -- what is printed (show.c) ------------------------------------------------------------------ */

/* A stream that writes to memory. */
struct show_text {
    FILE *stream;
    char *bytes;
    size_t len;
};

struct show {
    const struct lists *lists;
    struct any *any; /* NULL: a record has one key, which is not printed */
    struct sink *sink;
    bool quotes; /* the table quotes values as CSV does */
    struct show_text text, value, names;
    uint64_t named; /* the lists whose names are in `names`; 0: none yet */
    char heading[TAGS_TEXT];
};

/* Call sink_choose first.  `column` is --tag-column, or NULL. */
void show_init(struct show *, const struct lists *, struct any *, struct sink *, const char *column,
               bool quotes);
void show_free(struct show *);

/* Print record i of the batch with its lists.  `number` is its number in the input. */
void show_tag(struct show *, const struct batch *, size_t i, uint64_t lists);
void show_json(struct show *, const struct batch *, size_t i, uint64_t lists, uint64_t number);

/* Prints a record that cannot be judged, in pieces as sink_unreadable takes them. */
void show_json_unjudged(struct show *, const char *p, size_t n, uint64_t number, bool first,
                        bool last);

/* A run, for the statistics and warnings at its end. */

struct filter_run {
    const struct lists *lists;
    const struct chance *chance; /* NULL: a record has one key */
    const struct run_stats *stats;
    const struct unjudged *unjudged;
    uint64_t passed; /* records that are in a list */
};

/* Prints --stats. */
void report_stats(const struct filter_run *);

/* Warns if at least one record has probably passed by chance under --any. */
void report_chance(const struct filter_run *);

/* Warns of fields of -k that no record had.  `any` has an element for each thread. */
struct any;
void report_fields(const struct any *, const struct input_options *);

#endif
