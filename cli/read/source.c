/* source.c - the options of whoever reads records. */
#include "read/source.h"

#include "crew.h"
#include "seen.h"

#include <sched.h>
#include <string.h>

enum { MAX_RECORD = 1 << 30 };

void source_init(struct source *s) {
    *s = (struct source){.header = true, .max_record = 16 << 20, .threads = 1};
}

static char byte_of(const char *text) {
    const char *escapes[] = {"\\t", "\\0", "\\\\", "tab"}, bytes[] = {'\t', '\0', '\\', '\t'};
    for (size_t i = 0; i < 4; i++)
        if (!strcmp(text, escapes[i])) return bytes[i];
    if (strlen(text) != 1) die("-d takes one byte, such as , or ; or \\t, not '%s'", text);
    if (strchr("\n\r\"", text[0])) die("-d cannot be a line end or a double quote");
    return text[0];
}

static uint32_t record_size(const char *text) {
    struct seen_error e;
    uint64_t size;
    if (seen_parse_size(&size, text, &e)) die("--max-record %s: %s", text, e.text);
    if (size > MAX_RECORD) die("--max-record %s is more than 1GiB", text);
    return (uint32_t)size;
}

/* 0 is as many as there are processors for us. */
static unsigned thread_count(const char *text) {
    struct seen_error e;
    uint64_t n = 1;
    cpu_set_t ours;
    if (strcmp(text, "0") != 0) {
        if (seen_parse_count(&n, text, &e)) die("-j %s: %s", text, e.text);
        if (n > CREW_MOST) die("-j %s: at most %d threads", text, CREW_MOST);
    } else if (!sched_getaffinity(0, sizeof ours, &ours)) {
        n = (uint64_t)CPU_COUNT(&ours);
    }
    return n < CREW_MOST ? (unsigned)n : CREW_MOST;
}

static void set_shape(struct source *s, enum shape shape) {
    if (s->shape && s->shape != shape) die("--csv and --tsv exclude each other");
    s->shape = shape;
}

bool source_take(struct source *s, int id, const char *value) {
    switch (id) {
    case SOURCE_KEYS: s->keys = value; break;
    case SOURCE_DELIMITER: s->delimiter_given = value; break;
    case SOURCE_CSV: set_shape(s, SHAPE_CSV); break;
    case SOURCE_TSV: set_shape(s, SHAPE_TSV); break;
    case SOURCE_NO_HEADER: s->header = false; break;
    case SOURCE_CRLF: s->crlf = true; break;
    case SOURCE_TIME: s->time = value; break;
    case SOURCE_MAX_RECORD: s->max_record = record_size(value); break;
    case SOURCE_THREADS: s->threads = thread_count(value); break;
    case SOURCE_QUIET: s->quiet = true; break;
    case SOURCE_STRICT: s->strict = true; break;
    default: return false;
    }
    return true;
}

static void set_delimiter(struct source *s) {
    s->delimiter = s->shape == SHAPE_CSV ? ',' : '\t';
    if (!s->delimiter_given) return;
    if (s->shape == SHAPE_TSV) die("--tsv means TAB between fields; leave out -d, or --tsv");
    s->delimiter = byte_of(s->delimiter_given);
}

void source_files(struct source *s, const struct args *a) {
    static char *const standard_input[] = {"-"};
    set_delimiter(s);
    s->header = s->header && source_column(s);
    s->files = a->at < a->argc ? a->argv + a->at : standard_input;
    s->file_count = a->at < a->argc ? (size_t)(a->argc - a->at) : 1;
}

char source_column(const struct source *s) {
    return s->shape == SHAPE_CSV || s->shape == SHAPE_TSV ? s->delimiter : '\0';
}

bool source_unreadable(const struct source *s, uint64_t n, bool told, const char *what) {
    if (n && (s->strict || !(s->quiet || told)))
        warn("%ju record%s no readable %s, or %s too long", (uintmax_t)n,
             n == 1 ? " has" : "s have", what, n == 1 ? "is" : "are");
    return s->strict && n;
}
