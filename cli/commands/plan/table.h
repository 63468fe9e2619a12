/* table.h - rows of `seen plan`: plans beside each other, and the lower bounds of any structure. */
#ifndef SEEN_PLAN_TABLE_H
#define SEEN_PLAN_TABLE_H

#include "base/cli.h"
#include "seen.h"

#include <stdbool.h>
#include <stddef.h>

struct bounds {
    bool shown;
    double universe; /* 0: not said */
};

/* Rows of one group, taken into a struct bounds (struct option_group). */
extern const struct option_row bounds_rows[];
void bounds_take(void *bounds, const struct option_row *, const char *value);

/* Dies where --universe was given alone. */
void bounds_check(const struct bounds *);

void bounds_print(const struct bounds *, const struct seen_plan *, int n);

/* A member of a JSON object, and a comma; "" where bounds are not shown.  Good until the next
 * call. */
const char *bounds_json(const struct bounds *, const struct seen_plan *);

enum { MAX_PLANS = 64, MAX_SPEC = 4096, CELL = 48, COLUMNS = 9 };

typedef char table_row[COLUMNS][CELL];

/* The first row names the columns, and the second gets a star.  Two columns of names are to the
 * left, figures to the right, two blanks between. */
void rows_print(const table_row *, int n);

/* Exact where that is short, else to three digits; with a + where it grows. */
void rows_memory(const struct seen_plan *, char cell[CELL]);

/* "name": "text" */
void rows_json_text(const char *name, const char *text);

/* An object, `more` standing among its members: either nothing or members that end with a comma. */
void rows_json_plan(const struct seen_plan *, const char *more, bool chosen);

#endif
