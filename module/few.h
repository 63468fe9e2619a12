/* few.h - a small part of a chain: the fingerprints of its items, side by side.
 *
 * A detector takes more than a kilobyte for its plan, however few its items are.  A part for at
 * most FEW_MOST items is a list of fingerprints instead, which grows with its items:
 *
 *     head 8 bytes | fingerprint 2 or 4 bytes each, in the order in which items came
 *
 * A stranger has the fingerprint of one of n items with a probability of at most n / 2^(8 width).
 * The narrowest width is taken that keeps to the part's error rate at its capacity: 100 items at
 * 0.5 % take 2 bytes each, since 100 / 65536 = 0.15 %.  Items of the part are always found.
 */
#ifndef MODULE_FEW_H
#define MODULE_FEW_H

#include "memory.h"

#include <stdbool.h>

#define FEW_MOST 256

struct few {
    uint16_t used, room;
    uint32_t width; /* bytes of a fingerprint: 2 or 4 */
    unsigned char print[];
};

/* The width that keeps to the rate; 0: such a part is better a detector. */
uint32_t few_width(uint64_t capacity, double error);

/* Empty; NULL without memory.  Its bytes are counted in the memory. */
struct few *few_new(struct memory *, uint32_t width);
void few_free(struct memory *, struct few *);
size_t few_bytes(const struct few *);

bool few_has(const struct few *, seen_digest);

/* May move it; false without memory. */
bool few_add(struct memory *, struct few **, uint64_t capacity, seen_digest);

/* As bytes with a checksum, and back: NULL on damage, or more than `capacity` items. */
int few_save(const struct few *, uint64_t seed, struct seen_writer);
struct few *few_load(struct memory *, uint64_t *seed, uint64_t capacity, struct seen_reader,
                     struct seen_error *);

extern const char few_magic[8]; /* begins the bytes */

#endif
