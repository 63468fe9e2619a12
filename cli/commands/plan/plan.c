/* plan.c - `seen plan`: shows what a window costs, before any data. */
#include "commands/plan/plan.h"
#include "records/run_stats.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* -- options ------------------------------------------------------------------------------ */

enum { WINDOW = 1, OUTPUT, JSON, STATS };

static const struct option_row spec_rows[] = {
    {"window", 'w', "SPEC", "the spec, as seen takes it", WINDOW},
    {"output", 'o', "text|json", "a table to read, or an object for a program", OUTPUT},
    {"json", 0, NULL, NULL, JSON},
    {0},
};

static const struct option_row stats_rows[] = {
    {"stats", 0, "[=text|json]", "how many plans were made or records read, how fast, on stderr",
     STATS},
    {0},
};

static const struct option_row engine_heading[] = {
    {"The same as in SPEC, and stronger", 0, NULL, NULL, 0},
    {0},
};

static struct run {
    struct window_options window;
    struct sample sample;
    struct run_stats stats;
    struct bounds bounds;
    char spec[MAX_SPEC];
    bool json;
} this_run;

static void take(void *options, const struct option_row *row, const char *value);

static const struct option_group groups[] = {
    {spec_rows, take, 0},
    {bounds_rows, bounds_take, offsetof(struct run, bounds)},
    {stats_rows, take, 0},
    {sample_rows, sample_take, offsetof(struct run, sample)},
    {input_key_rows, sample_take_input, offsetof(struct run, sample)},
    {input_format_rows, sample_take_input, offsetof(struct run, sample)},
    {input_quiet_rows, sample_take_input, offsetof(struct run, sample)},
    {input_strict_rows, sample_take_input, offsetof(struct run, sample)},
    {help_rows, NULL, 0},
    {engine_heading, NULL, 0},
    {window_engine_rows, window_take_engine, offsetof(struct run, window)},
    {0},
};

static void begin(void) { sample_init(&this_run.sample); }

/* -- the spec ----------------------------------------------------------------------------- */

/* Several arguments are one spec, as if they had been quoted together. */
static void append(char *spec, const char *part) {
    size_t used = strlen(spec), n = strlen(part);
    if (used + n + 2 > MAX_SPEC) die("the spec is longer than %d characters", MAX_SPEC - 2);
    if (used) spec[used++] = ' ';
    memcpy(spec + used, part, n + 1);
}

static void take(void *options, const struct option_row *row, const char *value) {
    struct run *r = options;
    switch (row->id) {
    case WINDOW: append(r->spec, value); break;
    case OUTPUT: r->json = option_is_json(value); break;
    case JSON: r->json = true; break;
    case STATS: run_stats_take(&r->stats, value); break;
    }
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
    static table_row table[MAX_PLANS + 1] = {
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

/* -- JSON --------------------------------------------------------------------------------- */

static void print_json(const struct seen_plan *plans, int n, const struct bounds *bounds) {
    struct json j;
    rows_json_begin(&j, &plans[0].asked);
    json_line(&j, 2);
    json_open(&j, "plans", '[');
    for (int i = 0; i < n; i++) {
        rows_json_plan(&j, &plans[i]);
        bounds_json(bounds, &plans[i], &j);
        rows_json_plan_end(&j, &plans[i], i == 0);
    }
    rows_json_end(&j);
}

/* -- the run ------------------------------------------------------------------------------ */

static int plan_main(const struct args *args) {
    static struct seen_plan plans[MAX_PLANS];
    struct run *r = &this_run;
    run_stats_begin(&r->stats);
    for (size_t i = 0; i < args->operands; i++) append(r->spec, args->operand[i]);
    r->window.spec[r->window.specs++] = *r->spec ? r->spec : "landmark";
    bounds_check(&r->bounds);
    if (sample_is_given(&r->sample)) {
        if (r->bounds.shown) die_both("--bounds", "--sample");
        int code = sample_run(&r->sample, &r->window, r->json);
        run_stats_print(&r->stats, &r->sample.reader.unjudged);
        return code;
    }
    struct seen_error e;
    struct seen_spec asked;
    window_spec(&r->window, 0, &asked);
    int n = seen_plan_all(&asked, plans, MAX_PLANS, &e);
    if (n < 0) {
        char text[MAX_SPEC];
        seen_spec_print(&asked, text, sizeof text);
        die_at(r->window.n ? text : r->window.spec[0], e.where, e.text);
    }
    if (r->json) {
        print_json(plans, n, &r->bounds);
    } else {
        char spec[MAX_SPEC];
        print_table(plans, n);
        bounds_print(&r->bounds, plans, n);
        seen_spec_print(&plans->spec, spec, sizeof spec);
        printf("\n* %s: %s\n  seen -w '%s'\n", plans->filter, plans->reason, spec);
    }
    run_stats_print_work(&r->stats, "plans", (uint64_t)n);
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
        "Nothing is allocated, and no file but that of `--sample` is read. Below the table the "
        "chosen plan is printed as a complete spec, to be pasted behind `-w`. Two of `fp=`, "
        "`mem=` and `items=` (or `rate=` times the window) decide the third. Three that cannot "
        "all hold are refused, and the message says what would hold. An option of SPEC may also "
        "be given on the command line: `--fp` 1e-6.\n\n"
        "`--bounds` adds a table with the bits that each plan takes for a key, and lower bounds "
        "that theorems give for any structure with such errors: one for sets, one for sets "
        "whose keys come and go, one for windows that may be kept a little too long, and one "
        "for windows that give the order of keys. The last bound is empty unless the "
        "false-positive rate is below the keys of a window over all possible keys, "
        "`--universe`.\n\n"
        "What a decaying window misses depends on how far apart the repeats of a stream are. "
        "With `--sample` FILE these gaps are learnt from FILE, a part of the stream; the "
        "options of records describe its keys. Each structure is then planned with the geometry "
        "that misses the fewest repeats, and the predicted rates are those of a stream that "
        "goes on like FILE. The columns `run` are for a run over as many records as FILE has, "
        "which begins empty: `seen compare` on the next part of the stream measures them. Keys "
        "that do not fit into `--sample-mem` are sampled, and the output says so.",
    .examples = examples,
    .groups = groups,
    .options = &this_run,
    .begin = begin,
    .often = "output sample fp mem items",
};
