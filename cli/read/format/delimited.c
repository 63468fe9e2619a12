/* delimited.c - lines whose fields are separated by one byte, without quoting: -d C and --tsv. */
#include "read/format/scan.h"
#include "read/record.h"

static inline void keep(const struct layout *l, struct slice *f, uint32_t column, const char *at,
                        const char *end) {
    if (column >= l->width || l->slot_of[column] == NO_SLOT) return;
    f[l->slot_of[column]] = (struct slice){at, (uint32_t)(end - at), 0};
}

static size_t split(struct splitter *s, const char *p, const char *end, bool last,
                    struct batch *b) {
    const struct layout *l = s->layout;
    struct cursor c = cursor_at(p, end, needles(s->delimiter, s->end, s->end));
    const char *at = p;
    size_t n = 0;
    for (; n < BATCH && at < end; n++) {
        struct slice *f = b->field + n * l->slots;
        for (uint32_t i = 0; i < l->slots; i++) f[i].at = NULL;
        const char *field = at, *stop;
        uint32_t column = 0;
        while ((stop = cursor_next(&c)) < end && *stop != s->end) {
            keep(l, f, column++, field, stop);
            field = stop + 1;
        }
        if (stop == end && !last) break;
        struct record r = record_of(at, stop, end, s->strip_cr);
        keep(l, f, column, field, at + r.bare);
        b->record[n] = r;
        at += r.len;
    }
    b->n = n;
    return (size_t)(at - p);
}

const struct format delimited_format = {split, line_tail, NULL};
