/* remote.c - `seen dedup --redis URL`: dedup.c's run with the filters elsewhere. */
#include "judge/redis/remote.h"
#include "base/json.h"

#include "base/number.h"
#include "base/signals.h"
#include "commands/dedup/settings.h"
#include "judge/redis/shards.h"
#include "output/progress.h"
#include "records/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct run {
    const struct settings *settings;
    struct reader reader;
    struct judge judge;
    struct sink sink;
    struct shards shards;
    bool gave_up;
    double started;
    struct progress progress;
};

/* -- the account -------------------------------------------------------------------------- */

static uint64_t unreadable(const struct run *r) {
    return r->judge.unreadable + r->reader.unreadable;
}

static uint64_t records(const struct run *r) {
    return r->shards.unique + r->shards.duplicates + r->shards.uncertain + unreadable(r);
}

static uint64_t rate(const struct run *r) {
    double seconds = time_monotonic() - r->started;
    return seconds > 0 ? (uint64_t)((double)records(r) / seconds) : 0;
}

struct row {
    const char *name, *key; /* for people, for programs */
    uint64_t value;
};

enum { ROWS = 10 };

static void rows_of(const struct run *r, struct row rows[ROWS]) {
    const struct shards *s = &r->shards;
    const struct row now[ROWS] = {
        {"records", "records", records(r)},
        {"unique", "unique", s->unique},
        {"duplicates", "duplicates", s->duplicates},
        {"uncertain", "uncertain", s->uncertain},
        {"unparseable", "unparseable", unreadable(r)},
        {"a second", "records_per_second", rate(r)},
        {"redirected", "redirected", s->cluster.redirected},
        {"connections lost", "connections_lost", s->cluster.lost},
        {"shards made again", "shards_remade", s->remade},
        {"unreplicated", "unreplicated", s->unreplicated},
    };
    memcpy(rows, now, sizeof now);
}

static void print_text(const struct run *r) {
    struct row rows[ROWS];
    const struct redis_url *url = &r->shards.cluster.url;
    rows_of(r, rows);
    message_transient(NULL);
    fprintf(stderr, "seen " SEEN_VERSION ": %u shard%s at %s:%d, each %s\n", r->shards.n,
            r->shards.n == 1 ? "" : "s", url->at[0].host, url->at[0].port, r->shards.spec);
    for (size_t i = 0; i < ROWS; i++)
        fprintf(stderr, "  %-18s %14s\n", rows[i].name, number_grouped(rows[i].value).text);
}

static void print_json(const struct run *r) {
    struct row rows[ROWS];
    rows_of(r, rows);
    message_transient(NULL);
    fputc('{', stderr);
    for (size_t i = 0; i < ROWS; i++)
        fprintf(stderr, "\"%s\":%" PRIu64 ",", rows[i].key, rows[i].value);
    fprintf(stderr, "\"seconds\":%.6f,\"shards\":%u,\"spec\":", time_monotonic() - r->started,
            r->shards.n);
    json_print_text(stderr, r->shards.spec);
    fputs(",\"version\":\"" SEEN_VERSION "\"}\n", stderr);
}

static void print_stats(const struct run *r) {
    (r->settings->report == REPORT_JSON ? print_json : print_text)(r);
}

static void show_progress(struct run *r) {
    char text[128];
    snprintf(text, sizeof text, "%s records, %s a second", number_grouped(records(r)).text,
             number_grouped(rate(r)).text);
    progress_show(&r->progress, &r->reader, text);
}

/* -- what the reader tells ---------------------------------------------------------------- */

static void on_header(void *ctx, const struct record *line) {
    sink_header(&((struct run *)ctx)->sink, line);
}

static void on_columns(void *ctx, const struct header *header) {
    sink_check_heading(&((struct run *)ctx)->sink, header);
}

static void on_ahead(void *ctx, unsigned who, struct batch *b, seen_time now) {
    judge_ahead(&((struct run *)ctx)->judge, who, b, now, b->own);
}

/* A record's own time where it was asked for; else the server's clock, one for all clients. */
static uint64_t time_of(const struct run *r, size_t m) {
    bool own = r->judge.timed && r->settings->input.time;
    return own ? r->judge.in->time[m] / 1000 : SHARDS_CLOCK;
}

static void on_batch(void *ctx, struct batch *b, seen_time now) {
    struct run *r = ctx;
    const struct readable *in = b->own;
    judge_note(&r->judge, b, in);
    size_t n = judge_take(&r->judge, b->own), len;
    unjudged_batch(&r->reader.unjudged, b, now, n, in->order, in->cause);
    for (size_t m = 0; m < n; m++) {
        const char *key = key_bytes(&r->judge.keyer[0], b, in->order[m], &len);
        shards_add(&r->shards, key, len, in->digest[m], time_of(r, m));
    }
    r->gave_up = !shards_judge(&r->shards, b->verdict);
    judge_spread(&r->judge, b, n);
    sink_batch(&r->sink, b);
}

static void on_unreadable(void *ctx, const char *p, size_t n, bool first, bool last) {
    sink_unreadable(&((struct run *)ctx)->sink, p, n, first, last);
}

static void on_attend(void *ctx) {
    struct run *r = ctx;
    sink_tend(&r->sink, time_monotonic());
    if (progress_due(&r->progress)) show_progress(r);
    if (signals_taken_stats()) print_stats(r);
}

static void on_flush(void *ctx) { sink_flush(&((struct run *)ctx)->sink); }

static bool on_ending(void *ctx) {
    const struct run *r = ctx;
    return r->sink.error || r->gave_up;
}

static const struct reader_events events = {.columns = on_columns,
                                            .header = on_header,
                                            .ahead = on_ahead,
                                            .own = sizeof(struct readable),
                                            .batch = on_batch,
                                            .unreadable = on_unreadable,
                                            .attend = on_attend,
                                            .flush = on_flush,
                                            .ending = on_ending};

/* -- a run -------------------------------------------------------------------------------- */

/* Nothing was said about the filter but, perhaps, in how many shards it is. */
static bool nothing_asked(const struct asked *a) {
    return !a->specs && (a->n == 0 || (a->n == 1 && !strcmp(a->set[0].name, "shards")));
}

static void start(struct run *r, const struct settings *s) {
    struct redis_url url;
    *r = (struct run){.settings = s};
    url_parse(&url, s->remote.url);
    reader_init(&r->reader, &s->input, &events, r);
    shards_open(&r->shards, &url, &s->plan, nothing_asked(&s->asked),
                s->remote.patience > 0 ? s->remote.patience : 30);
    r->shards.trusting = s->remote.at_most_once;
    r->shards.replicas = (unsigned)s->remote.replicas;
    judge_init_elsewhere(&r->judge, SHARDS_SEED, r->shards.timed, &r->reader.layout,
                         s->input.max_record);
    asked_of_judge(&s->asked, &s->input, ZONE_NONE, &r->judge);
    sink_init(&r->sink, STDOUT_FILENO, s->mode, input_options_column(&s->input));
    sink_choose(&r->sink, false, s->input.rejects);
    r->sink.end = s->input.end;
    if (s->wanted.tag_column) r->sink.heading = s->wanted.tag_column;
    progress_init(&r->progress, &s->input);
    r->started = time_monotonic();
}

static void report(const struct run *r) {
    bool quiet = r->settings->input.quiet;
    uintmax_t n = r->shards.uncertain;
    if (r->gave_up)
        warn("the server is lost (%s): everything up to record %ju is passed on, nothing behind it "
             "was read",
             r->shards.why, (uintmax_t)records(r));
    if (r->shards.remade && !quiet)
        warn("%ju time%s a shard was gone and was made again: what it had seen is forgotten",
             (uintmax_t)r->shards.remade, r->shards.remade == 1 ? "" : "s");
    if (n && !quiet)
        warn("%ju record%s passed on unjudged after a lost connection: whether seen before is "
             "unknown",
             n, n == 1 ? " was" : "s were");
    n = r->shards.unreplicated;
    if (n && !quiet)
        warn("%ju record%s judged before %u replica%s had them: should a server be lost now, they "
             "may be forgotten",
             n, n == 1 ? " was" : "s were", r->shards.replicas, r->shards.replicas == 1 ? "" : "s");
}

static int finish(struct run *r) {
    const struct input_options *input = &r->settings->input;
    sink_close(&r->sink);
    message_transient(NULL);
    judge_tell(&r->judge, r->settings->report ? 0 : r->judge.lateness.run_late);
    report(r);
    bool failed = r->sink.error || r->reader.failed || r->gave_up;
    bool bad =
        !failed && unjudged_end(&r->reader.unjudged, "passed on unjudged", r->settings->report);
    if (r->settings->report) print_stats(r);
    if (r->sink.error) warn("cannot write the output: %s", strerror(r->sink.error));
    if (failed || bad || (input->strict && r->shards.uncertain)) return EXIT_TROUBLE;
    return r->settings->exit_code && r->shards.duplicates ? EXIT_FOUND : EXIT_FINE;
}

int remote_main(const struct settings *s) {
    static struct run r;
    start(&r, s);
    reader_run(&r.reader);
    int code = finish(&r);
    judge_free(&r.judge);
    sink_free(&r.sink);
    reader_free(&r.reader);
    shards_free(&r.shards);
    return code;
}
