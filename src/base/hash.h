/* hash.h - bytes -> 128-bit digest.  Keys go no further than here. */
#ifndef HASH_H
#define HASH_H

#include "seen.h"

#include <stdbool.h>

/* Can this build do hash= `kind`?  (siphash needs libsodium.) */
bool hash_available(uint32_t kind);

/* Writes `digests` digests of a key.  Those after the first use other seeds, or with hash=raw hold
 * the key's further bytes. */
int hash_key(uint32_t kind, uint64_t seed, const void *key, size_t len, seen_digest *out,
             uint32_t digests, struct seen_error *e);

/* Running 64-bit checksum (XXH3-64) of what goes by, in pieces of any size. */
struct hash_sum {
    _Alignas(64) unsigned char state[640];
};
void hash_sum_begin(struct hash_sum *);
void hash_sum_add(struct hash_sum *, const void *bytes, size_t len);
uint64_t hash_sum_end(const struct hash_sum *);

#endif
