/* plan.h - the parts of `seen plan`: the table of plans, and a sample of the stream. */
#ifndef SEEN_COMMAND_PLAN_H
#define SEEN_COMMAND_PLAN_H

#include "base/cli.h"
#include "judge/window_options.h"
#include "records/reader.h"
#include "seen.h"
#include "seen_gaps.h"

#include <stdbool.h>

/* -- the table (table.c) ----------------------------------------------------------------------- */

struct bounds {
    bool shown;
    double universe; /* --universe; 0: not given */
};

/* Rows of one group, taken into a struct bounds (struct option_group). */
extern const struct option_row bounds_rows[];
void bounds_take(void *bounds, const struct option_row *, const char *value);

/* Dies if --universe was given without --bounds. */
void bounds_check(const struct bounds *);

void bounds_print(const struct bounds *, const struct seen_plan *, int n);

/* Writes the member "bounds" if they are shown. */
struct json;
void bounds_json(const struct bounds *, const struct seen_plan *, struct json *);

enum { MAX_PLANS = 64, MAX_SPEC = 4096, CELL = 48, COLUMNS = 9 };

typedef char table_row[COLUMNS][CELL];

/* Prints a table.  The first row names the columns, and the second gets a star.  Two columns of
 * names are aligned to the left, figures to the right, with two blanks between columns. */
void rows_print(const table_row *, int n);

/* The memory of a plan: exact if that is short, otherwise to three digits; with a + if it grows. */
void rows_memory(const struct seen_plan *, char cell[CELL]);

/* Begin the object of all plans, whose first member is the spec as asked, and end it. */
void rows_json_begin(struct json *, const struct seen_spec *asked);
void rows_json_end(struct json *);

/* Begin and end the object of one plan.  More members may be written between the two calls. */
void rows_json_plan(struct json *, const struct seen_plan *);
void rows_json_plan_end(struct json *, const struct seen_plan *, bool chosen);

/* -- a sample (sample.c) ----------------------------------------------------------------------- */

struct sample {
    struct input_options input;
    char *file; /* NULL: none was given */
    uint64_t mem;
    const char *other; /* an option that needs a sample, if one was given, or NULL */
    struct reader reader;
    struct judge judge;
    seen_detector *hasher; /* knows how keys are hashed */
    seen_gaps *gaps;
};

void sample_init(struct sample *);

/* Rows of one group, taken into a struct sample (struct option_group).  sample_take_input takes the
 * options of input, which say how the sample is read. */
extern const struct option_row sample_rows[];
void sample_take(void *sample, const struct option_row *, const char *value);
void sample_take_input(void *sample, const struct option_row *, const char *value);

/* Is there a sample?  Dies if options say how to read it, but none is given. */
bool sample_is_given(const struct sample *);

/* Reads the sample, plans and prints.  Returns the exit code. */
int sample_run(struct sample *, const struct window_options *, bool json);

#endif
