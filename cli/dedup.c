/* dedup.c - `seen [dedup]`: records in, those not seen before out.
 *
 * One loop: read, cut complete records off the buffer a batch at a time, judge them, print them.
 * What remains is the start of a record that the next read completes. */
#include "cli.h"
#include "columns.h"
#include "input.h"
#include "judge.h"
#include "settings.h"
#include "signals.h"
#include "sink.h"
#include "stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct run {
    struct settings settings;
    struct input in;
    struct splitter splitter;
    struct layout layout;
    struct batch batch;
    struct judge judge;
    struct sink sink;
    seen_detector *detector;
    char *header; /* the first one, without its line end; NULL: not yet read */
    size_t header_len;
    seen_time now;         /* when the buffer was last filled */
    double started, shown; /* on the monotonic clock; shown: the last progress line */
    bool progress;         /* wanted, and stderr is a terminal */
    bool warned_full;      /* that the window holds as many keys as were planned */
    bool failed;           /* said so already: finish, exit 2 */
    bool header_due;       /* the file's first line is yet to come */
};

/* -- messages while running ----------------------------------------------------------------------
 */

static struct run_counts counts_of(const struct run *r) {
    return (struct run_counts){.unreadable = r->judge.unreadable,
                               .late = r->judge.late,
                               .late_most = r->judge.late_most,
                               .seconds = time_monotonic() - r->started,
                               .zone = r->settings.zone_name,
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
    double now = time_monotonic();
    if (now - r->shown < 0.25) return;
    r->shown = now;
    struct run_counts counts = counts_of(r);
    stats_print_progress(r->detector, &counts);
}

static void warn_when_full(struct run *r) {
    struct seen_stats s;
    if (r->warned_full || r->settings.quiet) return;
    seen_stats(r->detector, &s);
    if (s.capacity == 0 || s.stored < s.capacity ||
        (seen_plan_of(r->detector)->traits & SEEN_GROWS))
        return;
    r->warned_full = true;
    warn("the window holds the %ju keys it was planned for; false duplicates will now exceed %.2g "
         "of "
         "the new records (more mem= or a shorter window would help)",
         (uintmax_t)s.capacity, seen_plan_of(r->detector)->fp_full);
}

/* -- reading -------------------------------------------------------------------------------------
 */

/* Nothing more is to be read. */
static bool ending(const struct run *r) { return r->failed || r->sink.error || signals_stop(); }

/* What is done between two reads. */
static void attend(struct run *r) {
    warn_when_full(r);
    sink_tend(&r->sink, time_monotonic());
    if (r->progress) show_progress(r);
    if (signals_taken_stats()) print_stats(r);
}

/* Nothing that was judged waits in our buffer while we wait for input. */
static void wait_for_input(struct run *r) {
    if (!r->in.blocks || input_ready(&r->in, -1, false)) return;
    sink_flush(&r->sink);
    while (!ending(r) && !input_ready(&r->in, signals_wake(), true)) attend(r);
}

/* Bytes read; 0 at the end of the file, or when it is time to end. */
static size_t fill(struct run *r) {
    ssize_t got = -1;
    attend(r);
    for (bool again = true; again && got < 0;) {
        wait_for_input(r);
        if (ending(r)) return 0;
        got = input_fill(&r->in);
        again = errno == EINTR || errno == EAGAIN;
    }
    if (got < 0) {
        warn("cannot read %s: %s", r->in.name, strerror(errno));
        r->failed = true;
    }
    r->now = time_now();
    return got > 0 ? (size_t)got : 0;
}

/* -- headers -------------------------------------------------------------------------------------
 */

static const char *begin(const struct run *r) { return r->in.buf + r->in.begin; }
static const char *end(const struct run *r) { return r->in.buf + r->in.end; }

static void resolve(struct run *r, const struct header *header) {
    columns_resolve(&r->layout, r->settings.keys, r->settings.time, header);
    r->batch.field = malloc((BATCH * r->layout.slots + 1) * sizeof *r->batch.field);
    if (!r->batch.field) die("out of memory for %u fields a record", r->layout.slots);
    bool whole = r->layout.slots == 0, csv = r->settings.table == TABLE_CSV;
    r->splitter.format = csv ? &csv_format : whole ? &lines_format : &delimited_format;
}

static void first_header(struct run *r, const struct record *line) {
    struct header header;
    columns_read_header(&header, line->at, line->bare, r->settings.delimiter,
                        r->settings.table == TABLE_CSV);
    resolve(r, &header);
    columns_free_header(&header);
    r->header = malloc((size_t)line->bare + 1);
    if (!r->header) die("out of memory for the header line");
    memcpy(r->header, line->at, line->bare);
    r->header_len = line->bare;
    sink_header(&r->sink, line);
}

/* The header of a later file must be the first one's, and is not repeated. */
static void later_header(struct run *r, const struct record *line) {
    if (line->bare == r->header_len && !memcmp(line->at, r->header, r->header_len)) return;
    warn("%s: its header line differs from the first file's", r->in.name);
    r->failed = true;
}

/* Takes the header off the buffer, if that holds it to its end. */
static bool take_header(struct run *r, bool last) {
    struct splitter *s = &r->splitter;
    splitter_unfinished(s);
    size_t n = s->format->tail(s, begin(r), end(r));
    if (!n && last) n = r->in.end - r->in.begin;
    if (!n) return false;
    const char *stop = begin(r) + n - (begin(r)[n - 1] == '\n');
    struct record line = record_of(begin(r), stop, begin(r) + n, true);
    if (r->header)
        later_header(r, &line);
    else
        first_header(r, &line);
    r->in.begin += n;
    s->lines = s->tail_line - 1;
    r->header_due = false;
    return !r->failed;
}

/* -- records -------------------------------------------------------------------------------------
 */

/* Judges and prints every complete record in the buffer; at the end of a file, the rest as well. */
static void drain(struct run *r, bool last) {
    struct batch *b = &r->batch;
    if (r->header_due && (r->in.begin == r->in.end || !take_header(r, last))) return;
    while (r->in.begin < r->in.end && !r->sink.error) {
        size_t used = r->splitter.format->split(&r->splitter, begin(r), end(r), last, b);
        if (!used) break;
        judge_batch(&r->judge, b, r->now);
        sink_batch(&r->sink, b);
        r->in.begin += used;
    }
}

static bool too_long(const struct run *r) {
    return r->in.end - r->in.begin > (size_t)r->settings.max_record + 1; /* a CR does not count */
}

static void refuse_open_quote(struct run *r) {
    warn("%s: the quote opened in line %ju is never closed", r->in.name,
         (uintmax_t)r->splitter.quote_line);
    r->failed = true;
    if (r->in.begin == r->in.end) return; /* too long as well: it has passed */
    r->judge.unreadable++;
    sink_unreadable(&r->sink, begin(r), r->in.end - r->in.begin, true, true);
    r->in.begin = r->in.end;
}

/* The buffer holds the start of a record that is too long: it is passed on as it comes, all but its
 * last byte, which may be the CR of its line end. */
static void pass_through(struct run *r) {
    struct splitter *s = &r->splitter;
    if (r->header_due) die("%s: the header line is longer than --max-record", r->in.name);
    r->judge.unreadable++;
    size_t rest = 0;
    for (bool first = true; !rest; first = false) {
        size_t n = r->in.end - r->in.begin - 1;
        sink_unreadable(&r->sink, begin(r), n, first, false);
        r->in.begin += n;
        size_t got = fill(r);
        size_t ended = got ? s->format->tail(s, end(r) - got, end(r)) : 0;
        if (ended || !got) rest = 1 + ended;
    }
    sink_unreadable(&r->sink, begin(r), rest, false, true);
    r->in.begin += rest;
    s->lines = s->tail_line - 1;
    if (s->in_quotes && !ending(r)) refuse_open_quote(r);
}

/* Reads on until the record at the start of the buffer is complete.  False at the end of the file.
 */
static bool complete(struct run *r) {
    struct splitter *s = &r->splitter;
    splitter_unfinished(s);
    s->format->tail(s, begin(r), end(r));
    for (;;) {
        if (too_long(r)) return pass_through(r), true;
        size_t got = fill(r);
        if (!got) return false;
        if (s->format->tail(s, end(r) - got, end(r))) return true;
    }
}

static void read_file(struct run *r, const char *name) {
    if (input_open(&r->in, name)) {
        warn("cannot open %s: %s", r->in.name, strerror(errno));
        r->failed = true;
        return;
    }
    r->header_due = r->settings.header;
    r->splitter.lines = 0;
    while (complete(r)) drain(r, false);
    if (!ending(r) && r->splitter.in_quotes) refuse_open_quote(r);
    if (!ending(r)) drain(r, true);
    input_close(&r->in);
}

/* -- a run ---------------------------------------------------------------------------------------
 */

static void start(struct run *r) {
    const struct settings *s = &r->settings;
    struct seen_error e;
    if (seen_new(&r->detector, &s->plan, NULL, &e)) die("%s", e.text);
    signals_init();
    input_init(&r->in);
    bool csv = s->table == TABLE_CSV;
    r->splitter = (struct splitter){.format = csv ? &csv_format : &lines_format,
                                    .layout = &r->layout,
                                    .delimiter = s->delimiter,
                                    .strip_cr = s->crlf || s->table};
    if (!s->header) resolve(r, NULL);
    judge_init(&r->judge, r->detector, &r->layout, s->max_record);
    r->judge.zone = s->zone;
    if (s->landmark_on) r->judge.pattern = &s->pattern;
    sink_init(&r->sink, STDOUT_FILENO, s->mode, s->table ? s->delimiter : '\0');
    r->progress = !s->quiet && isatty(STDERR_FILENO) && !isatty(STDOUT_FILENO);
    r->started = r->shown = time_monotonic();
}

static void report_losses(const struct run *r) {
    struct seen_stats s;
    seen_stats(r->detector, &s);
    if (r->settings.quiet || r->settings.mode == SINK_TAG || s.expected_false < 0.5) return;
    warn("about %.0f of the %ju duplicates were probably new records (95 %%: %ju to %ju)",
         s.expected_false, (uintmax_t)s.duplicates, (uintmax_t)s.false_lo, (uintmax_t)s.false_hi);
}

static void report_unreadable(const struct run *r) {
    uintmax_t n = r->judge.unreadable;
    bool told = r->settings.quiet || r->settings.report; /* or not wanted */
    if (!n || (told && !r->settings.strict)) return;
    warn("%ju record%s passed on unjudged: no readable key or time, or too long", n,
         n == 1 ? " was" : "s were");
}

static int finish(struct run *r) {
    struct seen_stats s;
    sink_close(&r->sink);
    message_transient(NULL);
    warn_when_full(r);
    report_losses(r);
    if (r->settings.report) print_stats(r);
    seen_stats(r->detector, &s);
    if (r->sink.error) warn("cannot write the output: %s", strerror(r->sink.error));
    if (r->sink.error || r->failed) return EXIT_TROUBLE;
    report_unreadable(r);
    if (r->settings.strict && r->judge.unreadable) return EXIT_TROUBLE;
    return r->settings.exit_code && s.duplicates ? EXIT_FOUND : EXIT_FINE;
}

static void free_run(struct run *r) {
    free(r->header);
    free(r->batch.field);
    judge_free(&r->judge);
    columns_free(&r->layout);
    sink_free(&r->sink);
    input_free(&r->in);
    seen_free(r->detector);
    settings_free(&r->settings);
}

int dedup_main(int argc, char **argv) {
    static struct run r;
    if (!settings_read(&r.settings, argc, argv)) return EXIT_FINE;
    start(&r);
    for (size_t i = 0; i < r.settings.file_count && !ending(&r); i++)
        read_file(&r, r.settings.files[i]);
    int code = finish(&r);
    free_run(&r);
    if (signals_stop()) signals_die(signals_stop());
    return code;
}
