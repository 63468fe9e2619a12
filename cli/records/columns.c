/* columns.c - selects fields of a record by position, range or name.  A number is always a
 * position, even if a column has that name. */
#include "records/columns.h"

#include "base/cli.h"
#include "records/format/fields.h"
#include "records/format/json.h"
#include "records/key_form.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COLUMN = MAX_PLACE, MAX_SLOTS = 4096, MAX_LIST = 400 };

static void *allocate(void *old, size_t n, size_t size) {
    void *p = realloc(old, (n ? n : 1) * size);
    if (!p) die("out of memory for the list of columns");
    return p;
}

/* -- the header --------------------------------------------------------------------------- */

/* From a field's first byte to the delimiter behind it, or to `end`. */
static const char *field_end(const char *p, const char *end, char delimiter, bool quotes) {
    bool inside = quotes && p < end && *p == '"';
    for (p += inside; p < end; p++) {
        if (!inside && *p == delimiter) break;
        if (inside && *p == '"') {
            if (p + 1 == end || p[1] != '"') inside = false;
            p += inside;
        }
    }
    return p < end ? p : end;
}

static char *name_of(const char *p, size_t len, bool quotes) {
    char *name = allocate(NULL, len + 1, 1);
    if (quotes && len > 0 && *p == '"')
        len = csv_unquote(p, len, name);
    else
        memcpy(name, p, len);
    name[len] = '\0';
    return name;
}

void columns_read_header(struct header *h, const char *line, size_t len, char delimiter,
                         bool quotes) {
    const char *p = line, *end = line + len;
    if (len >= 3 && !memcmp(p, "\xef\xbb\xbf", 3)) p += 3; /* skip a byte order mark */
    *h = (struct header){
        .line = p, .len = (size_t)(end - p), .cutting = {.delimiter = delimiter, .quotes = quotes}};
    for (;; p++) {
        const char *stop = field_end(p, end, delimiter, quotes);
        h->name = allocate(h->name, h->n + 1, sizeof *h->name);
        h->name[h->n++] = name_of(p, (size_t)(stop - p), quotes);
        if (stop == end || h->n == MAX_COLUMN) return;
        p = stop;
    }
}

void columns_free_header(struct header *h) {
    for (uint32_t i = 0; i < h->n; i++) free(h->name[i]);
    free(h->name);
    *h = (struct header){0};
}

/* -- one name ----------------------------------------------------------------------------- */

struct names_left {
    const struct header *h;
    uint32_t i;
};

static const char *next_column(void *ctx) {
    struct names_left *at = ctx;
    return at->i < at->h->n ? at->h->name[at->i++] : NULL;
}

/* Finds another delimiter that would give the header this name, or at least `columns` columns. */
static const char *guess(const struct header *h, uint64_t columns, const char *name) {
    return h->line ? guess_delimiter(h->line, h->len, &h->cutting, true, columns, name) : NULL;
}

_Noreturn static void refuse_missing(const struct header *h, const char *name) {
    const char *delimiter = guess(h, 2, name);
    const char *near = nearest_name(name, next_column, &(struct names_left){h, 0});
    if (delimiter)
        die("there is no column '%s' in the header '%.60s%s': try %s", name, h->n ? h->name[0] : "",
            h->n > 1 ? "..." : "", delimiter);
    if (near) die("there is no column '%s'; did you mean '%s'?", name, near);
    char list[MAX_LIST];
    size_t n = 0;
    for (uint32_t i = 0; i < h->n && n < sizeof list; i++)
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "", h->name[i]);
    die("there is no column '%s'; the columns are %s%s", name, list, n < sizeof list ? "" : "...");
}

static uint32_t column_of_name(const struct header *h, const char *name) {
    uint32_t found = MAX_COLUMN;
    if (!h)
        die("'%s' is not a field number; names need a header line (--csv, --tsv), --ndjson or "
            "--clf",
            name);
    for (uint32_t i = 0; i < h->n; i++) {
        if (strcmp(h->name[i], name)) continue;
        if (found < MAX_COLUMN)
            die("two columns are called '%s': give its position, %u or %u", name, found + 1, i + 1);
        found = i;
    }
    if (found == MAX_COLUMN) refuse_missing(h, name);
    return found;
}

/* What a word of a list asks for: a column that is known, or more of them, or a span of fields that
 * have to be counted. */
struct choice {
    bool counted;
    uint32_t first, last;
    struct span span;
};

static bool has_name(const struct header *h, const char *word) {
    for (uint32_t i = 0; h && i < h->n; i++)
        if (!strcmp(h->name[i], word)) return true;
    return false;
}

/* The columns of a table with names are as many as it has names. */
static void choose_among(struct choice *c, const struct header *h, const char *word) {
    uint64_t first, last;
    if (h == &clf_names && !span_is_fixed(&c->span))
        die("'%s': the fields of a web log have names, such as -k host,path", word);
    if (!span_among(&c->span, h->n, &first, &last)) {
        const struct span *s = &c->span;
        const char *delimiter =
            guess(h, 1 + (uint64_t)(s->first.n > s->last.n ? s->first.n : s->last.n), NULL);
        if (delimiter)
            die("there is no column %s; the header names %u: try %s", word, h->n, delimiter);
        die("there is no column %s; the header names %u: columns count from 1", word, h->n);
    }
    c->first = (uint32_t)first;
    c->last = (uint32_t)last;
}

/* A column that is called `last` is meant by that word, but a number always is a place. */
static struct choice choose(const struct layout *l, const struct header *h, const char *word) {
    struct choice c = {.first = 0};
    if (l->paths) {
        c.first = c.last = json_paths_add(l->paths, word);
    } else if ((word[0] == 'l' && has_name(h, word)) || !span_parse(word, &c.span)) {
        c.first = c.last = column_of_name(h, word);
    } else if (h) {
        choose_among(&c, h, word);
    } else {
        c.counted = !span_is_fixed(&c.span);
        c.first = c.span.first.n;
        c.last = c.span.last.n;
    }
    return c;
}

/* -- slots -------------------------------------------------------------------------------- */

static uint32_t slot_for(struct layout *l, uint32_t column) {
    if (column >= l->width) {
        l->slot_of = allocate(l->slot_of, column + 1, sizeof *l->slot_of);
        while (l->width <= column) l->slot_of[l->width++] = NO_SLOT;
    }
    if (l->slot_of[column] == NO_SLOT) {
        if (l->slots == MAX_SLOTS) die("more than %d fields in -k and --time", MAX_SLOTS);
        l->slot_of[column] = (int32_t)l->slots++;
    }
    return (uint32_t)l->slot_of[column];
}

static bool same_place(struct nth a, struct nth b) {
    return a.from_end == b.from_end && a.n == b.n;
}

static uint32_t slot_for_span(struct layout *l, const struct span *s) {
    for (uint32_t i = 0; i < l->spans; i++)
        if (same_place(l->span[i].first, s->first) && same_place(l->span[i].last, s->last))
            return (uint32_t)l->span[i].slot;
    if (l->slots == MAX_SLOTS) die("more than %d fields in -k and --time", MAX_SLOTS);
    l->span = allocate(l->span, l->spans + 1, sizeof *l->span);
    l->span[l->spans] = *s;
    l->span[l->spans++].slot = (int32_t)l->slots;
    return l->slots++;
}

/* The slot of one field, or dies. */
static uint32_t slot_of_one(struct layout *l, const char *option, const char *word,
                            const struct header *h) {
    struct choice c = choose(l, h, word);
    bool one = c.counted ? span_is_field(&c.span) : c.first == c.last;
    if (!one) die("%s takes one field, not %s", option, word);
    return c.counted ? slot_for_span(l, &c.span) : slot_for(l, c.first);
}

static void add_key(struct layout *l, uint32_t slot, const char *word) {
    for (uint32_t i = 0; i < l->keys; i++)
        if (l->key[i] == slot) die("-k names a field twice: '%s' is there already", word);
    l->key = allocate(l->key, l->keys + 1, sizeof *l->key);
    l->key[l->keys++] = slot;
}

/* The next of a list; a comma behind a backslash is part of a path. */
static char *next_word(char **rest, bool escapes) {
    char *word = *rest, *p = word;
    if (!escapes || !word) return strsep(rest, ",");
    while (*p && *p != ',') p += 1 + (*p == '\\' && p[1]);
    *rest = *p ? p + 1 : NULL;
    *p = '\0';
    return word;
}

static void add_keys(struct layout *l, const char *keys, const struct header *h) {
    char *list = name_of(keys, strlen(keys), false), *rest = list, *word;
    while ((word = next_word(&rest, l->paths))) {
        if (!*word) die("-k '%s' holds an empty name; write -k user,ad", keys);
        struct choice c = choose(l, h, word);
        if (c.counted) {
            l->open |= !span_is_field(&c.span);
            add_key(l, slot_for_span(l, &c.span), word);
            continue;
        }
        for (uint32_t i = c.first; i <= c.last; i++) add_key(l, slot_for(l, i), word);
    }
    free(list);
    if (l->form && l->form->regex && (l->keys > 1 || l->open))
        die("--key-regex looks at one field, or at the whole record: -k %s names several", keys);
}

void columns_resolve(struct layout *l, const char *keys, const char *time,
                     const struct header *header) {
    l->time = NO_SLOT;
    if (keys) add_keys(l, keys, header);
    if (time) l->time = (int32_t)slot_of_one(l, "--time", time, header);
}

uint32_t columns_slot(struct layout *l, const char *option, const char *field,
                      const struct header *header) {
    return slot_of_one(l, option, field, header);
}

static void add_field(const char *option, const char *name, uint32_t slot, struct fields *f) {
    for (uint32_t i = 0; i < f->n; i++)
        if (f->slot[i] == slot) die("%s names %s twice: leave one out", option, name);
    f->slot = allocate(f->slot, f->n + 1, sizeof *f->slot);
    f->name = allocate(f->name, f->n + 1, sizeof *f->name);
    f->slot[f->n] = slot;
    f->name[f->n++] = name_of(name, strlen(name), false);
}

void columns_fields(struct layout *l, const char *option, const char *list, const struct header *h,
                    struct fields *f) {
    char *copy = name_of(list, strlen(list), false), *rest = copy, *word;
    *f = (struct fields){0};
    while ((word = next_word(&rest, l->paths))) {
        char number[16];
        if (!*word) die("%s %s holds an empty name; write %s a,b", option, list, option);
        struct choice c = choose(l, h, word);
        if (c.counted || c.first == c.last) {
            add_field(option, word, slot_of_one(l, option, word, h), f);
            continue;
        }
        for (uint32_t i = c.first; i <= c.last; i++) {
            snprintf(number, sizeof number, "%u", i + 1);
            add_field(option, h ? h->name[i] : number, slot_for(l, i), f);
        }
    }
    free(copy);
}

void columns_free_fields(struct fields *f) {
    for (uint32_t i = 0; i < f->n; i++) free(f->name[i]);
    free(f->name);
    free(f->slot);
    *f = (struct fields){0};
}

void columns_other_key(struct layout *l, const char *keys, const struct header *header,
                       struct layout *other) {
    *other = *l;
    other->key = NULL;
    other->keys = 0;
    other->open = false;
    add_keys(other, keys, header);
    l->slot_of = other->slot_of;
    l->span = other->span;
    l->spans = other->spans;
    l->slots = other->slots;
    l->width = other->width;
}

void columns_of_json(struct layout *l) {
    l->paths = allocate(NULL, 1, sizeof *l->paths);
    json_paths_init(l->paths);
}

void columns_free(struct layout *l) {
    if (l->paths) json_paths_free(l->paths);
    free(l->paths);
    free(l->slot_of);
    free(l->span);
    free(l->key);
    *l = (struct layout){.time = NO_SLOT};
}
