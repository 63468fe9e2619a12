/* diff.c - `seen diff LEFT RIGHT`: prints the keys that two inputs do not have equally often.
 *
 * This is the reconciliation of Metwally, Agrawal and El Abbadi (2005).  Advertiser and publisher
 * each keep a log of the same clicks and want to know where the logs differ.  One table counts the
 * keys of both inputs (tally.c).  It writes to disk what memory does not hold, so the answer is
 * exact for inputs of any size.  With a tolerance the table also keeps the times of each key, and
 * records of a key are matched one to one (rows.c). */
#include "commands/diff/diff.h"
#include "judge/window_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* clang-format off */
enum {
    LEFT_KEY = 1, RIGHT_KEY, SUM, LEFT_SUM, RIGHT_SUM, TOLERANCE, TIME, LEFT_TIME, RIGHT_TIME,
    TIME_FORMAT, ZONE, LEFT_ZONE, RIGHT_ZONE, ONLY, OUTPUT, STATS, EXIT_CODE, MEM, TMP
};
/* clang-format on */

static const struct option_row own_rows[] = {
    {"left-key", 0, "LIST", "the same for LEFT alone, instead of -k", LEFT_KEY},
    {"right-key", 0, "LIST", "the same for RIGHT alone", RIGHT_KEY},
    {"Comparison (default: how often each key comes)", 0, NULL, NULL, 0},
    {"sum", 0, "FIELD", "compare the sums of that field as well, a decimal amount", SUM},
    {"left-sum", 0, "FIELD", "the same for LEFT alone", LEFT_SUM},
    {"right-sum", 0, "FIELD", "the same for RIGHT alone", RIGHT_SUM},
    {"tolerance", 0, "SPAN", "two records match if their times differ by at most SPAN", TOLERANCE},
    {"time", 0, "FIELD", "when a record happened, for --tolerance", TIME},
    {"left-time", 0, "FIELD", "the same for LEFT alone", LEFT_TIME},
    {"right-time", 0, "FIELD", "the same for RIGHT alone", RIGHT_TIME},
    {"time-format", 0, "FORMAT", "how times are written (strptime(3)): '%d/%b/%Y %T %z'",
     TIME_FORMAT},
    {"zone", 0, "ZONE", "where times without an offset are (default: UTC)", ZONE},
    {"left-zone", 0, "ZONE", "the same for LEFT alone", LEFT_ZONE},
    {"right-zone", 0, "ZONE", "the same for RIGHT alone", RIGHT_ZONE},
    {"Output (default: a table, TAB between columns; CSV with --csv)", 0, NULL, NULL, 0},
    {"only", 0, "left|right|both", "only keys of that side alone; both: of both sides", ONLY},
    {"output", 'o', "text|csv|json", "json: an object a line", OUTPUT},
    {"stats", 0, "[=text|json]", "an totals of both sides, on stderr", STATS},
    {"exit-code", 0, NULL, "exit 1 if a row was printed, as diff(1) does", EXIT_CODE},
    {"Memory", 0, NULL, NULL, 0},
    {"mem", 0, "SIZE", "most memory for counting (default: 64MiB)", MEM},
    {"tmp", 0, "FOLDER", "for what memory does not hold (default: $TMPDIR or /tmp)", TMP},
    {0},
};

enum only { ONLY_ALL, ONLY_LEFT, ONLY_RIGHT, ONLY_BOTH };

struct run {
    struct input_options input; /* what both sides share */
    struct side side[2];
    const char *key[2], *sum[2], *time[2], *zone[2]; /* of one side alone, or NULL */
    const char *sum_of_all, *zone_of_all, *time_format_given;
    struct time_format time_format;
    uint64_t tolerance, mem;
    bool tolerant, json_stats, stats, exit_code;
    enum only only;
    const char *output, *tmp;
    struct tally tally;
    struct rows rows;
    struct totals totals;
    uint64_t printed;
};

static struct run this_run;

/* -- options ------------------------------------------------------------------------------ */

static void take(void *options, const struct option_row *row, const char *value) {
    struct run *r = options;
    switch (row->id) {
    case LEFT_KEY: r->key[LEFT] = value; break;
    case RIGHT_KEY: r->key[RIGHT] = value; break;
    case SUM: r->sum_of_all = value; break;
    case LEFT_SUM: r->sum[LEFT] = value; break;
    case RIGHT_SUM: r->sum[RIGHT] = value; break;
    case TOLERANCE:
        r->tolerance = strcmp(value, "0") ? option_span("--tolerance", value) : 0;
        r->tolerant = true;
        break;
    case TIME: r->input.time = value; break;
    case LEFT_TIME: r->time[LEFT] = value; break;
    case RIGHT_TIME: r->time[RIGHT] = value; break;
    case ZONE: r->zone_of_all = value; break;
    case LEFT_ZONE: r->zone[LEFT] = value; break;
    case RIGHT_ZONE: r->zone[RIGHT] = value; break;
    case TIME_FORMAT: r->time_format_given = value; break;
    case ONLY: r->only = *value == 'l' ? ONLY_LEFT : *value == 'r' ? ONLY_RIGHT : ONLY_BOTH; break;
    case OUTPUT: r->output = value; break;
    case STATS: r->stats = true, r->json_stats = value && option_is_json(value); break;
    case EXIT_CODE: r->exit_code = true; break;
    case MEM:
        r->mem = option_size("--mem", value);
        if (r->mem < MIN_TALLY) die("--mem %s is too little: the least is 1MiB", value);
        break;
    case TMP: r->tmp = value; break;
    }
}

/* Dies if only one side has a field that both sides need. */
static void check_both(const char *const of[2], const char *all, const char *name) {
    if (!all && !of[LEFT] != !of[RIGHT])
        die("--%s-%s needs --%s-%s, or --%s for both sides", of[LEFT] ? "left" : "right", name,
            of[LEFT] ? "right" : "left", name, !strcmp(name, "key") ? "keys" : name);
}

static void check(struct run *r) {
    bool of_one = r->time[LEFT] || r->time[RIGHT];
    if (r->input.shape == SHAPE_CLF && r->tolerant && !of_one && !r->input.time)
        r->input.time = "time";
    bool timed = r->input.time || of_one;
    check_both(r->key, r->input.keys, "key");
    check_both(r->sum, r->sum_of_all, "sum");
    check_both(r->time, r->input.time, "time");
    check_both(r->zone, r->zone_of_all, "zone");
    if (r->tolerant && !timed) die("--tolerance needs the field that holds the time: --time FIELD");
    if (timed && !r->tolerant)
        die("--time serves --tolerance SPAN, the most by which the times of a match differ");
    if (r->time_format_given && !timed)
        die("--time-format says how the field of --time is written");
    if ((r->zone_of_all || r->zone[LEFT]) && !timed)
        die("--zone says where the times of --time are that carry no offset");
    bool keyed = r->input.keys || r->key[LEFT];
    if (!keyed && (r->tolerant || r->sum_of_all || r->sum[LEFT]))
        die("without -k the whole record is the key, with its %s; name the key's fields with -k",
            r->tolerant ? "time" : "amount");
}

/* Fills in the options of both sides, once all options are known. */
static void settle(struct run *r, char **operand, size_t n) {
    if (n != 2)
        die("diff compares two inputs, and %s: seen diff LEFT RIGHT (- is standard input)",
            n == 0   ? "none is named"
            : n == 1 ? "only one is named"
                     : "more than two are named");
    if (!strcmp(operand[0], "-") && !strcmp(operand[1], "-"))
        die("both inputs are standard input; name a file for one of them");
    for (int i = LEFT; i <= RIGHT; i++) {
        if (strcmp(operand[i], "-") != 0 && access(operand[i], R_OK))
            die("cannot open %s: %s", operand[i], file_trouble(errno));
        struct side *s = &r->side[i];
        s->input = r->input;
        s->input.files = operand + i;
        s->input.file_count = 1;
        if (r->key[i]) s->input.keys = r->key[i];
        if (r->time[i]) s->input.time = r->time[i];
        if (!r->zone[i]) r->zone[i] = r->zone_of_all;
        s->sum = r->sum[i] ? r->sum[i] : r->sum_of_all;
        s->timed = r->tolerant;
        s->which = i;
        s->tally = &r->tally;
    }
}

static const struct option_group groups[] = {
    {input_key_rows, input_options_take, offsetof(struct run, input)},
    {input_format_rows, input_options_take, offsetof(struct run, input)},
    {own_rows, take, 0},
    {input_thread_rows, input_options_take, offsetof(struct run, input)},
    {input_quiet_rows, input_options_take, offsetof(struct run, input)},
    {input_strict_rows, input_options_take, offsetof(struct run, input)},
    {help_rows, NULL, 0},
    {0},
};

static void begin(void) {
    input_options_init(&this_run.input);
    this_run.mem = 64 << 20;
}

static void settle_options(struct run *r, const struct args *a) {
    check(r);
    input_options_files(&r->input, a);
    r->rows.format = r->output                     ? (*r->output == 'c'   ? ROWS_CSV
                                                      : *r->output == 'j' ? ROWS_JSON
                                                                          : ROWS_TEXT)
                     : r->input.shape == SHAPE_CSV ? ROWS_CSV
                                                   : ROWS_TEXT;
    r->rows.delimiter = r->input.shape == SHAPE_CSV ? r->input.delimiter : ',';
    if (r->time_format_given) {
        time_format_init(&r->time_format, r->time_format_given);
        r->input.time_format = &r->time_format;
    }
    settle(r, a->operand, a->operands);
    if (!r->tmp) r->tmp = getenv("TMPDIR");
    if (!r->tmp || !*r->tmp) r->tmp = "/tmp";
}

/* -- a run -------------------------------------------------------------------------------- */

static void on_resolved(void *ctx, struct side *s) {
    const struct run *r = ctx;
    const struct side *l = &r->side[LEFT];
    if (s->which == LEFT || !l->resolved || l->fields == s->fields) return;
    if (l->fields == PARTS_VARY || s->fields == PARTS_VARY)
        die("the key has a fixed number of fields in one input and any number in the other: name "
            "the last field, as in -k 2-4");
    die("the key has %jd field%s in %s and %jd in %s: name as many on both sides",
        (intmax_t)l->fields, l->fields == 1 ? "" : "s", side_name(l), (intmax_t)s->fields,
        side_name(s));
}

static bool shown(const struct run *r, const struct pair *p) {
    const uint64_t *n = p->entry.n;
    bool left = n[LEFT], right = n[RIGHT];
    switch (r->only) {
    case ONLY_LEFT: return !right;
    case ONLY_RIGHT: return !left;
    case ONLY_BOTH: return left && right;
    default: return true;
    }
}

static void compare(struct run *r) {
    struct pairs pairs;
    struct pair pair;
    tally_end(&r->tally);
    /* Columns have the names of the left side, unless it has no first line. */
    const struct side *l = &r->side[LEFT], *named = l->resolved ? l : &r->side[RIGHT];
    r->rows.columns = side_columns(named);
    r->rows.varies = named->fields == PARTS_VARY;
    r->rows.joint = r->input.blanks ? ' ' : r->input.delimiter;
    r->rows.name = named->name;
    r->rows.matched = r->tolerant;
    r->rows.sums = r->tally.sums;
    r->rows.places = l->places > r->side[RIGHT].places ? l->places : r->side[RIGHT].places;
    if (named->resolved) rows_head(&r->rows);
    pairs_init(&pairs, &r->tally, r->tolerant ? &r->tolerance : NULL);
    while (!signals_stop() && !ferror(stdout) && pairs_next(&pairs, &pair)) {
        totals_add(&r->totals, &pair);
        if (!pair_differs(&pair) || !shown(r, &pair)) continue;
        rows_put(&r->rows, &pair);
        r->printed++;
    }
    pairs_free(&pairs);
}

static int finish(const struct run *r) {
    bool out = r->side[LEFT].left_out || r->side[RIGHT].left_out;
    if (r->json_stats)
        totals_json(&r->totals, r->side, &r->tally);
    else if (r->stats)
        totals_text(&r->totals, r->side, &r->tally);
    bool misread = r->side[LEFT].misread || r->side[RIGHT].misread;
    if (r->input.strict && (out || misread)) return EXIT_TROUBLE;
    if (misread) return EXIT_DEGRADED;
    return r->exit_code && r->printed ? EXIT_FOUND : EXIT_FINE;
}

/* Nothing is printed before both inputs have been read to their ends, because an answer about a
 * part of them would be wrong. */
static int diff_main(const struct args *args) {
    struct run *r = &this_run;
    settle_options(r, args);
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
        die("the system gave no random seed: %s", strerror(errno));
    r->side[LEFT].seed = r->side[RIGHT].seed = seed;
    tally_init(&r->tally, r->mem, r->tmp, r->side[LEFT].sum != NULL, seed);
    bool read = true;
    for (int i = LEFT; i <= RIGHT && read; i++) {
        if (r->zone[i]) window_set_zone(r->zone[i]);
        read = side_read(&r->side[i], on_resolved, r);
    }
    if (read) compare(r);
    int code = read && !signals_stop() ? finish(r) : EXIT_TROUBLE;
    rows_free(&r->rows);
    tally_free(&r->tally);
    for (int i = LEFT; i <= RIGHT; i++) side_free(&r->side[i]);
    time_format_free(&r->time_format);
    if (signals_stop()) fflush(stdout), signals_die(signals_stop());
    return code;
}

static const struct example examples[] = {
    {"seen diff a.txt b.txt", "lines that one has more often"},
    {"seen diff --csv -k user,ad a.csv b.csv", "clicks of users on ads"},
    {"seen diff --csv -k id --time when --tolerance 5m a.csv b.csv", "clocks differ by minutes"},
    {"seen diff --tsv --left-key 1 --right-key 4 --no-header --stats clicks.tsv orders.tsv",
     "different columns"},
    {"seen diff --csv -k id --only left clicks.csv <(zcat big.csv.gz)", "what the other lacks"},
    {0},
};

const struct command diff_command = {
    .name = "diff",
    .run = diff_main,
    .help = "keys that one of two logs has and the other lacks, or has less often",
    .usage = "[OPTION]... LEFT RIGHT",
    .about =
        "Prints each key that LEFT and RIGHT do not have equally often, and how often each has "
        "it, sorted by the key's bytes. The answer is exact. `-` is standard input.\n\n"
        "With `--sum` a key is printed as well if the sums of that field differ. Amounts are "
        "decimal numbers and their sums are exact, with at most 18 digits behind the point.\n\n"
        "With `--tolerance` two records of a key match only if their times differ by at most "
        "that span. Each record matches one other at most, and as many as possible match. The "
        "column `matched` says how many do; a key is printed if some do not.\n\n"
        "A record without a readable key or time is left out; an amount that cannot be read "
        "counts as nothing. Messages count both. A table writes TAB, newline, CR, NUL and "
        "backslash in a key as \\t, \\n, \\r, \\0 and \\\\.\n\n"
        "Keys that `--mem` cannot hold are kept in temporary files without a name in `--tmp`: "
        "the inputs may be larger than memory. A key may take a hundredth of `--mem`. If an "
        "input cannot be read to its end, no row is printed.",
    .examples = examples,
    .groups = groups,
    .options = &this_run,
    .begin = begin,
    .often = "keys left-key right-key csv tsv ndjson clf sum tolerance time only output "
             "stats mem",
};
