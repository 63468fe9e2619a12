/* input_options.h - the records a subcommand reads: which files, what a record is, which fields
 * make its key and its time.  All subcommands that read records share these options. */
#ifndef SEEN_INPUT_OPTIONS_H
#define SEEN_INPUT_OPTIONS_H

#include "base/cli.h"

#include "records/columns.h"
#include "records/key_form.h"

#include <stdbool.h>

/* What a record looks like. */
enum shape { SHAPE_LINES, SHAPE_CSV, SHAPE_TSV, SHAPE_NDJSON, SHAPE_CLF };

struct input_options {
    const char *keys, *time;               /* as given, or NULL */
    const struct time_format *time_format; /* NULL: every form that time.h lists */
    enum shape shape;
    bool header; /* the first line names the columns */
    char delimiter;
    char end; /* of a record: a newline, or NUL */
    bool crlf, strict, quiet;
    const char *rejects; /* a file for records that cannot be judged, or NULL */
    bool rejects_go_on;  /* append to the file; otherwise it is emptied first */
    bool no_progress;
    bool merge; /* the files in order of time, not one after the other */
    bool now_given;
    seen_time now;     /* the clock, where --now fixes it */
    bool allow_future; /* records may be later than the clock */
    bool arrival;      /* --arrival: the time of a record is when it arrives */
    bool time_given;   /* `time` is from --time, not from the format */
    uint32_t max_record;
    uint32_t max_field; /* of those in quotes */
    bool max_field_given;
    uint64_t unpack_mem;
    unsigned threads;
    char *const *files; /* "-" is standard input */
    size_t file_count;
    const char *delimiter_given;
    bool no_quotes;       /* quotes in --csv are bytes like others */
    bool blanks;          /* runs of blanks and TABs are between fields */
    struct key_form form; /* what is done to the values of a key */
};

/* Rows for a subcommand's groups, all taken by input_options_take. */
#define INPUT_KEYS_HELP "fields that make the key: 2,5 or 2-4, 2-, last, or names"
extern const struct option_row input_time_rows[], input_key_rows[], input_format_rows[],
    input_thread_rows[], input_quiet_rows[], input_strict_rows[], input_reject_rows[];

/* Sets the defaults. */
void input_options_init(struct input_options *);

/* Takes one of the rows above into a struct input_options (struct option_group). */
void input_options_take(void *options, const struct option_row *, const char *value);

/* All options are known: checks them.  The operands are the files. */
void input_options_files(struct input_options *, const struct args *);

/* The byte before an added column if records are rows of a table, otherwise 0. */
char input_options_column(const struct input_options *);

/* The machine's clock, or the time that --now gives. */
seen_time input_options_clock(const struct input_options *);

/* The latest time that a record can be judged at: a day after `now`, which the clock says.
 * SEEN_NEVER: any time will do, because of --allow-future or because the clock is not set. */
seen_time input_options_latest(const struct input_options *, seen_time now);
bool input_options_clock_unset(seen_time now); /* it is before 2020 */

/* The first of the files that is a regular file, as a name for messages; NULL: there is none.  The
 * others are pipes, terminals and FIFOs, whose records arrive one by one. */
const char *input_options_regular_file(const struct input_options *);

/* What stands between the fields of lines and tables. */
struct cutting input_options_cutting(const struct input_options *);

/* The format of the records; `whole`: no field is needed.  A splitter starts without fields. */
const struct format *input_options_format(const struct input_options *, bool whole);
struct splitter input_options_splitter(const struct input_options *, const struct layout *);

/* The names of the fields, if the format knows them; NULL: the first line may have them. */
const struct header *input_options_names(const struct input_options *);

#endif
