/* input_options.c - the options of every subcommand that reads records. */
#include "records/input_options.h"

#include "base/pool.h"
#include "records/format/json.h"
#include "time/time.h"

#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_RECORD = 1 << 30 };

/* -- rows --------------------------------------------------------------------------------- */

/* clang-format off */
enum {
    KEYS = 1, DELIMITER, BLANKS, IGNORE_CASE, TRIM, KEY_REGEX, KEY_URL, CSV, TSV, NDJSON, CLF,
    END_NULL, MERGE, NO_HEADER, NO_QUOTES, CRLF, TIME, ARRIVAL, NOW, ALLOW_FUTURE, RECORD_SIZE,
    FIELD_SIZE, UNPACK_MEM, QUIET, NO_PROGRESS, STRICT, REJECTS, THREADS
};
/* clang-format on */

const struct option_row input_time_rows[] = {
    {"time", 0, "FIELD", "when a record happened (default: when it arrives)", TIME},
    {"arrival", 0, NULL, "go by when a record arrives, also from a file", ARRIVAL},
    {"now", 0, "TIME", "what the clock says (for replays and tests)", NOW},
    {"allow-future", 0, NULL, "judge times more than a day later than the clock, too",
     ALLOW_FUTURE},
    {"merge", 0, NULL, "read several FILEs as one, in the order of --time", MERGE},
    {0},
};

const struct option_row input_key_rows[] = {
    {"Records and keys (default: the whole line)", 0, NULL, NULL, 0},
    {"keys", 'k', "LIST", INPUT_KEYS_HELP, KEYS},
    {0},
};

const struct option_row input_format_rows[] = {
    {"ignore-case", 0, NULL, "in keys, A and a are the same letter (ASCII letters)", IGNORE_CASE},
    {"trim", 0, NULL, "in keys, blanks around each field do not count", TRIM},
    {"key-regex", 0, "RE", "the key is what the groups of an extended RE match", KEY_REGEX},
    {"key-url", 0, NULL, "in keys, URLs lose fragment, tracking and default port", KEY_URL},
    {"delimiter", 'd', "C", "byte between fields (default: TAB; comma with --csv)", DELIMITER},
    {"blanks", 0, NULL, "fields stand between runs of blanks and TABs, as in awk", BLANKS},
    {"csv", 0, NULL, "values quoted as in RFC 4180, with a header line", CSV},
    {"tsv", 0, NULL, "TAB between fields, no quoting, with a header line", TSV},
    {"ndjson", 0, NULL, "a JSON text a line; fields are paths such as user.id", NDJSON},
    {"clf", 0, NULL, "web log: host, user, time, path, status, agent, ...", CLF},
    {"null", '0', NULL, "records end in a NUL byte instead of a newline", END_NULL},
    {"no-header", 0, NULL, "the first line is a record like others", NO_HEADER},
    {"no-quotes", 0, NULL, "quotes in --csv are bytes like others", NO_QUOTES},
    {"crlf", 0, NULL, "a CR before the newline is not part of the key", CRLF},
    {"max-record", 0, "SIZE", "longer records pass unjudged (default: 16MiB)", RECORD_SIZE},
    {"max-field", 0, "SIZE", "longest quoted field of --csv (default: 1MiB)", FIELD_SIZE},
    {"unpack-mem", 0, "SIZE", "to unpack .xz or .zst in at most this memory (default: 128MiB)",
     UNPACK_MEM},
    {0},
};

const struct option_row input_thread_rows[] = {
    {"threads", 'j', "N", "read, split and hash on N threads (default: 1; 0: all)", THREADS},
    {0},
};

const struct option_row input_quiet_rows[] = {
    {"quiet", 'q', NULL, "no progress, no warnings", QUIET},
    {"no-progress", 0, NULL, "show warnings, but no line of progress", NO_PROGRESS},
    {0},
};

const struct option_row input_strict_rows[] = {
    {"strict", 0, NULL, "exit 2 if a record could not be judged", STRICT},
    {0},
};

const struct option_row input_reject_rows[] = {
    {"rejects", 0, "FILE", "where records that cannot be judged go instead", REJECTS},
    {0},
};

/* -- values -------------------------------------------------------------------------------- */

void input_options_init(struct input_options *s) {
    *s = (struct input_options){.header = true,
                                .end = '\n',
                                .max_record = 16 << 20,
                                .max_field = 1 << 20,
                                .unpack_mem = 128 << 20,
                                .threads = 1};
}

static char byte_of(const char *text) {
    const char *escapes[] = {"\\t", "\\0", "\\\\", "tab"}, bytes[] = {'\t', '\0', '\\', '\t'};
    for (size_t i = 0; i < 4; i++)
        if (!strcmp(text, escapes[i])) return bytes[i];
    if (strlen(text) != 1) die("-d takes one byte, such as , or ; or \\t, not '%s'", text);
    if (strchr("\n\r\"", text[0])) die("-d cannot be a line end or a double quote");
    return text[0];
}

/* Reads the largest size of a record or a field. */
static uint32_t limit_of(const char *option, const char *text) {
    uint64_t size = option_size(option, text);
    if (size > MAX_RECORD) die("%s %s is more than 1GiB, the most that is possible", option, text);
    return (uint32_t)size;
}

/* 0 means the number of processors that the process may use. */
static unsigned thread_count(const char *text) {
    uint64_t n = 1;
    cpu_set_t ours;
    if (strcmp(text, "0") != 0) {
        n = option_count("-j", text);
        if (n > MAX_THREADS) die("-j %s: at most %d threads", text, MAX_THREADS);
    } else if (!sched_getaffinity(0, sizeof ours, &ours)) {
        n = (uint64_t)CPU_COUNT(&ours);
    }
    return n < MAX_THREADS ? (unsigned)n : MAX_THREADS;
}

static void set_shape(struct input_options *s, enum shape shape) {
    static const char *const names[] = {[SHAPE_CSV] = "--csv",
                                        [SHAPE_TSV] = "--tsv",
                                        [SHAPE_NDJSON] = "--ndjson",
                                        [SHAPE_CLF] = "--clf"};
    if (s->shape && s->shape != shape) die_both(names[s->shape], names[shape]);
    if (shape == SHAPE_NDJSON && !json_built_in())
        die("this build of seen cannot read JSON: build it with libsimdjson, or use --csv");
    s->shape = shape;
}

void input_options_take(void *options, const struct option_row *row, const char *value) {
    struct input_options *s = options;
    switch (row->id) {
    case KEYS: s->keys = value; break;
    case DELIMITER: s->delimiter_given = value; break;
    case BLANKS: s->blanks = true; break;
    case IGNORE_CASE: s->form.ignore_case = true; break;
    case TRIM: s->form.trim = true; break;
    case KEY_REGEX: s->form.regex = value; break;
    case KEY_URL: s->form.url = true; break;
    case CSV: set_shape(s, SHAPE_CSV); break;
    case TSV: set_shape(s, SHAPE_TSV); break;
    case NDJSON: set_shape(s, SHAPE_NDJSON); break;
    case CLF: set_shape(s, SHAPE_CLF); break;
    case END_NULL: s->end = '\0'; break;
    case NO_QUOTES: s->no_quotes = true; break;
    case NO_HEADER: s->header = false; break;
    case MERGE: s->merge = true; break;
    case CRLF: s->crlf = true; break;
    case TIME:
        s->time = value;
        s->time_given = true;
        break;
    case ARRIVAL: s->arrival = true; break;
    case NOW:
        if (!time_parse(&s->now, value, strlen(value)))
            die("--now %s: give a time such as 2024-11-20T10:00:00Z", value);
        s->now_given = true;
        break;
    case ALLOW_FUTURE: s->allow_future = true; break;
    case UNPACK_MEM: s->unpack_mem = option_size("--unpack-mem", value); break;
    case RECORD_SIZE: s->max_record = limit_of("--max-record", value); break;
    case FIELD_SIZE:
        s->max_field = limit_of("--max-field", value);
        s->max_field_given = true;
        break;
    case THREADS: s->threads = thread_count(value); break;
    case QUIET: s->quiet = true; break;
    case NO_PROGRESS: s->no_progress = true; break;
    case STRICT: s->strict = true; break;
    case REJECTS:
        if (!strcmp(value, "-")) die("--rejects takes the name of a file, not -");
        s->rejects = value;
        break;
    }
}

static void set_delimiter(struct input_options *s) {
    const char *given = s->delimiter_given;
    bool plus = given && !strcmp(given, " +");
    if (s->blanks && given && !plus) die_both("--blanks", "-d");
    if (s->blanks || plus) {
        if (s->shape == SHAPE_CSV || s->shape == SHAPE_TSV)
            die("--blanks is for lines; a table has one byte between its fields: see -d");
        if (s->shape) die("--blanks is for lines; JSON and web logs have fields of their own");
        s->blanks = true;
        s->delimiter = ' ';
        return;
    }
    s->delimiter = s->shape == SHAPE_CSV ? ',' : '\t';
    if (!given) return;
    if (s->shape == SHAPE_NDJSON || s->shape == SHAPE_CLF)
        die("-d is for lines and --csv; JSON and web logs have fields of their own");
    if (s->shape == SHAPE_TSV) die("--tsv means TAB between fields; leave out -d, or --tsv");
    s->delimiter = byte_of(given);
}

static void check_end(const struct input_options *s) {
    if (s->end) return;
    if (input_options_column(s))
        die("--null serves lines, -d and --ndjson: a table is made of lines");
    if (s->shape == SHAPE_CLF) die("--null serves lines, -d and --ndjson, not --clf");
    if (s->crlf) die_both("--null", "--crlf");
    if (s->delimiter == s->end) die_both("--null", "-d '\\0'");
}

void input_options_files(struct input_options *s, const struct args *a) {
    static char *const standard_input[] = {"-"};
    set_delimiter(s);
    key_form_check(&s->form);
    check_end(s);
    if (s->no_quotes && s->shape != SHAPE_CSV)
        die("--no-quotes is for --csv; elsewhere quotes are bytes already, or part of the format");
    if (s->max_field_given && !input_options_cutting(s).quotes)
        die("--max-field is for --csv without --no-quotes: nothing else has quoted fields");
    if (s->time && s->arrival) die_both("--time", "--arrival");
    if (s->merge && !s->time && s->shape == SHAPE_CLF) s->time = "time";
    if (s->merge && !s->time) die("--merge needs the field that holds the time: --time FIELD");
    s->header = s->header && input_options_column(s);
    s->files = a->operands ? a->operand : standard_input;
    s->file_count = a->operands ? a->operands : 1;
}

#define DAY      (UINT64_C(86400) * 1000000)
#define YEAR2020 (UINT64_C(1577836800) * 1000000)

seen_time input_options_clock(const struct input_options *s) {
    return s->now_given ? s->now : time_now();
}

bool input_options_clock_unset(seen_time now) { return now < YEAR2020; }

seen_time input_options_latest(const struct input_options *s, seen_time now) {
    return s->allow_future || input_options_clock_unset(now) ? SEEN_NEVER : now + DAY;
}

const char *input_options_regular_file(const struct input_options *s) {
    for (size_t i = 0; i < s->file_count; i++) {
        struct stat st;
        bool input = !strcmp(s->files[i], "-");
        int failed = input ? fstat(STDIN_FILENO, &st) : stat(s->files[i], &st);
        if (!failed && S_ISREG(st.st_mode)) return input ? "standard input" : s->files[i];
    }
    return NULL;
}

char input_options_column(const struct input_options *s) {
    return s->shape == SHAPE_CSV || s->shape == SHAPE_TSV ? s->delimiter : '\0';
}

struct cutting input_options_cutting(const struct input_options *s) {
    return (struct cutting){.delimiter = s->delimiter,
                            .quotes = s->shape == SHAPE_CSV && !s->no_quotes,
                            .blanks = s->blanks};
}

const struct format *input_options_format(const struct input_options *s, bool whole) {
    if (input_options_cutting(s).quotes) return &csv_format;
    if (whole) return &lines_format;
    if (s->shape == SHAPE_NDJSON) return &ndjson_format;
    if (s->shape == SHAPE_CLF) return &clf_format;
    if (s->blanks) return &blanks_format;
    return &delimited_format;
}

struct splitter input_options_splitter(const struct input_options *s, const struct layout *l) {
    return (struct splitter){.format = input_options_format(s, true),
                             .layout = l,
                             .delimiter = s->delimiter,
                             .end = s->end,
                             .strip_cr = s->crlf || s->shape,
                             .max_field = s->max_field};
}

const struct header *input_options_names(const struct input_options *s) {
    return s->shape == SHAPE_CLF ? &clf_names : NULL;
}
