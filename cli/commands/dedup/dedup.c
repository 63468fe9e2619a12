/* dedup.c - `seen [dedup]`: records in, those not seen before out. */
#include "base/cli.h"
#include "base/signals.h"
#include "commands/dedup/flow.h"
#include "commands/dedup/settings.h"
#include "commands/dedup/stats.h"
#include "commands/dedup/warnings.h"
#include "judge/judge.h"
#include "output/progress.h"
#include "output/sink.h"
#include "records/reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct run {
    struct settings settings;
    struct reader reader;
    struct judge judge;
    struct flow flow;
    struct sink sink;
    seen_detector *detector;
    double started; /* on the monotonic clock */
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
    return (struct run_counts){.unreadable = unreadable(r),
                               .unjudged = &r->reader.unjudged,
                               .lateness = &r->judge.lateness,
                               .reorder = r->settings.wanted.reorder ? &r->flow.reorder : NULL,
                               .fed = judge_counts(&r->judge) ? &r->judge.fed : NULL,
                               .feeds = r->judge.adder,
                               .keep = r->settings.wanted.keep_last ? &r->flow.keep : NULL,
                               .seconds = time_monotonic() - r->started,
                               .groups =
                                   wanted_groups(&r->settings.wanted) ? &r->flow.groups : NULL,
                               .zone = r->settings.zone ? r->settings.asked.zone : NULL,
                               .weeks = r->settings.zone == ZONE_WEEK};
}

static void print_stats(const struct run *r) {
    struct run_counts counts = counts_of(r);
    if (r->settings.report == REPORT_JSON)
        stats_print_json(r->detector, &counts);
    else
        stats_print_text(r->detector, &counts);
}

static void show_progress(struct run *r) {
    char text[128];
    struct run_counts counts = counts_of(r);
    stats_progress(r->detector, &counts, text, sizeof text);
    progress_show(&r->progress, &r->reader, text);
}

/* -- what the reader tells ---------------------------------------------------------------- */

static void on_header(void *ctx, const struct record *line) {
    sink_header(&((struct run *)ctx)->sink, line);
}

static void on_columns(void *ctx, const struct header *header) {
    flow_columns(&((struct run *)ctx)->flow, header);
}

static void on_ahead(void *ctx, unsigned who, struct batch *b, seen_time now) {
    judge_ahead(&((struct run *)ctx)->judge, who, b, now, b->own);
}

static void on_batch(void *ctx, struct batch *b, seen_time now) {
    struct run *r = ctx;
    const struct readable *in = b->own;
    unjudged_batch(&r->reader.unjudged, b, now, in->n, in->order, in->cause);
    flow_batch(&r->flow, b);
    state_judged(&r->settings.state);
    warnings_after(&r->warnings, r->reader.records);
}

static void on_unreadable(void *ctx, const char *p, size_t n, bool first, bool last) {
    flow_unreadable(&((struct run *)ctx)->flow, p, n, first, last);
}

static void on_attend(void *ctx) {
    struct run *r = ctx;
    state_attend(&r->settings.state);
    sink_tend(&r->sink, time_monotonic());
    if (progress_due(&r->progress)) show_progress(r);
    if (signals_taken_stats()) print_stats(r);
}

/* Nothing that was judged waits in our buffer while we wait for input. */
static void on_flush(void *ctx) {
    struct run *r = ctx;
    sink_flush(&r->sink);
    warnings_now(&r->warnings, r->reader.records);
}

static bool on_ending(void *ctx) { return ((struct run *)ctx)->sink.error; }

static void on_opened(void *ctx) { state_opened(&((struct run *)ctx)->settings.state); }

static void on_closed(void *ctx) { state_closed(&((struct run *)ctx)->settings.state); }

static const struct reader_events events = {.columns = on_columns,
                                            .header = on_header,
                                            .ahead = on_ahead,
                                            .own = sizeof(struct readable),
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
    seen_stats(r->detector, &s);
    if (judge_counts(&r->judge)) return r->judge.fed.duplicates;
    return r->settings.confirmed ? s.confirmed : s.duplicates;
}

/* At a later time than their own, in all runs of a state. */
static uint64_t judged_later(const struct run *r) {
    struct seen_stats s;
    if (r->settings.wanted.reorder) return r->flow.reorder.clamped;
    if (r->settings.zone) return r->judge.lateness.late;
    seen_stats(r->detector, &s);
    return s.clamped;
}

static void start(struct run *r) {
    struct settings *s = &r->settings;
    struct seen_error e;
    r->detector = state_detector(&s->state);
    if (!r->detector && seen_new(&r->detector, &s->plan, NULL, &e)) die("%s", e.text);
    sink_init(&r->sink, STDOUT_FILENO, s->mode, input_options_column(&s->input));
    r->sink.end = s->input.end;
    sink_choose(&r->sink, s->confirmed, s->input.rejects);
    flow_init(&r->flow, &s->wanted, &s->input, r->detector, &r->reader.layout, &r->judge, &r->sink);
    if (s->state.name) groups_bound(&r->flow.groups, FLOW_STATE_GROUPS);
    reader_init(&r->reader, &s->input, &events, r);
    judge_init(&r->judge, r->detector, &r->reader.layout, s->input.max_record);
    r->reader.unjudged.detector = r->detector;
    judge_share(&r->judge, r->reader.pool);
    asked_of_judge(&s->asked, &s->input, s->zone, &r->judge);
    r->judge.within = s->wanted.within;
    flow_begin(&r->flow);
    progress_init(&r->progress, &s->input);
    r->started = time_monotonic();
    state_begin(&s->state, (struct state_of){.detector = r->detector,
                                             .reader = &r->reader,
                                             .judge = &r->judge,
                                             .number = &r->flow.number,
                                             .unended = &r->sink.unended,
                                             .end = r->sink.end,
                                             .ctx = &r->flow});
    r->found = found(r);
    r->later = judged_later(r);
    warnings_begin(&r->warnings, r->detector, s->input.quiet, s->confirmed);
}

/* Records held back went early, and that changed what is printed. */
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
    if (r->settings.input.quiet || !(keep->early + reorder->early)) return;
    seen_stats(r->detector, &s);
    seen_print_size(r->settings.wanted.hold, most, sizeof most);
    if (!hold_was_short(r))
        warn("--hold=%s let %ju records go before their time; no verdict changed by that", most,
             (uintmax_t)(keep->early + reorder->early));
    if (reorder->displaced)
        warn("memory was short: %ju records were judged later than their own time says, because "
             "--hold=%s let others go early; about --hold=%s would hold all",
             (uintmax_t)reorder->displaced, most, enough(reorder_needed(reorder), better));
    if (keep->repeats)
        warn("memory was short: %s%ju duplicates were printed, because --hold=%s does not hold the "
             "last record of each key; about --hold=%s would",
             s.forgotten ? "at least " : "", (uintmax_t)keep->repeats, most,
             enough(keep->needed, better));
}

static void report_crowd(const struct run *r) {
    const struct names *names = &r->flow.groups.names;
    if (r->settings.input.quiet || !names->crowded) return;
    warn("a state keeps %d MiB of groups, and these are full: the first %u groups are told, all "
         "others together",
         FLOW_STATE_GROUPS >> 20, names->n - GROUP_FIRST);
}

static int finish(struct run *r) {
    bool saved = state_end(&r->settings.state);
    sink_close(&r->sink);
    message_transient(NULL);
    warnings_end(&r->warnings, r->reader.records,
                 r->settings.mode != SINK_TAG && !judge_counts(&r->judge));
    report_hold(r);
    judge_tell(&r->judge, r->settings.report ? 0 : judged_later(r) - r->later);
    report_crowd(r);
    bool lack = groups_lack(&r->flow.groups, r->settings.input.quiet);
    bool failed = r->sink.error || r->reader.failed || !saved;
    bool bad =
        !failed && unjudged_end(&r->reader.unjudged, "passed on unjudged", r->settings.report);
    if (r->settings.report) {
        print_stats(r);
    } else {
        struct run_counts counts = counts_of(r);
        stats_print_groups(&counts, r->settings.wanted.json);
    }
    if (r->sink.error) warn("cannot write the output: %s", strerror(r->sink.error));
    bad |= !failed && flow_has_no_groups(&r->flow);
    if (failed || bad || (r->settings.input.strict && lack)) return EXIT_TROUBLE;
    if (lack || hold_was_short(r)) return EXIT_DEGRADED;
    return r->settings.exit_code && found(r) > r->found ? EXIT_FOUND : EXIT_FINE;
}

static void free_run(struct run *r) {
    flow_free(&r->flow);
    judge_free(&r->judge);
    sink_free(&r->sink);
    reader_free(&r->reader);
    seen_free(r->detector);
}

static int run(struct run *r) {
    start(r);
    reader_run(&r->reader);
    flow_end(&r->flow);
    int code = finish(r);
    free_run(r);
    return code;
}

static int dedup_main(int argc, char **argv) {
    static struct run r;
    settings_read(&r.settings, argc, argv);
    int code = r.settings.remote.url ? remote_main(&r.settings) : run(&r);
    settings_free(&r.settings);
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
        "A FILE may be packed by gzip, zstd, xz or bzip2; - is standard input. A record is a line, "
        "or a row "
        "of a table; its key is all of it, or the fields that `-k` names: by position from 1 (2,5, "
        "2-4, 2- or last-1), by the name of a column, of a part of a web log's line, or by a path "
        "in JSON "
        "(user.id). Whether a key counts as seen is a matter of the window, `-w`: ever, since "
        "midnight, in the last million records, in the last hour. Memory is fixed before the "
        "first record, and so is the rate at which a new record may be taken for a duplicate: "
        "one in 10^9 unless `fp=` says otherwise. No duplicate is let through, except in decaying "
        "windows and in a window that is short of memory: the latter forgets its oldest keys, "
        "and a message says for how long it was kept.\n\n"
        "`--ignore-case`, `--trim` and `--key-url` make keys alike that differ in writing only; "
        "`--key-regex` takes them out of a field or a line. What is printed stays as it is.\n\n"
        "A window of time goes by the records' own time: `--time` names the field, which holds "
        "seconds, milliseconds or microseconds since 1970, RFC 3339, the time of web logs, or what "
        "`--time-format` says. `--clf` knows its field. Records of a pipe without `--time` go by "
        "when they arrive; those of a file are refused, unless `--arrival` says that this is "
        "meant, or `--state` or `--redis` keeps the window from run to run. A record with an "
        "earlier time than one before it counts as if it had the later one, unless `--lateness` "
        "or `--reorder` is given.\n\n"
        "With `--within` only a key that was seen so lately counts, while the window is kept as "
        "planned: any span or number up to its length.\n\n"
        "A record whose time is more than a day later than the clock is not judged, unless "
        "`--allow-future` is given; `--now` fixes the clock.\n\n"
        "A duplicate renews its key's window; with `--refresh` first it does not, and the window "
        "is that of the record which went through. `--tag` takes a list out of verdict, number, "
        "time, age, first, first-time, last and last-time.\n\n"
        "A record whose key or time cannot be read, or that is longer than `--max-record`, is "
        "passed on unjudged. A message at the end counts such records by cause and shows the "
        "first of each. With `--rejects` FILE they go there instead. Where no record could be "
        "judged, the exit code is 2; output and state are complete all the same.\n\n"
        "With `--redis` the window is kept by a Redis or Valkey server, or a cluster, that has "
        "loaded the seen module, and shared by all who name it. `--shards` spreads it over as many "
        "keys. What a lost connection leaves in doubt is passed on like a record without a key, "
        "and told of.\n\n"
        "Where it reads from a pipe and nothing comes, it writes what it has, so that it can "
        "stand in the middle of a live pipeline. SIGINT and SIGTERM end it as the end of its "
        "input would; SIGUSR1 has it give its account, as `--stats` does at the end.",
    .examples = examples,
    .rows = settings_rows,
    .often = "window keys csv no-quotes tsv ndjson clf time duplicates tag stats state fp mem",
};
