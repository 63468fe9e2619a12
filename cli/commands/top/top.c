/* top.c - `seen top`: prints the most frequent keys of each window, or with --distinct the keys
 * with the most different partners, such as "IPs with too many cookies".
 *
 * To count cookies and not clicks, a detector judges each pair of key and partner, and only pairs
 * that are new in the window are counted.  So an active cookie counts once a window.  The counters
 * are those of Space-Saving, in fixed memory.  Others count in how many windows a key was printed.
 *
 *     counted - error <= truth <= counted, where error <= N/keep
 *
 * With --distinct, pairs that the detector takes for others are missing.  The error then includes
 * an estimate of these, and bounds the truth on both sides (struct missing in top.h). */
#include "commands/top/top.h"
#include "commands/count/count.h"
#include "records/run_stats.h"

#include <stdlib.h>
#include <string.h>

enum { NUMBER = 1, KEEP, DISTINCT, LEAST, OUTPUT, STATS };

static const struct option_row counting_rows[] = {
    {"Counting", 0, NULL, NULL, 0},
    {"distinct", 0, "FIELD", "count the different values of FIELD for each key", DISTINCT},
    {"number", 'n', "N", "at most N keys a window (default: 10)", NUMBER},
    {"at-least", 0, "N", "only keys that surely came at least N times", LEAST},
    {"keep", 0, "N", "counters; errors are below records/N (default: 10000)", KEEP},
    {0},
};

static const struct option_row output_rows[] = {
    {"Output (default: a table, TAB between columns)", 0, NULL, NULL, 0},
    {"output", 'o', "text|json", "json: an object a line", OUTPUT},
    {"stats", 0, "[=text|json]", "records, how fast, what could not be judged, on stderr", STATS},
    {0},
};

static const struct option_row engine_heading[] = {
    {"The same as in SPEC, of the detector of pairs, and stronger", 0, NULL, NULL, 0},
    {0},
};

struct run {
    struct count_run run;
    struct partners partners;
    struct counted *spare; /* of a window that ended, for the next one; NULL: none */
    struct shown shown;
    struct name name; /* scratch */
    const char *distinct;
    uint32_t slot; /* of the partner's field */
};

static const struct state_kind kept;

static struct run this_run;

/* -- options ------------------------------------------------------------------------------ */

static void take(void *options, const struct option_row *row, const char *value) {
    struct run *r = options;
    switch (row->id) {
    case NUMBER: r->shown.number = option_count("--number", value); break;
    case KEEP: r->shown.keep = option_count("--keep", value); break;
    case LEAST: r->shown.least = option_count("--at-least", value); break;
    case DISTINCT: r->distinct = value; break;
    case STATS: run_stats_take(&r->run.stats, value); break;
    case OUTPUT: r->shown.listing.json = option_is_json(value); break;
    }
}

static const struct option_group groups[] = {
    {window_spec_rows, window_take, offsetof(struct run, run.window)},
    {input_time_rows, input_options_take, offsetof(struct run, run.input)},
    {window_time_rows, window_take, offsetof(struct run, run.window)},
    {input_key_rows, input_options_take, offsetof(struct run, run.input)},
    {input_format_rows, input_options_take, offsetof(struct run, run.input)},
    {counting_rows, take, 0},
    {windows_rows, windows_take, offsetof(struct run, run.windows)},
    {output_rows, take, 0},
    {input_thread_rows, input_options_take, offsetof(struct run, run.input)},
    {input_quiet_rows, input_options_take, offsetof(struct run, run.input)},
    {input_strict_rows, input_options_take, offsetof(struct run, run.input)},
    {input_reject_rows, input_options_take, offsetof(struct run, run.input)},
    {state_rows, state_take, offsetof(struct run, run.state)},
    {help_rows, NULL, 0},
    {engine_heading, NULL, 0},
    {window_engine_rows, window_take_engine, offsetof(struct run, run.window)},
    {0},
};

static void begin(void) {
    count_run_init(&this_run.run, &kept);
    this_run.shown.number = 10;
    this_run.shown.keep = 10000;
}

/* -- windows ------------------------------------------------------------------------------ */

static const struct seen_plan *plan_of_pairs(const struct run *r) {
    return r->distinct ? &r->partners.plan : NULL;
}

static void *on_begin(void *ctx) {
    struct run *r = ctx;
    struct counted *t = r->spare;
    r->spare = NULL;
    return t ? t : counted_new(r->shown.keep, plan_of_pairs(r));
}

/* With partners, the first part of a jumping window has counted the whole window. */
static void on_end(void *ctx, const struct window *w, size_t n) {
    struct run *r = ctx;
    char from[32];
    struct counted **parts = malloc(n * sizeof *parts);
    if (!parts) die("out of memory for %zu windows", n);
    for (size_t i = 0; i < n; i++) parts[i] = w[i].counts;
    shown_put(&r->shown, windows_from(&r->run.windows, w[0].from, from), parts,
              r->distinct ? 1 : n);
    free(parts);
}

/* The next window uses the memory of this one. */
static void on_drop(void *ctx, void *counts) {
    struct run *r = ctx;
    counted_free(r->spare);
    counted_clear(counts);
    r->spare = counts;
}

static void on_save(const void *ctx, const void *counts, struct blocks_out *out) {
    (void)ctx;
    counted_save(counts, out);
}

static void *on_load(void *ctx, struct blocks_in *in) {
    struct run *r = ctx;
    return counted_load(r->shown.keep, plan_of_pairs(r), in);
}

static const struct windows_events windows = {
    .begin = on_begin, .end = on_end, .drop = on_drop, .save = on_save, .load = on_load};

/* -- records ------------------------------------------------------------------------------ */

static void on_columns(void *ctx, const struct header *header) {
    struct run *r = ctx;
    if (!r->distinct) return;
    r->slot = columns_slot(&r->run.reader.layout, "--distinct", r->distinct, header);
    unjudged_wants(&r->run.reader.unjudged, &r->slot, 1, "--distinct");
}

static void count(struct run *r, struct counted *t, const struct batch *b, size_t m) {
    const struct readable *in = r->run.windows.judge.in;
    size_t i = in->order[m];
    if (t->pairs) {
        const struct slice *f = &b->field[i * r->run.reader.layout.slots + r->slot];
        if (!f->at) return;
        if (!partners_first(&r->partners, t->pairs, in->digest[m], f, in->time[m])) {
            missing_duplicate(&t->missing, in->digest[m]);
            return;
        }
    }
    bool taken;
    size_t c = ranking_add(&t->keys, in->digest[m], &taken);
    if (t->pairs) missing_note(&t->missing, t->pairs, c, taken);
    if (!taken) return;
    name_of_key(&r->name, &r->run.windows.judge.keyer[0], b, i);
    ranking_name(&t->keys, c, &r->name);
}

static void on_batch(void *ctx, struct batch *b, seen_time now) {
    struct run *r = ctx;
    size_t n = count_run_batch(&r->run, b, now);
    for (size_t m = 0; m < n; m++) {
        const struct window *w = windows_find(&r->run.windows, m);
        /* Counts of partners cannot be added.  So each sub-window counts to the end of the jumping
         * window that begins with it. */
        if (w && r->distinct) {
            const struct windows *p = &r->run.windows;
            for (size_t i = 0; i < p->pasts; i++)
                if (p->past[i].number + p->subwindows > w->number)
                    count(r, p->past[i].counts, b, m);
        }
        if (w) count(r, w->counts, b, m);
    }
}

/* -- --state ------------------------------------------------------------------------------ */

static void pack(const void *ctx, struct packer *p) {
    const struct run *r = ctx;
    const struct kept k = {r->run.windows.records, r->run.windows.n, r->shown.ended,
                           r->shown.listing.headed};
    kept_pack(&k, p);
}

static bool unpack(void *ctx, const char *bytes, size_t len) {
    struct run *r = ctx;
    struct kept k;
    if (!kept_unpack(&k, bytes, len)) return false;
    r->shown.ended = k.done;
    r->shown.listing.headed = k.headed && state_goes_on(&r->run.state);
    return true;
}

static void save(const void *ctx, struct blocks_out *out) {
    const struct run *r = ctx;
    ranking_save(&r->shown.windows, out);
    windows_save(&r->run.windows, out);
}

static bool load(void *ctx, struct blocks_in *in) {
    struct run *r = ctx;
    return ranking_load(&r->shown.windows, in) && windows_load(&r->run.windows, in);
}

static const struct state_kind kept = {.command = "top",
                                       .deliver = kept_deliver,
                                       .pack = pack,
                                       .unpack = unpack,
                                       .save = save,
                                       .load = load};

/* -- a run -------------------------------------------------------------------------------- */

static void start(struct run *r) {
    r->run.windows.by_order = r->distinct;
    windows_init(&r->run.windows, &r->run.window, &r->run.input, &r->run.reader.layout,
                 &r->run.state);
    partners_plan(&r->partners, &r->run.window, &r->run.input, r->run.windows.subwindows > 1);
    windows_begin(&r->run.windows, &windows, r,
                  r->distinct ? partners_windows(&r->partners, 400) : 400);
    shown_init(&r->shown);
    r->spare = on_begin(r); /* reports at once that memory is short */
    r->shown.listing.distinct = r->distinct;
    r->shown.listing.delimiter = r->run.input.delimiter;
    count_run_open(&r->run, on_columns, on_batch);
    count_run_resume(&r->run);
}

/* Windows that are open now end in the output, but stay open in the state. */
static int finish(struct run *r, bool read) {
    bool saved = state_end(&r->run.state);
    windows_end(&r->run.windows);
    shown_end(&r->shown);
    if (!r->run.input.quiet) shortfall_tell(&r->shown.short_of, &r->partners.plan, r->shown.keep);
    return count_run_end(&r->run, read && saved, r->run.windows.own_times, "in no row");
}

static int top_main(const struct args *args) {
    struct run *r = &this_run;
    count_run_settle(&r->run, args);
    run_stats_begin(&r->run.stats);
    start(r);
    bool read = reader_run(&r->run.reader);
    int code = finish(r, read);
    counted_free(r->spare);
    shown_free(&r->shown);
    partners_free(&r->partners);
    count_run_close(&r->run);
    return code;
}

static const struct example examples[] = {
    {"seen top -k 1 clicks.tsv", "the ten most frequent"},
    {"seen top --csv -k ip -w landmark:1h --time when clicks.csv", "of each hour"},
    {"seen top --csv -k ip --distinct cookie --at-least 100 clicks.csv",
     "addresses with too many cookies"},
    {"seen top --csv -k ip -w jumping:1h/12 --time when clicks.csv",
     "of the last hour, every 5 minutes"},
    {"seen top -n 100 -o json access.log", "an object a line"},
    {0},
};

const struct command top_command = {
    .name = "top",
    .run = top_main,
    .help = "the most frequent keys; addresses with too many cookies",
    .usage = "[-w SPEC] [OPTION]... [FILE]...",
    .about =
        "Prints the most frequent keys of FILE... (default: standard input), for each landmark "
        "window, or for a jumping one at the end of each of its parts. With `--distinct` it "
        "prints the keys with the most different partners, such as addresses with too many "
        "cookies.\n\n"
        "The column windows says in how many windows a key has been among the rows so far. The "
        "rows 'all' at the end give that number for the whole run. A count is never too low, "
        "and too high by its error at most; the error is at most the records over `--keep`. "
        "Rows whose error is as large as their count are left out, and a message counts them. A "
        "jumping window of Q parts has Q times the counters. In JSON a key of several fields is "
        "an array of its values.\n\n"
        "With `--distinct` a pair that the detector takes for another is not counted. That "
        "happens at a rate of `fp=`, and more often once a window has more pairs than planned. "
        "A count may then be too low as well. The error includes what is missing, and is "
        "exceeded in 1 of 2000 rows. A message says how many pairs are missing in all. In a "
        "jumping window each part has a table of pairs and counts the window that begins with "
        "it: a record takes Q times the work, and windows follow the order of records.\n\n"
        "With `--time` a record counts in the window of its own time, in any order of arrival. "
        "From files all rows are printed at the end; from pipes a row is printed as soon as its "
        "window is over, or `--lateness` later. At most `--open-windows` are open at once; with "
        "`--distinct` as many as fit into 256 MiB with their pairs. A message counts the "
        "records outside of all windows.\n\n"
        "With `--state` a run goes on where the last one stopped, and prints what one run over "
        "all records so far would print. Windows that are open when the input ends are printed "
        "as they stand, and go on in the next run; those that ended earlier are printed once.",
    .examples = examples,
    .groups = groups,
    .options = &this_run,
    .begin = begin,
    .often = "window keys csv no-quotes tsv ndjson clf time distinct number at-least output",
};
