/* fields.c - walks over the fields of one record, finds places such as 2-last, and guesses which
 * byte stands between fields. */
#include "records/format/fields.h"

#include "base/cli.h"
#include "records/format/json.h"
#include "time/time.h"

#include <stdlib.h>
#include <string.h>

/* -- values ------------------------------------------------------------------------------- */

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

size_t slice_value(const struct slice *f, char *out) {
    switch (f->escaped) {
    case CSV_QUOTED: return csv_unquote(f->at, f->len, out);
    case JSON_STRING: return (size_t)json_unescape(f->at, f->len, out);
    case JSON_NESTED: return json_minify(f->at, f->len, out);
    case CLF_QUOTED: return clf_unescape(f->at, f->len, out);
    }
    memcpy(out, f->at, f->len);
    return f->len;
}

bool slice_time(const struct slice *f, const struct time_format *format, seen_time *out) {
    char value[768]; /* of an escaped field; \u0031 is the longest way to write a byte */
    if (!f->at || (f->escaped && f->len > sizeof value)) return false;
    if (!f->escaped) return time_format_parse(format, out, f->at, f->len);
    return time_format_parse(format, out, value, slice_value(f, value));
}

/* -- one after the other ------------------------------------------------------------------ */

static bool blank(char c) { return c == ' ' || c == '\t'; }

struct walk fields_of(const struct cutting *c, const char *text, size_t len) {
    struct walk w = {c, text, text + len};
    if (!c->blanks) return w;
    while (w.at < w.end && blank(*w.at)) w.at++;
    while (w.end > w.at && blank(w.end[-1])) w.end--;
    if (w.at == w.end) w.at = NULL;
    return w;
}

/* The place behind the closing quote of a field, or the end. */
static const char *skip_quotes(const char *p, const char *end) {
    for (p++; p < end; p++) {
        if (*p != '"') continue;
        if (p + 1 == end || p[1] != '"') return p + 1;
        p++;
    }
    return end;
}

bool fields_next(struct walk *w, struct slice *f) {
    const char *from = w->at, *p = from, *stop;
    if (!from) return false;
    if (w->cutting->blanks) {
        while (p < w->end && !blank(*p)) p++;
        for (stop = p; p < w->end && blank(*p);) p++;
        w->at = p < w->end ? p : NULL;
        *f = (struct slice){from, (uint32_t)(stop - from), AS_IT_IS};
        return true;
    }
    bool quoted = w->cutting->quotes && from < w->end && *from == '"';
    if (quoted) p = skip_quotes(from, w->end);
    stop = memchr(p, w->cutting->delimiter, (size_t)(w->end - p));
    w->at = stop ? stop + 1 : NULL;
    if (!stop) stop = w->end;
    *f = (struct slice){from, (uint32_t)(stop - from), quoted ? CSV_QUOTED : AS_IT_IS};
    return true;
}

/* -- places ------------------------------------------------------------------------------- */

static bool digit(char c) { return c >= '0' && c <= '9'; }

/* "7", "last" or "last-7" at *p, which moves behind it. */
static bool take_place(const char **p, struct nth *out) {
    const char *digits = *p;
    char *end;
    *out = (struct nth){.from_end = !strncmp(*p, "last", 4)};
    if (out->from_end) {
        *p += 4;
        digits = *p + 1;
        if (**p != '-' || !digit(*digits)) return true;
    }
    if (!digit(*digits)) return false;
    unsigned long n = strtoul(digits, &end, 10);
    *p = end;
    if (n > MAX_PLACE) n = MAX_PLACE + 1ul; /* to be refused */
    out->n = (uint32_t)(out->from_end ? n : n - 1);
    return true;
}

_Noreturn static void refuse_negative(const char *word) {
    unsigned long n = strtoul(word + 1, NULL, 10);
    if (n < 1 || n > MAX_PLACE) die("'%s' is not a field: fields count from 1", word);
    if (n == 1) die("'-1' is not a field: the last field is written last, the first one 1");
    die("'%s' is not a field: field %lu from the end is written last-%lu, and the fields up to "
        "%lu are written 1-%lu",
        word, n, n - 1, n, n);
}

/* Reads 3, 2-4, 2- or 2-last-1.  *sound: places count from 1 up to a bound, a range goes
 * upwards. */
static bool take_span(const char *p, struct span *s, bool *sound) {
    struct nth *a = &s->first, *b = &s->last;
    if (!take_place(&p, a)) return false;
    *b = *a;
    if (*p == '-' && !p[1]) *b = (struct nth){.from_end = true}, p++;
    if (*p == '-') p++, take_place(&p, b);
    bool upwards = a->from_end ? a->n >= b->n : a->n <= b->n;
    if (a->from_end != b->from_end) upwards = !a->from_end;
    *sound = upwards && a->n < MAX_PLACE && b->n < MAX_PLACE;
    return !*p;
}

bool span_parse(const char *word, struct span *s) {
    bool numbers = *word && !word[strspn(word, "0123456789-")], sound = false;
    *s = (struct span){.slot = NO_SLOT};
    if (numbers && word[0] == '-' && digit(word[1]) && !word[1 + strspn(word + 1, "0123456789")])
        refuse_negative(word);
    bool parsed = take_span(word, s, &sound);
    if (!parsed && !numbers) return false;
    if (!parsed || !sound)
        die("'%s' is not a field: fields count from 1 to %d, and a range is written 2-4, 2- or "
            "2-last-1",
            word, MAX_PLACE);
    return true;
}

/* The number of a field, from 0, in a record of n fields.  n or more: there is no such field. */
static uint64_t number_of(struct nth p, uint64_t n) {
    if (!p.from_end) return p.n;
    return p.n < n ? n - 1 - p.n : n;
}

bool span_among(const struct span *s, uint64_t n, uint64_t *first, uint64_t *last) {
    *first = number_of(s->first, n);
    *last = number_of(s->last, n);
    return *first <= *last && *last < n;
}

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

/* -- delimiters ---------------------------------------------------------------------------- */

static const struct {
    char byte;
    const char *option, *not_tsv;
} delimiters[] = {
    {',', "-d ,", "--csv"},          {';', "-d ';'", "--csv -d ';'"}, {'\t', "-d tab", "--tsv"},
    {'|', "-d '|'", "--csv -d '|'"}, {' ', "-d ' '", "--csv -d ' '"},
};

/* Has the field this value? */
static bool says(const struct slice *f, const char *name) {
    char *value = malloc((size_t)f->len + 1);
    if (!value) die("out of memory for the name of a column");
    size_t len = slice_value(f, value);
    bool same = len == strlen(name) && !memcmp(value, name, len);
    free(value);
    return same;
}

const char *guess_delimiter(const char *line, size_t len, const struct cutting *now, bool table,
                            uint64_t columns, const char *name) {
    const char *best = NULL;
    bool tsv = table && now->delimiter == '\t' && !now->quotes;
    uint64_t most = columns - 1;
    for (size_t i = 0; i < sizeof delimiters / sizeof *delimiters; i++) {
        struct cutting cutting = {.delimiter = delimiters[i].byte, .quotes = tsv || now->quotes};
        struct walk w = fields_of(&cutting, line, len);
        struct slice f;
        uint64_t n = 0;
        bool named = !name;
        for (; fields_next(&w, &f); n++) named = named || says(&f, name);
        if (cutting.delimiter == now->delimiter || n <= most || !named) continue;
        most = n;
        best = tsv ? delimiters[i].not_tsv : delimiters[i].option;
    }
    return best;
}
