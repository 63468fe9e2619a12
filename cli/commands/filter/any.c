#include "commands/filter/any.h"

#include "base/cli.h"

#include <stdlib.h>
#include <string.h>

void any_init(struct any *a, const struct lists *lists, const struct layout *layout,
              uint32_t max_record) {
    a->lists = lists;
    a->layout = layout;
    key_init(&a->keyer, lists->hasher, layout, max_record);
    a->keyer.parts.some = true;
}

void any_free(struct any *a) {
    key_free(&a->keyer);
    free(a->met);
    free(a->word);
}

/* -- the keys of a record ------------------------------------------------------------------ */

/* A walk along the keys of a record whose parts are found. */
struct keys {
    struct any *any;
    size_t part; /* behind the one that is cut */
    struct cutter cutter;
};

static struct keys keys_of(struct any *a) {
    return (struct keys){.any = a, .cutter = cutter_of(a->lists->cut, "", 0)};
}

/* A word as --trim and its like make it. */
static const char *formed(struct any *a, const char *word, size_t *len) {
    const struct key_form *form = a->layout->form;
    if (!form || !form->by_word) return word;
    if (*len + 1 > a->room) {
        a->room = 2 * *len + 64;
        a->word = realloc(a->word, a->room);
        if (!a->word) die("out of memory for a word of %zu bytes", *len);
    }
    memcpy(a->word, word, *len);
    *len = key_form_apply(form, a->word, *len);
    return a->word;
}

static bool next_key(struct keys *k, const char **key, size_t *len) {
    const struct parts *p = &k->any->keyer.parts;
    for (;;) {
        while (cutter_next(&k->cutter, key, len)) {
            *key = formed(k->any, *key, len);
            if (*len) return true;
        }
        if (k->part == p->n) return false;
        const struct key_part *part = &p->part[k->part];
        k->cutter = cutter_of(k->any->lists->cut, parts_text(p, k->part), part->len);
        k->part++;
    }
}

static seen_digest digest_of(const struct any *a, const char *key, size_t len) {
    return seen_hash(key, len, a->keyer.seed);
}

/* -- batches ------------------------------------------------------------------------------ */

static void note_fields(struct any *a, const struct slice *field) {
    const struct layout *l = a->layout;
    if (!a->met) a->met = calloc(l->keys + 1, sizeof *a->met);
    if (!a->met) die("out of memory for %u fields", l->keys);
    for (uint32_t i = 0; i < l->keys; i++) a->met[i] |= field[l->key[i]].at != NULL;
}

static void look_up(struct any *a, struct matched *m) {
    uint64_t in[BATCH];
    lists_find(a->lists, a->n, a->digest, in);
    for (size_t i = 0; i < a->n; i++) m->lists[a->owner[i]] |= in[i];
    a->n = 0;
}

static void add_keys(struct any *a, struct matched *m) {
    struct keys k = keys_of(a);
    const char *key;
    size_t len;
    while (next_key(&k, &key, &len)) {
        if (a->n == BATCH) look_up(a, m);
        a->digest[a->n] = digest_of(a, key, len);
        a->owner[a->n++] = (uint16_t)m->n;
        m->keys[m->n]++;
    }
}

void any_batch(struct any *a, const struct batch *b, struct matched *m) {
    m->n = 0;
    for (size_t i = 0; i < b->n; i++) {
        note_fields(a, &b->field[i * a->layout->slots]);
        if (b->record[i].bare > a->keyer.max_record || !key_find_parts(&a->keyer, b, i)) continue;
        m->order[m->n] = (uint16_t)i;
        m->lists[m->n] = 0;
        m->keys[m->n] = 0;
        add_keys(a, m);
        m->n++;
    }
    look_up(a, m);
    key_causes(&a->keyer, b, m->n, m->order, m->cause);
}

/* -- which keys matched -------------------------------------------------------------------- */

void any_keys(struct any *a, const struct batch *b, size_t i, uint64_t wanted,
              void (*take)(void *ctx, const char *key, size_t len), void *ctx) {
    if (!key_find_parts(&a->keyer, b, i)) return;
    for (; wanted; wanted &= wanted - 1) {
        const seen_detector *set = a->lists->list[__builtin_ctzll(wanted)].set;
        struct keys k = keys_of(a);
        const char *key;
        size_t len;
        for (uint8_t in = SEEN_NEW; in == SEEN_NEW && next_key(&k, &key, &len);) {
            seen_digest digest = digest_of(a, key, len);
            seen_query(set, 1, &digest, 0, 0, &in);
            if (in != SEEN_NEW) take(ctx, key, len);
        }
    }
}
