/* generate.c - seen generate: a click stream with planted, known duplicates.
 *
 * To test a duplicate detector one needs a stream whose duplicates are known beforehand.  This one
 * is computed, record by record, from a seed:
 *
 *     how often each id occurs     generate/repeats    a power law, both totals exact
 *     which id comes when          generate/order      a permutation of all occurrences
 *     what a record looks like     generate/click      a pure function of the id's number
 *
 * The default is the stream of Metwally, Agrawal and El Abbadi (WWW 2005, section 6.3) in its
 * published statistics: 5,583,301 clicks of 30 August 2004, 4,093,573 of them distinct,
 * 64-character ids of advertisement and cookie, the two most frequent 10,781 and 4,487 times.  What
 * was not published, the other repeat counts and the order, is described in those headers.
 *
 * Guarantee: totals and top counts are exact, ids with different numbers have different texts, and
 * the same arguments give the same bytes on every machine and in every later version.
 * Cost: about 50 ns a record; memory one bit a distinct id (uniform order) or 24 bytes for each id
 * that waits for its next occurrence, and 1 MiB of output. */
#include "base/cli.h"
#include "base/number.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/generate/wish.h"

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

static void write_stream(struct wish *w, struct order *order, char *buf) {
    uint64_t number = 0, id[IDS];
    uint8_t fresh[IDS];
    char *at = click_put_header(&w->style, buf);
    for (size_t n; (n = order_next(order, IDS, id, fresh));) {
        for (size_t i = 0; i < n; i++) {
            if (at - buf > OUTPUT - CLICK_MOST) {
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

static void print_repeats(FILE *f, const struct repeats *r) {
    fprintf(f, "  \"repeats\": [");
    for (uint64_t c = 0; c < r->n; c++) {
        uint64_t ids = r->class[c + 1].first_id - r->class[c].first_id;
        fprintf(f, "%s[%" PRIu64 ", %" PRIu64 "]", c ? ", " : "", r->class[c].count, ids);
    }
    fprintf(f, "],\n");
}

static void print_planted(FILE *f, const struct wish *w) {
    uint64_t clicks = 0, users = w->style.users;
    for (uint64_t i = 0; i < w->repeats.tops; i++) clicks += w->repeats.top[i];
    fprintf(f, "  \"cookies\": %" PRIu64 ",\n", users);
    fprintf(f,
            "  \"planted\": {\"publisher\": \"" CLICK_PUBLISHER "\", \"clicks\": %" PRIu64
            ", \"ip\": \"" CLICK_ADDRESS "\", \"cookies\": %" PRIu64 "},\n",
            clicks, users / FARM);
}

static void print_truth(FILE *f, const struct wish *w) {
    const struct repeats *r = &w->repeats;
    const struct click_style *s = &w->style;
    char arguments[1024];
    wish_print(w, arguments, sizeof arguments);
    fprintf(f, "{\n  \"arguments\": \"%s\",\n  \"seed\": %" PRIu64 ",\n", arguments, s->seed);
    fprintf(f, "  \"records\": %" PRIu64 ",\n  \"distinct\": %" PRIu64 ",\n", r->records,
            r->distinct);
    fprintf(f, "  \"duplicates\": %" PRIu64 ",\n", r->records - r->distinct);
    fprintf(f, "  \"exponent\": %.3f,\n", r->exponent);
    print_repeats(f, r);
    if (s->stamp != STAMP_NONE)
        fprintf(f, "  \"first_us\": %" PRIu64 ",\n  \"last_us\": %" PRIu64 ",\n", click_time(s, 0),
                click_time(s, r->records - 1));
    if (s->dress != DRESS_LINES) print_planted(f, w);
    fprintf(f, "  \"key\": \"%s\"\n}\n", s->dress == DRESS_LINES ? "id" : "cookie,ad");
}

/* Written before the stream: a name that cannot be written is better known at once. */
static void write_truth(const struct wish *w) {
    FILE *f = fopen(w->truth, "w");
    if (!f) die("cannot write the truth to %s: %s", w->truth, strerror(errno));
    print_truth(f, w);
    int failed = ferror(f);
    if (fclose(f) || failed) die("cannot write the truth to %s: %s", w->truth, strerror(errno));
}

/* -- --stats ------------------------------------------------------------------------------ */

static void print_stats(const struct wish *w) {
    const struct repeats *r = &w->repeats;
    if (!w->stats.wanted) return;
    if (!w->stats.json) {
        fprintf(stderr, "%s records, ", number_grouped(r->records).text);
        fprintf(stderr, "%s of them duplicates, ", number_grouped(r->records - r->distinct).text);
        fprintf(stderr, "%s a second\n",
                number_grouped((uint64_t)run_stats_rate(&w->stats, r->records)).text);
        return;
    }
    fprintf(stderr, "{\"records\":%" PRIu64 ",\"distinct\":%" PRIu64 ",\"duplicates\":%" PRIu64 ",",
            r->records, r->distinct, r->records - r->distinct);
    run_stats_end_json(&w->stats, r->records);
}

static int generate_main(int argc, char **argv) {
    static struct wish w;
    struct order order;
    wish_read(&w, argc, argv);
    run_stats_begin(&w.stats);
    click_prepare(&w.style);
    char *buf = malloc(OUTPUT);
    if (!buf || order_make(&order, &w.repeats, w.gaps, w.gap_most, w.style.seed))
        die("out of memory for %" PRIu64 " distinct ids; a smaller --distinct takes less",
            w.repeats.distinct);
    if (w.truth) write_truth(&w);
    write_stream(&w, &order, buf);
    print_stats(&w);
    order_free(&order);
    repeats_free(&w.repeats);
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
    .rows = wish_rows,
    .often = "records distinct duplicates gaps seed format mark truth",
};
