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
    const struct time_format *time_format; /* NULL: any that is known */
    enum shape shape;
    bool header; /* the first line names the columns */
    char delimiter;
    char end; /* of a record: a newline, or NUL */
    bool crlf, strict, quiet;
    const char *rejects; /* a file for records that cannot be judged, or NULL */
    bool rejects_go_on;  /* behind what it holds; else it is emptied first */
    bool no_progress;
    bool merge; /* the files in order of time, not one after the other */
    bool now_given;
    seen_time now;     /* the clock, where --now fixes it */
    bool allow_future; /* records may be later than the clock */
    bool arrival;      /* when records arrive is their time, and that is meant */
    bool time_given;   /* by --time, not only known by the format */
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

enum {
    SOURCE_KEYS = 500,
    SOURCE_DELIMITER,
    SOURCE_BLANKS,
    SOURCE_IGNORE_CASE,
    SOURCE_TRIM,
    SOURCE_KEY_REGEX,
    SOURCE_KEY_URL,
    SOURCE_CSV,
    SOURCE_TSV,
    SOURCE_NDJSON,
    SOURCE_CLF,
    SOURCE_NULL,
    SOURCE_MERGE,
    SOURCE_NO_HEADER,
    SOURCE_NO_QUOTES,
    SOURCE_CRLF,
    SOURCE_TIME,
    SOURCE_ARRIVAL,
    SOURCE_NOW,
    SOURCE_ALLOW_FUTURE,
    SOURCE_MAX_RECORD,
    SOURCE_MAX_FIELD,
    SOURCE_UNPACK_MEM,
    SOURCE_QUIET,
    SOURCE_NO_PROGRESS,
    SOURCE_STRICT,
    SOURCE_REJECTS,
    SOURCE_THREADS
};

/* Rows for a subcommand's table of options. */
#define SOURCE_TIME_ROWS                                                                           \
    {"time", 0, "FIELD", "when a record happened (default: when it arrives)", SOURCE_TIME},        \
        {"arrival", 0, NULL, "go by when a record arrives, also from a file", SOURCE_ARRIVAL},     \
        {"now", 0, "TIME", "what the clock says, for replays and tests", SOURCE_NOW},              \
        {"allow-future", 0, NULL, "judge times more than a day later than the clock, too",         \
         SOURCE_ALLOW_FUTURE},                                                                     \
    {                                                                                              \
        "merge", 0, NULL, "several FILEs as one, in order of their --time", SOURCE_MERGE           \
    }
#define SOURCE_KEYS_HELP "fields that make the key: 2,5 or 2-4, 2-, last, or names"
#define SOURCE_ROWS                                                                                \
    {"Records and keys (default: the whole line)", 0, NULL, NULL, 0},                              \
        {"keys", 'k', "LIST", SOURCE_KEYS_HELP, SOURCE_KEYS}, SOURCE_FORMAT_ROWS
#define SOURCE_FORMAT_ROWS                                                                         \
    {"ignore-case", 0, NULL, "of keys: A and a are one letter (ASCII letters)",                    \
     SOURCE_IGNORE_CASE},                                                                          \
        {"trim", 0, NULL, "of keys: blanks around each field do not count", SOURCE_TRIM},          \
        {"key-regex", 0, "RE", "the key is what the groups of an extended RE match",               \
         SOURCE_KEY_REGEX},                                                                        \
        {"key-url", 0, NULL, "of keys: URLs without fragment, tracking and default port",          \
         SOURCE_KEY_URL},                                                                          \
        {"delimiter", 'd', "C", "byte between fields (default: TAB; comma with --csv)",            \
         SOURCE_DELIMITER},                                                                        \
        {"blanks", 0, NULL, "fields stand between runs of blanks and TABs, as in awk",             \
         SOURCE_BLANKS},                                                                           \
        {"csv", 0, NULL, "values quoted as in RFC 4180, with a header line", SOURCE_CSV},          \
        {"tsv", 0, NULL, "TAB between fields, no quoting, with a header line", SOURCE_TSV},        \
        {"ndjson", 0, NULL, "JSON a line; fields are paths, as user.id or items.0",                \
         SOURCE_NDJSON},                                                                           \
        {"clf", 0, NULL, "web log: host, user, time, path, status, agent, ...", SOURCE_CLF},       \
        {"null", '0', NULL, "records end in a NUL byte instead of a newline", SOURCE_NULL},        \
        {"no-header", 0, NULL, "the first line is a record like others", SOURCE_NO_HEADER},        \
        {"no-quotes", 0, NULL, "quotes in --csv are bytes like others", SOURCE_NO_QUOTES},         \
        {"crlf", 0, NULL, "a CR before the newline is not part of the key", SOURCE_CRLF},          \
        {"max-record", 0, "SIZE", "longer records pass unjudged (default: 16MiB)",                 \
         SOURCE_MAX_RECORD},                                                                       \
        {"max-field", 0, "SIZE", "longest quoted field of --csv (default: 1MiB)",                  \
         SOURCE_MAX_FIELD},                                                                        \
    {                                                                                              \
        "unpack-mem", 0, "SIZE", "to unpack .xz or .zst in at most this memory (default: 128MiB)", \
            SOURCE_UNPACK_MEM                                                                      \
    }
#define SOURCE_THREADS_ROW                                                                         \
    {                                                                                              \
        "threads", 'j', "N", "read, split and hash on N threads (default: 1; 0: all)",             \
            SOURCE_THREADS                                                                         \
    }
#define SOURCE_QUIET_ROW                                                                           \
    {"quiet", 'q', NULL, "no progress, no warnings", SOURCE_QUIET}, {                              \
        "no-progress", 0, NULL, "warnings, but no line that tells how far it is",                  \
            SOURCE_NO_PROGRESS                                                                     \
    }
#define SOURCE_STRICT_ROW                                                                          \
    { "strict", 0, NULL, "exit 2 if a record could not be judged", SOURCE_STRICT }
#define SOURCE_UNJUDGED_ROWS                                                                       \
    SOURCE_STRICT_ROW, {                                                                           \
        "rejects", 0, "FILE", "where records that cannot be judged go instead", SOURCE_REJECTS     \
    }

/* input_options_init sets the defaults.  input_options_take returns false if the option is none of
 * these.  input_options_files comes once all options are known: the other arguments are files. */
void input_options_init(struct input_options *);
bool input_options_take(struct input_options *, int id, const char *value);
void input_options_files(struct input_options *, const struct args *);

/* The byte before one column more, where records are rows of a table; 0 where they are not. */
char input_options_column(const struct input_options *);

/* The machine's clock, or the time that --now gives. */
seen_time input_options_clock(const struct input_options *);

/* The latest time that a record can be judged at when the clock says `now`: a day later.
 * SEEN_NEVER where any time will do: --allow-future, or a clock before 2020, which is not set. */
seen_time input_options_latest(const struct input_options *, seen_time now);
bool input_options_clock_unset(seen_time now);

/* The first of its files that is a regular one, as a name for messages; NULL: none is.  Records
 * from pipes, terminals and FIFOs arrive; those of a file are all there. */
const char *input_options_regular_file(const struct input_options *);

/* What is between its fields, where that is bytes. */
struct cutting input_options_cutting(const struct input_options *);

/* How records are cut; `whole`: no field is needed.  And the names of the fields, or NULL if the
 * first line has them. */
const struct format *input_options_format(const struct input_options *, bool whole);
const struct header *input_options_names(const struct input_options *);

#endif
