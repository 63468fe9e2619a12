/* settings.c - what the command line of `seen dedup` asks for: its own options and, with the same
 * right, every option of the engine's table. */
#include "settings.h"

#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ENGINE = 48, ENGINE = 1000, MAX_RECORD = 1 << 30 };

enum {
    WINDOW = 1,
    KEYS,
    DELIMITER,
    CSV,
    TSV,
    NO_HEADER,
    CRLF,
    TIME,
    ZONE,
    LANDMARK_ON,
    MAX_RECORD_OPTION,
    DUPLICATES,
    TAG,
    STATS,
    QUIET,
    EXIT_CODE,
    STRICT,
    HELP,
    VERSION
};

static const struct option_row own_rows[] = {
    {"Window", 0, NULL, NULL, 0},
    {"window", 'w', "SPEC", "what counts as seen, e.g. 'sliding:1h fp=1e-6'", WINDOW},
    {"landmark-on", 0, "REGEX", "a line that matches begins a new landmark window", LANDMARK_ON},
    {"time", 0, "FIELD", "when a record happened (default: when it arrives)", TIME},
    {"zone", 0, "NAME", "landmark:1d and :1w begin at midnight there", ZONE},
    {"Records and keys (default: the whole line)", 0, NULL, NULL, 0},
    {"keys", 'k', "LIST", "fields that make the key: 2,5 or 2-4, or column names", KEYS},
    {"delimiter", 'd', "C", "byte between fields (default: TAB; comma with --csv)", DELIMITER},
    {"csv", 0, NULL, "values quoted as in RFC 4180, with a header line", CSV},
    {"tsv", 0, NULL, "TAB between fields, no quoting, with a header line", TSV},
    {"no-header", 0, NULL, "the first line is a record like others", NO_HEADER},
    {"crlf", 0, NULL, "a CR before the newline is not part of the key", CRLF},
    {"max-record", 0, "SIZE", "longer records pass unjudged (default: 16MiB)", MAX_RECORD_OPTION},
    {"Output (default: records not seen before)", 0, NULL, NULL, 0},
    {"duplicates", 0, NULL, "the others instead", DUPLICATES},
    {"tag", 0, NULL, "all, with new, dup or - in front (tables: last)", TAG},
    {"stats", 0, "[=json]", "counts, expected errors, memory, on stderr", STATS},
    {"quiet", 'q', NULL, "no progress, no warnings", QUIET},
    {"exit-code", 0, NULL, "exit 1 if there were duplicates", EXIT_CODE},
    {"strict", 0, NULL, "exit 2 if a record could not be judged", STRICT},
    {"help", 'h', NULL, "this help", HELP},
    {"version", 'V', NULL, "the version", VERSION},
    {"The same as in SPEC, and stronger", 0, NULL, NULL, 0},
};

enum { OWN = sizeof own_rows / sizeof *own_rows };

/* -- the table of options ------------------------------------------------------------------------
 */

static const char *placeholder(const struct seen_option *o) {
    static char choices[MAX_ENGINE][64];
    static size_t used;
    static const char *const names[] = {
        [SEEN_COUNT] = "N", [SEEN_SIZE] = "SIZE", [SEEN_REAL] = "X", [SEEN_NAME] = "NAME"};
    if (o->kind != SEEN_CHOICE) return names[o->kind];
    char *text = choices[used++];
    size_t n = 0;
    for (const char *const *c = o->choices; *c && n < sizeof choices[0]; c++)
        n += (size_t)snprintf(text + n, sizeof choices[0] - n, "%s%s", n ? "|" : "", *c);
    return text;
}

/* Our rows, then a row for each of the engine's options: id ENGINE + its index. */
static const struct option_row *all_rows(void) {
    static struct option_row rows[OWN + MAX_ENGINE + 1];
    size_t n;
    const struct seen_option *engine = seen_options(&n);
    memcpy(rows, own_rows, sizeof own_rows);
    for (size_t i = 0; i < n && i < MAX_ENGINE; i++)
        rows[OWN + i] = (struct option_row){engine[i].name, 0, placeholder(&engine[i]),
                                            engine[i].help, ENGINE + (int)i};
    return rows;
}

static void print_help(void) {
    puts("usage: seen [dedup] [OPTION]... [FILE]...\n"
         "Prints the records of FILE... (default: standard input) not seen before.\n"
         "\n"
         "  SPEC    WINDOW [NAME=VALUE]...\n"
         "  WINDOW  landmark[:N|:SPAN] jumping:N/Q jumping:SPAN/Q sliding:N sliding:SPAN\n"
         "  N       records (1e6)    SPAN  20ms 90s 5m 1h 1d 1w    SIZE  64KiB 64MiB 2GiB\n"
         "  time    2020-11-06T18:10:51.5+01:00 (no offset: UTC), or since 1970: seconds,\n"
         "          if it has more than 11 digits ms, if more than 14 us");
    print_options(all_rows());
}

/* -- values --------------------------------------------------------------------------------------
 */

static char byte_of(const char *text) {
    const char *escapes[] = {"\\t", "\\0", "\\\\", "tab"}, bytes[] = {'\t', '\0', '\\', '\t'};
    for (size_t i = 0; i < 4; i++)
        if (!strcmp(text, escapes[i])) return bytes[i];
    if (strlen(text) != 1) die("-d takes one byte, such as , or ; or \\t, not '%s'", text);
    if (strchr("\n\r\"", text[0])) die("-d cannot be a line end or a double quote");
    return text[0];
}

static uint32_t record_size(const char *text) {
    struct seen_error e;
    uint64_t size;
    if (seen_parse_size(&size, text, &e)) die("--max-record %s: %s", text, e.text);
    if (size > MAX_RECORD) die("--max-record %s is more than 1GiB", text);
    return (uint32_t)size;
}

static enum report report_of(const char *format) {
    if (!format || !strcmp(format, "text")) return REPORT_TEXT;
    if (strcmp(format, "json")) die("--stats=%s: it is text or json", format);
    return REPORT_JSON;
}

static void compile(struct settings *s) {
    char why[128];
    if (!s->landmark_on) return;
    int code = regcomp(&s->pattern, s->landmark_on, REG_EXTENDED);
    if (!code) return;
    regerror(code, &s->pattern, why, sizeof why);
    die("--landmark-on '%s' is no regular expression: %s", s->landmark_on, why);
}

/* -- the spec ------------------------------------------------------------------------------------
 */

struct asked {
    const char *window, *zone, *delimiter;
    struct {
        const char *name, *value;
    } set[MAX_ENGINE];
    size_t n;
};

/* The sentence, then the spec with a mark under the place it is about. */
_Noreturn static void refuse_spec(const char *text, const struct seen_error *e) {
    warn("%s", e->text);
    if (e->where > 0) fprintf(stderr, "  %s\n  %*s^\n", text, (int)e->where - 1, "");
    exit(EXIT_TROUBLE);
}

static size_t option_index(const char *name) {
    size_t n, i = 0;
    const struct seen_option *table = seen_options(&n);
    while (i < n && strcmp(table[i].name, name)) i++;
    return i;
}

/* A day of that zone has 23, 24 or 25 hours, so the engine gets landmarks instead of a length. */
static void take_zone(struct settings *s, struct seen_spec *spec, const char *zone) {
    const uint64_t day = UINT64_C(86400000000);
    bool days = spec->window == SEEN_LANDMARK && spec->unit == SEEN_MICROSECONDS;
    if (!days || (spec->length != day && spec->length != 7 * day))
        die("--zone serves landmark:1d and landmark:1w, whose days begin at midnight there");
    if (!time_set_zone(zone)) die("the time zone '%s' is not known on this machine", zone);
    s->zone = spec->length == day ? ZONE_DAY : ZONE_WEEK;
    s->zone_name = zone;
    uint64_t rate = UINT64_C(1) << option_index("rate"), items = UINT64_C(1)
                                                                 << option_index("items");
    if ((spec->set & rate) && !(spec->set & items)) {
        spec->items = (uint64_t)(spec->rate * (double)(spec->length / 1000000 + 3600)) + 1;
        spec->set |= items;
    }
    spec->set &= ~rate;
    spec->rate = 0;
    seen_spec_set(spec, "window", "landmark", NULL);
}

static void make_plan(struct settings *s, const struct asked *asked) {
    const char *text = asked->window ? asked->window : "landmark";
    struct seen_error e;
    struct seen_spec spec;
    char printed[512];
    if (seen_spec_parse(&spec, text, &e)) refuse_spec(text, &e);
    for (size_t i = 0; i < asked->n; i++)
        if (seen_spec_set(&spec, asked->set[i].name, asked->set[i].value, &e))
            die("--%s %s: %s", asked->set[i].name, asked->set[i].value, e.text);
    if (asked->zone) take_zone(s, &spec, asked->zone);
    seen_spec_print(&spec, printed, sizeof printed);
    if (seen_plan_make(&s->plan, &spec, &e)) refuse_spec(printed, &e);
}

/* -- options that do not go together -------------------------------------------------------------
 */

static void check(const struct settings *s) {
    bool windows_of_time = s->plan.spec.unit == SEEN_MICROSECONDS || s->zone;
    if (s->time && !windows_of_time)
        die("--time serves windows of time, such as sliding:1h or landmark:1d");
    if (s->landmark_on && s->plan.spec.window != SEEN_LANDMARK)
        die("--landmark-on serves landmark windows");
}

static void set_delimiter(struct settings *s, const char *given) {
    s->delimiter = s->table == TABLE_CSV ? ',' : '\t';
    if (!given) return;
    if (s->table == TABLE_TSV) die("--tsv means TAB between fields; leave out -d, or --tsv");
    s->delimiter = byte_of(given);
}

static void set_table(struct settings *s, enum table table) {
    if (s->table && s->table != table) die("--csv and --tsv exclude each other");
    s->table = table;
}

static void set_mode(struct settings *s, enum sink_mode mode) {
    if (s->mode && s->mode != mode) die("--duplicates and --tag exclude each other");
    s->mode = mode;
}

/* -- reading -------------------------------------------------------------------------------------
 */

static void take(struct settings *s, struct asked *asked, int id, const char *value) {
    switch (id) {
    case WINDOW:
        if (asked->window) die("-w is given twice; a spec is one text: -w '%s ...'", asked->window);
        asked->window = value;
        break;
    case KEYS: s->keys = value; break;
    case DELIMITER: asked->delimiter = value; break;
    case CSV: set_table(s, TABLE_CSV); break;
    case TSV: set_table(s, TABLE_TSV); break;
    case NO_HEADER: s->header = false; break;
    case CRLF: s->crlf = true; break;
    case TIME: s->time = value; break;
    case ZONE: asked->zone = value; break;
    case LANDMARK_ON: s->landmark_on = value; break;
    case MAX_RECORD_OPTION: s->max_record = record_size(value); break;
    case DUPLICATES: set_mode(s, SINK_DUPLICATES); break;
    case TAG: set_mode(s, SINK_TAG); break;
    case STATS: s->report = report_of(value); break;
    case QUIET: s->quiet = true; break;
    case EXIT_CODE: s->exit_code = true; break;
    case STRICT: s->strict = true; break;
    default:
        if (asked->n == MAX_ENGINE) die("more than %d options of the spec", MAX_ENGINE);
        asked->set[asked->n].name = seen_options(&(size_t){0})[id - ENGINE].name;
        asked->set[asked->n++].value = value;
    }
}

bool settings_read(struct settings *s, int argc, char **argv) {
    static char *const standard_input[] = {"-"};
    struct args a = {.argc = argc, .argv = argv, .rows = all_rows()};
    struct asked asked = {0};
    *s = (struct settings){.header = true, .max_record = 16 << 20};
    for (int id; (id = args_next(&a));) {
        if (id == HELP) return print_help(), false;
        if (id == VERSION) return puts("seen " SEEN_VERSION), false;
        take(s, &asked, id, a.value);
    }
    s->header = s->header && s->table;
    set_delimiter(s, asked.delimiter);
    make_plan(s, &asked);
    check(s);
    compile(s);
    s->files = a.at < argc ? argv + a.at : standard_input;
    s->file_count = a.at < argc ? (size_t)(argc - a.at) : 1;
    return true;
}

void settings_free(struct settings *s) {
    if (s->landmark_on) regfree(&s->pattern);
}
