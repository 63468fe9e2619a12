/* wanted.h - what `seen dedup` can do beyond letting the first of each key through: records in
 * another order, and more told of each. */
#ifndef SEEN_WANTED_H
#define SEEN_WANTED_H

#include "judge/asked.h"
#include "output/sink.h"

enum {
    WANTED_REORDER = 800,
    WANTED_HOLD,
    WANTED_TAG,
    WANTED_TAG_COLUMN,
    WANTED_AUDIT,
    WANTED_OUTPUT,
    WANTED_GROUP_BY,
    WANTED_MAX_GROUPS,
    WANTED_SUM,
    WANTED_KEEP,
    WANTED_ADD_KEY,
    WANTED_QUERY_KEY,
    WANTED_FORGET,
    WANTED_WITHIN
};

#define WANTED_ROWS                                                                                \
    {"reorder", 0, "SPAN",                                                                         \
     "hold records back so long, and judge them in the order of their times", WANTED_REORDER},     \
    {                                                                                              \
        "hold", 0, "SIZE", "of --reorder and --keep last: in so much memory (default: 256MiB)",    \
            WANTED_HOLD                                                                            \
    }

#define WANTED_FEED_ROWS                                                                           \
    {"query-key", 0, "LIST", "fields of the key that is asked about, and with", WANTED_QUERY_KEY}, \
    {                                                                                              \
        "add-key", 0, "LIST", "... those of the key that is remembered (a news feed)",             \
            WANTED_ADD_KEY                                                                         \
    }
#define WANTED_WITHIN_ROW                                                                          \
    {                                                                                              \
        "within", 0, "SPAN|N", "only what was seen so lately counts, not the whole window",        \
            WANTED_WITHIN                                                                          \
    }
#define WANTED_FORGET_ROW                                                                          \
    {                                                                                              \
        "forget", 0, "FILE", "of the state, first: the keys listed in FILE are not seen",          \
            WANTED_FORGET                                                                          \
    }

#define WANTED_KEEP_ROW                                                                            \
    { "keep", 0, "first|last", "which record of a key goes through (last: held back)", WANTED_KEEP }

#define WANTED_OUTPUT_ROWS                                                                         \
    {"tag", 0, "[=LIST]", "all, with new, dup, sure or - in front (tables: last)", WANTED_TAG},    \
        TAG_COLUMN_ROW("seen", WANTED_TAG_COLUMN),                                                 \
        {"audit", 0, NULL, "the duplicates, each with its first occurrence; exact", WANTED_AUDIT}, \
        {"output", 'o', "text|json", "records as they are, or as JSON objects", WANTED_OUTPUT},    \
        {"group-by", 0, "LIST", "counts for each value of the fields, on stderr",                  \
         WANTED_GROUP_BY},                                                                         \
        {"sum", 0, "LIST", "gross, duplicate and net of amounts, exactly, on stderr", WANTED_SUM}, \
    {                                                                                              \
        "max-groups", 0, "N", "... for N groups; the others together (default: 10000)",            \
            WANTED_MAX_GROUPS                                                                      \
    }

struct wanted {
    uint64_t reorder; /* microseconds; 0: records come in order, or are late */
    uint64_t hold;    /* bytes for records held back */
    const char *hold_given;
    struct tags tags; /* n = 0: none are wanted but the verdict, if at all */
    bool tag, audit, json;
    const char *tag_column;          /* NULL: not given */
    const char *add_key, *query_key; /* NULL: one key is both */
    const char *forget;              /* NULL: nothing */
    const char *within_given;        /* NULL: the whole window */
    uint64_t within;      /* records or microseconds; 0: the whole window; set by wanted_check */
    bool keep_last;       /* of the records of one key in a window, rather than the first */
    bool ledger;          /* first and last occurrences have to be known; set by wanted_check */
    const char *group_by; /* NULL: no --group-by */
    char *sum;            /* all that was given, joined by commas; NULL: nothing */
    uint32_t max_groups;  /* 0: not given */
};

void wanted_init(struct wanted *);
void wanted_free(struct wanted *);

/* False if the option is none of these rows. */
bool wanted_take(struct wanted *, int id, const char *value);

/* All options are known, the window is not: what it and the records have to have besides. */
void wanted_ask(struct wanted *, struct asked *, struct input_options *);

/* The window is planned.  Dies where something does not go together. */
void wanted_check(struct wanted *, const struct asked *, const struct input_options *,
                  const struct seen_plan *, bool state);

/* Groups are counted, or amounts added up. */
static inline bool wanted_groups(const struct wanted *w) { return w->group_by || w->sum; }

/* More is told of a record than `new` or `dup`. */
static inline bool wanted_details(const struct wanted *w) { return w->tags.n > 0; }

#endif
