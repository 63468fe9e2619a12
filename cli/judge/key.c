/* key.c - makes the key of a record, as bytes and as a digest, and reads files of keys.
 *
 * A key of one field is its bytes, where they stand.  Several fields are put together as (length,
 * bytes) each.  An escaped field counts as its value. */
#include "judge/key.h"

#include "records/format/fields.h"
#include "records/reader.h"
#include "records/unjudged.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void parts_free(struct parts *p) {
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

/* Makes room for `len` more bytes and returns their place. */
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

/* Adds the parts that the expression finds in the value at the end of the text, of `len` bytes. */
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

/* Finds the parts of a record's key; `slot` are its fields.  False: the record has no key. */
static bool parts_find(struct parts *p, const struct layout *l, const struct record *r,
                       const struct slice *slot) {
    p->used = p->n = 0;
    if (l->keys == 0) return add_field(p, l->form, &(struct slice){r->at, r->bare, AS_IT_IS});
    bool any = false;
    for (uint32_t i = 0; i < l->keys; i++) {
        const struct slice *f = &slot[l->key[i]];
        bool added = f->at != NULL;
        if (added && f->escaped == SEVERAL_FIELDS) {
            struct walk w = fields_of(&l->cutting, f->at, f->len);
            for (struct slice one; fields_next(&w, &one);) add_field(p, l->form, &one);
        } else if (added) {
            added = add_field(p, l->form, f);
        }
        if (!added && !p->some) return false;
        any |= added;
    }
    return any;
}

void key_init(struct keyer *k, const seen_detector *d, const struct layout *layout,
              uint32_t max_record) {
    uint64_t hash = seen_spec_get_count(seen_spec_of(d), "hash");
    bool xxh3 = hash == SEEN_HASH_XXH3 && seen_digests(d) == 1;
    *k = (struct keyer){.layout = layout,
                        .detector = d,
                        .seed = seen_seed(d),
                        .xxh3 = xxh3,
                        .max_record = max_record};
}

void key_init_seeded(struct keyer *k, uint64_t seed, const struct layout *layout,
                     uint32_t max_record) {
    *k = (struct keyer){.layout = layout, .seed = seed, .xxh3 = true, .max_record = max_record};
}

void key_free(struct keyer *k) {
    parts_free(&k->parts);
    free(k->scratch);
    k->scratch = NULL;
}

/* Several digests of a key are hashed into one, which tells keys apart.  judge.c makes all of
 * them. */
static bool other_digest(const struct keyer *k, const char *key, size_t len, seen_digest *out) {
    seen_digest all[SEEN_MAX_DIGESTS];
    uint32_t digests = seen_digests(k->detector);
    if (seen_key(k->detector, key, len, all, NULL)) return false;
    *out = digests == 1 ? all[0] : seen_hash(all, digests * sizeof *all, k->seed);
    return true;
}

static inline bool digest_of(const struct keyer *k, const char *key, size_t len, seen_digest *out) {
    if (!k->xxh3) return other_digest(k, key, len, out);
    *out = seen_hash(key, len, k->seed);
    return true;
}

/* Grows with the longest key, which max_record bounds. */
static void reserve(struct keyer *k, size_t size) {
    if (size <= k->cap) return;
    free(k->scratch);
    k->cap = 2 * size;
    k->scratch = malloc(k->cap + READ_SLACK);
    if (!k->scratch) die("out of memory for a key of %zu bytes", size);
}

static bool decoded(struct keyer *k, const struct slice *f, seen_digest *out) {
    reserve(k, f->len);
    return digest_of(k, k->scratch, slice_value(f, k->scratch), out);
}

/* seen_key_append for the common short field, inlined: the same bytes, copied by sixteen.  Fields
 * stand in a buffer, and keys are put together in one, with READ_SLACK bytes behind its end. */
static inline size_t append(char *key, size_t cap, size_t at, const char *field, size_t len) {
    if (len >= 48) return seen_key_append(key, cap, at, field, len);
    key[at++] = (char)len; /* a varint of one byte */
    for (size_t i = 0; i < len; i += 16) memcpy(key + at + i, field + i, 16);
    return at + len;
}

/* Puts all fields together in the scratch space; false if one is missing.  Escaped fields are
 * decoded at its far end, which the key cannot reach. */
static bool join(struct keyer *k, const struct slice *f, size_t *len) {
    const struct layout *l = k->layout;
    size_t size = 0, at = 0, longest = 0;
    for (uint32_t i = 0; i < l->keys; i++) {
        const struct slice *s = &f[l->key[i]];
        if (!s->at) return false;
        size += s->len + 10; /* a varint takes 10 bytes at most */
        if (s->escaped && s->len > longest) longest = s->len;
    }
    if (size + longest > k->cap) reserve(k, size + longest);
    for (uint32_t i = 0; i < l->keys; i++) {
        const struct slice *s = &f[l->key[i]];
        const char *value = s->escaped ? k->scratch + size : s->at;
        size_t n = s->escaped ? slice_value(s, k->scratch + size) : s->len;
        at = append(k->scratch, size, at, value, n);
    }
    *len = at;
    return true;
}

/* -- keys in parts: those that are not the bytes of fields whose number is known ------------- */

static inline bool in_parts(const struct layout *l) { return l->form || l->open; }

/* If the number of parts varies, a key of one part is put together as well, so that different
 * keys never have the same bytes. */
static const char *join_parts(struct keyer *k, size_t *len) {
    const struct parts *p = &k->parts;
    size_t size = p->used + 10 * p->n, at = 0;
    *len = p->part[0].len;
    if (p->n == 1 && !k->layout->open) return parts_text(p, 0);
    reserve(k, size);
    for (size_t i = 0; i < p->n; i++)
        at = seen_key_append(k->scratch, size, at, parts_text(p, i), p->part[i].len);
    *len = at;
    return k->scratch;
}

bool key_find_parts(struct keyer *k, const struct batch *b, size_t i) {
    const struct layout *l = k->layout;
    return parts_find(&k->parts, l, &b->record[i], &b->field[i * l->slots]);
}

static size_t batch_in_parts(struct keyer *k, const struct batch *b, seen_digest *digest,
                             uint16_t *order) {
    size_t n = 0, len;
    for (size_t i = 0; i < b->n; i++) {
        if (b->record[i].bare > k->max_record || !key_find_parts(k, b, i)) continue;
        const char *key = join_parts(k, &len);
        order[n] = (uint16_t)i;
        n += digest_of(k, key, len, &digest[n]);
    }
    return n;
}

/* -- all keys ------------------------------------------------------------------------------- */

static bool joined(struct keyer *k, const struct slice *f, seen_digest *out) {
    size_t len;
    return join(k, f, &len) && digest_of(k, k->scratch, len, out);
}

static inline bool one(struct keyer *k, const struct slice *f, seen_digest *out) {
    if (!f->at) return false;
    return f->escaped ? decoded(k, f, out) : digest_of(k, f->at, f->len, out);
}

size_t key_batch(struct keyer *k, const struct batch *b, seen_digest *digest, uint16_t *order) {
    const struct layout *l = k->layout;
    const struct slice *f = b->field;
    size_t n = 0;
    if (in_parts(l)) return batch_in_parts(k, b, digest, order);
    for (size_t i = 0; i < b->n; i++, f += l->slots) {
        const struct record *r = &b->record[i];
        bool has =
            r->bare <= k->max_record && (l->keys == 0   ? digest_of(k, r->at, r->bare, &digest[n])
                                         : l->keys == 1 ? one(k, &f[l->key[0]], &digest[n])
                                                        : joined(k, f, &digest[n]));
        order[n] = (uint16_t)i;
        n += has;
    }
    return n;
}

bool key_is_empty(struct keyer *k, const struct batch *b, size_t i) {
    const struct layout *l = k->layout;
    const struct slice *f = &b->field[i * l->slots], *s;
    bool empty = in_parts(l) && !key_find_parts(k, b, i);
    for (size_t j = 0; in_parts(l) && j < k->parts.n; j++) empty |= k->parts.part[j].len == 0;
    for (uint32_t j = 0; !in_parts(l) && j < l->keys; j++) /* escapes are never empty, but for "" */
        s = &f[l->key[j]], empty |= s->len == 0 || (s->escaped == CSV_QUOTED && s->len == 2);
    return empty;
}

enum cause key_cause(struct keyer *k, const struct batch *b, size_t i) {
    const struct layout *l = k->layout;
    const struct slice *f = &b->field[i * l->slots];
    if (b->record[i].bare > k->max_record) return CAUSE_LONG;
    for (uint32_t j = 0; j < l->keys; j++)
        if (!f[l->key[j]].at) return cause_of_missing(l, &b->record[i]);
    return in_parts(l) && !key_find_parts(k, b, i) ? CAUSE_PATTERN : CAUSE_KEY;
}

void key_causes(struct keyer *k, const struct batch *b, size_t n, const uint16_t *order,
                uint8_t *cause) {
    if (n == b->n) return;
    for (size_t i = 0, m = 0; i < b->n; i++) {
        if (m < n && order[m] == i)
            m++;
        else
            cause[i] = (uint8_t)key_cause(k, b, i);
    }
}

const char *key_bytes(struct keyer *k, const struct batch *b, size_t i, size_t *len) {
    const struct layout *l = k->layout;
    const struct slice *f = &b->field[i * l->slots];
    const struct slice whole = {b->record[i].at, b->record[i].bare, 0};
    if (in_parts(l)) return key_find_parts(k, b, i) ? join_parts(k, len) : NULL;
    if (l->keys > 1) return join(k, f, len) ? k->scratch : NULL;
    const struct slice *one = l->keys ? &f[l->key[0]] : &whole;
    *len = one->len;
    if (!one->escaped) return one->at;
    reserve(k, one->len);
    *len = slice_value(one, k->scratch);
    return k->scratch;
}

struct reading_keys {
    const char *name;
    struct keyer keyer;
    struct unjudged *unjudged;
    uint64_t n; /* keys so far */
    void (*take)(void *ctx, size_t n, const seen_digest *);
    void (*look)(void *ctx, const char *key, size_t len);
    void *ctx;
    seen_digest digest[BATCH];
    uint16_t order[BATCH];
};

/* Dies because a record of the batch has no usable key. */
_Noreturn static void refuse(struct reading_keys *r, const struct batch *b, size_t n) {
    char text[UNJUDGED_TEXT];
    size_t bad = 0;
    while (bad < n && r->order[bad] == bad) bad++;
    unjudged_describe(r->unjudged, key_cause(&r->keyer, b, bad), b, bad, r->n + bad + 1, 0, text);
    die("%s: %s", r->name, text);
}

static void on_batch(void *ctx, struct batch *b, seen_time now) {
    struct reading_keys *r = ctx;
    (void)now;
    size_t n = key_batch(&r->keyer, b, r->digest, r->order);
    if (n < b->n) refuse(r, b, n);
    for (size_t i = 0; r->look && i < n; i++) {
        size_t len = 0;
        const char *key = key_bytes(&r->keyer, b, i, &len);
        r->look(r->ctx, key, len);
    }
    r->n += n;
    r->take(r->ctx, n, r->digest);
}

void key_list_read(const char *name, const struct input_options *records, const struct layout *of,
                   const seen_detector *hasher,
                   void (*take)(void *ctx, size_t n, const seen_digest *),
                   void (*look)(void *ctx, const char *key, size_t len), void *ctx) {
    static const struct reader_events events = {.batch = on_batch};
    static struct reading_keys r;
    static struct reader reader;
    char *const file[] = {(char *)(uintptr_t)name};
    char fields[32];
    struct input_options source = *records;
    r = (struct reading_keys){.name = name, .take = take, .look = look, .ctx = ctx};
    int64_t keys = parts_of_key(of);
    snprintf(fields, sizeof fields, "1-");
    if (keys > 0) snprintf(fields, sizeof fields, "1-%jd", (intmax_t)keys);
    bool line = keys == 0 || (keys == 1 && !input_options_column(&source));
    source.form.regex = NULL; /* its parts are what the list holds */
    source.form.groups = 0;
    source.form.by_word = false;
    source.keys = line ? NULL : fields;
    source.time = NULL;
    source.merge = false;
    source.rejects = NULL;
    source.header = false;
    source.threads = 1;
    if (!input_options_column(&source)) source.shape = SHAPE_LINES;
    source.files = file;
    source.file_count = 1;
    reader_init(&reader, &source, &events, &r);
    r.unjudged = &reader.unjudged;
    r.unjudged->detector = hasher;
    key_init(&r.keyer, hasher, &reader.layout, source.max_record);
    if (!reader_run(&reader)) exit(EXIT_TROUBLE);
    key_free(&r.keyer);
    reader_free(&reader);
}
