/* show.h - what `seen filter` prints: records with what was found in them, and statistics. */
#ifndef SEEN_FILTER_SHOW_H
#define SEEN_FILTER_SHOW_H

#include "commands/filter/lists.h"
#include "output/sink.h"
#include "records/run_stats.h"

/* A stream that writes bytes, which grow as they have to. */
struct show_text {
    FILE *stream;
    char *bytes;
    size_t len;
};

struct show {
    const struct lists *lists;
    struct any *any; /* NULL: a record has one key, which is not told */
    struct sink *sink;
    bool quotes; /* the table quotes values as CSV does */
    struct show_text text, value, names;
    uint64_t named; /* the lists in `names`, which a table can take as they are; 0: none yet */
    char heading[TAGS_TEXT];
};

/* The sink is chosen; `column` is --tag-column. */
void show_init(struct show *, const struct lists *, struct any *, struct sink *, const char *column,
               bool quotes);
void show_free(struct show *);

/* Record i of the batch, which is the input's `number`, with its lists. */
void show_tag(struct show *, const struct batch *, size_t i, uint64_t lists);
void show_json(struct show *, const struct batch *, size_t i, uint64_t lists, uint64_t number);

/* One that cannot be judged, in pieces as sink_unjudged takes them. */
void show_json_unjudged(struct show *, const char *p, size_t n, uint64_t number, bool first,
                        bool last);

/* What `seen filter` says at the end: of each list, and of records that may have passed
 * without a key of any. */

struct filtered {
    const struct lists *lists;
    const struct chance *chance; /* NULL: a record has one key */
    const struct run_stats *stats;
    const struct unjudged *unjudged;
    uint64_t passed; /* records that are in a list */
};

/* --stats. */
void report_stats(const struct filtered *);

/* Warns where a record or more is expected to have passed by chance under --any. */
void report_chance(const struct filtered *);

/* Warns of fields of -k that no record had, and that any[] of the threads looked for. */
struct any;
void report_fields(const struct any *, const struct input_options *);

#endif
