/* run_stats.c - tells how a run goes: the line of progress on a terminal, --stats at the end. */
#include "records/run_stats.h"

#include "base/cli.h"
#include "base/text.h"
#include "time/time.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* -- progress ------------------------------------------------------------------------------ */

/* Bytes of the files on disk, compressed or not; 0: at least one is not a regular file. */
static uint64_t size_of(const struct input_options *s) {
    uint64_t total = 0;
    for (size_t i = 0; i < s->file_count; i++) {
        struct stat st;
        int bad = strcmp(s->files[i], "-") ? stat(s->files[i], &st) : fstat(STDIN_FILENO, &st);
        if (bad || !S_ISREG(st.st_mode)) return 0;
        total += (uint64_t)st.st_size;
    }
    return s->merge ? 0 : total;
}

void progress_init(struct progress *p, const struct input_options *s) {
    *p = (struct progress){.started = time_monotonic()};
    p->shown = p->started;
    p->wanted = !s->quiet && !s->no_progress && isatty(STDERR_FILENO) && !isatty(STDOUT_FILENO);
    if (!p->wanted) return;
    p->total = size_of(s);
    p->first = UINT64_MAX;
}

bool progress_due(struct progress *p) {
    double now = time_monotonic();
    if (!p->wanted || now - p->shown < 0.25) return false;
    p->shown = now;
    return true;
}

/* At the pace of this run, which may have begun inside a file. */
static void tell_rest(const struct progress *p, uint64_t done, char *text, size_t cap) {
    char left[32];
    double seconds = p->shown - p->started, bytes = (double)(done - p->first);
    int n = snprintf(text, cap, "; %.0f %%", 100.0 * (double)done / (double)p->total);
    if (seconds < 0.5 || bytes <= 0) return;
    double rest = (double)(p->total - done) / bytes * seconds;
    if (rest > 1e9) return;
    seen_print_span(((uint64_t)rest + 1) * 1000000, left, sizeof left);
    snprintf(text + n, cap - (size_t)n, ", %s left", left);
}

void progress_show(struct progress *p, const struct reader *r, const char *text) {
    char line[256], rest[64] = "";
    uint64_t done = reader_done(r);
    if (p->first == UINT64_MAX) p->first = r->began;
    if (p->total && done <= p->total) tell_rest(p, done, rest, sizeof rest);
    snprintf(line, sizeof line, "%s%s", text, rest);
    message_transient(line);
}

/* -- statistics ---------------------------------------------------------------------------- */

void run_stats_take(struct run_stats *a, const char *value) {
    a->wanted = true;
    a->json = option_is_json(value);
}

void run_stats_begin(struct run_stats *a) { a->started = time_monotonic(); }

static double per_second(uint64_t n, double seconds) {
    return seconds > 0 ? (double)n / seconds : 0;
}

static double seconds_of(const struct run_stats *a) { return time_monotonic() - a->started; }

double run_stats_rate(const struct run_stats *a, uint64_t n) {
    return per_second(n, seconds_of(a));
}

void run_stats_end_json(const struct run_stats *a, uint64_t n) {
    double seconds = seconds_of(a);
    fprintf(stderr,
            "\"seconds\":%.6f,\"records_per_second\":%.9g,\"version\":\"" SEEN_VERSION "\"}\n",
            seconds, per_second(n, seconds));
}

void run_stats_print_work(const struct run_stats *a, const char *what, uint64_t n) {
    if (!a->wanted) return;
    if (a->json)
        fprintf(stderr, "{\"%s\":%" PRIu64 ",\"seconds\":%.6f,\"version\":\"" SEEN_VERSION "\"}\n",
                what, n, seconds_of(a));
    else
        fprintf(stderr, "%s %s, %.3f s\n", number_grouped(n).text, what, seconds_of(a));
}

void run_stats_put_causes(const struct unjudged *u, uint64_t earlier) {
    const char *comma = "";
    fputs("\"unparseable_causes\":[", stderr);
    for (enum cause i = 0; i < CAUSES; i++) {
        if (!u->by[i]) continue;
        fprintf(stderr, "%s{\"cause\":\"%s\",\"records\":%" PRIu64 ",\"first\":", comma,
                cause_name(i), u->by[i]);
        json_print_text(stderr, u->first[i]);
        fputc('}', stderr);
        comma = ",";
    }
    if (earlier)
        fprintf(stderr, "%s{\"cause\":\"earlier_runs\",\"records\":%" PRIu64 ",\"first\":null}",
                comma, earlier);
    fputs("],", stderr);
}

void run_stats_put_json(const struct run_stats *a, const struct unjudged *u) {
    double seconds = time_monotonic() - a->started;
    fprintf(stderr, "\"records\":%" PRIu64 ",\"unparseable\":%" PRIu64 ",", u->records, u->n);
    run_stats_put_causes(u, 0);
    fprintf(stderr, "\"seconds\":%.6f,\"records_per_second\":%.9g,", seconds,
            per_second(u->records, seconds));
}

void run_stats_print(const struct run_stats *a, const struct unjudged *u) {
    double seconds = time_monotonic() - a->started;
    if (!a->wanted) return;
    if (a->json) {
        fputc('{', stderr);
        run_stats_put_json(a, u);
        fputs("\"version\":\"" SEEN_VERSION "\"}\n", stderr);
        return;
    }
    fprintf(stderr, "%s records, ", number_grouped(u->records).text);
    fprintf(stderr, "%s that could not be judged, ", number_grouped(u->n).text);
    fprintf(stderr, "%s a second\n",
            number_grouped((uint64_t)per_second(u->records, seconds)).text);
}
