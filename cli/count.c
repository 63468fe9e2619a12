/* count.c - `seen count`: how many different keys there were, in all, in each window, in each
 * group, to about one percent in 16 KiB however many there are.
 *
 * A jumping window is the union of its last Q sub-windows, each with a sketch of its own; a row is
 * printed at the end of each.  So a row is of exactly the last N records (or T), at moments N/Q
 * apart. */
#include "count/pace.h"
#include "group/names.h"
#include "print.h"
#include "read/account.h"
#include "read/reader.h"
#include "signals.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GROUP = 1, ERROR, FM, EXACT, MEM, SEED, OUTPUT, STATS };

static const struct option_row own_rows[] = {
    ASKED_ROWS,
    SOURCE_ROWS,
    {"Counting", 0, NULL, NULL, 0},
    {"group-by", 'g', "LIST", "a count for each value of the fields", GROUP},
    {"error", 0, "X", "relative standard error (default: 0.01; groups: 0.05)", ERROR},
    {"fm", 0, NULL, "Flajolet-Martin's sketch instead of HyperLogLog's", FM},
    {"exact", 0, NULL, "keep every key instead of a sketch: no error", EXACT},
    {"mem", 0, "SIZE", "of --exact: refuse what does not fit (default: 1GiB)", MEM},
    {"seed", 0, "N", "of the hash: equal seeds give equal estimates", SEED},
    PACE_ROWS,
    {"Output (default: a table, TAB between columns)", 0, NULL, NULL, 0},
    {"output", 'o', "text|json|value", "json: an object a line; value: the count alone", OUTPUT},
    ACCOUNT_ROW(STATS, "records, how fast, what could not be judged"),
    SOURCE_THREADS_ROW,
    SOURCE_QUIET_ROW,
    SOURCE_UNJUDGED_ROWS,
    HELP_ROWS,
    {0},
};

struct group {
    seen_counter *counter; /* NULL: none yet */
    uint64_t records;
};

/* A window, or one of a jumping window's parts. */
struct part {
    seen_counter *counter;
    uint64_t records;
    uint64_t number; /* as the window's */
    char from[32];
    struct names names;  /* of its groups */
    struct group *group; /* by number */
    uint32_t room;
};

/* What --exact may take, and whether it asked for more. */
struct memory {
    const char *given;
    uint64_t most, used;
    bool out;
};

struct run {
    struct source source;
    struct asked asked;
    struct reader reader;
    struct pace pace;
    struct account account;
    const char *by, *error_given;
    double error;
    uint32_t kind;
    bool exact;
    bool several;                 /* windows or groups, besides all records */
    bool json, value;             /* value: the one count is all that is printed */
    struct memory memory;         /* of exact sets */
    struct fields fields;         /* of a group */
    seen_counter *total, *merged; /* of all records; scratch for a jumping window */
    struct part **ended;          /* sub-windows that later rows still hold, the oldest first */
    uint64_t endeds, rows;
};

/* -- options ------------------------------------------------------------------------------ */

static const struct option_row *rows(void) { return own_rows; }

static void take_memory(struct memory *m, const char *value) {
    struct seen_error e;
    if (seen_parse_size(&m->most, m->given = value, &e)) die("--mem %s: %s", value, e.text);
}

static void take(struct run *r, int id, const char *value) {
    switch (id) {
    case GROUP: r->by = value; break;
    case ERROR: r->error_given = value; break;
    case FM: r->kind = SEEN_FM; break;
    case EXACT: r->exact = true; break;
    case MEM: take_memory(&r->memory, value); break;
    case SEED: asked_set(&r->asked, "seed", value); break;
    case STATS: account_take(&r->account, value); break;
    case OUTPUT:
        r->json = option_is_json(value);
        r->value = !strcmp(value, "value");
        break;
    }
}

static void check_exact(struct run *r) {
    if (r->memory.given && !r->exact) die("--mem bounds --exact; a sketch has a fixed size");
    if (!r->exact) return;
    if (r->kind == SEEN_FM) die_both("--exact", "--fm");
    if (r->error_given) die_both("--exact", "--error");
    r->kind = SEEN_SET;
}

static void read_options(struct run *r, int argc, char **argv) {
    struct args a = {.argc = argc, .argv = argv, .command = &count_command};
    source_init(&r->source);
    r->memory.most = UINT64_C(1) << 30;
    for (int id; (id = args_next(&a));) {
        if (source_take(&r->source, id, a.value) || asked_take(&r->asked, id, a.value)) continue;
        if (pace_take(&r->pace, id, a.value)) continue;
        take(r, id, a.value);
    }
    check_exact(r);
    char *end = NULL;
    r->error = r->error_given ? strtod(r->error_given, &end) : r->by ? 0.05 : 0.01;
    if (end && (*end || end == r->error_given))
        die("--error %s is no number such as 0.01", r->error_given);
    source_files(&r->source, &a);
    asked_check_files(&r->asked, &r->source);
    asked_compile(&r->asked, &r->source);
}

/* -- counters ----------------------------------------------------------------------------- */

static void *take_bytes(void *ctx, size_t size) {
    struct memory *m = ctx;
    size_t whole = (size + 63) / 64 * 64;
    void *p = whole <= m->most - m->used ? aligned_alloc(64, whole) : NULL;
    m->out |= !p;
    if (!p) return NULL;
    m->used += whole;
    return memset(p, 0, whole);
}

static void give_bytes(void *ctx, void *p, size_t size) {
    struct memory *m = ctx;
    m->used -= (size + 63) / 64 * 64;
    free(p);
}

/* A set that has no room for a key does not count it. */
static void check_memory(const struct run *r) {
    char most[32];
    if (!r->memory.out) return;
    seen_print_size(r->memory.most, most, sizeof most);
    fflush(stdout);
    die("--exact: the keys of the first %" PRIu64 " records do not fit into --mem=%s; give more "
        "memory, or leave out --exact for an estimate",
        r->pace.records, most);
}

static seen_counter *new_counter(struct run *r) {
    const struct seen_allocator bounded = {take_bytes, give_bytes, &r->memory};
    struct seen_error e;
    seen_counter *c;
    int bad = seen_counter_new(&c, r->kind, r->error, r->pace.seed, r->exact ? &bounded : NULL, &e);
    check_memory(r);
    if (bad) die("%s", e.text);
    return c;
}

static void put_figures(const struct run *r, uint64_t records, const seen_counter *c) {
    double error, distinct = seen_counter_estimate(c, &error);
    double low = distinct / (1 + 1.96 * error), high = distinct / fmax(1 - 1.96 * error, .05);
    if (r->json)
        printf("\"records\": %" PRIu64
               ", \"distinct\": %.0f, \"distinct_95\": [%.0f, %.0f], \"error\": %.3g}\n",
               records, distinct, low, high, error);
    else
        printf("%" PRIu64 "\t%.0f\t%.0f\t%.0f\n", records, distinct, low, high);
}

/* A table's columns before the figures; several fields of a group have a column each. */
static void put_heading(const struct run *r) {
    printf("from\t");
    if (r->by && r->fields.n < 2) printf("group\t");
    for (uint32_t i = 0; r->fields.n > 1 && i < r->fields.n; i++) printf("%s\t", r->fields.name[i]);
    puts("records\tdistinct\tlow\thigh");
}

static void put_group(const struct run *r, const struct names *names, uint32_t group) {
    if (r->json) printf("\"group\": ");
    if (group >= GROUP_FIRST && r->json)
        names_put_json(names, group, stdout);
    else if (group >= GROUP_FIRST)
        names_put_text(names, group, '\t', stdout);
    else if (r->json)
        printf("\"all\"");
    else
        for (uint32_t i = 0; !i || i < r->fields.n; i++) printf("%sall", i ? "\t" : "");
    printf(r->json ? ", " : "\t");
}

/* A group of those names; one below GROUP_FIRST stands for all. */
static void put_row(struct run *r, const char *from, const struct names *names, uint32_t group,
                    uint64_t records, const seen_counter *c) {
    if (r->value) {
        r->rows++;
        printf("%.0f\n", seen_counter_estimate(c, NULL));
        return;
    }
    if (!r->json && r->rows == 0) put_heading(r);
    r->rows++;
    if (r->json)
        printf("{\"from\": "), print_json_string(stdout, from), printf(", ");
    else
        printf("%s\t", from);
    if (r->by) put_group(r, names, group);
    put_figures(r, records, c);
}

/* -- groups ------------------------------------------------------------------------------- */

/* Counters for all groups that have a number. */
static void make_room(struct part *p) {
    if (p->names.n <= p->room) return;
    uint32_t room = 2 * p->names.n + 16;
    p->group = realloc(p->group, room * sizeof *p->group);
    if (!p->group) die("out of memory for %u groups", p->names.n);
    memset(p->group + p->room, 0, (room - p->room) * sizeof *p->group);
    p->room = room;
}

static void add_to_group(struct run *r, struct part *p, uint32_t number,
                         const seen_digest *digest) {
    make_room(p);
    struct group *g = &p->group[number];
    if (!g->counter) g->counter = new_counter(r);
    g->records++;
    seen_counter_add(g->counter, 1, digest);
}

static int by_count(const void *a, const void *b, void *ctx) {
    const struct part *p = ctx;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    double x = rint(seen_counter_estimate(p->group[i].counter, NULL)); /* as printed */
    double y = rint(seen_counter_estimate(p->group[j].counter, NULL));
    return x != y ? (x < y ? 1 : -1) : names_order(&p->names, i, j);
}

/* The most distinct first. */
static void put_groups(struct run *r, struct part *p) {
    uint32_t n = p->room ? p->names.n - GROUP_FIRST : 0, *list = malloc((n + 1) * sizeof *list);
    if (!list) die("out of memory for %u groups", n);
    for (uint32_t i = 0; i < n; i++) list[i] = GROUP_FIRST + i;
    qsort_r(list, n, sizeof *list, by_count, p);
    for (uint32_t i = 0; i < n; i++) {
        const struct group *g = &p->group[list[i]];
        put_row(r, p->from, &p->names, list[i], g->records, g->counter);
    }
    free(list);
}

/* -- windows ------------------------------------------------------------------------------ */

static void *on_begin(void *ctx) {
    struct run *r = ctx;
    struct part *p = calloc(1, sizeof *p);
    if (!p) die("out of memory for a window");
    if (r->by)
        names_init(&p->names, r->fields.n, UINT32_MAX);
    else
        p->counter = new_counter(r);
    return p;
}

static void free_part(struct part *p) {
    for (uint32_t i = 0; i < p->room; i++) seen_counter_free(p->group[i].counter);
    free(p->group);
    names_free(&p->names);
    seen_counter_free(p->counter);
    free(p);
}

/* A row of the last Q sub-windows, of which this one, `p`, is kept for later rows. */
static void put_jumping(struct run *r, struct part *p) {
    uint64_t records = p->records, old = 0, q = r->pace.subwindows;
    const char *from = p->from;
    while (old < r->endeds && r->ended[old]->number + q <= p->number) free_part(r->ended[old++]);
    r->endeds -= old;
    memmove(r->ended, r->ended + old, r->endeds * sizeof(struct part *));
    seen_counter_clear(r->merged);
    seen_counter_merge(r->merged, p->counter, NULL);
    for (uint64_t i = 0; i < r->endeds; i++) {
        seen_counter_merge(r->merged, r->ended[i]->counter, NULL);
        records += r->ended[i]->records;
        if (i == 0) from = r->ended[i]->from;
    }
    put_row(r, from, NULL, 0, records, r->merged);
    r->ended[r->endeds++] = p;
}

static void on_end(void *ctx, const struct window *w) {
    struct run *r = ctx;
    struct part *p = w->own;
    p->number = w->number;
    pace_from(&r->pace, w, p->from);
    if (r->pace.subwindows > 1) {
        put_jumping(r, p);
        return;
    }
    if (r->by)
        put_groups(r, p);
    else
        put_row(r, p->from, NULL, 0, p->records, p->counter);
    free_part(p);
}

static const struct pace_events windows = {.begin = on_begin, .end = on_end};

/* -- records ------------------------------------------------------------------------------ */

static void on_columns(void *ctx, const struct header *header) {
    struct run *r = ctx;
    if (!r->by) return;
    columns_fields(&r->reader.layout, "--group-by", r->by, header, &r->fields);
    unjudged_wants(&r->reader.unjudged, r->fields.slot, r->fields.n, "--group-by");
}

static void add(struct run *r, struct part *part, const struct batch *b, size_t m) {
    const seen_digest *digest = &r->pace.judge.in->digest[m];
    part->records++;
    if (!r->by) {
        seen_counter_add(part->counter, 1, digest);
        return;
    }
    size_t i = r->pace.judge.in->order[m];
    const struct slice *field = &b->field[i * r->reader.layout.slots];
    uint32_t group = names_find(&part->names, &r->fields, field);
    if (group >= GROUP_FIRST) add_to_group(r, part, group, digest);
}

static void on_ahead(void *ctx, unsigned who, struct batch *b, seen_time now) {
    judge_ahead(&((struct run *)ctx)->pace.judge, who, b, now, b->own);
}

static void on_batch(void *ctx, struct batch *b, seen_time now) {
    struct run *r = ctx;
    const struct readable *in = b->own;
    unjudged_batch(&r->reader.unjudged, b, now, in->n, in->order, in->cause);
    judge_note(&r->pace.judge, b, in);
    size_t n = judge_take(&r->pace.judge, b->own);
    for (size_t m = 0; m < n; m++) {
        const struct window *w = pace_window(&r->pace, m);
        if (r->several) seen_counter_add(r->total, 1, &r->pace.judge.in->digest[m]);
        if (w) add(r, w->own, b, m);
    }
    check_memory(r);
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
    r->several = r->by || r->pace.length || r->asked.landmark_on || r->asked.zone;
    if (r->value && r->several)
        die("-o value prints one number: leave out %s, or take -o json",
            r->by ? "--group-by" : "windows, which have a number each");
    reader_init(&r->reader, &r->source, &events, r);
    pace_begin(&r->pace, &windows, r, 10000);
    r->reader.unjudged.detector = r->pace.detector;
    uint64_t q = r->pace.subwindows;
    r->ended = calloc(q, sizeof(struct part *));
    if (!r->ended) die("out of memory for %" PRIu64 " sub-windows", q);
    r->total = new_counter(r);
    r->merged = new_counter(r);
}

static int finish(struct run *r, bool read) {
    pace_end(&r->pace);
    check_memory(r);
    if (r->rows == 0 && !r->by) put_row(r, "-", NULL, 0, 0, r->total);
    if (r->rows > 1 || r->by) put_row(r, "all", NULL, 0, r->pace.records, r->total);
    judge_tell(&r->pace.judge, r->pace.own ? 0 : r->pace.judge.lateness.run_late);
    pace_tell(&r->pace, &r->source, "in the row 'all' alone");
    bool bad = unjudged_end(&r->reader.unjudged, "not counted", r->account.wanted);
    account_print(&r->account, &r->reader.unjudged);
    return !read || bad ? EXIT_TROUBLE : EXIT_FINE;
}

static void free_run(struct run *r) {
    for (uint64_t i = 0; i < r->endeds; i++) free_part(r->ended[i]);
    free(r->ended);
    columns_free_fields(&r->fields);
    seen_counter_free(r->total);
    seen_counter_free(r->merged);
    pace_free(&r->pace);
    reader_free(&r->reader);
    asked_free(&r->asked);
}

static int count_main(int argc, char **argv) {
    static struct run r;
    read_options(&r, argc, argv);
    account_begin(&r.account);
    start(&r);
    bool read = reader_run(&r.reader);
    int code = finish(&r, read);
    free_run(&r);
    if (signals_stop()) fflush(stdout), signals_die(signals_stop());
    return code;
}

static const struct example examples[] = {
    {"seen count access.log", "how many different lines"},
    {"seen count --exact -o value access.log", "the number alone, without error"},
    {"seen count --csv -k user -w landmark:1d --time when clicks.csv", "users a day"},
    {"seen count --csv -k user --group-by ad clicks.csv", "users of each advertisement"},
    {"seen count -k 2 --time 1 -w jumping:1h/12 -o json clicks.tsv",
     "of the last hour, every 5 minutes"},
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
        "The count is exact up to 3072 keys. Beyond that it is an estimate with a relative "
        "standard error of one percent in 16 KiB, however many keys there are. `--error` chooses "
        "another error and with it another size; groups are exact up to 96 keys. A row has the "
        "window's begin, the records in it, the count, and the interval that holds the truth in 95 "
        "of 100 cases. A jumping window has a row at the end of each of its parts.\n\n"
        "With `--exact` every count is exact: each key takes 21 to 64 bytes in each window and "
        "group, and once more for the row of all. Keys that do not fit into `--mem` end the run "
        "with a message. `-o` value prints the count alone, for scripts.\n\n"
        "With `--time` a record counts in the window of its own time, in whatever order records "
        "come. From files all rows are printed at the end; from pipes a row is printed as soon as "
        "its window is over, or `--lateness` later. At most `--open-windows` are open at once. "
        "What falls outside is counted and told.",
    .examples = examples,
    .rows = rows,
    .often = "window keys csv no-quotes tsv ndjson clf time group-by error output",
};
