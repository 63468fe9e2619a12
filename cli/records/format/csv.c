/* csv.c - CSV as in RFC 4180: quoted fields may hold delimiters, newlines and doubled quotes.
 *
 * A quote at the start of a field opens a quoted field; elsewhere it is a byte like others.  Bytes
 * between the closing quote and the next delimiter belong to the value ("a"b is ab).  CRLF ends a
 * record as a newline does.
 *
 * A quoted field longer than max_field counts as one whose quote is never closed. */
#include "records/format/fields.h"
#include "records/format/scan.h"

/* -- split: complete records, at full speed ----------------------------------------------- */

struct field {
    const char *at, *close; /* close: its closing quote, NULL if it is not quoted */
    bool doubled;           /* holds "" */
};

/* Moves from the opening quote of a field behind its closing one.  False: the buffer ends before
 * it, or the field has more than `most` bytes. */
static bool skip_quoted(struct cursor *c, struct field *f, uint32_t most, uint64_t *newlines) {
    const char *e;
    while ((e = cursor_next(c)) < c->end) {
        *newlines += *e == '\n';
        if (*e != '"') continue;
        if (e + 1 == c->end || e[1] != '"') break;
        f->doubled = true;
        cursor_next(c);
    }
    f->close = e;
    return e < c->end && (size_t)(e - f->at) <= (size_t)most + 1;
}

static inline void keep(struct slice *slots, int32_t slot, const struct field *f, const char *end) {
    struct slice value = {f->at, (uint32_t)(end - f->at), AS_IT_IS};
    if (slot == NO_SLOT) return;
    if (f->close && (f->doubled || f->close + 1 != end))
        value.escaped = CSV_QUOTED;
    else if (f->close)
        value.at++, value.len -= 2;
    slots[slot] = value;
}

/* Walks over one record.  Returns its newline, or the end of the buffer.  *last becomes its last
 * field, and *column that field's number. */
static inline const char *walk(struct cursor *c, const struct splitter *s, struct slice *slots,
                               struct field *last, uint32_t *column, uint64_t *newlines) {
    const char delimiter = s->delimiter;
    const uint32_t width = s->layout->width, most = s->max_field;
    const int32_t *slot_of = s->layout->slot_of;
    struct field f = *last;
    uint32_t i = 0;
    const char *e;
    while ((e = cursor_next(c)) < c->end) {
        if (*e == delimiter) {
            if (i < width) keep(slots, slot_of[i], &f, e);
            i++;
            f = (struct field){e + 1, NULL, false};
        } else if (*e == '\n') {
            break;
        } else if (e == f.at && !skip_quoted(c, &f, most, newlines)) {
            e = c->end;
            break;
        }
    }
    *last = f;
    *column = i;
    return e;
}

static size_t split(struct splitter *s, const char *p, const char *end, bool last,
                    struct batch *b) {
    const struct layout *l = s->layout;
    struct cursor c = cursor_at(p, end, needles(s->delimiter, '\n', '"'));
    const char *at = p;
    size_t n = 0;
    for (; n < BATCH && at < end; n++) {
        struct slice *slots = b->field + n * l->slots;
        for (uint32_t i = 0; i < l->slots; i++) slots[i].at = NULL;
        struct field f = {at, NULL, false};
        uint32_t column;
        uint64_t newlines = 1;
        const char *stop = walk(&c, s, slots, &f, &column, &newlines);
        if (stop == end && !last) break;
        struct record r = record_of(at, stop, end, true);
        if (column < l->width) keep(slots, l->slot_of[column], &f, at + r.bare);
        b->record[n] = r;
        at += r.len;
        s->lines += newlines;
    }
    b->n = n;
    fields_count(l, b);
    return (size_t)(at - p);
}

/* -- tail: the rest of a record that was cut ---------------------------------------------- */

enum { FIELD_START, IN_FIELD, IN_QUOTES, AFTER_QUOTE, BEYOND };

static size_t tail(struct splitter *s, const char *p, const char *end) {
    const char *at = p;
    size_t ended = 0;
    for (; at < end && !ended; at++) {
        if (*at == '\n') {
            s->tail_line++;
            if (s->state != IN_QUOTES && s->state != BEYOND) ended = (size_t)(at + 1 - p);
        }
        s->quoted++;
        if (s->state == FIELD_START && *at == '"') {
            s->quote_line = s->tail_line;
            s->quoted = 0;
        }
        bool opens = *at == '"' && (s->state == FIELD_START || s->state == AFTER_QUOTE);
        if (s->state == IN_QUOTES)
            s->state = *at == '"' ? AFTER_QUOTE : IN_QUOTES;
        else if (s->state != BEYOND)
            s->state = opens ? IN_QUOTES : *at == s->delimiter ? FIELD_START : IN_FIELD;
        if (s->state == IN_QUOTES && s->quoted > s->max_field) {
            s->state = BEYOND;
            s->overrun = s->tail_size + (uint64_t)(at + 1 - p);
        }
    }
    s->tail_size += (uint64_t)(at - p);
    s->in_quotes = s->state == IN_QUOTES;
    return ended;
}

/* -- cut: how far records are complete ----------------------------------------------------- */

/* Outside quotes, a quote begins a field if it stands behind a delimiter or begins the record. */
static size_t cut(struct splitter *s, const char *p, const char *end) {
    struct cursor c = cursor_at(p, end, needles('"', '\n', '\n'));
    const char *done = p, *e;
    uint64_t newlines = 0; /* of the record at `done` */
    while ((e = cursor_next(&c)) < end) {
        struct field f = {e, NULL, false};
        if (*e == '\n') {
            s->lines += newlines + 1;
            newlines = 0;
            done = e + 1;
        } else if ((e == done || e[-1] == s->delimiter) &&
                   !skip_quoted(&c, &f, s->max_field, &newlines)) {
            break;
        }
    }
    return (size_t)(done - p);
}

const struct format csv_format = {.split = split, .tail = tail, .cut = cut};

/* -- values ------------------------------------------------------------------------------- */

size_t csv_unquote(const char *field, size_t len, char *out) {
    size_t n = 0, i = 1; /* behind the opening quote */
    for (; i < len; i++) {
        if (field[i] == '"' && (i + 1 == len || field[i + 1] != '"')) break;
        i += field[i] == '"';
        out[n++] = field[i];
    }
    for (i++; i < len; i++) out[n++] = field[i]; /* "a"b */
    return n;
}
