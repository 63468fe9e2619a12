/* dedup.c - `seen [dedup]`: records in, those not seen before out. */
#include "commands/dedup/dedup.h"
#include "records/run_stats.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct run {
    struct dedup_options options;
    struct reader reader;
    struct judge judge;
    struct flow flow;
    struct sink sink;
    seen_detector *detector; /* NULL: a server gives the verdicts */
    struct server *server;   /* NULL: the detector gives the verdicts */
    double started;          /* on the monotonic clock */
    struct progress progress;
    struct warnings warnings;
    uint64_t found; /* duplicates before this run */
    uint64_t later; /* records judged at a later time than their own; likewise */
};

/* -- messages while running --------------------------------------------------------------- */

static uint64_t unreadable(const struct run *r) {
    return r->judge.unreadable + r->reader.unreadable;
}

static struct run_counts counts_of(const struct run *r) {
    return (struct run_counts){.judge = &r->judge,
                               .detector = r->detector,
                               .server = r->server,
                               .unreadable = unreadable(r),
                               .unjudged = &r->reader.unjudged,
                               .lateness = &r->judge.lateness,
                               .reorder = r->options.reorder ? &r->flow.reorder : NULL,
                               .fed = judge_counts(&r->judge) ? &r->judge.fed : NULL,
                               .feeds = r->judge.adder,
                               .keep = r->options.keep_last ? &r->flow.keep : NULL,
                               .seconds = time_monotonic() - r->started,
                               .groups = wants_groups(&r->options) ? &r->flow.groups : NULL,
                               .zone = r->options.zone ? r->options.window.zone : NULL,
                               .weeks = r->options.zone == ZONE_WEEK};
}

static void print_stats(const struct run *r) {
    struct run_counts counts = counts_of(r);
    if (r->options.report == REPORT_JSON)
        stats_print_json(&counts);
    else
        stats_print_text(&counts);
}

/* -- what the reader tells ---------------------------------------------------------------- */

static void on_header(void *ctx, const struct record *line) {
    sink_header(&((struct run *)ctx)->sink, line);
}

static void on_columns(void *ctx, const struct header *header) {
    flow_columns(&((struct run *)ctx)->flow, header);
}

static void on_ahead(void *ctx, unsigned who, struct batch *b, seen_time now) {
    judge_ahead(&((struct run *)ctx)->judge, who, b, now, b->result);
}

static void on_batch(void *ctx, struct batch *b, seen_time now) {
    struct run *r = ctx;
    const struct readable *in = b->result;
    unjudged_batch(&r->reader.unjudged, b, now, in->n, in->order, in->cause);
    flow_batch(&r->flow, b);
    state_judged(&r->options.state);
    warnings_after(&r->warnings, r->reader.records);
}

static void on_unreadable(void *ctx, const char *p, size_t n, bool first, bool last) {
    flow_unreadable(&((struct run *)ctx)->flow, p, n, first, last);
}

static void on_attend(void *ctx) {
    struct run *r = ctx;
    state_attend(&r->options.state);
    sink_tend(&r->sink, time_monotonic());
    if (progress_due(&r->progress)) {
        char text[128];
        struct run_counts counts = counts_of(r);
        stats_progress(&counts, text, sizeof text);
        progress_show(&r->progress, &r->reader, text);
    }
    if (signals_taken_stats()) print_stats(r);
}

static void on_flush(void *ctx) {
    struct run *r = ctx;
    sink_flush(&r->sink);
    warnings_now(&r->warnings, r->reader.records);
}

static bool server_lost(const struct run *r) { return r->server && r->server->why[0]; }

static bool on_ending(void *ctx) {
    const struct run *r = ctx;
    return r->sink.error || server_lost(r);
}

static void on_opened(void *ctx) { state_opened(&((struct run *)ctx)->options.state); }

static void on_closed(void *ctx) { state_closed(&((struct run *)ctx)->options.state); }

static const struct reader_events events = {.columns = on_columns,
                                            .header = on_header,
                                            .ahead = on_ahead,
                                            .result_size = sizeof(struct readable),
                                            .opened = on_opened,
                                            .closed = on_closed,
                                            .batch = on_batch,
                                            .unreadable = on_unreadable,
                                            .attend = on_attend,
                                            .flush = on_flush,
                                            .ending = on_ending};

/* -- a run -------------------------------------------------------------------------------- */

static uint64_t found(const struct run *r) {
    struct seen_stats s;
    judge_stats(&r->judge, &s);
    if (judge_counts(&r->judge)) return r->judge.fed.duplicates;
    return r->options.confirmed ? s.confirmed : s.duplicates;
}

/* The records judged at a later time than their own, in all runs of a state. */
static uint64_t judged_later(const struct run *r) {
    struct seen_stats s;
    if (r->options.reorder) return r->flow.reorder.clamped;
    if (r->options.zone || r->server) return r->judge.lateness.late;
    seen_stats(r->detector, &s);
    return s.clamped;
}

/* Finds who gives the verdicts: a server, the detector of a state, or a new one. */
static void open_judge(struct run *r) {
    struct dedup_options *o = &r->options;
    struct seen_error e;
    if (o->server.url) {
        const struct window_options *a = &o->window;
        bool only_shards = a->n == 1 && !strcmp(a->set[0].name, "shards");
        r->server = server_open(&o->server, &o->plan, !a->specs && (a->n == 0 || only_shards));
        dedup_check_keep(o, &r->server->window);
        return;
    }
    r->detector = state_detector(&o->state);
    if (!r->detector && seen_new(&r->detector, &o->plan, NULL, &e)) die("%s", e.text);
}

static void start_judge(struct run *r) {
    const struct dedup_options *o = &r->options;
    if (r->server) {
        judge_init_server(&r->judge, r->server, &r->reader.layout, o->input.max_record);
    } else {
        judge_init(&r->judge, r->detector, &r->reader.layout, o->input.max_record);
        judge_use_pool(&r->judge, r->reader.pool);
    }
    r->reader.unjudged.detector = r->detector;
    window_of_judge(&o->window, &o->input, o->zone, &r->judge);
    r->judge.within = o->within;
}

static void start(struct run *r) {
    struct dedup_options *o = &r->options;
    open_judge(r);
    sink_init(&r->sink, STDOUT_FILENO, o->mode, input_options_column(&o->input));
    r->sink.end = o->input.end;
    sink_choose(&r->sink, o->confirmed, o->input.rejects);
    flow_init(&r->flow, o, r->detector, &r->reader.layout, &r->judge, &r->sink);
    if (o->state.name) groups_bound(&r->flow.groups, FLOW_STATE_GROUPS);
    reader_init(&r->reader, &o->input, &events, r);
    start_judge(r);
    flow_begin(&r->flow);
    progress_init(&r->progress, &o->input);
    r->started = time_monotonic();
    state_begin(&o->state, (struct state_of){.detector = r->detector,
                                             .reader = &r->reader,
                                             .judge = &r->judge,
                                             .number = &r->flow.number,
                                             .unended = &r->sink.unended,
                                             .end = r->sink.end,
                                             .ctx = &r->flow});
    r->found = found(r);
    r->later = r->server ? 0 : judged_later(r);
    warnings_begin(&r->warnings, r->detector, o->input.quiet, o->confirmed);
}

/* True if records that were held back went early and that changed what is printed. */
static bool hold_was_short(const struct run *r) {
    return r->flow.keep.repeats || r->flow.reorder.displaced;
}

static const char *enough(double bytes, char buf[32]) {
    uint64_t unit = bytes < 1 << 20 ? 4096 : 1 << 20;
    seen_print_size(((uint64_t)(1.1 * bytes) + unit - 1) / unit * unit, buf, 32);
    return buf;
}

static void report_hold(const struct run *r) {
    const struct keep *keep = &r->flow.keep;
    const struct reorder *reorder = &r->flow.reorder;
    char most[32], better[32];
    struct seen_stats s;
    if (r->options.input.quiet || !(keep->early + reorder->early)) return;
    judge_stats(&r->judge, &s);
    seen_print_size(r->options.hold, most, sizeof most);
    if (!hold_was_short(r))
        warn("--hold=%s let %ju records go before their time; no verdict changed by that", most,
             (uintmax_t)(keep->early + reorder->early));
    if (reorder->displaced)
        warn("memory was short: %ju records were judged later than their own time says, because "
             "--hold=%s let others go early; about --hold=%s would hold all",
             (uintmax_t)reorder->displaced, most, enough(reorder_needed(reorder), better));
    if (keep->repeats && r->server)
        warn("memory was short: %ju records went before their time, and up to %ju later ones of "
             "the same keys were dropped in their place; give more than --hold=%s",
             (uintmax_t)keep->early, (uintmax_t)keep->repeats, most);
    else if (keep->repeats)
        warn("memory was short: %s%ju duplicates were printed, because --hold=%s does not hold the "
             "last record of each key; about --hold=%s would",
             s.forgotten ? "at least " : "", (uintmax_t)keep->repeats, most,
             enough(keep->needed, better));
}

static const char *plural(uint64_t n) { return n == 1 ? "" : "s"; }

static void report_server(const struct run *r) {
    const struct server *s = r->server;
    struct seen_stats stats;
    if (!s) return;
    judge_stats(&r->judge, &stats);
    if (server_lost(r))
        warn("the server is lost (%s): everything up to record %ju is passed on, nothing behind it "
             "was read",
             s->why, (uintmax_t)(stats.records + unreadable(r)));
    if (r->options.input.quiet) return;
    if (s->remade)
        warn("%ju time%s a shard was gone and was made again: what it had seen is forgotten",
             (uintmax_t)s->remade, plural(s->remade));
    if (s->uncertain)
        warn("%ju record%s passed on unjudged after a lost connection: whether seen before is "
             "unknown",
             (uintmax_t)s->uncertain, s->uncertain == 1 ? " was" : "s were");
    if (s->unreplicated)
        warn("%ju record%s judged before %u replica%s had them: should a server be lost now, they "
             "may be forgotten",
             (uintmax_t)s->unreplicated, s->unreplicated == 1 ? " was" : "s were", s->replicas,
             plural(s->replicas));
}

static int finish(struct run *r) {
    bool saved = state_end(&r->options.state);
    sink_close(&r->sink);
    message_transient(NULL);
    warnings_end(&r->warnings, r->reader.records,
                 r->options.mode != SINK_TAG && !judge_counts(&r->judge));
    report_hold(r);
    judge_tell(&r->judge, r->options.report ? 0 : judged_later(r) - r->later);
    report_server(r);
    const struct names *names = &r->flow.groups.names;
    if (names->crowded && !r->options.input.quiet)
        warn("a state keeps %d MiB of groups, and these are full: the first %u groups are printed "
             "one by one, all others together",
             FLOW_STATE_GROUPS >> 20, names->n - GROUP_FIRST);
    bool lack = groups_lack(&r->flow.groups, r->options.input.quiet);
    bool failed = r->sink.error || r->reader.failed || server_lost(r) || !saved;
    bool bad =
        !failed && unjudged_end(&r->reader.unjudged, "passed on unjudged", r->options.report);
    if (r->options.report) {
        print_stats(r);
    } else {
        struct run_counts counts = counts_of(r);
        stats_print_groups(&counts, r->options.json);
    }
    if (r->sink.error) warn("cannot write the output: %s", strerror(r->sink.error));
    bad |= !failed && flow_has_no_groups(&r->flow);
    bool unknown = lack || (r->server && r->server->uncertain);
    if (failed || bad || (r->options.input.strict && unknown)) return EXIT_TROUBLE;
    if (lack || hold_was_short(r)) return EXIT_DEGRADED;
    return r->options.exit_code && found(r) > r->found ? EXIT_FOUND : EXIT_FINE;
}

static int run(struct run *r) {
    start(r);
    reader_run(&r->reader);
    flow_end(&r->flow);
    int code = finish(r);
    flow_free(&r->flow);
    judge_free(&r->judge);
    sink_free(&r->sink);
    reader_free(&r->reader);
    seen_free(r->detector);
    server_close(r->server);
    return code;
}

static struct run this_run;

static void begin(void) { dedup_options_init(&this_run.options, &flow_kept); }

static int dedup_main(const struct args *args) {
    dedup_options_settle(&this_run.options, args);
    int code = run(&this_run);
    dedup_options_free(&this_run.options);
    if (signals_stop()) signals_die(signals_stop());
    return code;
}

static const struct example examples[] = {
    {"seen access.log", "instead of awk '!s[$0]++'"},
    {"tail -f clicks.tsv | seen -w sliding:1h -k 2,5", "one an hour for each pair of fields"},
    {"seen --csv -k user,ad -w landmark:1d --time when clicks.csv",
     "one a day, by the records' own time"},
    {"seen -w 'landmark fp=1e-6 mem=48MiB' --stats big.txt", "errors and memory, and the account"},
    {"seen --csv -k id --tag a.csv b.csv", "keep all; last column new or dup"},
    {"seen --ndjson -k user.id events.json.gz", "JSON a line; unpacked as it is read"},
    {0},
};

const struct command dedup_command = {
    .name = "dedup",
    .run = dedup_main,
    .help = "print the records not seen before (the default)",
    .usage = "[OPTION]... [FILE]...",
    .about =
        "Prints the records of FILE... (default: standard input) not seen before.\n\n"
        "A FILE may be packed by gzip, zstd, xz or bzip2; - is standard input. A record is a "
        "line, or a row of a table. Its key is the whole record, or the fields that `-k` names: "
        "by position from 1 (2,5, 2-4, 2- or last-1), by the name of a column or of a part of a "
        "web log's line, or by a path in JSON (user.id). The window, `-w`, decides whether a "
        "key counts as seen: ever, since midnight, in the last million records, in the last "
        "hour. Memory is fixed before the first record. So is the rate at which a new record "
        "may be taken for a duplicate: one in 10^9 unless `fp=` says otherwise. No duplicate is "
        "let through, with two exceptions: decaying windows, and a window that is short of "
        "memory. Such a window forgets its oldest keys, and a message says for how long it was "
        "kept.\n\n"
        "`--ignore-case`, `--trim` and `--key-url` make keys equal that differ only in how they "
        "are written. `--key-regex` takes keys out of a field or a line. Records are printed as "
        "they are.\n\n"
        "A window of time goes by the records' own time. `--time` names the field, which holds "
        "seconds, milliseconds or microseconds since 1970, RFC 3339, the time of web logs, or "
        "what `--time-format` says; with `--clf` the field is known. Without `--time`, records "
        "of a pipe go by their time of arrival. Records of a file are then refused, unless "
        "`--arrival` is given, or `--state` or `--redis` keeps the window from run to run. A "
        "record that is older than the newest one is judged at the newest time, unless "
        "`--lateness` or `--reorder` is given.\n\n"
        "With `--within` a key counts only if it was seen that recently, while the window is "
        "kept as planned. `--within` takes any span or number up to the window's length.\n\n"
        "A record whose time is more than a day later than the clock is not judged, unless "
        "`--allow-future` is given; `--now` fixes the clock.\n\n"
        "A duplicate renews its key's window. With `--refresh` first it does not, and the "
        "window begins with the record that went through. `--tag` takes a list out of verdict, "
        "number, time, age, first, first-time, last and last-time.\n\n"
        "A record whose key or time cannot be read, or that is longer than `--max-record`, is "
        "passed on unjudged. A message at the end counts such records by cause and shows the "
        "first of each. With `--rejects` FILE they go to that file instead. If no record could "
        "be judged, the exit code is 2; output and state are complete all the same.\n\n"
        "With `--redis` a Redis or Valkey server, or a cluster, that has loaded the seen module "
        "keeps the window; all runs that name it share it. `--shards` spreads it over as many "
        "keys. A record whose verdict was lost with a connection is passed on like a record "
        "without a key, and a message counts such records. Options that need the detector "
        "itself, such as `--audit`, `--within` and `--state`, are refused.\n\n"
        "While it waits for input from a pipe, it writes what it has, so that it can stand in "
        "the middle of a live pipeline. SIGINT and SIGTERM end the run like the end of the "
        "input. SIGUSR1 prints statistics, as `--stats` does at the end.",
    .examples = examples,
    .groups = dedup_groups,
    .options = &this_run.options,
    .begin = begin,
    .often = "window keys csv no-quotes tsv ndjson clf time duplicates tag stats state fp mem",
};
