/* top.c - `seen top`: the most frequent keys of each window; with --distinct, the keys with the
 * most different partners: "IPs with too many cookies", and in how many windows each was among
 * them.
 *
 * Counting how often a key comes counts clicks, not cookies.  So a detector asks of each pair of
 * key and partner whether this window has seen it, and only those it has not are counted: a
 * constantly active cookie counts once a window.  Counters are Space-Saving's; a second one counts
 * windows, so memory stays fixed.
 *
 *     counted - error <= truth <= counted, where error <= N/keep
 *
 * With --distinct a pair that the detector takes for another is missing; what that may be is in the
 * error as well, which then bounds both sides (top/missing.h). */
#include "count/pace.h"
#include "print.h"
#include "read/account.h"
#include "read/reader.h"
#include "signals.h"
#include "top/missing.h"
#include "top/name.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER = 1, KEEP, DISTINCT, LEAST, OUTPUT, STATS };

static const struct option_row own_rows[] = {
    ASKED_ROWS,
    SOURCE_ROWS,
    {"Counting", 0, NULL, NULL, 0},
    {"distinct", 0, "FIELD", "count a key's different values of that field", DISTINCT},
    {"number", 'n', "N", "at most so many keys a window (default: 10)", NUMBER},
    {"at-least", 0, "N", "only keys that surely came so often", LEAST},
    {"keep", 0, "N", "counters; errors are below records/N (default: 10000)", KEEP},
    PACE_ROWS,
    {"Output (default: a table, TAB between columns)", 0, NULL, NULL, 0},
    {"output", 'o', "text|json", "json: an object a line", OUTPUT},
    ACCOUNT_ROW(STATS, "records, how fast, what could not be judged"),
    SOURCE_THREADS_ROW,
    SOURCE_QUIET_ROW,
    SOURCE_UNJUDGED_ROWS,
    HELP_ROWS,
    {"The same as in SPEC, of the detector of pairs, and stronger", 0, NULL, NULL, 0},
};

/* Counters, and whose they are. */
struct ranking {
    seen_top *top;
    struct name **name; /* of each counter's key; NULL: none yet */
};

/* What is counted in one window. */
struct tally {
    struct ranking keys;
    seen_detector *pairs; /* NULL: every record counts */
    struct missing missing;
};

struct run {
    struct source source;
    struct asked asked;
    struct reader reader;
    struct pace pace;
    struct account account;
    struct seen_plan plan; /* of the detectors of pairs */
    struct tally *spare;   /* of a window that ended, for the next one; NULL: none */
    struct ranking windows;
    struct seen_heavy *list; /* room for all counters */
    struct name name;        /* scratch */
    const char *distinct;
    uint64_t number, keep, least;
    bool json, header_done;
    uint32_t slot; /* of the partner's field */
    char *pair;    /* scratch: a key's digest and its partner */
    size_t pair_cap;
    uint64_t ended;            /* windows */
    uint64_t left_out;         /* rows that say nothing */
    uint64_t twice;            /* pairs that may have been counted twice */
    double missed, most_pairs; /* expected: of all windows; that came in one */
    bool missed_most;          /* `missed` is a bound */
};

/* -- options ------------------------------------------------------------------------------ */

static const struct option_row *rows(void) {
    return asked_rows(own_rows, sizeof own_rows / sizeof *own_rows);
}

static uint64_t count_of(const char *name, const char *text) {
    uint64_t n;
    struct seen_error e;
    if (seen_parse_count(&n, text, &e)) die("--%s %s: %s", name, text, e.text);
    return n;
}

static void take(struct run *r, int id, const char *value) {
    if (source_take(&r->source, id, value) || asked_take(&r->asked, id, value)) return;
    if (pace_take(&r->pace, id, value)) return;
    switch (id) {
    case NUMBER: r->number = count_of("number", value); break;
    case KEEP: r->keep = count_of("keep", value); break;
    case LEAST: r->least = count_of("at-least", value); break;
    case DISTINCT: r->distinct = value; break;
    case STATS: account_take(&r->account, value); break;
    case OUTPUT: r->json = option_is_json(value); break;
    }
}

static void read_options(struct run *r, int argc, char **argv) {
    struct args a = {.argc = argc, .argv = argv, .command = &top_command};
    source_init(&r->source);
    r->number = 10;
    r->keep = 10000;
    for (int id; (id = args_next(&a));) take(r, id, a.value);
    source_files(&r->source, &a);
    asked_check_files(&r->asked, &r->source);
    asked_compile(&r->asked, &r->source);
}

/* -- rankings ----------------------------------------------------------------------------- */

static void ranking_init(struct ranking *k, uint64_t keep) {
    struct seen_error e;
    if (seen_top_new(&k->top, keep, NULL, &e)) die("--keep: %s", e.text);
    k->name = calloc(keep, sizeof *k->name);
    if (!k->name) die("out of memory for %" PRIu64 " counters", keep);
}

static void ranking_free(struct ranking *k, uint64_t keep) {
    for (uint64_t i = 0; i < keep; i++) free(k->name[i]);
    free(k->name);
    seen_top_free(k->top);
}

/* Counts a key; its name is needed only where it takes a counter over. */
static size_t ranking_add(struct ranking *k, seen_digest key, bool *taken) {
    int took;
    size_t c = seen_top_add(k->top, key, &took);
    *taken = took;
    return c;
}

static void ranking_name(struct ranking *k, size_t counter, const struct name *name) {
    size_t size = offsetof(struct name, bytes) + name->used;
    struct name **at = &k->name[counter];
    *at = realloc(*at, size);
    if (!*at) die("out of memory for a key's name");
    memcpy(*at, name, size);
}

static void *on_begin(void *ctx) {
    struct run *r = ctx;
    struct seen_error e;
    struct tally *t = r->spare;
    r->spare = NULL;
    if (t) return t;
    t = calloc(1, sizeof *t);
    if (!t) die("out of memory for a window");
    ranking_init(&t->keys, r->keep);
    if (!r->distinct) return t;
    if (seen_new(&t->pairs, &r->plan, NULL, &e)) die("%s", e.text);
    missing_init(&t->missing, r->keep);
    missing_begin(&t->missing, t->pairs);
    return t;
}

static void free_tally(struct run *r, struct tally *t) {
    if (!t) return;
    ranking_free(&t->keys, r->keep);
    seen_free(t->pairs);
    missing_free(&t->missing);
    free(t);
}

/* The next window uses it again: memory for pairs is not given back and fetched for each. */
static void leave_tally(struct run *r, struct tally *t) {
    free_tally(r, r->spare);
    seen_top_clear(t->keys.top);
    if (t->pairs) seen_landmark(t->pairs);
    if (t->pairs) missing_begin(&t->missing, t->pairs);
    r->spare = t;
}

/* -- windows ------------------------------------------------------------------------------ */

static void put_header(struct run *r) {
    if (!r->json && !r->header_done)
        printf("from\tkey\t%s\terror\twindows\n", r->distinct ? "partners" : "records");
    r->header_done = true;
}

static void put_row(const struct run *r, const char *from, const struct name *name,
                    const struct seen_heavy *h, uint64_t windows) {
    if (!r->json) {
        printf("%s\t", from);
        name_print_text(name, r->source.delimiter, stdout);
        printf("\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", h->count, h->error, windows);
        return;
    }
    printf("{\"from\": ");
    print_json_string(stdout, from);
    printf(", \"key\": ");
    name_print_json(name, stdout);
    printf(", \"%s\": %" PRIu64 ", \"error\": %" PRIu64 ", \"windows\": %" PRIu64 "}\n",
           r->distinct ? "partners" : "records", h->count, h->error, windows);
}

/* The error is all of the count, but for the record with which the key took its counter over. */
static bool says_nothing(const struct seen_heavy *h) {
    return h->error > 0 && h->count - h->error <= 1;
}

/* The rows of the window that ends: those of the list that surely came often enough. */
static size_t choose(struct run *r, const struct tally *t, uint64_t twice) {
    size_t m = 0, n = seen_top_list(t->keys.top, r->list), out = 0;
    for (size_t i = 0; i < n && m < r->number; i++) {
        const struct seen_heavy *h = &r->list[i];
        if (h->count < h->error + twice || h->count - h->error - twice < r->least) continue;
        if (!says_nothing(h))
            r->list[m++] = *h;
        else if (m + out < r->number)
            out++;
    }
    r->left_out += out;
    return m;
}

/* What the detector of pairs did not count, or counted twice, is in the error as well. */
static void note_pairs(struct run *r, const struct tally *t, uint64_t twice) {
    bool sure;
    double missed = missing_all(&t->missing, &sure);
    double pairs = (double)t->missing.counted + missed;
    r->twice += twice;
    r->missed += missed;
    r->missed_most |= !sure;
    if (pairs > r->most_pairs) r->most_pairs = pairs;
}

/* One window more for each of m keys; in[i] is in how many the i-th surely was by now. */
static void persist(struct run *r, const struct tally *t, const struct seen_heavy *chosen, size_t m,
                    uint64_t *in) {
    struct ranking *w = &r->windows;
    uint64_t *surely = calloc(r->keep, sizeof *surely);
    if (!surely) die("out of memory for %" PRIu64 " counters", r->keep);
    for (size_t i = 0; i < m; i++) {
        bool taken;
        size_t c = ranking_add(w, chosen[i].key, &taken);
        if (taken) ranking_name(w, c, t->keys.name[chosen[i].counter]);
        in[i] = c;
    }
    size_t n = seen_top_list(w->top, r->list);
    for (size_t i = 0; i < n; i++) surely[r->list[i].counter] = r->list[i].count - r->list[i].error;
    for (size_t i = 0; i < m; i++) in[i] = surely[in[i]];
    free(surely);
}

static void on_end(void *ctx, const struct window *w) {
    struct run *r = ctx;
    struct tally *t = w->own;
    char from[32];
    uint64_t twice = t->pairs ? missing_twice(&t->missing, t->pairs) : 0;
    size_t m = choose(r, t, twice);
    uint64_t *in = calloc(m + 1, sizeof *in);
    struct seen_heavy *chosen = malloc((m + 1) * sizeof *chosen);
    if (!in || !chosen) die("out of memory for %zu keys", m);
    memcpy(chosen, r->list, m * sizeof *chosen);
    if (t->pairs) note_pairs(r, t, twice);
    for (size_t i = 0; t->pairs && i < m; i++)
        chosen[i].error += twice + missing_most(&t->missing, chosen[i].key, chosen[i].counter);
    pace_from(&r->pace, w, from);
    put_header(r);
    persist(r, t, chosen, m, in);
    for (size_t i = 0; i < m; i++)
        put_row(r, from, t->keys.name[chosen[i].counter], &chosen[i], in[i]);
    free(chosen);
    free(in);
    leave_tally(r, t);
    r->ended++;
}

static const struct pace_events windows = {.begin = on_begin, .end = on_end};

/* Over several windows: who was among them longest. */
static void put_persistent(const struct run *r) {
    size_t n = seen_top_list(r->windows.top, r->list);
    for (size_t i = 0; r->ended > 1 && i < n && i < r->number; i++) {
        const struct seen_heavy *h = &r->list[i];
        const struct name *name = r->windows.name[h->counter];
        uint64_t surely = h->count - h->error;
        if (!r->json) {
            printf("all\t");
            name_print_text(name, r->source.delimiter, stdout);
            printf("\t-\t-\t%" PRIu64 "\n", surely);
            continue;
        }
        printf("{\"from\": \"all\", \"key\": ");
        name_print_json(name, stdout);
        printf(", \"windows\": %" PRIu64 "}\n", surely);
    }
}

/* -- records ------------------------------------------------------------------------------ */

static void on_columns(void *ctx, const struct header *header) {
    struct run *r = ctx;
    if (!r->distinct) return;
    r->slot = columns_slot(&r->reader.layout, "--distinct", r->distinct, header);
    unjudged_wants(&r->reader.unjudged, &r->slot, 1, "--distinct");
}

/* Is this pair of key and partner new in the window? */
static bool first_seen(struct run *r, struct tally *t, const struct slice *f, size_t m) {
    const struct judge *j = &r->pace.judge;
    size_t need = sizeof(seen_digest) + f->len;
    if (need > r->pair_cap) {
        r->pair_cap = 2 * need;
        r->pair = realloc(r->pair, r->pair_cap);
        if (!r->pair) die("out of memory for a pair of %zu bytes", need);
    }
    memcpy(r->pair, &j->in->digest[m], sizeof(seen_digest));
    size_t len = slice_value(f, r->pair + sizeof(seen_digest));
    seen_digest pair = seen_hash(r->pair, sizeof(seen_digest) + len, seen_seed(t->pairs));
    bool timed = r->plan.spec.unit == SEEN_MICROSECONDS;
    uint8_t verdict;
    seen_observe(t->pairs, 1, &pair, timed ? &j->in->time[m] : NULL, &verdict);
    return verdict == SEEN_NEW;
}

static void count(struct run *r, struct tally *t, const struct batch *b, size_t m) {
    size_t i = r->pace.judge.in->order[m];
    if (t->pairs) {
        const struct slice *f = &b->field[i * r->reader.layout.slots + r->slot];
        if (!f->at) return;
        if (!first_seen(r, t, f, m)) {
            missing_duplicate(&t->missing, r->pace.judge.in->digest[m]);
            return;
        }
    }
    bool taken;
    size_t c = ranking_add(&t->keys, r->pace.judge.in->digest[m], &taken);
    if (t->pairs) missing_note(&t->missing, t->pairs, c, taken);
    if (!taken) return;
    name_of_key(&r->name, &r->pace.judge.keyer[0], b, i);
    ranking_name(&t->keys, c, &r->name);
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
        if (w) count(r, w->own, b, m);
    }
}

static void on_flush(void *ctx) { (void)ctx, fflush(stdout); }

static const struct reader_events events = {.columns = on_columns,
                                            .ahead = on_ahead,
                                            .own = sizeof(struct readable),
                                            .batch = on_batch,
                                            .flush = on_flush};

/* -- a run -------------------------------------------------------------------------------- */

/* As many as fit into 256 MiB with their detectors of pairs, and two at least: one that is over and
 * one that is not. */
static uint64_t open_windows(const struct run *r) {
    uint64_t fit = (UINT64_C(256) << 20) / (r->plan.bytes + 1);
    if (!r->distinct || fit > 400) return 400;
    return fit > 2 ? fit : 2;
}

/* Each window has a detector of pairs; its own length is only for its size. */
static void start(struct run *r) {
    pace_init(&r->pace, &r->asked, &r->source, &r->reader.layout);
    if (r->pace.subwindows > 1) die("keys are ranked in landmark windows, such as landmark:1h");
    asked_plan(&r->asked, 0, &r->source, &r->plan);
    pace_begin(&r->pace, &windows, r, open_windows(r));
    ranking_init(&r->windows, r->keep);
    r->list = calloc(r->keep, sizeof *r->list);
    if (!r->list) die("out of memory for %" PRIu64 " counters", r->keep);
    r->spare = on_begin(r); /* says at once if there is no room for one */
    reader_init(&r->reader, &r->source, &events, r);
    r->reader.unjudged.detector = r->pace.detector;
}

/* The number with two digits, and so that a spec takes it: 3.3e6. */
static const char *rough(double n, char buf[32]) {
    int power = n >= 1 ? (int)floor(log10(n)) : 0;
    snprintf(buf, 32, "%.1fe%d", ceil(n / pow(10, power - 1)) / 10, power);
    return buf;
}

/* The detector of pairs was too small for a window. */
static void tell_pairs(const struct run *r) {
    char items[32], spec[64];
    struct seen_spec enough;
    struct seen_plan plan;
    struct seen_error e;
    if (r->source.quiet || (r->missed < 0.5 && !r->twice)) return;
    snprintf(spec, sizeof spec, "landmark items=%s", rough(1.1 * r->most_pairs, items));
    if (seen_spec_parse(&enough, spec, &e) || seen_plan_make(&plan, &enough, &e)) return;
    struct number memory = number_size(plan.bytes);
    if (r->missed >= 0.5)
        warn("%s %.0f pairs are missing from the counts, because the table of pairs was planned "
             "for %ju in a window; the errors include them; items=%s and no mem= would hold all, "
             "in %s",
             r->missed_most ? "up to" : "about", r->missed, (uintmax_t)r->plan.capacity, items,
             memory.text);
    if (r->twice)
        warn("up to %ju pairs were counted twice, because memory for pairs was short; the errors "
             "include them; items=%s and no mem= or filter= would hold all, in %s",
             (uintmax_t)r->twice, items, memory.text);
}

static void tell_left_out(const struct run *r) {
    if (r->source.quiet || !r->left_out) return;
    warn("%ju row%s left out, whose error is as large as the count; more counters (--keep, now "
         "%ju) have smaller errors",
         (uintmax_t)r->left_out, r->left_out == 1 ? " is" : "s are", (uintmax_t)r->keep);
}

static int finish(struct run *r, bool read) {
    pace_end(&r->pace);
    put_header(r);
    put_persistent(r);
    judge_tell(&r->pace.judge, r->pace.own ? 0 : r->pace.judge.lateness.run_late);
    pace_tell(&r->pace, &r->source, "in no row");
    tell_left_out(r);
    tell_pairs(r);
    bool bad = unjudged_end(&r->reader.unjudged, "not counted", r->account.wanted);
    account_print(&r->account, &r->reader.unjudged);
    return !read || bad ? EXIT_TROUBLE : EXIT_FINE;
}

static void free_run(struct run *r) {
    free_tally(r, r->spare);
    ranking_free(&r->windows, r->keep);
    free(r->list);
    free(r->pair);
    pace_free(&r->pace);
    reader_free(&r->reader);
    asked_free(&r->asked);
}

static int top_main(int argc, char **argv) {
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
    {"seen top -k 1 clicks.tsv", "the ten most frequent"},
    {"seen top --csv -k ip -w landmark:1h --time when clicks.csv", "of each hour"},
    {"seen top --csv -k ip --distinct cookie --at-least 100 clicks.csv",
     "addresses with too many cookies"},
    {"seen top -n 100 -o json access.log", "an object a line"},
    {0},
};

const struct command top_command = {
    .name = "top",
    .run = top_main,
    .help = "the most frequent keys; addresses with too many cookies",
    .usage = "[-w SPEC] [OPTION]... [FILE]...",
    .about =
        "The most frequent keys of FILE... (default: standard input), for each landmark window; "
        "with `--distinct` those with the most different partners, such as addresses with too "
        "many cookies.\n\n"
        "The column windows says in how many a key was among them so far; the rows 'all' at the "
        "end, in how many in all. A count is at most its error too high and never too low; the "
        "error is at most the records over `--keep`. Rows whose error is as large as their count "
        "are left out, which is told. In JSON a key of several fields is an array of its "
        "values.\n\n"
        "With `--distinct` a pair that the detector takes for another is not counted; that happens "
        "at a rate of `fp=`, and more often once more pairs come in a window than were planned. A "
        "count may then be too low as well. The error includes what is missing, and is exceeded "
        "in 1 of 2000 rows. A message says how many pairs are missing in all.\n\n"
        "With `--time` a record counts in the window of its own time, in whatever order records "
        "come. From files all rows are printed at the end; from pipes a row is printed as soon as "
        "its window is over, or `--lateness` later. At most `--open-windows` are open at once; "
        "with `--distinct` as many as fit into 256 MiB with their pairs. What falls outside is "
        "counted and told.",
    .examples = examples,
    .rows = rows,
    .often = "window keys csv no-quotes tsv ndjson clf time distinct number at-least output",
};
