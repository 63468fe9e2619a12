/* buffer.h - a hash table of a fixed number of digests in one block, for structures that remember
 * the most recent keys.
 *
 *     block:   | struct buffer, 64 bytes | slot 0 | slot 1 | … | the owner's data of each slot |
 *     slot i:  | digest, 128 bits | next, 32 bits | head, 32 bits |      24 bytes
 *                                        │               └ slot + 1 of the first of chain i
 *                                        └ slot + 1 of the next in its chain, 0 at the end
 *
 * There are as many chains as slots.  A landmark clears nothing: it sets `used` to 0, and slots
 * from `used` on do not exist.  A head counts only if its slot exists and belongs to its chain.  A
 * head from before the landmark fails one of these tests, because the first key that enters a chain
 * writes its head. */
#ifndef BUFFER_H
#define BUFFER_H

#include "base/bits.h"
#include "seen.h"

#include <stdbool.h>

#define BUFFER_NONE UINT32_MAX
#define BUFFER_MAX  ((uint64_t)1 << 31) /* slots */

struct buffer_slot {
    uint64_t lo, hi;
    uint32_t next, head;
};

struct buffer {
    uint64_t room;         /* most slots */
    uint64_t used, vacant; /* slots that exist; among them, slots whose key was forgotten */
    uint64_t landmarks;
    uint64_t own[4]; /* for the owner */
    struct buffer_slot slot[];
};

/* The place of the owner's data of each slot. */
static inline void *buffer_beside(struct buffer *b) { return b->slot + b->room; }

/* -- the table ---------------------------------------------------------------------------- */

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

/* As buffer_put, for loading into an empty table.  False: the digest is there already, and the
 * table must not be used.  A head is written before it is read: to read untouched memory first
 * would cost two page faults instead of one. */
static inline bool buffer_load(struct buffer *b, uint32_t i, seen_digest d) {
    uint32_t *head = &b->slot[buffer_chain(b, d.lo, d.hi)].head;
    uint32_t next = __atomic_exchange_n(head, i + 1, __ATOMIC_RELAXED);
    b->slot[i].next = next;
    b->slot[i].lo = d.lo;
    b->slot[i].hi = d.hi;
    for (; next; next = b->slot[next - 1].next)
        if (b->slot[next - 1].lo == d.lo && b->slot[next - 1].hi == d.hi) return false;
    return true;
}

/* Takes a slot out of its chain. */
static inline void buffer_take(struct buffer *b, uint32_t i) {
    uint32_t *link = &b->slot[buffer_chain(b, b->slot[i].lo, b->slot[i].hi)].head;
    while (*link != i + 1) link = &b->slot[*link - 1].next;
    *link = b->slot[i].next;
}

static inline void buffer_fetch(const struct buffer *b, seen_digest d) {
    __builtin_prefetch(&b->slot[buffer_chain(b, d.lo, d.hi)]);
}

/* Call this before the i-th of n digests: it prefetches the chains of the next ones. */
static inline void buffer_prefetch(const struct buffer *b, size_t i, size_t n,
                                   const seen_digest *d) {
    if (i % BITS_AHEAD) return;
    for (size_t j = i; j < n && j < i + BITS_AHEAD; j++) buffer_fetch(b, d[j]);
}

#endif
