/* key.h - a record's key as a digest: the whole record, one field, or several. */
#ifndef SEEN_KEY_H
#define SEEN_KEY_H

#include "judge/parts.h"

struct keyer {
    const struct layout *layout;
    const seen_detector *detector;
    uint64_t seed;
    bool xxh3;           /* digests are seen_hash's, which takes any bytes and never fails */
    uint32_t max_record; /* longer ones have no key */
    char *scratch;       /* keys that have to be put together */
    size_t cap;
    struct parts parts; /* of the last key, where they are needed */
};

void key_init(struct keyer *, const seen_detector *, const struct layout *, uint32_t max_record);
/* Without a detector: digests are seen_hash's, of that seed. */
void key_init_seeded(struct keyer *, uint64_t seed, const struct layout *, uint32_t max_record);
void key_free(struct keyer *);

/* The digests of those records of the batch that have a key; order[m] is the record of digest m.
 * Returns how many. */
size_t key_batch(struct keyer *, const struct batch *, seen_digest *digest, uint16_t *order);

/* Into k->parts; false if it has no key. */
bool key_find_parts(struct keyer *, const struct batch *, size_t i);

/* Has one of the key's fields no value?  The record has a key. */
bool key_is_empty(struct keyer *, const struct batch *, size_t i);

/* Why record i has no key; and so of all that are not in `order`, at their places. */
enum cause key_cause(struct keyer *, const struct batch *, size_t i);
void key_causes(struct keyer *, const struct batch *, size_t n, const uint16_t *order,
                uint8_t *cause);

/* The key itself of record i, which has one: good until the next call. */
const char *key_bytes(struct keyer *, const struct batch *, size_t i, size_t *len);

#endif
