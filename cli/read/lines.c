/* lines.c - the simplest format: a record is a line, its key the whole of it. */
#include "read/record.h"

#include <string.h>

static size_t split(struct splitter *s, const char *p, const char *end, bool last,
                    struct batch *b) {
    const char *at = p;
    size_t n = 0;
    while (n < BATCH && at < end) {
        const char *nl = memchr(at, '\n', (size_t)(end - at));
        if (!nl && !last) break;
        if (!nl) nl = end;
        b->record[n] = record_of(at, nl, end, s->strip_cr);
        at += b->record[n++].len;
    }
    b->n = n;
    return (size_t)(at - p);
}

static size_t tail(struct splitter *s, const char *p, const char *end) {
    (void)s;
    const char *nl = memchr(p, '\n', (size_t)(end - p));
    return nl ? (size_t)(nl + 1 - p) : 0;
}

const struct format lines_format = {split, tail, NULL};
