/* parts.c - decodes the parts of a record's key. */
#include "judge/parts.h"

#include "base/cli.h"
#include "records/format/fields.h"

#include <stdlib.h>
#include <string.h>

void parts_free(struct parts *p) {
    if (p->compiled) regfree(&p->pattern);
    free(p->text);
    free(p->part);
    *p = (struct parts){0};
}

int64_t parts_of_key(const struct layout *l) {
    if (l->open) return PARTS_VARY;
    return l->form && l->form->groups ? (int64_t)l->form->groups : (int64_t)l->keys;
}

/* -- room --------------------------------------------------------------------------------- */

/* For `len` bytes more behind those that are there. */
static char *room_for(struct parts *p, size_t len) {
    if (p->used + len > p->cap) {
        p->cap = 2 * (p->used + len);
        p->text = realloc(p->text, p->cap);
        if (!p->text) die("out of memory for a key of %zu bytes", p->used + len);
    }
    return p->text + p->used;
}

static void add(struct parts *p, size_t len) {
    if (p->n == p->room) {
        p->room = 2 * p->room + 8;
        p->part = realloc(p->part, p->room * sizeof *p->part);
        if (!p->part) die("out of memory for a key of %zu fields", p->n + 1);
    }
    p->part[p->n++] = (struct key_part){p->used, len};
    p->used += len;
}

/* -- one field ---------------------------------------------------------------------------- */

static size_t applied(const struct key_form *form, char *value, size_t len) {
    return form && !form->by_word ? key_form_apply(form, value, len) : len;
}

/* The expression's parts of the value at the end of the text, which has `len` bytes. */
static bool find_groups(struct parts *p, const struct key_form *form, size_t len) {
    regmatch_t match[FORM_GROUPS + 1];
    if (!p->compiled) key_form_compile(form, &p->pattern);
    p->compiled = true;
    size_t value = p->used, n = key_form_match(form, &p->pattern, p->text + value, len, match);
    p->used += len;
    for (size_t i = 0; i < n; i++) {
        size_t size = (size_t)(match[i].rm_eo - match[i].rm_so);
        char *at = room_for(p, size + 1);
        memcpy(at, p->text + value + match[i].rm_so, size);
        add(p, applied(form, at, size));
    }
    return n > 0;
}

static bool add_field(struct parts *p, const struct key_form *form, const struct slice *f) {
    char *at = room_for(p, (size_t)f->len + 1); /* key_form_apply may add a byte */
    size_t len = slice_value(f, at);
    if (form && form->regex) return find_groups(p, form, len);
    add(p, applied(form, at, len));
    return true;
}

static bool add_fields(struct parts *p, const struct layout *l, const struct slice *f) {
    struct slice one;
    if (!f->at) return false;
    if (f->escaped != SEVERAL_FIELDS) return add_field(p, l->form, f);
    struct walk w = fields_of(&l->cutting, f->at, f->len);
    while (fields_next(&w, &one)) add_field(p, l->form, &one);
    return true;
}

bool parts_find(struct parts *p, const struct layout *l, const struct record *r,
                const struct slice *slot) {
    p->used = p->n = 0;
    if (l->keys == 0) return add_field(p, l->form, &(struct slice){r->at, r->bare, AS_IT_IS});
    bool any = false;
    for (uint32_t i = 0; i < l->keys; i++) {
        bool added = add_fields(p, l, &slot[l->key[i]]);
        if (!added && !p->some) return false;
        any |= added;
    }
    return any;
}
