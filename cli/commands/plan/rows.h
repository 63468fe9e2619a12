/* rows.h - plans side by side: a table of cells, and a plan as a JSON object. */
#ifndef SEEN_PLAN_ROWS_H
#define SEEN_PLAN_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "seen.h"

enum { PLANS_MOST = 64, SPEC_MOST = 4096, CELL = 48, COLUMNS = 9 };

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
