/* lines.c - the simplest format: a record is a line, its key the whole of it. */
#include "records/format/record.h"

#include <string.h>

static size_t split(struct splitter *s, const char *p, const char *end, bool last,
                    struct batch *b) {
    const char *at = p;
    size_t n = 0;
    while (n < BATCH && at < end) {
        const char *nl = memchr(at, s->end, (size_t)(end - at));
        if (!nl && !last) break;
        if (!nl) nl = end;
        b->record[n] = record_of(at, nl, end, s->strip_cr);
        at += b->record[n++].len;
    }
    b->n = n;
    return (size_t)(at - p);
}

size_t line_tail(struct splitter *s, const char *p, const char *end) {
    const char *stop = memchr(p, s->end, (size_t)(end - p));
    return stop ? (size_t)(stop + 1 - p) : 0;
}

const struct format lines_format = {.split = split, .tail = line_tail};
