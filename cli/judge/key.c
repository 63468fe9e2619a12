/* key.c - a record's key as a digest.  A key of one field is its bytes, where they stand; several
 * are put together as (length, bytes) each; an escaped field counts as its value. */
#include "judge/key.h"

#include "cli.h"

#include <stdlib.h>
#include <string.h>

void key_init(struct keyer *k, const seen_detector *d, const struct layout *layout,
              uint32_t max_record) {
    bool xxh3 = seen_plan_of(d)->spec.hash == SEEN_XXH3;
    *k = (struct keyer){layout, d, seen_seed(d), xxh3, max_record, NULL, 0};
}

void key_init_seeded(struct keyer *k, uint64_t seed, const struct layout *layout,
                     uint32_t max_record) {
    *k = (struct keyer){layout, NULL, seed, true, max_record, NULL, 0};
}

void key_free(struct keyer *k) {
    free(k->scratch);
    k->scratch = NULL;
}

static inline bool digest_of(const struct keyer *k, const char *key, size_t len, seen_digest *out) {
    if (!k->xxh3) return seen_key(k->detector, key, len, out, NULL) == 0;
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

/* All fields put together in the scratch space; false where one is missing.  Decodes at its far
 * end, where what is appended cannot reach. */
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

const char *key_bytes(struct keyer *k, const struct batch *b, size_t i, size_t *len) {
    const struct layout *l = k->layout;
    const struct slice *f = &b->field[i * l->slots];
    const struct slice whole = {b->record[i].at, b->record[i].bare, 0};
    if (l->keys > 1) return join(k, f, len) ? k->scratch : NULL;
    const struct slice *one = l->keys ? &f[l->key[0]] : &whole;
    *len = one->len;
    if (!one->escaped) return one->at;
    reserve(k, one->len);
    *len = slice_value(one, k->scratch);
    return k->scratch;
}
