/* rows.h - keys and what the two sides have of them, as a table or as JSON. */
#ifndef SEEN_DIFF_ROWS_H
#define SEEN_DIFF_ROWS_H

#include "commands/diff/pairs.h"

enum rows_format { ROWS_TEXT, ROWS_CSV, ROWS_JSON };

struct rows {
    enum rows_format format;
    char delimiter; /* of CSV */
    bool matched, sums;
    unsigned places;  /* of sums, behind the point */
    bool varies;      /* keys have any number of fields, ... */
    char joint;       /* ... which a table shows in one column, with this byte between them */
    uint32_t columns; /* of the key */
    char **name;      /* [columns], the caller's */
    char *value;      /* what stands in one of them */
    size_t room;
};

/* The line that names the columns; JSON has none. */
void rows_head(const struct rows *);
void rows_put(struct rows *, const struct pair *);
void rows_free(struct rows *);

#endif
