/* lines.c - the formats whose records are lines without quoting: the whole line, fields between one
 * byte (-d C and --tsv), and fields between runs of blanks (--blanks). */
#include "records/format/fields.h"
#include "records/format/scan.h"

#include <string.h>

/* -- the whole line ----------------------------------------------------------------------- */

static size_t split_lines(struct splitter *s, const char *p, const char *end, bool last,
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

const struct format lines_format = {.split = split_lines, .tail = line_tail};

/* -- fields ------------------------------------------------------------------------------- */

static inline void keep(const struct layout *l, struct slice *f, uint32_t column, const char *at,
                        const char *end) {
    if (column >= l->width || l->slot_of[column] == NO_SLOT) return;
    f[l->slot_of[column]] = (struct slice){at, (uint32_t)(end - at), 0};
}

/* Cuts records into fields at a delimiter or at blanks.  Blanks in a row make no empty fields. */
static inline size_t split_at(struct splitter *s, const char *p, const char *end, bool last,
                              struct batch *b, bool blanks) {
    const struct layout *l = s->layout;
    struct cursor c = cursor_at(
        p, end, blanks ? needles(' ', '\t', s->end) : needles(s->delimiter, s->end, s->end));
    const char *at = p;
    size_t n = 0;
    for (; n < BATCH && at < end; n++) {
        struct slice *f = b->field + n * l->slots;
        for (uint32_t i = 0; i < l->slots; i++) f[i].at = NULL;
        const char *field = at, *stop;
        uint32_t column = 0;
        while ((stop = cursor_next(&c)) < end && *stop != s->end) {
            if (!blanks || stop > field) keep(l, f, column++, field, stop);
            field = stop + 1;
        }
        if (stop == end && !last) break;
        struct record r = record_of(at, stop, end, s->strip_cr);
        if (!blanks || at + r.bare > field) keep(l, f, column, field, at + r.bare);
        b->record[n] = r;
        at += r.len;
    }
    b->n = n;
    fields_count(l, b);
    return (size_t)(at - p);
}

static size_t split_delimited(struct splitter *s, const char *p, const char *end, bool last,
                              struct batch *b) {
    return split_at(s, p, end, last, b, false);
}

static size_t split_blanks(struct splitter *s, const char *p, const char *end, bool last,
                           struct batch *b) {
    return split_at(s, p, end, last, b, true);
}

const struct format delimited_format = {.split = split_delimited, .tail = line_tail};
const struct format blanks_format = {.split = split_blanks, .tail = line_tail};
