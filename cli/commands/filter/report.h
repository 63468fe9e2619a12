/* report.h - what `seen filter` says at the end: of each list, and of records that may have passed
 * without a key of any. */
#ifndef SEEN_FILTER_REPORT_H
#define SEEN_FILTER_REPORT_H

#include "commands/filter/chance.h"
#include "records/run_stats.h"

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
