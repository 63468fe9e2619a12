/* buffer.h - a hash table of a fixed number of digests in one block, for structures that remember
 * the most recent keys.
 *
 *     slot i:  | digest, 128 bits | next, 32 bits | head, 32 bits |        24 bytes
 *                                   └ slot + 1 of the next in its chain, 0 at the end
 *                                                   └ slot + 1 of the first of chain number i
 *
 * There are as many chains as slots.  Nothing is cleared at a landmark: slots from `used` on do not
 * exist, and a head counts only if it names a slot that does and that belongs to its chain.  A head
 * from before the landmark fails one or the other, because the first key to enter a chain writes
 * its head. */
#ifndef BUFFER_H
#define BUFFER_H

#include "bits.h"
#include "detector.h"

#define BUFFER_NONE UINT32_MAX
#define BUFFER_MOST ((uint64_t)1 << 31) /* slots */

struct buffer_slot {
    uint64_t lo, hi;
    uint32_t next, head;
};

struct buffer {
    struct buffer_slot *slot;
    uint64_t room, used;
};

static inline uint64_t buffer_chain(const struct buffer *b, uint64_t lo, uint64_t hi) {
    return bits_range(bits_draw(lo, hi, 0), b->room);
}

/* The first slot of a chain, or BUFFER_NONE. */
static inline uint32_t buffer_first(const struct buffer *b, uint64_t chain) {
    uint32_t i = b->slot[chain].head - 1;
    if (i >= b->used || buffer_chain(b, b->slot[i].lo, b->slot[i].hi) != chain) return BUFFER_NONE;
    return i;
}

static inline uint32_t buffer_find(const struct buffer *b, seen_digest d) {
    uint32_t i = buffer_first(b, buffer_chain(b, d.lo, d.hi));
    while (i != BUFFER_NONE && (b->slot[i].lo != d.lo || b->slot[i].hi != d.hi))
        i = b->slot[i].next - 1;
    return i;
}

/* Puts a digest, which is not there, into a slot that is in no chain. */
static inline void buffer_put(struct buffer *b, uint32_t i, seen_digest d) {
    uint64_t chain = buffer_chain(b, d.lo, d.hi);
    uint32_t first = buffer_first(b, chain);
    if (first == i) first = BUFFER_NONE; /* a head from before the landmark: the slot is new */
    b->slot[i].next = first + 1;         /* NONE + 1 is 0, the end */
    b->slot[i].lo = d.lo;
    b->slot[i].hi = d.hi;
    b->slot[chain].head = i + 1;
}

/* Takes a slot out of its chain. */
static inline void buffer_take(struct buffer *b, uint32_t i) {
    uint32_t *link = &b->slot[buffer_chain(b, b->slot[i].lo, b->slot[i].hi)].head;
    while (*link != i + 1) link = &b->slot[*link - 1].next;
    *link = b->slot[i].next;
}

static inline void buffer_prefetch(const struct buffer *b, seen_digest d) {
    __builtin_prefetch(&b->slot[buffer_chain(b, d.lo, d.hi)]);
}

/* Decides lines= for a structure that takes `state` bytes a shard and `slot` bytes a key, and
 * predicts: no false positives; a key is found while fewer than capacity others came since. */
int buffer_plan(struct seen_plan *, uint64_t state, uint64_t slot, struct seen_error *);

#endif
