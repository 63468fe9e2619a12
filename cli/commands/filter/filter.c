/* filter.c - `seen filter --list FILE...`: lets through the records whose key is in a list.
 *
 * This is the stream filter of Leskovec, Rajaraman and Ullman's lecture on mining data streams.  A
 * list of good keys may be larger than memory, so it is kept as a Bloom filter.  Every record in
 * the list passes, and so does a share `fp` of all other records; none of these with --exact.
 *
 * All lists are asked in one pass, and --tag prints which of them match.  With --any a record has
 * many keys and passes if one of them is in a list.  This is the lecture's publish and subscribe: a
 * message goes to everyone who asked for one of its words.
 *
 * A list takes 16 bytes a key while it is read, because a filter is made for a number of keys. */
#include "commands/filter/filter.h"
#include "time/time.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* clang-format off */
enum {
    FIELDS = 1, LIST, OLD_LIST, ANY, WORDS, NGRAMS, INVERT, TAG, TAG_COLUMN, FP, EXACT, OUTPUT,
    STATS
};
/* clang-format on */

static const struct option_row list_rows[] = {
    {"Lists", 0, NULL, NULL, 0},
    {"list", 0, "FILE", "a list of keys, one a line; may be given several times", LIST},
    {"keys", 0, "FILE", NULL, OLD_LIST},
    {"fp", 0, "X", "share of other keys that may pass a list (default: 1e-9)", FP},
    {"exact", 0, NULL, "no other key may; takes more memory", EXACT},
    {"Records and keys (default: the whole line)", 0, NULL, NULL, 0},
    {"fields", 'k', "LIST", INPUT_KEYS_HELP, FIELDS},
    {"any", 0, NULL, "each field of -k is a key: a record passes if one is in a list", ANY},
    {"words", 0, "[=CHARS]", "each word of them is a key; CHARS: what separates words", WORDS},
    {"ngrams", 0, "N", "each N characters in a row are a key", NGRAMS},
    {0},
};

static const struct option_row output_rows[] = {
    {"Output (default: records whose key is in any list)", 0, NULL, NULL, 0},
    {"invert", 'v', NULL, "print the records whose key is in no list", INVERT},
    {"tag", 0, NULL, "also print the matching lists, in front (tables: last)", TAG},
    {"tag-column", 0, "NAME", "name of that column in a table (default: lists)", TAG_COLUMN},
    {"output", 'o', "text|json", "json: an object a record, with its lists", OUTPUT},
    {"stats", 0, "[=text|json]", "keys, memory and matches of each list, on stderr", STATS},
    {0},
};

struct run {
    struct input_options input;
    struct reader reader;
    struct keyer keyer[MAX_THREADS]; /* one for each thread */
    struct any *any;                 /* [MAX_THREADS], for --any; NULL: a record has one key */
    struct sink sink;
    struct show show;
    struct lists lists;
    struct cut cut;
    struct chance chance; /* under --any */
    const char *tag_column;
    bool each, tag; /* each: --any */
    struct run_stats stats;
    uint64_t number, passed; /* records so far */
};

static struct run this_run;

/* -- options ------------------------------------------------------------------------------ */

static void take(void *options, const struct option_row *row, const char *value) {
    struct run *r = options;
    switch (row->id) {
    case FIELDS: r->input.keys = value; break;
    case LIST: lists_add(&r->lists, value); break;
    case OLD_LIST: /* elsewhere --keys names the fields of the key */
        if (strcmp(value, "-") != 0 && access(value, F_OK))
            die("--keys %s: there is no such file; in filter --keys is another name of --list "
                "FILE, and the fields of the key are -k %s",
                value, value);
        lists_add(&r->lists, value);
        break;
    case ANY: r->each = true; break;
    case WORDS: cut_take_words(&r->cut, value); break;
    case NGRAMS: cut_take_gram(&r->cut, value); break;
    case INVERT: r->lists.invert = true; break;
    case TAG: r->tag = true; break;
    case TAG_COLUMN: r->tag_column = tags_column(value); break;
    case FP: r->lists.fp = value; break;
    case EXACT: r->lists.exact = true; break;
    case OUTPUT: r->sink.json = option_is_json(value); break;
    case STATS: run_stats_take(&r->stats, value); break;
    }
}

static const struct option_group groups[] = {
    {list_rows, take, 0},
    {input_format_rows, input_options_take, offsetof(struct run, input)},
    {output_rows, take, 0},
    {input_thread_rows, input_options_take, offsetof(struct run, input)},
    {input_quiet_rows, input_options_take, offsetof(struct run, input)},
    {input_strict_rows, input_options_take, offsetof(struct run, input)},
    {input_reject_rows, input_options_take, offsetof(struct run, input)},
    {help_rows, NULL, 0},
    {0},
};

static void begin(void) { input_options_init(&this_run.input); }

static void settle_options(struct run *r, const struct args *a) {
    if (!r->lists.n) die("filter needs a list of keys, a file with one a line: --list FILE");
    if (r->lists.invert && r->tag) die_both("--invert", "--tag");
    if (r->lists.exact && r->lists.fp) die_both("--exact", "--fp");
    if (r->cut.words && r->cut.gram) die_both("--words", "--ngrams");
    if (r->each && !cut_any(&r->cut) && !r->input.keys && !r->input.form.regex)
        die("--any needs keys to choose from: several fields (-k 2-), --words or --ngrams N");
    r->each |= cut_any(&r->cut); /* --words and --ngrams include --any */
    r->input.form.by_word = r->cut.words;
    if (r->each) r->lists.cut = &r->cut;
    input_options_files(&r->input, a);
    r->input.crlf |= r->input.end == '\n'; /* of lists and records alike */
    if (r->tag_column && (!r->tag || r->sink.json || !input_options_column(&r->input)))
        die("--tag-column names the column that --tag adds to --csv and --tsv");
    r->stats.json |= r->sink.json;
}

/* -- records ------------------------------------------------------------------------------ */

static void on_columns(void *ctx, const struct header *header) {
    struct run *r = ctx;
    sink_check_heading(&r->sink, header);
    lists_read(&r->lists, &r->input, &r->reader.layout);
}

/* Any thread may ask the lists, because they do not change. */
static void on_ahead(void *ctx, unsigned who, struct batch *b, seen_time now) {
    struct run *r = ctx;
    struct matched *m = b->result;
    (void)now;
    if (r->any) {
        any_batch(&r->any[who], b, m);
        return;
    }
    m->n = key_batch(&r->keyer[who], b, m->digest, m->order);
    key_causes(&r->keyer[who], b, m->n, m->order, m->cause);
    lists_find(&r->lists, m->n, m->digest, m->lists);
}

/* Prints the records that are to be shown, with their lists.  No list is known of records that
 * cannot be judged. */
static void show_batch(struct run *r, const struct batch *b, const struct matched *m) {
    for (size_t i = 0, at = 0; i < b->n; i++) {
        bool judged = at < m->n && m->order[at] == i;
        uint64_t lists = judged ? m->lists[at++] : 0, number = r->number + i + 1;
        const struct record *record = &b->record[i];
        if (!r->sink.shows[b->verdict[i]]) continue;
        if (!r->sink.json)
            show_tag(&r->show, b, i, lists);
        else if (judged)
            show_json(&r->show, b, i, lists, number);
        else
            show_json_unjudged(&r->show, record->at, record->len, number, true, true);
    }
}

static void on_batch(void *ctx, struct batch *b, seen_time now) {
    struct run *r = ctx;
    const struct matched *m = b->result;
    unjudged_batch(&r->reader.unjudged, b, now, m->n, m->order, m->cause);
    for (size_t i = 0; i < b->n; i++) b->verdict[i] = UNREADABLE;
    for (size_t i = 0; i < m->n; i++) {
        b->verdict[m->order[i]] = m->lists[i] ? SEEN_DUPLICATE : SEEN_NEW;
        r->passed += m->lists[i] != 0;
        for (uint64_t lists = m->lists[i]; lists; lists &= lists - 1)
            r->lists.list[__builtin_ctzll(lists)].matches++;
        if (r->any) chance_note(&r->chance, m->keys[i]);
    }
    if (r->tag || r->sink.json)
        show_batch(r, b, m);
    else
        sink_batch(&r->sink, b);
    r->number += b->n;
}

static void on_header(void *ctx, const struct record *line) {
    sink_header(&((struct run *)ctx)->sink, line);
}

static void on_unreadable(void *ctx, const char *p, size_t n, bool first, bool last) {
    struct run *r = ctx;
    r->number += first;
    if (!r->sink.shows[UNREADABLE]) return;
    if (r->sink.json)
        show_json_unjudged(&r->show, p, n, r->number, first, last);
    else
        sink_unreadable(&r->sink, p, n, first, last);
}

static void on_attend(void *ctx) { sink_tend(&((struct run *)ctx)->sink, time_monotonic()); }
static void on_flush(void *ctx) { sink_flush(&((struct run *)ctx)->sink); }
static bool on_ending(void *ctx) { return ((struct run *)ctx)->sink.error; }

static const struct reader_events events = {.columns = on_columns,
                                            .header = on_header,
                                            .ahead = on_ahead,
                                            .result_size = sizeof(struct matched),
                                            .batch = on_batch,
                                            .unreadable = on_unreadable,
                                            .attend = on_attend,
                                            .flush = on_flush,
                                            .ending = on_ending};

/* -- a run -------------------------------------------------------------------------------- */

static void start(struct run *r) {
    lists_init(&r->lists);
    reader_init(&r->reader, &r->input, &events, r);
    const struct layout *layout = &r->reader.layout;
    if (r->each) r->any = calloc(MAX_THREADS, sizeof *r->any);
    if (r->each && !r->any) die("out of memory for keys");
    for (int i = 0; i < MAX_THREADS; i++) {
        if (r->each) any_init(&r->any[i], &r->lists, layout, r->input.max_record);
        key_init(&r->keyer[i], r->lists.hasher, layout, r->input.max_record);
    }
    /* Records that cannot be judged are shown if those in no list are shown. */
    bool json = r->sink.json, csv = input_options_cutting(&r->input).quotes;
    enum sink_mode mode = r->lists.invert ? SINK_UNIQUE : r->tag ? SINK_TAG : SINK_DUPLICATES;
    sink_init(&r->sink, STDOUT_FILENO, mode, input_options_column(&r->input));
    r->sink.end = r->input.end;
    r->sink.json = json;
    sink_choose(&r->sink, false, r->input.rejects);
    r->sink.shows[SEEN_NEW] = r->lists.invert;
    r->sink.shows[SEEN_DUPLICATE] = !r->lists.invert;
    r->sink.shows[UNREADABLE] &= r->lists.invert;
    show_init(&r->show, &r->lists, r->any, &r->sink, r->tag_column, csv);
}

static int finish(struct run *r, bool read) {
    const struct filter_run f = {&r->lists, r->any ? &r->chance : NULL, &r->stats,
                                 &r->reader.unjudged, r->passed};
    bool quiet = r->input.quiet;
    sink_close(&r->sink);
    if (r->stats.wanted) report_stats(&f);
    if (r->sink.error) warn("cannot write the output: %s", strerror(r->sink.error));
    if (r->any) report_fields(r->any, &r->input);
    if (!quiet && !r->stats.wanted) report_chance(&f);
    bool bad = unjudged_end(&r->reader.unjudged, "not looked up", r->stats.wanted);
    return r->sink.error || !read || bad ? EXIT_TROUBLE : EXIT_FINE;
}

static int filter_main(const struct args *args) {
    struct run *r = &this_run;
    settle_options(r, args);
    run_stats_begin(&r->stats);
    start(r);
    bool read = reader_run(&r->reader);
    int code = finish(r, read);
    for (int i = 0; i < MAX_THREADS; i++) {
        if (r->any) any_free(&r->any[i]);
        key_free(&r->keyer[i]);
    }
    free(r->any);
    lists_free(&r->lists);
    show_free(&r->show);
    sink_free(&r->sink);
    reader_free(&r->reader);
    if (signals_stop()) signals_die(signals_stop());
    return code;
}

static const struct example examples[] = {
    {"seen filter --list customers.txt -k 2 orders.tsv", "orders of customers"},
    {"seen filter --list blocked.txt -v --csv -k ip clicks.csv",
     "clicks of addresses not in the list"},
    {"seen filter --list a.txt --list b.txt --tag -k 2 orders.tsv", "and in which lists"},
    {"seen filter --list huge.txt --fp 1e-3 urls.txt", "a thousandth of the others may pass"},
    {"seen filter --list sport.txt --list weather.txt --words --ignore-case --tag news.txt",
     "lines with a word of a list, and which word"},
    {0},
};

const struct command filter_command = {
    .name = "filter",
    .run = filter_main,
    .help = "the records whose key is in a list",
    .usage = "--list FILE [--list FILE]... [OPTION]... [FILE]...",
    .about =
        "Prints the records of FILE... (default: standard input) whose key is in a list.\n\n"
        "A list is a file with one key on each line. The fields of a key stand in it with the "
        "same delimiter between them as in the records. A byte order mark at the beginning is "
        "skipped, and a CR before a newline is not part of a key, in lists and in records. "
        "Lists are kept as Bloom filters made for their number of keys: every record in a list "
        "passes, and so does a share of `--fp` of the other records; with `--exact` no other "
        "record passes. While a list is read it takes 16 bytes a key.\n\n"
        "With `--any` each field of `-k` is a key of its own, and a record passes if one of "
        "them is in a list. `--words` and `--ngrams` first cut the fields, or the whole record, "
        "into keys. A list then has one key on each line: a value, a word, or N characters. A "
        "word is a run of letters and digits; bytes above 0x7f belong to words, except for "
        "blanks and punctuation of UTF-8. With `--words=CHARS` these characters separate words; "
        "write \\t for a TAB. `--ngrams` counts characters of UTF-8. Empty values are not keys, "
        "and a record may lack some of several fields.\n\n"
        "If one key passes a list by chance with probability e, a record of m keys does with "
        "1-(1-e)^m: with the default of 1e-9 and 1000 words, one in a million. `--stats` gives "
        "the mean of the records read, and a message warns if records probably passed by "
        "chance.\n\n"
        "`--tag` names the lists. With `--any` it adds a second column, lists_key, with the "
        "first key that is in each of them. With `-o` json a record is an object with its "
        "number, its lists and these keys.\n\n"
        "A record whose key cannot be read is in no list.",
    .examples = examples,
    .groups = groups,
    .options = &this_run,
    .begin = begin,
    .often = "list fields any words ngrams csv no-quotes tsv ndjson clf invert tag output stats fp "
             "exact",
};
