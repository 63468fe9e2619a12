/* count.c - `seen count`: counts the different keys in all, in each window and in each group.
 *
 * A sketch of 16 KiB counts any number of keys to about one percent.  Each of the Q sub-windows of
 * a jumping window has a sketch, and their union counts the window.  At the end of each sub-window
 * a row is printed for exactly the last N records (or the last T).  A sliding window has one
 * sketch, which can be asked at any time: a row is printed at the end of the input, and after each
 * --every. */
#include "commands/count/count.h"

#include <stdlib.h>
#include <string.h>

enum { GROUP = 1, ERROR, FM, EXACT, MEM, SEED, EVERY, OUTPUT, STATS };

static const struct option_row counting_rows[] = {
    {"Counting", 0, NULL, NULL, 0},
    {"group-by", 'g', "LIST", "a count for each value of the fields", GROUP},
    {"error", 0, "X", "relative standard error (default: 0.01; groups: 0.05)", ERROR},
    {"fm", 0, NULL, "Flajolet-Martin's sketch instead of HyperLogLog's", FM},
    {"exact", 0, NULL, "keep every key instead of a sketch: no error", EXACT},
    {"mem", 0, "SIZE", "most memory for --exact (default: 1GiB)", MEM},
    {"seed", 0, "N", "of the hash: equal seeds give equal estimates", SEED},
    {"every", 0, "N|SPAN", "sliding windows: a row this often (default: at the end)", EVERY},
    {0},
};

static const struct option_row output_rows[] = {
    {"Output (default: a table, TAB between columns)", 0, NULL, NULL, 0},
    {"output", 'o', "text|json|value", "json: an object a line; value: the count alone", OUTPUT},
    {"stats", 0, "[=text|json]", "records, how fast, what could not be judged, on stderr", STATS},
    {0},
};

struct run {
    struct count_run run;
    struct counting how;
    struct counts rows;
    struct recent recent; /* of a sliding window */
    const char *error_given, *every;
    bool several;                /* there are windows or groups besides the row of all records */
    seen_counter *total, *empty; /* of all records; of no record */
    struct part *whole;          /* scratch, for a whole jumping window; NULL: not yet needed */
};

static const struct state_kind kept;

static struct run this_run;

/* -- options ------------------------------------------------------------------------------ */

static void take(void *options, const struct option_row *row, const char *value) {
    struct run *r = options;
    switch (row->id) {
    case GROUP: r->how.by = value; break;
    case ERROR: r->error_given = value; break;
    case FM: r->how.kind = SEEN_COUNTER_FM; break;
    case EXACT: r->how.exact = true; break;
    case MEM: counting_take_memory(&r->how, value); break;
    case SEED: window_set(&r->run.window, "seed", value); break;
    case EVERY: r->every = value; break;
    case STATS: run_stats_take(&r->run.stats, value); break;
    case OUTPUT:
        r->rows.json = option_is_json(value);
        r->rows.value = !strcmp(value, "value");
        break;
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
    {0},
};

static void begin(void) {
    count_run_init(&this_run.run, &kept);
    this_run.how.memory.most = UINT64_C(1) << 30;
}

static void settle_options(struct run *r, const struct args *a) {
    struct counting *c = &r->how;
    char *end = NULL;
    if (c->memory.given && !c->exact) die("--mem bounds --exact; a sketch has a fixed size");
    if (c->exact && c->kind == SEEN_COUNTER_FM) die_both("--exact", "--fm");
    if (c->exact && r->error_given) die_both("--exact", "--error");
    if (c->exact) c->kind = SEEN_COUNTER_SET;
    c->error = r->error_given ? strtod(r->error_given, &end) : c->by ? 0.05 : 0.01;
    if (end && (*end || end == r->error_given))
        die("--error %s is not a number such as 0.01", r->error_given);
    count_run_settle(&r->run, a);
}

/* -- windows ------------------------------------------------------------------------------ */

static void *on_begin(void *ctx) { return part_new(&((struct run *)ctx)->how); }

static void on_end(void *ctx, const struct window *w, size_t n) {
    struct run *r = ctx;
    char from[32];
    struct part *p = w[0].counts;
    if (n > 1) { /* the sub-windows of a jumping window together */
        if (!r->whole) r->whole = part_new(&r->how);
        p = r->whole;
        part_clear(&r->how, p);
        for (size_t i = 0; i < n; i++) part_merge(&r->how, p, w[i].counts);
        counting_check(&r->how);
    }
    windows_from(&r->run.windows, w[0].from, from);
    if (r->how.by)
        counts_put_groups(&r->rows, from, p);
    else
        counts_put(&r->rows, from, NULL, 0, counts_figures(p->records, p->counter));
}

static void on_drop(void *ctx, void *counts) {
    (void)ctx;
    part_free(counts);
}

static void on_save(const void *ctx, const void *counts, struct blocks_out *out) {
    (void)ctx;
    part_save(counts, out);
}

static void *on_load(void *ctx, struct blocks_in *in) {
    return part_load(&((struct run *)ctx)->how, in);
}

static const struct windows_events windows = {
    .begin = on_begin, .end = on_end, .drop = on_drop, .save = on_save, .load = on_load};

/* -- records ------------------------------------------------------------------------------ */

static void on_columns(void *ctx, const struct header *header) {
    struct run *r = ctx;
    struct fields *f = &r->how.fields;
    if (!r->how.by) return;
    columns_fields(&r->run.reader.layout, "--group-by", r->how.by, header, f);
    unjudged_wants(&r->run.reader.unjudged, f->slot, f->n, "--group-by");
}

static void on_batch(void *ctx, struct batch *b, seen_time now) {
    struct run *r = ctx;
    size_t n = count_run_batch(&r->run, b, now);
    for (size_t m = 0; m < n; m++) {
        const struct window *w = windows_find(&r->run.windows, m);
        if (r->several) seen_counter_add(r->total, 1, &r->run.windows.judge.in->digest[m]);
        size_t i = r->run.windows.judge.in->order[m];
        if (r->recent.window)
            recent_add(&r->recent, &r->run.windows.judge.in->digest[m],
                       r->run.windows.judge.in->time[m]);
        else if (w)
            part_add(&r->how, w->counts, &r->run.windows.judge.in->digest[m],
                     &b->field[i * r->run.reader.layout.slots]);
    }
    counting_check(&r->how);
}

/* -- --state ------------------------------------------------------------------------------ */

static void pack(const void *ctx, struct packer *p) {
    const struct run *r = ctx;
    const struct kept k = {r->run.windows.records, r->run.windows.n, r->rows.n, r->rows.headed};
    kept_pack(&k, p);
}

static bool unpack(void *ctx, const char *bytes, size_t len) {
    struct run *r = ctx;
    struct kept k;
    if (!kept_unpack(&k, bytes, len)) return false;
    r->rows.n = k.done;
    r->rows.headed = k.headed && state_goes_on(&r->run.state);
    return true;
}

static void save(const void *ctx, struct blocks_out *out) {
    const struct run *r = ctx;
    counting_save(r->total, out);
    if (r->recent.window) recent_save(&r->recent, out);
    windows_save(&r->run.windows, out);
}

static bool load(void *ctx, struct blocks_in *in) {
    struct run *r = ctx;
    seen_counter *total = counting_load(&r->how, in);
    if (!total) return false;
    seen_counter_free(r->total);
    r->total = total;
    if (r->recent.window && !recent_load(&r->recent, in)) return false;
    return windows_load(&r->run.windows, in);
}

static const struct state_kind kept = {.command = "count",
                                       .deliver = kept_deliver,
                                       .pack = pack,
                                       .unpack = unpack,
                                       .save = save,
                                       .load = load};

/* -- a run -------------------------------------------------------------------------------- */

static void start(struct run *r) {
    r->run.windows.may_slide = true;
    r->run.windows.every = r->every;
    windows_init(&r->run.windows, &r->run.window, &r->run.input, &r->run.reader.layout,
                 &r->run.state);
    bool slides = r->run.windows.slides;
    if (r->every && !slides)
        die("--every serves sliding windows, such as -w sliding:1h; jumping:1h/12 has a row every "
            "5m");
    if (slides && r->how.by)
        die("--group-by serves landmark and jumping windows: jumping:1h/60 counts the groups of "
            "the last hour every minute");
    if (slides && r->how.kind == SEEN_COUNTER_FM)
        die("--fm serves landmark and jumping windows; leave it out, or write jumping:1h/60");
    r->several =
        r->how.by || r->run.windows.length || r->run.window.landmark_on || r->run.window.zone;
    if (r->rows.value && r->several)
        die("-o value prints one number: leave out %s, or take -o json",
            r->how.by  ? "--group-by"
            : r->every ? "--every"
                       : "windows, which have a number each");
    r->rows.how = &r->how;
    r->how.seed = r->run.windows.seed;
    r->how.records = &r->run.windows.records;
    count_run_open(&r->run, on_columns, on_batch);
    r->total = counting_new(&r->how);
    r->how.empty = r->empty = counting_new(&r->how);
    if (r->run.windows.slides)
        recent_begin(&r->recent, &r->how, &r->run.windows, &r->rows);
    else
        windows_begin(&r->run.windows, &windows, r, 10000);
    count_run_resume(&r->run);
}

/* Windows that are open now end in the output, but stay open in the state. */
static int finish(struct run *r, bool read) {
    bool saved = state_end(&r->run.state);
    struct counts *rows = &r->rows;
    windows_end(&r->run.windows);
    counting_check(&r->how);
    struct figures all = counts_figures(r->run.windows.records, r->total);
    if (rows->n == 0 && !r->how.by) counts_put(rows, "-", NULL, 0, all);
    if (rows->n > 1 || r->how.by) counts_put(rows, "all", NULL, 0, all);
    recent_tell(&r->recent, &r->run.input);
    return count_run_end(&r->run, read && saved, r->run.windows.own_times || r->recent.window,
                         "in the row 'all' alone");
}

static int count_main(const struct args *args) {
    struct run *r = &this_run;
    settle_options(r, args);
    run_stats_begin(&r->run.stats);
    start(r);
    bool read = reader_run(&r->run.reader);
    int code = finish(r, read);
    if (r->whole) part_free(r->whole);
    recent_free(&r->recent);
    columns_free_fields(&r->how.fields);
    seen_counter_free(r->total);
    seen_counter_free(r->empty);
    count_run_close(&r->run);
    return code;
}

static const struct example examples[] = {
    {"seen count access.log", "how many different lines"},
    {"seen count --exact -o value access.log", "the number alone, without error"},
    {"seen count --csv -k user -w landmark:1d --time when clicks.csv", "users a day"},
    {"seen count --csv -k user --group-by ad clicks.csv", "users of each advertisement"},
    {"seen count -k 2 --time 1 -w jumping:1h/12 -o json clicks.tsv",
     "of the last hour, every 5 minutes"},
    {"seen count --csv -k user -w sliding:1e6 clicks.csv", "in the last million records"},
    {"seen count --csv -k user --state users.state clicks.csv",
     "of what was added since the last run as well"},
    {0},
};

const struct command count_command = {
    .name = "count",
    .run = count_main,
    .help = "how many different keys: in all, a window, a group",
    .usage = "[-w SPEC] [OPTION]... [FILE]...",
    .about =
        "Counts the different keys of FILE... (default: standard input): in all, or for each "
        "window of landmark:1d, landmark:1e6, jumping:1h/12 or sliding:1h.\n\n"
        "The count is exact up to 3072 keys. Beyond that it is an estimate with a relative "
        "standard error of one percent in 16 KiB, for any number of keys. `--error` chooses "
        "another error and with it another size; groups are exact up to 96 keys. A row has the "
        "window's begin, the records in it, the count, and the interval that holds the truth in "
        "95 of 100 cases. A jumping window has a row at the end of each of its parts.\n\n"
        "A sliding window has one row, at the end of the input. With `--every` it has a row "
        "after every N records or after every span of time. Such a row counts the window that "
        "ends with the latest record: it leaves out all older records, misses none inside, and "
        "has the same error. The count is exact while the window holds at most 2688 keys. "
        "Records of a window of time are counted to a 1024th of it.\n\n"
        "With `--exact` every count is exact: each key takes 21 to 64 bytes in each window and "
        "group, and once more for the row of all. Keys that do not fit into `--mem` end the run "
        "with a message. `-o` value prints the count alone, for scripts.\n\n"
        "With `--time` a record counts in the window of its own time, in any order of arrival. "
        "From files all rows are printed at the end; from pipes a row is printed as soon as its "
        "window is over, or `--lateness` later. At most `--open-windows` are open at once. A "
        "message counts the records outside of all windows.\n\n"
        "With `--state` a run goes on where the last one stopped, and prints what one run over "
        "all records so far would print. Windows that are open when the input ends are printed "
        "as they stand, and go on in the next run; those that ended earlier are printed once.",
    .examples = examples,
    .groups = groups,
    .options = &this_run,
    .begin = begin,
    .often = "window keys csv no-quotes tsv ndjson clf time group-by error output",
};
