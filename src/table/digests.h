/* digests.h - exact sets of digests that grow by doubling: open addressing, linear probing.
 *
 *     digests   slot[slots]  | digest | 0 | digest | digest | 0 | …
 *     latest    slot[slots]  | digest, stamp | 0 | digest, stamp | …
 *
 * At most three quarters of the slots are used.  The digest 0, which would look like an empty slot,
 * is a flag of `digests`.  A stamp is a time + 1, so that 0 is an empty slot of `latest`. */
#ifndef DIGESTS_H
#define DIGESTS_H

#include "seen.h"

#include <stdbool.h>

struct digests {
    seen_digest *slot;
    uint64_t slots, used; /* slots: 0 or a power of two, 16 and up */
    bool zero;
};

static inline uint64_t digests_count(const struct digests *s) { return s->used + s->zero; }

/* Frees the slots.  The set is then empty. */
void digests_free(struct digests *, const struct seen_allocator *);

/* Adds a digest.  False, and nothing has changed: it is new, and there is no memory for it, or it
 * would take more than `most` slots. */
bool digests_add(struct digests *, seen_digest, uint64_t most, const struct seen_allocator *);

/* For slots that were loaded: whether a search finds each digest where it stands, each digest
 * occurs once, and the count is right. */
bool digests_sound(const struct digests *);

/* -- with the latest time of each digest -------------------------------------------------- */

struct latest_slot {
    seen_digest digest;
    uint64_t stamp;
};

struct latest {
    struct latest_slot *slot;
    uint64_t slots, used; /* slots: 0 or a power of two, 16 and up */
};

void latest_free(struct latest *, const struct seen_allocator *);

/* Adds a key, or renews its time.  Keys older than `least` no longer count; they stay until room is
 * short.  False, and nothing has changed: the key is new, and there is no memory for it, or it
 * would take more than `most` slots.  `most` slots hold 7/8 x 3/4 x `most` keys. */
bool latest_add(struct latest *, seen_digest, seen_time, seen_time least, uint64_t most,
                const struct seen_allocator *);

/* The number of keys at `least` or later, by a walk over all slots. */
uint64_t latest_count(const struct latest *, seen_time least);

/* As digests_sound.  No time may be later than `newest`. */
bool latest_sound(const struct latest *, seen_time newest);

#endif
