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

static char *copy_of(const char *text) { return strcpy(allocate(NULL, strlen(text) + 1, 1), text); }

void columns_read_header(struct header *h, const char *line, size_t len, char delimiter,
                         bool quotes) {
    if (len >= 3 && !memcmp(line, "\xef\xbb\xbf", 3)) line += 3, len -= 3; /* a byte order mark */
    *h = (struct header){
        .line = line, .len = len, .cutting = {.delimiter = delimiter, .quotes = quotes}};
    struct walk w = fields_of(&h->cutting, line, len);
    for (struct slice f; h->n < MAX_COLUMN && fields_next(&w, &f);) {
        char *name = allocate(NULL, (size_t)f.len + 1, 1);
        name[slice_value(&f, name)] = '\0';
        h->name = allocate(h->name, h->n + 1, sizeof *h->name);
        h->name[h->n++] = name;
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

/* How many columns have this name, and the first and the last of them. */
static uint32_t columns_named(const struct header *h, const char *name, uint32_t *first,
                              uint32_t *last) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < h->n; i++) {
        if (strcmp(h->name[i], name) != 0) continue;
        if (!n++) *first = i;
        *last = i;
    }
    return n;
}

static uint32_t column_of_name(const struct header *h, const char *name) {
    uint32_t first = 0, last = 0;
    if (!h)
        die("'%s' is not a field number; names need a header line (--csv, --tsv), --ndjson or "
            "--clf",
            name);
    uint32_t n = columns_named(h, name, &first, &last);
    if (!n) refuse_missing(h, name);
    if (n > 1)
        die("%s columns are called '%s': give its position, %u or %u", n == 2 ? "two" : "several",
            name, first + 1, last + 1);
    return first;
}

/* What one word of a list asks for: one or several known columns, or a span whose place is only
 * known once the fields of a record are counted. */
struct choice {
    bool counted;
    uint32_t first, last;
    struct span span;
};

/* Finds the columns of a span in a table with names, which has as many columns as names. */
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

/* The word `last` means the column of that name if there is one.  A number is always a place. */
static struct choice choose(const struct layout *l, const struct header *h, const char *word) {
    struct choice c = {.first = 0};
    uint32_t first = 0, last = 0;
    bool named = word[0] == 'l' && h && columns_named(h, word, &first, &last);
    if (l->paths) {
        c.first = c.last = json_paths_add(l->paths, word);
    } else if (named || !span_parse(word, &c.span)) {
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

static uint32_t new_slot(struct layout *l) {
    if (l->slots == MAX_SLOTS) die("more than %d fields in -k and --time", MAX_SLOTS);
    return l->slots++;
}

static uint32_t slot_for(struct layout *l, uint32_t column) {
    if (column >= l->width) {
        l->slot_of = allocate(l->slot_of, column + 1, sizeof *l->slot_of);
        while (l->width <= column) l->slot_of[l->width++] = NO_SLOT;
    }
    if (l->slot_of[column] == NO_SLOT) l->slot_of[column] = (int32_t)new_slot(l);
    return (uint32_t)l->slot_of[column];
}

static uint32_t slot_for_span(struct layout *l, const struct span *s) {
    for (uint32_t i = 0; i < l->spans; i++) {
        const struct span *t = &l->span[i];
        if (t->first.n == s->first.n && t->first.from_end == s->first.from_end &&
            t->last.n == s->last.n && t->last.from_end == s->last.from_end)
            return (uint32_t)t->slot;
    }
    l->span = allocate(l->span, l->spans + 1, sizeof *l->span);
    l->span[l->spans] = *s;
    return (uint32_t)(l->span[l->spans++].slot = (int32_t)new_slot(l));
}

uint32_t columns_slot(struct layout *l, const char *option, const char *word,
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

/* The next word of a list.  With `escapes`, a comma behind a backslash is part of a path. */
static char *next_word(char **rest, bool escapes) {
    char *word = *rest, *p = word;
    if (!escapes || !word) return strsep(rest, ",");
    while (*p && *p != ',') p += 1 + (*p == '\\' && p[1]);
    *rest = *p ? p + 1 : NULL;
    *p = '\0';
    return word;
}

static void add_keys(struct layout *l, const char *keys, const struct header *h) {
    char *list = copy_of(keys), *rest = list, *word;
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
    if (time) l->time = (int32_t)columns_slot(l, "--time", time, header);
}

static void add_field(const char *option, const char *name, uint32_t slot, struct fields *f) {
    for (uint32_t i = 0; i < f->n; i++)
        if (f->slot[i] == slot) die("%s names %s twice: leave one out", option, name);
    f->slot = allocate(f->slot, f->n + 1, sizeof *f->slot);
    f->name = allocate(f->name, f->n + 1, sizeof *f->name);
    f->slot[f->n] = slot;
    f->name[f->n++] = copy_of(name);
}

void columns_fields(struct layout *l, const char *option, const char *list, const struct header *h,
                    struct fields *f) {
    char *copy = copy_of(list), *rest = copy, *word;
    *f = (struct fields){0};
    while ((word = next_word(&rest, l->paths))) {
        char number[16];
        if (!*word) die("%s %s holds an empty name; write %s a,b", option, list, option);
        struct choice c = choose(l, h, word);
        if (c.counted || c.first == c.last) {
            add_field(option, word, columns_slot(l, option, word, h), f);
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
