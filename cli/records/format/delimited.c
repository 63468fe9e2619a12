/* delimited.c - lines whose fields are separated by one byte, without quoting: -d C and --tsv; or
 * by runs of blanks: --blanks. */
#include "records/format/fields.h"
#include "records/format/record.h"
#include "records/format/scan.h"

static inline void keep(const struct layout *l, struct slice *f, uint32_t column, const char *at,
                        const char *end) {
    if (column >= l->width || l->slot_of[column] == NO_SLOT) return;
    f[l->slot_of[column]] = (struct slice){at, (uint32_t)(end - at), 0};
}

/* Cuts fields at a delimiter or at blanks.  Several blanks in a row do not make empty fields. */
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

static size_t split(struct splitter *s, const char *p, const char *end, bool last,
                    struct batch *b) {
    return split_at(s, p, end, last, b, false);
}

static size_t split_blanks(struct splitter *s, const char *p, const char *end, bool last,
                           struct batch *b) {
    return split_at(s, p, end, last, b, true);
}

const struct format delimited_format = {.split = split, .tail = line_tail};
const struct format blanks_format = {.split = split_blanks, .tail = line_tail};
