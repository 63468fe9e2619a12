/* key.h - makes the key of a record, from the whole record, one field or several: as parts, as
 * bytes or as a digest. */
#ifndef SEEN_JUDGE_KEY_H
#define SEEN_JUDGE_KEY_H

#include "records/format/record.h"
#include "records/input_options.h"
#include "records/key_form.h"

struct key_part {
    size_t at, len; /* in the text */
};

/* All zero to begin with. */
struct parts {
    char *text;
    size_t used, cap;
    struct key_part *part;
    size_t n, room;
    regex_t pattern; /* of the layout's form; compiled when it is first needed */
    bool compiled;
    bool some; /* set by the caller: a record has a key if it has any of the fields */
};

static inline const char *parts_text(const struct parts *p, size_t i) {
    return p->text + p->part[i].at;
}

/* The number of parts of a key.  PARTS_VARY: it depends on the record.  0: the key is the
 * record. */
enum { PARTS_VARY = -1 };
int64_t parts_of_key(const struct layout *);

struct keyer {
    const struct layout *layout;
    const seen_detector *detector;
    uint64_t seed;
    bool xxh3;           /* digests are made by seen_hash, which takes any bytes and never fails */
    uint32_t max_record; /* longer records have no key */
    char *scratch;       /* for keys of several fields */
    size_t cap;
    struct parts parts; /* of the last key that was taken apart */
};

void key_init(struct keyer *, const seen_detector *, const struct layout *, uint32_t max_record);
/* The same without a detector: seen_hash makes the digests, with this seed. */
void key_init_seeded(struct keyer *, uint64_t seed, const struct layout *, uint32_t max_record);
void key_free(struct keyer *);

/* The digests of those records of the batch that have a key; order[m] is the record of digest m.
 * Returns how many. */
size_t key_batch(struct keyer *, const struct batch *, seen_digest *digest, uint16_t *order);

/* Finds the parts of record i's key in k->parts.  False: the record has no key. */
bool key_find_parts(struct keyer *, const struct batch *, size_t i);

/* Is one of the key's fields empty?  The record has a key. */
bool key_is_empty(struct keyer *, const struct batch *, size_t i);

/* Why record i has no key.  key_causes writes the causes of all records that are not in `order`, at
 * their places. */
enum cause key_cause(struct keyer *, const struct batch *, size_t i);
void key_causes(struct keyer *, const struct batch *, size_t n, const uint16_t *order,
                uint8_t *cause);

/* The bytes of record i's key, which the record has.  Good until the next call. */
const char *key_bytes(struct keyer *, const struct batch *, size_t i, size_t *len);

/* Reads a file of keys: a table with the key's fields in the order of -k, or one key on each line.
 * Gives each key to `look` (may be NULL), and then the digests to `take`, up to BATCH at once.
 * Dies if a key cannot be read.  `of` is the layout of the records; `hasher` hashes keys. */
void key_list_read(const char *name, const struct input_options *, const struct layout *of,
                   const seen_detector *hasher,
                   void (*take)(void *ctx, size_t n, const seen_digest *),
                   void (*look)(void *ctx, const char *key, size_t len), void *ctx);

#endif
