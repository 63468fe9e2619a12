/* columns.c - which fields of a record are wanted, by position from 1, range or name.  What looks
 * like a position is one, whatever the columns are called. */
#include "read/columns.h"

#include "cli.h"
#include "read/format/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COLUMN = 65536, MAX_SLOTS = 4096, MAX_LIST = 400 };

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
    if (len >= 3 && !memcmp(p, "\xef\xbb\xbf", 3)) p += 3; /* a byte order mark is no name */
    *h = (struct header){0, NULL};
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
    *h = (struct header){0, NULL};
}

/* -- one name ----------------------------------------------------------------------------- */

_Noreturn static void refuse_missing(const struct header *h, const char *name) {
    char list[MAX_LIST];
    size_t n = 0;
    for (uint32_t i = 0; i < h->n && n < sizeof list; i++)
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "", h->name[i]);
    die("there is no column '%s'; the columns are %s%s", name, list, n < sizeof list ? "" : "...");
}

static uint32_t column_of_name(const struct header *h, const char *name) {
    uint32_t found = MAX_COLUMN;
    if (!h)
        die("'%s' is no field number; names need a header line (--csv, --tsv), --ndjson or --clf",
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

/* "3" or "2-4" as first and last column; false if it is a name. */
static bool positions(const char *word, uint32_t *first, uint32_t *last) {
    if (!word[0] || strspn(word, "0123456789-") < strlen(word)) return false;
    char *end;
    unsigned long a = strtoul(word, &end, 10), b = a;
    if (*end == '-') b = strtoul(end + 1, &end, 10);
    if (*end || a < 1 || b < a || b > MAX_COLUMN)
        die("'%s' is no field number: they count from 1, a range is written 2-4", word);
    *first = (uint32_t)a - 1;
    *last = (uint32_t)b - 1;
    return true;
}

static void find(const struct layout *l, const struct header *h, const char *word, uint32_t *first,
                 uint32_t *last) {
    if (l->paths) {
        *first = *last = json_paths_add(l->paths, word);
        return;
    }
    if (!positions(word, first, last)) *first = *last = column_of_name(h, word);
    if (h && *last >= h->n) die("there is no column %u; the header names %u", *last + 1, h->n);
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

static void add_key(struct layout *l, uint32_t column) {
    uint32_t slot = slot_for(l, column);
    for (uint32_t i = 0; i < l->keys; i++)
        if (l->key[i] == slot)
            die("-k names %s %u twice", l->paths ? "path" : "column", column + 1);
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
        uint32_t first, last;
        if (!*word) die("-k %s holds an empty name; write -k user,ad", keys);
        find(l, h, word, &first, &last);
        for (uint32_t i = first; i <= last; i++) add_key(l, i);
    }
    free(list);
}

void columns_resolve(struct layout *l, const char *keys, const char *time,
                     const struct header *header) {
    l->time = NO_SLOT;
    if (keys) add_keys(l, keys, header);
    if (time) {
        uint32_t first, last;
        find(l, header, time, &first, &last);
        if (first != last) die("--time takes one field, not %s", time);
        l->time = (int32_t)slot_for(l, first);
    }
}

uint32_t columns_slot(struct layout *l, const char *field, const struct header *header) {
    uint32_t first, last;
    find(l, header, field, &first, &last);
    if (first != last) die("%s is several fields, and one is wanted here", field);
    return slot_for(l, first);
}

static void add_field(struct layout *l, const char *option, const char *name, uint32_t column,
                      struct fields *f) {
    uint32_t slot = slot_for(l, column);
    for (uint32_t i = 0; i < f->n; i++)
        if (f->slot[i] == slot) die("%s names %s twice", option, name);
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
        uint32_t first, last;
        char number[16];
        if (!*word) die("%s %s holds an empty name; write %s a,b", option, list, option);
        find(l, h, word, &first, &last);
        for (uint32_t i = first; i <= last; i++) {
            snprintf(number, sizeof number, "%u", i + 1);
            const char *name = first == last ? word : h ? h->name[i] : number;
            add_field(l, option, name, i, f);
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
    add_keys(other, keys, header);
    l->slot_of = other->slot_of;
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
    free(l->key);
    *l = (struct layout){.time = NO_SLOT};
}
