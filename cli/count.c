/* count.c - `seen count`: how many different keys there were, in all, in each window, in each
 * group, to about one percent in 16 KiB however many there are.
 *
 * A jumping window is the union of its last Q sub-windows, each with a sketch of its own; a row is
 * printed at the end of each.  So a row is of exactly the last N records (or T), at moments N/Q
 * apart. */
#include "count/pace.h"
#include "print.h"
#include "read/reader.h"
#include "signals.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GROUP = 1, ERROR, FM, OUTPUT };

static const struct option_row own_rows[] = {
    ASKED_ROWS,
    SOURCE_ROWS,
    {"Counting", 0, NULL, NULL, 0},
    {"group-by", 'g', "FIELD", "a count for each value of that field", GROUP},
    {"error", 0, "X", "relative standard error (default: 0.01; groups: 0.05)", ERROR},
    {"fm", 0, NULL, "Flajolet-Martin's sketch instead of HyperLogLog's", FM},
    {"Output (default: a table, TAB between columns)", 0, NULL, NULL, 0},
    {"output", 'o', "text|json", "json: an object a line", OUTPUT},
    SOURCE_THREADS_ROW,
    SOURCE_QUIET_ROW,
    SOURCE_STRICT_ROW,
    HELP_ROWS,
    {0},
};

struct group {
    seen_digest key; /* of its name */
    char *name;
    seen_counter *counter;
    uint64_t records;
};

/* A window, or one of a jumping window's parts. */
struct part {
    seen_counter *counter;
    uint64_t records;
    char from[32];
};

struct run {
    struct source source;
    struct asked asked;
    struct reader reader;
    struct pace pace;
    const char *by, *error_given;
    double error;
    uint32_t kind;
    bool json;
    int32_t slot;                 /* of the group's field */
    seen_counter *total, *merged; /* of all records; scratch for a jumping window */
    struct part *ring;            /* the last sub-windows, the newest one `at` */
    uint64_t at, rows;
    struct group *group; /* open addressing by key */
    size_t room, groups;
    char *name;          /* scratch for an unquoted one */
    uint64_t unreadable; /* records without a group */
};

/* -- options ------------------------------------------------------------------------------ */

static const struct option_row *rows(void) { return own_rows; }

static void read_options(struct run *r, int argc, char **argv) {
    struct args a = {.argc = argc, .argv = argv, .command = &count_command};
    source_init(&r->source);
    for (int id; (id = args_next(&a));) {
        if (source_take(&r->source, id, a.value) || asked_take(&r->asked, id, a.value)) continue;
        if (id == GROUP) r->by = a.value;
        if (id == ERROR) r->error_given = a.value;
        if (id == FM) r->kind = SEEN_FM;
        if (id == OUTPUT) r->json = option_is_json("output", a.value);
    }
    char *end = NULL;
    r->error = r->error_given ? strtod(r->error_given, &end) : r->by ? 0.05 : 0.01;
    if (end && (*end || end == r->error_given))
        die("--error %s is no number such as 0.01", r->error_given);
    source_files(&r->source, &a);
    asked_compile(&r->asked, &r->source);
}

/* -- counters ----------------------------------------------------------------------------- */

static seen_counter *new_counter(const struct run *r) {
    struct seen_error e;
    seen_counter *c;
    if (seen_counter_new(&c, r->kind, r->error, r->pace.seed, NULL, &e)) die("%s", e.text);
    return c;
}

static void put_figures(const struct run *r, uint64_t records, const seen_counter *c) {
    double error, distinct = seen_counter_estimate(c, &error);
    double low = distinct / (1 + 1.96 * error), high = distinct / fmax(1 - 1.96 * error, .05);
    if (r->json)
        printf("\"records\": %" PRIu64 ", \"distinct\": %.0f, \"distinct_95\": [%.0f, %.0f]}\n",
               records, distinct, low, high);
    else
        printf("%" PRIu64 "\t%.0f\t%.0f\t%.0f\n", records, distinct, low, high);
}

static void put_row(struct run *r, const char *from, const char *group, uint64_t records,
                    const seen_counter *c) {
    if (!r->json && r->rows == 0)
        printf("from\t%srecords\tdistinct\tlow\thigh\n", r->by ? "group\t" : "");
    r->rows++;
    if (r->json) {
        printf("{\"from\": "), print_json_string(stdout, from), printf(", ");
        if (group) printf("\"group\": "), print_json_string(stdout, group), printf(", ");
    } else {
        printf("%s\t", from);
        if (group) printf("%s\t", group);
    }
    put_figures(r, records, c);
}

/* -- groups ------------------------------------------------------------------------------- */

static struct group *seat(struct group *table, size_t room, seen_digest key) {
    size_t i = key.lo % room;
    while (table[i].name && (table[i].key.lo != key.lo || table[i].key.hi != key.hi))
        i = (i + 1) % room;
    return &table[i];
}

static void make_room(struct run *r) {
    if (r->groups * 2 < r->room) return;
    size_t room = r->room ? 2 * r->room : 256;
    struct group *table = calloc(room, sizeof *table);
    if (!table) die("out of memory for %zu groups", r->groups);
    for (size_t i = 0; i < r->room; i++)
        if (r->group[i].name) *seat(table, room, r->group[i].key) = r->group[i];
    free(r->group);
    r->group = table;
    r->room = room;
}

static void add_to_group(struct run *r, const struct slice *f, const seen_digest *digest) {
    const char *name = f->at;
    size_t len = f->len;
    if (f->escaped) {
        r->name = realloc(r->name, len + 1);
        if (!r->name) die("out of memory for a group's name");
        len = slice_value(f, r->name);
        name = r->name;
    }
    make_room(r);
    seen_digest key = seen_hash(name, len, r->pace.seed);
    struct group *g = seat(r->group, r->room, key);
    if (!g->name) {
        *g = (struct group){key, strndup(name, len), new_counter(r), 0};
        if (!g->name) die("out of memory for a group's name");
        r->groups++;
    }
    g->records++;
    seen_counter_add(g->counter, 1, digest);
}

static int by_count(const void *a, const void *b) {
    const struct group *x = a, *y = b;
    double nx = rint(seen_counter_estimate(x->counter, NULL)); /* as printed */
    double ny = rint(seen_counter_estimate(y->counter, NULL));
    return nx != ny ? (nx < ny ? 1 : -1) : strcmp(x->name, y->name);
}

/* The most distinct first; then all are forgotten. */
static void put_groups(struct run *r, const char *from) {
    size_t n = 0;
    for (size_t i = 0; i < r->room; i++)
        if (r->group[i].name) r->group[n++] = r->group[i];
    qsort(r->group, n, sizeof *r->group, by_count);
    for (size_t i = 0; i < n; i++) {
        put_row(r, from, r->group[i].name, r->group[i].records, r->group[i].counter);
        seen_counter_free(r->group[i].counter);
        free(r->group[i].name);
    }
    free(r->group);
    r->group = NULL;
    r->room = r->groups = 0;
}

/* -- windows ------------------------------------------------------------------------------ */

static void put_window(struct run *r) {
    uint64_t records = 0, q = r->pace.subwindows;
    const char *from = r->ring[r->at].from;
    if (r->by) {
        put_groups(r, from);
        return;
    }
    seen_counter_clear(r->merged);
    for (uint64_t i = 0; i < q; i++) {
        const struct part *part = &r->ring[(r->at + q - i) % q]; /* from the newest */
        seen_counter_merge(r->merged, part->counter, NULL);
        records += part->records;
        if (part->records) from = part->from;
    }
    put_row(r, from, NULL, records, r->merged);
}

/* A window, or `n` sub-windows, have ended. */
static void turn(struct run *r, uint64_t n) {
    put_window(r);
    for (uint64_t i = 0; i < n && i < r->pace.subwindows; i++) {
        r->at = (r->at + 1) % r->pace.subwindows;
        seen_counter_clear(r->ring[r->at].counter);
        r->ring[r->at].records = 0;
    }
}

/* -- records ------------------------------------------------------------------------------ */

static void on_columns(void *ctx, const struct header *header) {
    struct run *r = ctx;
    if (r->by) r->slot = (int32_t)columns_slot(&r->reader.layout, r->by, header);
}

static void add(struct run *r, const struct batch *b, size_t m) {
    const seen_digest *digest = &r->pace.judge.in->digest[m];
    struct part *part = &r->ring[r->at];
    if (part->records++ == 0) pace_from(&r->pace, part->from);
    seen_counter_add(r->total, 1, digest);
    if (!r->by) {
        seen_counter_add(part->counter, 1, digest);
        return;
    }
    size_t i = r->pace.judge.in->order[m];
    const struct slice *f = &b->field[i * r->reader.layout.slots + (uint32_t)r->slot];
    if (f->at)
        add_to_group(r, f, digest);
    else
        r->unreadable++;
}

static void on_ahead(void *ctx, unsigned who, struct batch *b, seen_time now) {
    judge_ahead(&((struct run *)ctx)->pace.judge, who, b, now, b->own);
}

static void on_batch(void *ctx, struct batch *b, seen_time now) {
    struct run *r = ctx;
    (void)now;
    size_t n = judge_take(&r->pace.judge, b, b->own);
    for (size_t m = 0; m < n; m++) {
        uint64_t ended = pace_step(&r->pace, m);
        if (ended) turn(r, ended);
        add(r, b, m);
    }
}

static void on_flush(void *ctx) { (void)ctx, fflush(stdout); }

static const struct reader_events events = {.columns = on_columns,
                                            .ahead = on_ahead,
                                            .own = sizeof(struct readable),
                                            .batch = on_batch,
                                            .flush = on_flush};

/* -- a run -------------------------------------------------------------------------------- */

static void start(struct run *r) {
    pace_init(&r->pace, &r->asked, &r->source, &r->reader.layout);
    if (r->by && r->pace.subwindows > 1)
        die("--group-by serves landmark windows, such as -w landmark:1d");
    reader_init(&r->reader, &r->source, &events, r);
    uint64_t q = r->pace.subwindows;
    r->ring = calloc(q, sizeof *r->ring);
    if (!r->ring) die("out of memory for %" PRIu64 " sub-windows", q);
    for (uint64_t i = 0; i < q; i++) {
        r->ring[i].counter = new_counter(r);
        strcpy(r->ring[i].from, "-");
    }
    r->total = new_counter(r);
    r->merged = new_counter(r);
}

static int finish(struct run *r, bool read) {
    uint64_t windows = r->rows;
    put_window(r);
    if (windows || r->by) put_row(r, "all", r->by ? "all" : NULL, r->pace.records, r->total);
    uint64_t unreadable = r->unreadable + r->pace.judge.unreadable + r->reader.unreadable;
    bool bad = source_unreadable(&r->source, unreadable, false, "key, time or group");
    return !read || bad ? EXIT_TROUBLE : EXIT_FINE;
}

static void free_run(struct run *r) {
    for (uint64_t i = 0; i < r->pace.subwindows; i++) seen_counter_free(r->ring[i].counter);
    free(r->ring);
    free(r->name);
    seen_counter_free(r->total);
    seen_counter_free(r->merged);
    pace_free(&r->pace);
    reader_free(&r->reader);
    asked_free(&r->asked);
}

static int count_main(int argc, char **argv) {
    static struct run r;
    read_options(&r, argc, argv);
    start(&r);
    bool read = reader_run(&r.reader);
    int code = finish(&r, read);
    free_run(&r);
    if (signals_stop()) fflush(stdout), signals_die(signals_stop());
    return code;
}

static const struct example examples[] = {
    {"seen count access.log", "how many different lines"},
    {"seen count --csv -k user -w landmark:1d --time when clicks.csv", "users a day"},
    {"seen count --csv -k user --group-by ad clicks.csv", "users of each advertisement"},
    {"seen count -k 2 -w jumping:1h/12 -o json clicks.tsv", "of the last hour, every 5 minutes"},
    {0},
};

const struct command count_command = {
    .name = "count",
    .run = count_main,
    .help = "how many different keys: in all, a window, a group",
    .usage = "[-w SPEC] [OPTION]... [FILE]...",
    .about =
        "Counts the different keys of FILE... (default: standard input): in all, or for each "
        "window of landmark:1d, landmark:1e6 or jumping:1h/12.\n\n"
        "The count is an estimate with a relative standard error of one percent in 16 KiB, "
        "however many keys there are; `--error` chooses another. A row has the window's begin, "
        "the records in it, the estimate, and the interval that holds the truth in 95 of 100 "
        "cases. A jumping window has a row at the end of each of its parts.",
    .examples = examples,
    .rows = rows,
    .often = "window keys csv tsv ndjson clf time group-by error output",
};
