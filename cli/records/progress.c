/* progress.c - prints the progress of a run on a terminal. */
#include "records/progress.h"

#include "time/time.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
