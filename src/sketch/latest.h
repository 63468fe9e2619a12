/* latest.h - an exact set of digests, each with the latest time at which it came: open addressing,
 * linear probing.
 *
 *     slot[slots]   | digest, stamp | 0 | digest, stamp | …     at most three quarters are used
 *
 * A stamp is a time + 1, so that 0 is an empty slot.  Digests that left the window stay until room
 * is short; then all that are left move to slots of the right number. */
#ifndef COUNT_LATEST_H
#define COUNT_LATEST_H

#include "seen.h"

#include <stdbool.h>

struct latest_slot {
    seen_digest digest;
    uint64_t stamp;
};

struct latest {
    struct latest_slot *slot;
    uint64_t slots, used; /* slots: 0 or a power of two, 16 and up */
};

void latest_free(struct latest *, const struct seen_allocator *);

/* Adds a key, or renews its time.  Keys older than `least` no longer count.  False, and nothing has
 * changed: the key is new, and `most` slots or the memory are not enough.  `most` slots hold
 * 7/8 x 3/4 x `most` keys. */
bool latest_add(struct latest *, seen_digest, seen_time, seen_time least, uint64_t most,
                const struct seen_allocator *);

uint64_t latest_count(const struct latest *, seen_time least);

/* Each digest stands where a search from its home finds it, at most once, no later than `newest`,
 * and the count is right: of slots from elsewhere. */
bool latest_sound(const struct latest *, seen_time newest);

#endif
