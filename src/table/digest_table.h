/* digests.h - an exact set of digests that grows by doubling: open addressing, linear probing.
 *
 *     slot[slots]   | digest | 0 | digest | digest | 0 | …     at most three quarters are used
 *
 * The digest 0, which would look like an empty slot, is a flag. */
#ifndef COUNT_DIGESTS_H
#define COUNT_DIGESTS_H

#include "seen.h"

#include <stdbool.h>

struct digests {
    seen_digest *slot;
    uint64_t slots, used; /* slots: 0 or a power of two, 16 and up */
    bool zero;
};

static inline uint64_t digests_count(const struct digests *s) { return s->used + s->zero; }

void digests_free(struct digests *, const struct seen_allocator *);

/* False, and nothing has changed: it is new, and `most` slots or the memory do not suffice. */
bool digests_add(struct digests *, seen_digest, uint64_t most, const struct seen_allocator *);

/* Each digest stands where a search from its home finds it, at most once, and the count is right:
 * of slots from elsewhere. */
bool digests_sound(const struct digests *);

#endif
