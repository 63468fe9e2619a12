/* filter.c - `seen filter --list FILE...`: lets through the records whose key is in a list.
 *
 * The stream filter of Leskovec, Rajaraman and Ullman's lecture on mining data streams: a list of
 * known good keys is far larger than the memory to keep it in, so it is kept as a Bloom filter, and
 * everything in the list passes.  Of the rest a share of fp passes as well; none with --exact.
 * Several lists are asked in one pass, as publishers of many channels do, and --tag says which of
 * them match.  Lists cost 16 bytes a key while they are read, since a filter is made for their
 * number. */
#include "judge/judge.h"
#include "judge/key_list.h"
#include "print.h"
#include "read/account.h"
#include "read/reader.h"
#include "signals.h"
#include "write/sink.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum { MOST_LISTS = 64, MOST_TAG = 4096 };
enum { LIST = 1, OLD_LIST, INVERT, TAG, TAG_COLUMN, FP, EXACT, STATS };

static const struct option_row own_rows[] = {
    {"Lists", 0, NULL, NULL, 0},
    {"list", 0, "FILE", "a list of keys, one a line; may be given several times", LIST},
    {"keys", 0, "FILE", NULL, OLD_LIST},
    {"fp", 0, "X", "share of other records that may pass a list (default: 1e-9)", FP},
    {"exact", 0, NULL, "none may; takes more memory", EXACT},
    {"Records and keys (default: the whole line)", 0, NULL, NULL, 0},
    {"fields", 'k', "LIST", SOURCE_KEYS_HELP, SOURCE_KEYS},
    SOURCE_FORMAT_ROWS,
    {"Output (default: records whose key is in any list)", 0, NULL, NULL, 0},
    {"invert", 'v', NULL, "those whose key is in none", INVERT},
    {"tag", 0, NULL, "with its lists, joined by +, in front (tables: last)", TAG},
    TAG_COLUMN_ROW("lists", TAG_COLUMN),
    ACCOUNT_ROW(STATS, "keys, memory and matches of each list"),
    SOURCE_THREADS_ROW,
    SOURCE_QUIET_ROW,
    SOURCE_UNJUDGED_ROWS,
    HELP_ROWS,
    {0},
};

struct list {
    const char *name;
    seen_detector *set;
    seen_digest *digest; /* while it is read */
    size_t n, room;
    uint64_t matches;
};

/* Of a batch: its n records that have a key, and in which lists that is. */
struct matched {
    size_t n;
    seen_digest digest[BATCH];
    uint16_t order[BATCH];
    uint64_t lists[BATCH]; /* bit i: list i */
    uint8_t cause[BATCH];  /* of the others, at their places */
};

struct run {
    struct source source;
    struct reader reader;
    struct keyer keyer[CREW_MOST]; /* one a thread */
    struct sink sink;
    seen_detector *hasher; /* keys of lists and records become digests as under its spec */
    struct list list[MOST_LISTS];
    size_t lists;
    const char *fp, *tag_column;
    bool exact, invert, tag;
    struct account account;
    uint64_t records, passed;
};

/* -- options ------------------------------------------------------------------------------ */

static const struct option_row *rows(void) { return own_rows; }

static void add_list(struct run *r, const char *name) {
    if (r->lists == MOST_LISTS) die("more than %d lists; join some into one file", MOST_LISTS);
    r->list[r->lists++].name = name;
}

/* Elsewhere --keys names the fields of the key. */
static void add_old_list(struct run *r, const char *name) {
    if (strcmp(name, "-") != 0 && access(name, F_OK))
        die("--keys %s: there is no such file; in filter --keys is another name of --list FILE, "
            "and "
            "the fields of the key are -k %s",
            name, name);
    add_list(r, name);
}

static void take(struct run *r, int id, const char *value) {
    if (source_take(&r->source, id, value)) return;
    switch (id) {
    case LIST: add_list(r, value); break;
    case OLD_LIST: add_old_list(r, value); break;
    case INVERT: r->invert = true; break;
    case TAG: r->tag = true; break;
    case TAG_COLUMN: r->tag_column = tags_column(value); break;
    case FP: r->fp = value; break;
    case EXACT: r->exact = true; break;
    case STATS: account_take(&r->account, value); break;
    }
}

static void read_options(struct run *r, int argc, char **argv) {
    struct args a = {.argc = argc, .argv = argv, .command = &filter_command};
    source_init(&r->source);
    for (int id; (id = args_next(&a));) take(r, id, a.value);
    if (!r->lists) die("filter needs a list of keys, a file with one a line: --list FILE");
    if (r->invert && r->tag) die_both("--invert", "--tag");
    if (r->exact && r->fp) die_both("--exact", "--fp");
    source_files(&r->source, &a);
    r->source.crlf |= r->source.end == '\n'; /* of lists and records alike */
    if (r->tag_column && (!r->tag || !source_column(&r->source)))
        die("--tag-column names the column that --tag adds to --csv and --tsv");
}

/* -- lists -------------------------------------------------------------------------------- */

static seen_detector *detector_of(const char *text, const char *fp) {
    struct seen_error e;
    struct seen_spec spec;
    struct seen_plan plan;
    seen_detector *d;
    if (seen_spec_parse(&spec, text, &e)) die("%s", e.text);
    if (fp && seen_spec_set(&spec, "fp", fp, &e)) die("--fp %s: %s", fp, e.text);
    if (seen_plan_make(&plan, &spec, &e) || seen_new(&d, &plan, NULL, &e)) die("%s", e.text);
    return d;
}

static void take_keys(void *ctx, size_t n, const seen_digest *digest) {
    struct list *l = ctx;
    if (l->n + n > l->room) {
        l->room = 2 * l->room + BATCH;
        l->digest = realloc(l->digest, l->room * sizeof *l->digest);
        if (!l->digest) die("out of memory for the keys of %s", l->name);
    }
    memcpy(l->digest + l->n, digest, n * sizeof *digest);
    l->n += n;
}

/* The set of what was read, made for as many keys. */
static void make_set(const struct run *r, struct list *l) {
    char spec[128];
    uint8_t verdict[BATCH];
    snprintf(spec, sizeof spec, "landmark items=%zu seed=%" PRIu64 "%s", l->n ? l->n : 1,
             seen_seed(r->hasher), r->exact ? " filter=exact" : "");
    l->set = detector_of(spec, r->exact ? NULL : r->fp ? r->fp : "1e-9");
    for (size_t i = 0; i < l->n; i += BATCH)
        seen_observe(l->set, l->n - i < BATCH ? l->n - i : BATCH, l->digest + i, NULL, verdict);
    if (!l->n && !r->source.quiet)
        warn("%s holds no keys: %s; is it the right list?", l->name,
             r->lists > 1 ? "no record is in it"
             : r->invert  ? "every record passes"
                          : "no record passes");
    free(l->digest);
    l->digest = NULL;
}

static void on_columns(void *ctx, const struct header *header) {
    struct run *r = ctx;
    sink_check_heading(&r->sink, header);
    for (size_t i = 0; i < r->lists; i++) {
        struct list *l = &r->list[i];
        key_list_read(l->name, &r->source, &r->reader.layout, r->hasher, take_keys, l);
        make_set(r, l);
    }
}

/* -- records ------------------------------------------------------------------------------ */

/* Lists do not change, so that any thread may ask them. */
static void on_ahead(void *ctx, unsigned who, struct batch *b, seen_time now) {
    struct run *r = ctx;
    struct matched *m = b->own;
    uint8_t in[BATCH];
    (void)now;
    m->n = key_batch(&r->keyer[who], b, m->digest, m->order);
    key_causes(&r->keyer[who], b, m->n, m->order, m->cause);
    memset(m->lists, 0, m->n * sizeof *m->lists);
    for (size_t l = 0; l < r->lists; l++) {
        seen_query(r->list[l].set, m->n, m->digest, 0, 0, in);
        for (size_t i = 0; i < m->n; i++) m->lists[i] |= (uint64_t)in[i] << l;
    }
}

static const char *names_of(const struct run *r, uint64_t matched) {
    static char text[MOST_TAG];
    size_t at = 0;
    for (size_t l = 0; l < r->lists; l++)
        if (matched >> l & 1 && at < sizeof text)
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", at ? "+" : "",
                                   r->list[l].name);
    return text;
}

static void on_batch(void *ctx, struct batch *b, seen_time now) {
    struct run *r = ctx;
    const struct matched *m = b->own;
    unjudged_batch(&r->reader.unjudged, b, now, m->n, m->order, m->cause);
    for (size_t i = 0; i < b->n; i++) b->verdict[i] = UNREADABLE;
    for (size_t i = 0; i < m->n; i++) {
        uint64_t lists = m->lists[i];
        b->verdict[m->order[i]] = lists ? SEEN_DUPLICATE : SEEN_NEW;
        r->passed += lists != 0;
        if (lists && r->tag) sink_tagged(&r->sink, &b->record[m->order[i]], names_of(r, lists));
        for (; lists; lists &= lists - 1) r->list[__builtin_ctzll(lists)].matches++;
    }
    if (!r->tag) sink_batch(&r->sink, b);
    r->records += m->n;
}

static void on_header(void *ctx, const struct record *line) {
    sink_header(&((struct run *)ctx)->sink, line);
}

static void on_unreadable(void *ctx, const char *p, size_t n, bool first, bool last) {
    struct run *r = ctx;
    if (r->invert) sink_unreadable(&r->sink, p, n, first, last);
}

static void on_attend(void *ctx) { sink_tend(&((struct run *)ctx)->sink, time_monotonic()); }
static void on_flush(void *ctx) { sink_flush(&((struct run *)ctx)->sink); }
static bool on_ending(void *ctx) { return ((struct run *)ctx)->sink.error; }

static const struct reader_events events = {.columns = on_columns,
                                            .header = on_header,
                                            .ahead = on_ahead,
                                            .own = sizeof(struct matched),
                                            .batch = on_batch,
                                            .unreadable = on_unreadable,
                                            .attend = on_attend,
                                            .flush = on_flush,
                                            .ending = on_ending};

/* -- a run -------------------------------------------------------------------------------- */

static void start(struct run *r) {
    char spec[64];
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
        die("the system gave no random seed: %s", strerror(errno));
    snprintf(spec, sizeof spec, "landmark filter=exact seed=%" PRIu64, seed);
    r->hasher = detector_of(spec, NULL);
    enum sink_mode mode = r->tag ? SINK_TAG : r->invert ? SINK_UNIQUE : SINK_DUPLICATES;
    sink_init(&r->sink, STDOUT_FILENO, mode, source_column(&r->source));
    r->sink.end = r->source.end;
    r->sink.heading = r->tag_column ? r->tag_column : "lists";
    sink_choose(&r->sink, false, r->source.rejects);
    reader_init(&r->reader, &r->source, &events, r);
    for (int i = 0; i < CREW_MOST; i++)
        key_init(&r->keyer[i], r->hasher, &r->reader.layout, r->source.max_record);
}

static void print_stats_json(const struct run *r) {
    fputc('{', stderr);
    account_put_json(&r->account, &r->reader.unjudged);
    fprintf(stderr, "\"matched\":%" PRIu64 ",\"lists\":[", r->passed);
    for (size_t l = 0; l < r->lists && r->list[l].set; l++) {
        struct seen_stats s;
        seen_stats(r->list[l].set, &s);
        fputs(l ? ",{\"list\":" : "{\"list\":", stderr);
        print_json_string(stderr, r->list[l].name);
        fprintf(stderr, ",\"keys\":%zu,\"bytes\":%" PRIu64 ",\"matches\":%" PRIu64 ",\"fp\":%.9g}",
                r->list[l].n, s.bytes, r->list[l].matches, s.fp_now);
    }
    fputs("],\"version\":\"" SEEN_VERSION "\"}\n", stderr);
}

static void print_stats(const struct run *r) {
    if (r->account.json) {
        print_stats_json(r);
        return;
    }

    fprintf(stderr, "%s records, ", number_grouped(r->records + r->reader.unjudged.n).text);
    fprintf(stderr, "%s in a list, ", number_grouped(r->passed).text);
    fprintf(stderr, "%s without a readable key\n", number_grouped(r->reader.unjudged.n).text);
    for (size_t l = 0; l < r->lists && r->list[l].set; l++) {
        struct seen_stats s;
        seen_stats(r->list[l].set, &s);
        fprintf(stderr, "  %s: %s keys in ", r->list[l].name, number_grouped(r->list[l].n).text);
        fprintf(stderr, "%s, %s matches; ", number_size(s.bytes).text,
                number_grouped(r->list[l].matches).text);
        fprintf(stderr, "%.2g of the others pass\n", s.fp_now);
    }
}

static int finish(struct run *r, bool read) {
    sink_close(&r->sink);
    if (r->account.wanted) print_stats(r);
    if (r->sink.error) warn("cannot write the output: %s", strerror(r->sink.error));
    bool bad = unjudged_end(&r->reader.unjudged, "not looked up", r->account.wanted);
    return r->sink.error || !read || bad ? EXIT_TROUBLE : EXIT_FINE;
}

static void free_run(struct run *r) {
    for (size_t l = 0; l < r->lists; l++) seen_free(r->list[l].set);
    seen_free(r->hasher);
    for (int i = 0; i < CREW_MOST; i++) key_free(&r->keyer[i]);
    sink_free(&r->sink);
    reader_free(&r->reader);
}

static int filter_main(int argc, char **argv) {
    static struct run r;
    read_options(&r, argc, argv);
    account_begin(&r.account);
    start(&r);
    bool read = reader_run(&r.reader);
    int code = finish(&r, read);
    free_run(&r);
    if (signals_stop()) signals_die(signals_stop());
    return code;
}

static const struct example examples[] = {
    {"seen filter --list customers.txt -k 2 orders.tsv", "orders of customers"},
    {"seen filter --list blocked.txt -v --csv -k ip clicks.csv",
     "clicks of addresses not in the list"},
    {"seen filter --list a.txt --list b.txt --tag -k 2 orders.tsv", "and in which lists"},
    {"seen filter --list huge.txt --fp 1e-3 urls.txt", "a thousandth of the others may pass"},
    {0},
};

const struct command filter_command = {
    .name = "filter",
    .run = filter_main,
    .help = "the records whose key is in a list",
    .usage = "--list FILE [--list FILE]... [OPTION]... [FILE]...",
    .about =
        "Prints the records of FILE... (default: standard input) whose key is in a list.\n\n"
        "A list is a file with a key a line; a key of several fields stands in it with the same "
        "delimiter between them. A byte order mark at its begin is skipped, and a CR before a "
        "newline is no part of a key, in lists and in records. Lists are kept as Bloom filters "
        "made for their number of keys: "
        "every record in a list passes, and of the others a share of `--fp`; with `--exact` none. "
        "While a list is read it takes 16 bytes a key.\n\n"
        "A record whose key cannot be read is in no list.",
    .examples = examples,
    .rows = rows,
    .often = "list fields csv no-quotes tsv ndjson clf invert tag stats fp exact",
};
