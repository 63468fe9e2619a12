/* run_stats.c - tells how a run goes: the line of progress on a terminal, --stats at the end. */
#include "records/run_stats.h"

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

/* Writes the percentage, and the time left at the pace of this run, which may have begun inside a
 * file. */
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

double run_stats_rate(const struct run_stats *a, uint64_t n) {
    double seconds = time_monotonic() - a->started;
    return seconds > 0 ? (double)n / seconds : 0;
}

void run_stats_json_end(const struct run_stats *a, struct json *j, uint64_t n) {
    json_put(j, "seconds", "%.6f", time_monotonic() - a->started);
    json_put(j, "records_per_second", "%.9g", run_stats_rate(a, n));
    json_text(j, "version", SEEN_VERSION);
    json_close(j, '}');
    putc('\n', j->out);
}

void run_stats_print_work(const struct run_stats *a, const char *what, uint64_t n) {
    double seconds = time_monotonic() - a->started;
    if (!a->wanted) return;
    if (a->json)
        fprintf(stderr, "{\"%s\":%" PRIu64 ",\"seconds\":%.6f,\"version\":\"" SEEN_VERSION "\"}\n",
                what, n, seconds);
    else
        fprintf(stderr, "%s %s, %.3f s\n", number_grouped(n).text, what, seconds);
}

void run_stats_json_causes(struct json *j, const struct unjudged *u, uint64_t earlier) {
    json_open(j, "unparseable_causes", '[');
    for (enum cause i = 0; i <= CAUSES; i++) {
        uint64_t n = i < CAUSES ? u->by[i] : earlier;
        if (!n) continue;
        json_open(j, NULL, '{');
        json_text(j, "cause", i < CAUSES ? cause_name(i) : "earlier_runs");
        json_count(j, "records", n);
        json_text(j, "first", i < CAUSES ? u->first[i] : NULL);
        json_close(j, '}');
    }
    json_close(j, ']');
}

void run_stats_json(struct json *j, const struct unjudged *u) {
    json_count(j, "records", u->records);
    json_count(j, "unparseable", u->n);
    run_stats_json_causes(j, u, 0);
}

void run_stats_print(const struct run_stats *a, const struct unjudged *u) {
    struct json j = {.out = stderr};
    if (!a->wanted) return;
    if (a->json) {
        json_open(&j, NULL, '{');
        run_stats_json(&j, u);
        run_stats_json_end(a, &j, u->records);
        return;
    }
    fprintf(stderr, "%s records, ", number_grouped(u->records).text);
    fprintf(stderr, "%s that could not be judged, ", number_grouped(u->n).text);
    fprintf(stderr, "%s a second\n", number_grouped((uint64_t)run_stats_rate(a, u->records)).text);
}
