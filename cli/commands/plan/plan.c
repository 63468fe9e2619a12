/* plan.c - `seen plan`. */
#include "commands/plan/plan.h"

#include "base/cli.h"
#include "base/text.h"
#include "commands/plan/sample.h"
#include "judge/window_options.h"
#include "records/run_stats.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double read_universe(const char *text) {
    struct seen_error e;
    uint64_t n = 0;
    char *end;
    if (text[0] == '2' && text[1] == '^') {
        double bits = strtod(text + 2, &end);
        if (!*end && end > text + 2 && bits >= 0 && bits <= 512) return exp2(bits);
        die("--universe %s: give 2^0 to 2^512, or a number of keys", text);
    }
    if (seen_parse_count(text, &n, &e)) die("--universe %s: %s", text, e.text);
    if (!n) die("--universe 0: there has to be a key; give 1 or more");
    return (double)n;
}

bool bounds_take(struct bounds *b, int id, const char *value) {
    if (id == BOUNDS_SHOW) b->shown = true;
    if (id == BOUNDS_UNIVERSE) b->universe = read_universe(value);
    return id == BOUNDS_SHOW || id == BOUNDS_UNIVERSE;
}

void bounds_check(const struct bounds *b) {
    if (b->universe > 0 && !b->shown) die("--universe serves --bounds; give both");
}

/* -- the table ---------------------------------------------------------------------------- */

static void fill(char *cell, double value) {
    if (isnan(value))
        strcpy(cell, "-");
    else
        snprintf(cell, CELL, "%.3g", value);
}

static void fill_row(table_row row, const struct seen_plan *p, const struct seen_bounds *b) {
    const double values[] = {b->bits, b->set, b->dynamic, b->sliding, b->ordered, b->ratio};
    snprintf(row[0], CELL, "%s", p->filter);
    snprintf(row[1], CELL, "%s", p->window);
    snprintf(row[2], CELL, "%.0f", b->keys);
    if (b->keys < 1) strcpy(row[2], "any");
    for (int i = 0; i < 6; i++) fill(row[3 + i], values[i]);
}

void bounds_print(const struct bounds *b, const struct seen_plan *plans, int n) {
    static table_row table[PLANS_MOST + 1] = {
        {"filter", "window", "keys", "bits/key", "set", "dynamic", "sliding", "ordered", "times"}};
    struct seen_bounds each;
    if (!b->shown) return;
    for (int i = 0; i < n; i++) {
        seen_plan_bounds(&plans[i], b->universe, &each);
        fill_row(table[i + 1], &plans[i], &each);
    }
    putchar('\n');
    rows_print((const table_row *)table, n + 1);
    puts(
        "\nbits/key: memory over keys; then lower bounds in bits a key, with L = log2(1/fp full):\n"
        "set: L, or an exact set out of all keys there can be (--universe)\n"
        "dynamic: L + log2 e, keys come and go in any order (Kuszmaul, Walzer 2024)\n"
        "sliding: L + max(log2(n/m), log2 L) less O(1), n keys kept for up to m more (Naor, Yogev "
        "2013)\n"
        "ordered: (n - fp U) log2(n - fp U) / n, U keys there can be (INFOCOM 2013, Theorem 3)\n"
        "times: bits/key over the greatest of set, sliding and ordered; -: says nothing here");
}

/* -- JSON --------------------------------------------------------------------------------- */

static int put(char *at, size_t cap, const char *name, double value) {
    if (isnan(value)) return snprintf(at, cap, "\"%s\": null, ", name);
    return snprintf(at, cap, "\"%s\": %.9g, ", name, value);
}

const char *bounds_json(const struct bounds *b, const struct seen_plan *p) {
    static char text[512];
    struct seen_bounds each;
    int n = 0, cap = sizeof text;
    if (!b->shown) return "";
    seen_plan_bounds(p, b->universe, &each);
    const struct {
        const char *name;
        double value;
    } members[] = {
        {"keys", each.keys < 1 ? NAN : each.keys},
        {"universe", each.universe},
        {"bits", each.bits},
        {"set", each.set},
        {"dynamic", each.dynamic},
        {"sliding", each.sliding},
        {"ordered", each.ordered},
        {"times", each.ratio},
    };
    n += snprintf(text, sizeof text, "\"bounds\": {");
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        n += put(text + n, (size_t)(cap - n), members[i].name, members[i].value);
    snprintf(text + n - 2, (size_t)(cap - n + 2), "}, ");
    return text;
}

void rows_memory(const struct seen_plan *p, char cell[CELL]) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
    int i = 0;
    double value = (double)p->bytes;
    if (seen_print_size(p->bytes, cell, CELL) > 6) {
        for (; value >= 1000 && i < 3; i++) value /= 1024;
        snprintf(cell, CELL, value < 1000 ? "%.3g%s" : "%.0f%s", value, units[i]);
    }
    if (p->traits & SEEN_GROWS) strncat(cell, "+", CELL - strlen(cell) - 1);
}

void rows_print(const table_row *table, int n) {
    int width[COLUMNS] = {0};
    for (int i = 0; i < n; i++)
        for (int c = 0; c < COLUMNS; c++)
            if ((int)strlen(table[i][c]) > width[c]) width[c] = (int)strlen(table[i][c]);
    for (int i = 0; i < n; i++) {
        putchar(i == 1 ? '*' : ' ');
        printf(" %-*s  %-*s", width[0], table[i][0], width[1], table[i][1]);
        for (int c = 2; c < COLUMNS; c++) printf("  %*s", width[c], table[i][c]);
        putchar('\n');
    }
}

void rows_json_text(const char *name, const char *text) {
    printf("\"%s\": ", name);
    json_print_text(stdout, text);
}

void rows_json_plan(const struct seen_plan *p, const char *more, bool chosen) {
    char spec[MAX_SPEC];
    seen_spec_print(&p->spec, spec, sizeof spec);
    printf("    {");
    rows_json_text("filter", p->filter), printf(", ");
    rows_json_text("window", p->window), printf(", ");
    rows_json_text("spec", spec), printf(", ");
    printf("\"bytes\": %" PRIu64 ", \"grows\": %s, \"capacity\": ", p->bytes,
           p->traits & SEEN_GROWS ? "true" : "false");
    if (p->capacity)
        printf("%" PRIu64, p->capacity);
    else
        printf("null");
    printf(
        ", \"fp_full\": %.9g, \"fp_mean\": %.9g, \"fn\": %.9g, \"slack\": %.9g, \"lines\": %.9g, ",
        p->fp_full, p->fp_mean, p->fn, p->slack, p->touches);
    printf("%s", more);
    if (chosen) rows_json_text("reason", p->reason), printf(", ");
    printf("\"chosen\": %s}", chosen ? "true" : "false");
}

enum { OPT_WINDOW = 1, OPT_OUTPUT, OPT_JSON, OPT_STATS };

static const struct option_row own_rows[] = {
    {"window", 'w', "SPEC", "the spec, as seen takes it", OPT_WINDOW},
    {"output", 'o', "text|json", "a table to read, or an object for a program", OPT_OUTPUT},
    {"json", 0, NULL, NULL, OPT_JSON},
    BOUNDS_ROWS,
    ACCOUNT_ROW(OPT_STATS, "how many plans were made or records read, how fast"),
    SAMPLE_ROWS,
    HELP_ROWS,
    {"The same as in SPEC, and stronger", 0, NULL, NULL, 0},
};

/* -- the spec ----------------------------------------------------------------------------- */

/* Several arguments are one spec, as if they had been quoted together. */
static void append(char *spec, const char *part) {
    size_t used = strlen(spec), n = strlen(part);
    if (used + n + 2 > MAX_SPEC) die("the spec is longer than %d characters", MAX_SPEC - 2);
    if (used) spec[used++] = ' ';
    memcpy(spec + used, part, n + 1);
}

static int read_plans(struct seen_plan *plans, const struct window_options *a) {
    struct seen_error e;
    struct seen_spec spec;
    char text[MAX_SPEC];
    window_spec(a, 0, &spec);
    int n = seen_plan_all(&spec, plans, PLANS_MOST, &e);
    if (n >= 0) return n;
    seen_spec_print(&spec, text, sizeof text);
    die_at(a->n ? text : a->spec[0], e.where, e.text);
}

/* -- the table ---------------------------------------------------------------------------- */

static void fill_plan_row(table_row row, const struct seen_plan *p) {
    snprintf(row[0], CELL, "%s", p->filter);
    snprintf(row[1], CELL, "%s", p->window);
    rows_memory(p, row[2]);
    snprintf(row[3], CELL, "%.2g", p->fp_full);
    snprintf(row[4], CELL, "%.2g", p->fp_mean);
    snprintf(row[5], CELL, "%.2g", p->fn);
    snprintf(row[6], CELL, "%.3g%%", p->slack * 100);
    snprintf(row[7], CELL, "%" PRIu64, p->capacity);
    if (!p->capacity) strcpy(row[7], "any");
    snprintf(row[8], CELL, "%.3g", p->touches);
}

static void print_table(const struct seen_plan *plans, int n) {
    static table_row table[PLANS_MOST + 1] = {
        {"filter", "window", "memory", "fp full", "fp mean", "fn", "slack", "capacity", "lines"}};
    bool grows = false;
    for (int i = 0; i < n; i++) {
        fill_plan_row(table[i + 1], &plans[i]);
        grows |= plans[i].traits & SEEN_GROWS;
    }
    rows_print((const table_row *)table, n + 1);
    puts(
        "\nfp, fn: predicted rates of false positives (window full, and on average) and negatives\n"
        "capacity: distinct keys in a window; lines: cache lines touched a record");
    if (grows) puts("+: grows as it fills; shown for the keys that the spec says a window holds");
}

static void print_choice(const struct seen_plan *p) {
    char spec[MAX_SPEC];
    seen_spec_print(&p->spec, spec, sizeof spec);
    printf("\n* %s: %s\n  seen -w '%s'\n", p->filter, p->reason, spec);
}

/* -- JSON --------------------------------------------------------------------------------- */

static void print_json(const struct seen_plan *plans, int n, const struct bounds *bounds) {
    char asked[MAX_SPEC];
    seen_spec_print(&plans[0].asked, asked, sizeof asked);
    printf("{\n  ");
    rows_json_text("asked", asked);
    printf(",\n  \"plans\": [\n");
    for (int i = 0; i < n; i++) {
        rows_json_plan(&plans[i], bounds_json(bounds, &plans[i]), i == 0);
        puts(i + 1 < n ? "," : "");
    }
    printf("  ]\n}\n");
}

/* ---------------------------------------------------------------------------------------------- */

static const struct option_row *rows(void) {
    return window_rows(own_rows, sizeof own_rows / sizeof *own_rows);
}

static void print_text(const struct seen_plan *plans, int n, const struct bounds *bounds) {
    print_table(plans, n);
    bounds_print(bounds, plans, n);
    print_choice(plans);
}

static int plan_main(int argc, char **argv) {
    static struct seen_plan plans[PLANS_MOST];
    static struct window_options window;
    static struct sample sample;
    struct run_stats stats = {0};
    char spec[MAX_SPEC] = "";
    bool json = false;
    struct bounds bounds = {0};
    struct args args = {.argc = argc, .argv = argv, .command = &plan_command};
    sample_init(&sample);
    for (int id; (id = args_next(&args));) {
        if (window_take(&window, id, args.value)) continue;
        if (sample_take(&sample, id, args.row->name, args.value)) continue;
        if (bounds_take(&bounds, id, args.value)) continue;
        if (id == OPT_WINDOW) append(spec, args.value);
        if (id == OPT_OUTPUT) json = option_is_json(args.value);
        json |= id == OPT_JSON;
        if (id == OPT_STATS) run_stats_take(&stats, args.value);
    }
    run_stats_begin(&stats);
    for (int i = args.at; i < argc; i++) append(spec, argv[i]);
    window.spec[window.specs++] = *spec ? spec : "landmark";
    bounds_check(&bounds);
    if (sample_is_given(&sample)) {
        if (bounds.shown) die_both("--bounds", "--sample");
        int code = sample_run(&sample, &window, json);
        run_stats_print(&stats, &sample.reader.unjudged);
        return code;
    }
    int n = read_plans(plans, &window);
    if (json)
        print_json(plans, n, &bounds);
    else
        print_text(plans, n, &bounds);
    run_stats_print_work(&stats, "plans", (uint64_t)n);
    return EXIT_FINE;
}

static const struct example examples[] = {
    {"seen plan 'sliding:1h rate=500'", "the last hour at 500 records a second"},
    {"seen plan landmark:1e6 fp=1e-6", "a million records, one in 10^6 wrong"},
    {"seen plan 'landmark mem=16MiB items=1e7'", "which error that memory buys"},
    {"seen plan --bounds 'sliding:1e6 fp=1e-4'",
     "bits a key beside what no structure can go below"},
    {"seen plan -o json 'jumping:1d/24 rate=50'", "the same for a program"},
    {"seen plan 'decaying mem=1MiB fp=1%' --csv -k user --sample clicks.csv",
     "what forgets least of a stream like this"},
    {0},
};

const struct command plan_command = {
    .name = "plan",
    .run = plan_main,
    .help = "what a spec costs and promises, before any data",
    .usage = "[OPTION]... SPEC...",
    .about =
        "Shows the structures that could serve SPEC: memory, predicted errors, and, marked with "
        "a star, the one that would be taken.\n\n"
        "Nothing is allocated, and nothing but `--sample` is read. Under the table stands the "
        "chosen plan as a "
        "spec in which nothing is left open, to be pasted behind `-w`. Two of `fp=`, `mem=` and "
        "`items=` (or `rate=` times the window) decide the third; three that cannot all hold "
        "are refused, and the sentence says what would do. An option of SPEC may also be given as "
        "one "
        "of the command line: `--fp` 1e-6.\n\n"
        "`--bounds` adds a table with the bits that each plan takes for a key, and what theorems "
        "say that any structure of such errors must take: one for sets, one for sets whose keys "
        "come and go, one for windows that may be kept a little too long, and one for windows that "
        "tell the order of keys. The last says nothing unless the false-positive rate is below the "
        "keys of a window over all keys there can be, `--universe`.\n\n"
        "What a decaying window misses depends on how far apart the repeats of a stream are. With "
        "`--sample` FILE these gaps are learnt from FILE, a part of the stream, whose keys the "
        "options of records describe. Each structure is then planned with the geometry that misses "
        "the fewest repeats, and the predicted rates are those of a stream that goes on like FILE. "
        "The columns `run` are for a run over as many records as FILE has, beginning empty: `seen "
        "compare` on the next part of the stream measures them. Keys that do not fit into "
        "`--sample-mem` are sampled, which the output says.",
    .examples = examples,
    .rows = rows,
    .often = "output sample fp mem items",
};
