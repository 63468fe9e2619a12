/* fields.c - walks the fields of one record of any format. */
#include "records/format/fields.h"

#include "records/span.h"

static bool blank(char c) { return c == ' ' || c == '\t'; }

struct walk fields_of(const struct cutting *c, const char *text, size_t len) {
    struct walk w = {c, text, text + len};
    if (!c->blanks) return w;
    while (w.at < w.end && blank(*w.at)) w.at++;
    while (w.end > w.at && blank(w.end[-1])) w.end--;
    if (w.at == w.end) w.at = NULL;
    return w;
}

static bool next_of_blanks(struct walk *w, struct slice *f) {
    const char *p = w->at;
    while (p < w->end && !blank(*p)) p++;
    *f = (struct slice){w->at, (uint32_t)(p - w->at), AS_IT_IS};
    while (p < w->end && blank(*p)) p++;
    w->at = p < w->end ? p : NULL;
    return true;
}

/* Behind the closing quote, or the end. */
static const char *skip_quotes(const char *p, const char *end) {
    for (p++; p < end; p++) {
        if (*p != '"') continue;
        if (p + 1 == end || p[1] != '"') return p + 1;
        p++;
    }
    return end;
}

bool fields_next(struct walk *w, struct slice *f) {
    if (!w->at) return false;
    if (w->cutting->blanks) return next_of_blanks(w, f);
    const char *from = w->at;
    bool quoted = w->cutting->quotes && from < w->end && *from == '"';
    const char *p = quoted ? skip_quotes(from, w->end) : from;
    const char *stop = memchr(p, w->cutting->delimiter, (size_t)(w->end - p));
    w->at = stop ? stop + 1 : NULL;
    if (!stop) stop = w->end;
    *f = (struct slice){from, (uint32_t)(stop - from), quoted ? CSV_QUOTED : AS_IT_IS};
    return true;
}

/* -- spans -------------------------------------------------------------------------------- */

static void fill(const struct layout *l, const struct record *r, const struct span *s, uint64_t n,
                 struct slice *slot) {
    uint64_t first, last;
    struct walk w = fields_of(&l->cutting, r->at, r->bare);
    struct slice f, *out = &slot[s->slot];
    if (!span_among(s, n, &first, &last)) return;
    for (uint64_t i = 0; i <= first; i++) fields_next(&w, &f);
    *out = f;
    if (span_is_field(s)) return;
    for (uint64_t i = first; i < last; i++) fields_next(&w, &f);
    *out = (struct slice){out->at, (uint32_t)(f.at + f.len - out->at), SEVERAL_FIELDS};
}

void fields_count(const struct layout *l, struct batch *b) {
    struct slice *slot = b->field, f;
    for (size_t i = 0; l->spans && i < b->n; i++, slot += l->slots) {
        const struct record *r = &b->record[i];
        struct walk w = fields_of(&l->cutting, r->at, r->bare);
        uint64_t n = 0;
        while (fields_next(&w, &f)) n++;
        for (uint32_t j = 0; j < l->spans; j++) fill(l, r, &l->span[j], n, slot);
    }
}
