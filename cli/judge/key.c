/* key.c - a record's key as a digest.  A key of one field is its bytes, where they stand; several
 * are put together as (length, bytes) each; an escaped field counts as its value. */
#include "judge/key.h"

#include "base/cli.h"
#include "records/unjudged.h"

#include <stdlib.h>
#include <string.h>

void key_init(struct keyer *k, const seen_detector *d, const struct layout *layout,
              uint32_t max_record) {
    bool xxh3 = seen_plan_of(d)->spec.hash == SEEN_XXH3 && seen_plan_of(d)->digests == 1;
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

/* A key of several digests goes by one for those who tell keys apart; judge.c asks for all. */
static bool other_digest(const struct keyer *k, const char *key, size_t len, seen_digest *out) {
    seen_digest all[SEEN_DIGESTS_MOST];
    uint32_t digests = seen_plan_of(k->detector)->digests;
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

/* -- keys in parts: those that are not the bytes of fields whose number is known ------------- */

static inline bool in_parts(const struct layout *l) { return l->form || l->open; }

/* A key with a number of parts that varies is put together even where it has one, so that no two
 * keys of different parts are the same bytes. */
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
