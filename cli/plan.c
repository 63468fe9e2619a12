/* plan.c - seen plan: what a spec would become, before it runs.
 *
 * Every structure that could serve the spec, with the memory it takes and the errors it is
 * predicted to make, side by side; the one that `seen` would take comes first, with the reason, and
 * as a spec in which nothing is left open, to be pasted behind -w. */
#include "judge/asked.h"
#include "print.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "seen.h"

enum { PLANS_MOST = 64, SPEC_MOST = 4096, CELL = 32, COLUMNS = 9 };
enum { OPT_WINDOW = 1, OPT_OUTPUT, OPT_JSON };

static const struct option_row own_rows[] = {
    {"window", 'w', "SPEC", "the spec, as seen takes it", OPT_WINDOW},
    {"output", 'o', "text|json", "a table to read, or an object for a program", OPT_OUTPUT},
    {"json", 0, NULL, NULL, OPT_JSON},
    HELP_ROWS,
    {"The same as in SPEC, and stronger", 0, NULL, NULL, 0},
};

/* -- the spec ----------------------------------------------------------------------------- */

/* Several arguments are one spec, as if they had been quoted together. */
static void append(char *spec, const char *part) {
    size_t used = strlen(spec), n = strlen(part);
    if (used + n + 2 > SPEC_MOST) die("the spec is longer than %d characters", SPEC_MOST - 2);
    if (used) spec[used++] = ' ';
    memcpy(spec + used, part, n + 1);
}

static int read_plans(struct seen_plan *plans, const struct asked *a) {
    struct seen_error e;
    struct seen_spec spec;
    char text[SPEC_MOST];
    asked_spec(a, 0, &spec);
    int n = seen_plan_all(plans, PLANS_MOST, &spec, &e);
    if (n >= 0) return n;
    seen_spec_print(&spec, text, sizeof text);
    die_at(a->n ? text : a->spec[0], e.where, e.text);
}

/* -- the table ---------------------------------------------------------------------------- */

typedef char table_row[COLUMNS][CELL];

/* Exact where that is short, else to three digits. */
static void print_memory(const struct seen_plan *p, char *cell) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
    int i = 0;
    double value = (double)p->bytes;
    if (seen_print_size(p->bytes, cell, CELL) > 6) {
        for (; value >= 1000 && i < 3; i++) value /= 1024;
        snprintf(cell, CELL, value < 1000 ? "%.3g%s" : "%.0f%s", value, units[i]);
    }
    if (p->traits & SEEN_GROWS) strncat(cell, "+", CELL - strlen(cell) - 1);
}

static void fill_row(table_row row, const struct seen_plan *p) {
    snprintf(row[0], CELL, "%s", p->filter);
    snprintf(row[1], CELL, "%s", p->window);
    print_memory(p, row[2]);
    snprintf(row[3], CELL, "%.2g", p->fp_full);
    snprintf(row[4], CELL, "%.2g", p->fp_mean);
    snprintf(row[5], CELL, "%.2g", p->fn);
    snprintf(row[6], CELL, "%.3g%%", p->slack * 100);
    snprintf(row[7], CELL, "%" PRIu64, p->capacity);
    if (!p->capacity) strcpy(row[7], "any");
    snprintf(row[8], CELL, "%.3g", p->touches);
}

/* Names to the left, figures to the right, two blanks between. */
static void print_rows(const table_row *table, int n) {
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

static void print_table(const struct seen_plan *plans, int n) {
    static table_row table[PLANS_MOST + 1] = {
        {"filter", "window", "memory", "fp full", "fp mean", "fn", "slack", "capacity", "lines"}};
    bool grows = false;
    for (int i = 0; i < n; i++) {
        fill_row(table[i + 1], &plans[i]);
        grows |= plans[i].traits & SEEN_GROWS;
    }
    print_rows((const table_row *)table, n + 1);
    puts(
        "\nfp, fn: predicted rates of false positives (window full, and on average) and negatives\n"
        "capacity: distinct keys in a window; lines: cache lines touched a record");
    if (grows) puts("+: grows as it fills; shown for the keys that the spec says a window holds");
}

static void print_choice(const struct seen_plan *p) {
    char spec[SPEC_MOST];
    seen_spec_print(&p->spec, spec, sizeof spec);
    printf("\n* %s: %s\n  seen -w '%s'\n", p->filter, p->reason, spec);
}

/* -- JSON --------------------------------------------------------------------------------- */

static void print_string(const char *name, const char *text) {
    printf("\"%s\": ", name);
    print_json_string(stdout, text);
}

static void print_json_plan(const struct seen_plan *p, bool chosen) {
    char spec[SPEC_MOST];
    seen_spec_print(&p->spec, spec, sizeof spec);
    printf("    {");
    print_string("filter", p->filter), printf(", ");
    print_string("window", p->window), printf(", ");
    print_string("spec", spec), printf(", ");
    printf("\"bytes\": %" PRIu64 ", \"grows\": %s, \"capacity\": ", p->bytes,
           p->traits & SEEN_GROWS ? "true" : "false");
    if (p->capacity)
        printf("%" PRIu64, p->capacity);
    else
        printf("null");
    printf(
        ", \"fp_full\": %.9g, \"fp_mean\": %.9g, \"fn\": %.9g, \"slack\": %.9g, \"lines\": %.9g, ",
        p->fp_full, p->fp_mean, p->fn, p->slack, p->touches);
    if (chosen) print_string("reason", p->reason), printf(", ");
    printf("\"chosen\": %s}", chosen ? "true" : "false");
}

static void print_json(const struct seen_plan *plans, int n) {
    char asked[SPEC_MOST];
    seen_spec_print(&plans[0].asked, asked, sizeof asked);
    printf("{\n  ");
    print_string("asked", asked);
    printf(",\n  \"plans\": [\n");
    for (int i = 0; i < n; i++) {
        print_json_plan(&plans[i], i == 0);
        puts(i + 1 < n ? "," : "");
    }
    printf("  ]\n}\n");
}

/* ---------------------------------------------------------------------------------------------- */

static const struct option_row *rows(void) {
    return asked_rows(own_rows, sizeof own_rows / sizeof *own_rows);
}

static int plan_main(int argc, char **argv) {
    static struct seen_plan plans[PLANS_MOST];
    static struct asked asked;
    char spec[SPEC_MOST] = "";
    bool json = false;
    struct args args = {.argc = argc, .argv = argv, .command = &plan_command};
    for (int id; (id = args_next(&args));) {
        if (asked_take(&asked, id, args.value)) continue;
        if (id == OPT_WINDOW) append(spec, args.value);
        if (id == OPT_OUTPUT) json = option_is_json(args.value);
        json |= id == OPT_JSON;
    }
    for (int i = args.at; i < argc; i++) append(spec, argv[i]);
    asked.spec[asked.specs++] = *spec ? spec : "landmark";
    int n = read_plans(plans, &asked);
    if (json)
        print_json(plans, n);
    else
        print_table(plans, n), print_choice(plans);
    return EXIT_FINE;
}

static const struct example examples[] = {
    {"seen plan 'sliding:1h rate=500'", "the last hour at 500 records a second"},
    {"seen plan landmark:1e6 fp=1e-6", "a million records, one in 10^6 wrong"},
    {"seen plan 'landmark mem=16MiB items=1e7'", "which error that memory buys"},
    {"seen plan -o json 'jumping:1d/24 rate=50'", "the same for a program"},
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
        "Nothing is allocated and nothing is read. Under the table stands the chosen plan as a "
        "spec in which nothing is left open, to be pasted behind `-w`. Of `fp=`, `mem=` and "
        "`items=` (or `rate=` times the window) two decide the third; three that cannot all hold "
        "are refused, and the sentence says what would do. An option of SPEC may also be given as "
        "one "
        "of the command line: `--fp` 1e-6.",
    .examples = examples,
    .rows = rows,
    .often = "output fp mem items",
};
