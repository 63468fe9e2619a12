/* generate.c - `seen generate`: writes made-up streams with known duplicates. */
#include "commands/generate/generate.h"
#include "base/cli.h"
#include "base/text.h"
#include "records/run_stats.h"
#include "seen.h"
#include "time/time.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct generate_options {
    struct repeats repeats;
    struct click_style style;
    enum gaps gaps;
    uint64_t gap_most;
    double rate;         /* 0: records a day */
    const char *start;   /* as given */
    const char *truth;   /* file name, or NULL */
    uint64_t duplicates; /* as given */
    double percent;      /* as given */
    bool has_distinct, has_duplicates, has_percent, has_top, has_stamp, has_start,
        has_dress; /* what was given */
    bool json;     /* -o json */
    struct run_stats stats;
};

/* Metwally et al., section 6.3: a stream of 30 August 2004. */
enum { RECORDS = 5583301, DISTINCT = 4093573, FIRST = 10781, SECOND = 4487, SEED = 20040830 };
#define START "2004-08-30T00:00:00Z"

#define MAX_COUNT  ((uint64_t)1 << 40)
#define DAY        ((uint64_t)86400 * 1000000)
#define YEAR_10000 ((uint64_t)253402300800 * 1000000)

enum { BURST = 16 }; /* the default --gap-max of bursts */

/* clang-format off */
enum {
    OPT_RECORDS = 1, OPT_DISTINCT, OPT_DUPLICATES, OPT_TOP, OPT_GAPS, OPT_GAP_MAX, OPT_SEED,
    OPT_FORMAT, OPT_ID_LENGTH, OPT_TIME, OPT_START, OPT_RATE, OPT_MARK, OPT_TRUTH, OPT_OUTPUT, OPT_STATS
};

static const struct option_row own_rows[] = {
    {"How many", 0, NULL, NULL, 0},
    {"records", 'n', "N", "records [5583301]", OPT_RECORDS},
    {"distinct", 0, "N", "different ids among them [73.3 %]", OPT_DISTINCT},
    {"duplicates", 0, "N|P%", "the same, said as duplicates: a number or a percentage", OPT_DUPLICATES},
    {"top", 0, "N,N,...", "how often the most frequent ids occur, or none [10781,4487 to scale]", OPT_TOP},
    {"In which order", 0, NULL, NULL, 0},
    {"gaps", 0, "uniform|loguniform|burst", "a shuffle, every order of magnitude alike, retries [uniform]", OPT_GAPS},
    {"gap-max", 0, "N", "longest gap in records: loguniform [the stream], burst [16]", OPT_GAP_MAX},
    {"seed", 0, "N", "another stream of the same kind [20040830]", OPT_SEED},
    {"What a record is", 0, NULL, NULL, 0},
    {"format", 0, "lines|tsv|csv|ndjson", "an id each, or a click log whose key is cookie,ad [lines]", OPT_FORMAT},
    {"id-length", 0, "N", "characters of an id [64]; a line has one more: 63 makes 64 bytes", OPT_ID_LENGTH},
    {"time", 0, "none|s|ms|us|rfc3339", "first column [lines: none, else rfc3339]", OPT_TIME},
    {"start", 0, "TIME", "of the stream, RFC 3339 [" START "]", OPT_START},
    {"rate", 0, "R", "records a second [the stream takes a day]", OPT_RATE},
    {"mark", 0, NULL, "last column: the truth, new or dup", OPT_MARK},
    {"output", 'o', "text|json", "json is --format ndjson, an object a line", OPT_OUTPUT},
    {"truth", 0, "FILE", "write what is true of the stream, as JSON", OPT_TRUTH},
    {"stats", 0, "[=text|json]", "how many records and duplicates, how fast, on stderr", OPT_STATS},
    {0},
};
/* clang-format on */

static const char *const orders[] = {"uniform", "loguniform", "burst", NULL};
static const char *const dresses[] = {"lines", "tsv", "csv", "ndjson", NULL};
static const char *const stamps[] = {"none", "s", "ms", "us", "rfc3339", NULL};

/* -- values ------------------------------------------------------------------------------- */

static uint64_t read_count(const char *name, const char *text, uint64_t low, uint64_t high) {
    char option[32];
    snprintf(option, sizeof option, "--%s", name);
    uint64_t value = option_count(option, text);
    if (value < low || value > high)
        die("--%s %s: it must be from %" PRIu64 " to %" PRIu64, name, text, low, high);
    return value;
}

static int read_choice(const char *text, const char *const *names) {
    int i = 0;
    while (strcmp(text, names[i]) != 0) i++;
    return i;
}

static double read_real(const char *name, const char *text, double low, double high,
                        const char *suffix) {
    char *end;
    double value = strtod(text, &end);
    if (end == text || strcmp(end, suffix) || !(value >= low && value <= high))
        die("--%s %s: it must be a number from %g%s to %g%s", name, text, low, suffix, high,
            suffix);
    return value;
}

static int descending(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

static void read_top(struct generate_options *w, const char *text) {
    struct repeats *r = &w->repeats;
    char one[32];
    w->has_top = true;
    r->tops = 0;
    if (!strcmp(text, "none")) return;
    for (const char *at = text;; at++) {
        size_t n = strcspn(at, ",");
        if (r->tops == MAX_TOPS) die("--top %s: it can name at most %d ids", text, MAX_TOPS);
        snprintf(one, sizeof one, "%.*s", (int)n, at);
        r->top[r->tops++] = read_count("top", one, 1, MAX_COUNT);
        at += n;
        if (!*at) break;
    }
    qsort(r->top, r->tops, sizeof *r->top, descending);
}

static uint64_t read_start(const char *text) {
    seen_time t;
    if (!time_parse(&t, text, strlen(text)) || t >= YEAR_10000)
        die("--start %s: write a time from 1970 to 9999, such as " START, text);
    return t;
}

/* -- options ------------------------------------------------------------------------------ */

static void take(void *options, const struct option_row *row, const char *value) {
    struct generate_options *w = options;
    struct click_style *s = &w->style;
    switch (row->id) {
    case OPT_RECORDS: w->repeats.records = read_count("records", value, 1, MAX_COUNT); break;
    case OPT_DISTINCT: w->repeats.distinct = read_count("distinct", value, 1, MAX_COUNT); break;
    case OPT_DUPLICATES:
        w->has_duplicates = true;
        w->has_percent = strchr(value, '%') != NULL;
        if (w->has_percent)
            w->percent = read_real("duplicates", value, 0, 100, "%");
        else
            w->duplicates = read_count("duplicates", value, 0, MAX_COUNT);
        break;
    case OPT_TOP: read_top(w, value); break;
    case OPT_GAPS: w->gaps = (enum gaps)read_choice(value, orders); break;
    case OPT_GAP_MAX: w->gap_most = read_count("gap-max", value, 1, MAX_COUNT); break;
    case OPT_SEED: s->seed = read_count("seed", value, 0, UINT64_MAX); break;
    case OPT_FORMAT:
        s->dress = (enum dress)read_choice(value, dresses);
        w->has_dress = true;
        break;
    case OPT_OUTPUT: w->json = option_is_json(value); break;
    case OPT_STATS: run_stats_take(&w->stats, value); break;
    case OPT_ID_LENGTH:
        s->id_length = (size_t)read_count("id-length", value, ID_SHORTEST, ID_LONGEST);
        break;
    case OPT_TIME:
        s->stamp = (enum stamp)read_choice(value, stamps);
        w->has_stamp = true;
        break;
    case OPT_START:
        s->start = read_start(value);
        w->has_start = true;
        break;
    case OPT_RATE: w->rate = read_real("rate", value, 1e-5, 1e9, ""); break;
    case OPT_MARK: s->mark = true; break;
    case OPT_TRUTH: w->truth = value; break;
    }
}

/* -- defaults ----------------------------------------------------------------------------- */

static uint64_t to_scale(uint64_t published, uint64_t records) {
    return (uint64_t)(((u128)published * records * 2 + RECORDS) / ((u128)RECORDS * 2));
}

static void settle_distinct(struct generate_options *w) {
    struct repeats *r = &w->repeats;
    if (r->distinct && w->has_duplicates)
        die("--distinct and --duplicates say the same thing twice: give one of them");
    if (r->distinct) return;
    r->distinct = to_scale(DISTINCT, r->records);
    if (w->has_percent) w->duplicates = (uint64_t)((double)r->records * w->percent / 100 + 0.5);
    if (!w->has_duplicates) return;
    if (w->duplicates >= r->records)
        die("%" PRIu64 " duplicates in %" PRIu64 " records leave none to be the first",
            w->duplicates, r->records);
    r->distinct = r->records - w->duplicates;
}

/* Without --top, the published counts are scaled, or left out if they do not fit. */
static void settle_repeats(struct generate_options *w) {
    struct repeats *r = &w->repeats;
    if (!w->has_top) {
        r->top[0] = to_scale(FIRST, r->records);
        r->top[1] = to_scale(SECOND, r->records);
        r->tops = r->top[1] > 1 ? 2 : 0;
    }
    const char *why = repeats_make(r);
    if (why && !w->has_top) {
        r->tops = 0;
        why = repeats_make(r);
    }
    if (why) die("%s", why);
}

static void settle_time(struct generate_options *w) {
    struct click_style *s = &w->style;
    uint64_t records = w->repeats.records;
    if (!w->has_stamp) s->stamp = s->dress == DRESS_LINES ? STAMP_NONE : STAMP_RFC3339;
    if (s->stamp == STAMP_NONE && (w->has_start || w->rate > 0))
        die("--start and --rate need time stamps: give --time as well");
    if (!w->has_start) s->start = read_start(START);
    if (w->rate > 0)
        s->period = (uint64_t)(1e6 * (1 << PERIOD_BITS) / w->rate);
    else
        s->period = (DAY << PERIOD_BITS) / records;
    u128 end = s->start + ((u128)s->period * records >> PERIOD_BITS);
    if (end >= YEAR_10000) die("at this --rate the stream ends after the year 9999");
}

static struct generate_options these_options = {.repeats = {.records = RECORDS},
                                                .style = {.id_length = 64, .seed = SEED}};

static const struct option_group groups[] = {
    {own_rows, take, 0},
    {help_rows, NULL, 0},
    {0},
};

static void settle(struct generate_options *w, const struct args *a) {
    if (a->operands) die("generate reads no input: leave out %s", a->operand[0]);
    if (w->json && w->has_dress && w->style.dress != DRESS_NDJSON)
        die("-o json is --format ndjson: leave out one of -o and --format");
    if (w->json) w->style.dress = DRESS_NDJSON;
    settle_distinct(w);
    settle_repeats(w);
    settle_time(w);
    if (w->gap_most && w->gaps == GAPS_UNIFORM)
        die("--gap-max needs --gaps loguniform or burst: a shuffle has gaps of any length");
    if (!w->gap_most) w->gap_most = w->gaps == GAPS_BURST ? BURST : w->repeats.records;
    w->style.distinct = w->repeats.distinct;
    w->style.tops = w->repeats.tops;
}

static int print_arguments(const struct generate_options *w, char *buf, size_t cap) {
    const struct repeats *r = &w->repeats;
    const struct click_style *s = &w->style;
    char top[MAX_TOPS * 21 + 8] = "none", gap[40] = "", time[160] = "";
    for (uint64_t i = 0, at = 0; i < r->tops; i++)
        at += (uint64_t)snprintf(top + at, sizeof top - at, "%s%" PRIu64, i ? "," : "", r->top[i]);
    if (w->gaps != GAPS_UNIFORM) snprintf(gap, sizeof gap, " --gap-max %" PRIu64, w->gap_most);
    if (s->stamp != STAMP_NONE) {
        struct tm tm;
        time_t second = (time_t)(s->start / 1000000);
        size_t at =
            strftime(time, sizeof time, " --start %Y-%m-%dT%H:%M:%S", gmtime_r(&second, &tm));
        at +=
            (size_t)snprintf(time + at, sizeof time - at, ".%06uZ", (unsigned)(s->start % 1000000));
        if (w->rate > 0) snprintf(time + at, sizeof time - at, " --rate %.17g", w->rate);
    }
    return snprintf(buf, cap,
                    "--records %" PRIu64 " --distinct %" PRIu64 " --top %s --gaps %s%s"
                    " --seed %" PRIu64 " --format %s --id-length %zu --time %s%s%s",
                    r->records, r->distinct, top, orders[w->gaps], gap, s->seed, dresses[s->dress],
                    s->id_length, stamps[s->stamp], time, s->mark ? " --mark" : "");
}

/* -- output ------------------------------------------------------------------------------- */

enum { OUTPUT = 1 << 20, IDS = 1024 };

static void write_all(const char *buf, size_t len) {
    while (len) {
        ssize_t n = write(STDOUT_FILENO, buf, len);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) die("cannot write the stream: %s", strerror(errno));
        buf += n;
        len -= (size_t)n;
    }
}

static void write_stream(struct generate_options *w, struct order *order, char *buf) {
    uint64_t number = 0, id[IDS];
    uint8_t fresh[IDS];
    char *at = click_put_header(&w->style, buf);
    for (size_t n; (n = order_next(order, IDS, id, fresh));) {
        for (size_t i = 0; i < n; i++) {
            if (at - buf > OUTPUT - MAX_CLICK) {
                write_all(buf, (size_t)(at - buf));
                at = buf;
            }
            at = click_put(&w->style, at, number++, id[i], fresh[i]);
        }
    }
    write_all(buf, (size_t)(at - buf));
    if (number < w->repeats.records)
        die("out of memory for the repeats that are to come; a smaller --gap-max takes less");
    assert(order->met == w->repeats.distinct);
}

/* -- truth -------------------------------------------------------------------------------- */

static void print_truth(FILE *f, const struct generate_options *w) {
    const struct repeats *r = &w->repeats;
    const struct click_style *s = &w->style;
    struct json j = {.out = f, .spaced = true};
    char arguments[1024];
    uint64_t clicks = 0;
    print_arguments(w, arguments, sizeof arguments);
    for (uint64_t i = 0; i < r->tops; i++) clicks += r->top[i];
    json_open(&j, NULL, '{');
    json_line(&j, 2), json_text(&j, "arguments", arguments);
    json_line(&j, 2), json_count(&j, "seed", s->seed);
    json_line(&j, 2), json_count(&j, "records", r->records);
    json_line(&j, 2), json_count(&j, "distinct", r->distinct);
    json_line(&j, 2), json_count(&j, "duplicates", r->records - r->distinct);
    json_line(&j, 2), json_put(&j, "exponent", "%.3f", r->exponent);
    json_line(&j, 2), json_open(&j, "repeats", '[');
    for (uint64_t c = 0; c < r->n; c++) {
        uint64_t ids = r->class[c + 1].first_id - r->class[c].first_id;
        json_put(&j, NULL, "[%" PRIu64 ", %" PRIu64 "]", r->class[c].count, ids);
    }
    json_close(&j, ']');
    if (s->stamp != STAMP_NONE) {
        json_line(&j, 2), json_count(&j, "first_us", click_time(s, 0));
        json_line(&j, 2), json_count(&j, "last_us", click_time(s, r->records - 1));
    }
    if (s->dress != DRESS_LINES) {
        json_line(&j, 2), json_count(&j, "cookies", s->users);
        json_line(&j, 2), json_open(&j, "planted", '{');
        json_text(&j, "publisher", CLICK_PUBLISHER);
        json_count(&j, "clicks", clicks);
        json_text(&j, "ip", CLICK_ADDRESS);
        json_count(&j, "cookies", s->users / FARM);
        json_close(&j, '}');
    }
    json_line(&j, 2), json_text(&j, "key", s->dress == DRESS_LINES ? "id" : "cookie,ad");
    fputs("\n}\n", f);
}

/* -- --stats ------------------------------------------------------------------------------ */

static void print_stats(const struct generate_options *w) {
    const struct repeats *r = &w->repeats;
    if (!w->stats.wanted) return;
    if (!w->stats.json) {
        fprintf(stderr, "%s records, ", number_grouped(r->records).text);
        fprintf(stderr, "%s of them duplicates, ", number_grouped(r->records - r->distinct).text);
        fprintf(stderr, "%s a second\n",
                number_grouped((uint64_t)run_stats_rate(&w->stats, r->records)).text);
        return;
    }
    struct json j = {.out = stderr};
    json_open(&j, NULL, '{');
    json_count(&j, "records", r->records);
    json_count(&j, "distinct", r->distinct);
    json_count(&j, "duplicates", r->records - r->distinct);
    run_stats_json_end(&w->stats, &j, r->records);
}

static int generate_main(const struct args *args) {
    struct generate_options *w = &these_options;
    struct order order;
    settle(w, args);
    run_stats_begin(&w->stats);
    click_prepare(&w->style);
    char *buf = malloc(OUTPUT);
    if (!buf || order_make(&order, &w->repeats, w->gaps, w->gap_most, w->style.seed))
        die("out of memory for %" PRIu64 " distinct ids; a smaller --distinct takes less",
            w->repeats.distinct);
    /* The truth is written first, so that a name that cannot be written is reported at once. */
    if (w->truth) {
        FILE *f = fopen(w->truth, "w");
        if (!f) die("cannot write the truth to %s: %s", w->truth, strerror(errno));
        print_truth(f, w);
        int failed = ferror(f);
        if (fclose(f) || failed) die("cannot write the truth to %s: %s", w->truth, strerror(errno));
    }
    write_stream(w, &order, buf);
    print_stats(w);
    order_free(&order);
    repeats_free(&w->repeats);
    free(buf);
    return EXIT_FINE;
}

static const struct example examples[] = {
    {"seen generate --truth truth.json > clicks.txt", "Metwally's stream of 2004"},
    {"seen generate -n 1e5 --duplicates 20% > ids.txt", "a fifth of them duplicates"},
    {"seen generate -n 1e5 --format csv > clicks.csv", "a click log; its key is cookie,ad"},
    {"seen generate -n 1e5 -o json > clicks.json", "the same as objects, a line each"},
    {"seen generate -n 1e5 --gaps burst --mark > retries.txt", "what is retried comes soon"},
    {0},
};

const struct command generate_command = {
    .name = "generate",
    .run = generate_main,
    .help = "a click stream with planted duplicates",
    .usage = "[OPTION]...",
    .about =
        "Writes a click stream with planted, known duplicates to standard output. "
        "Without options: Metwally's stream of 2004 in its published statistics.\n\n"
        "Totals and the counts of the most frequent ids are exact. The same arguments give the "
        "same bytes, everywhere and always.",
    .examples = examples,
    .groups = groups,
    .options = &these_options,
    .often = "records distinct duplicates gaps seed format mark truth",
};
