/* buffer.h - a hash table of a fixed number of digests in one block, for those that remember the
 * most recent keys.
 *
 *     block:   | struct buffer, 64 bytes | slot 0 | slot 1 | … | what its owner keeps of each slot
 * | slot i:  | digest, 128 bits | next, 32 bits | head, 32 bits |        24 bytes └ slot + 1 of the
 * next in its chain, 0 at the end └ slot + 1 of the first of chain number i
 *
 * There are as many chains as slots.  Nothing is cleared at a landmark: slots from `used` on do not
 * exist, and a head counts only if it names a slot that does and that belongs to its chain.  A head
 * from before the landmark fails one or the other, because the first key to enter a chain writes
 * its head. */
#ifndef BUFFER_H
#define BUFFER_H

#include "bits.h"
#include "seen.h"

#include <stdbool.h>

#define BUFFER_NONE UINT32_MAX
#define BUFFER_MOST ((uint64_t)1 << 31) /* slots */

struct buffer_slot {
    uint64_t lo, hi;
    uint32_t next, head;
};

struct buffer {
    uint64_t room;         /* slots there can be */
    uint64_t used, vacant; /* slots that exist; of them those whose key was forgotten */
    uint64_t landmarks;
    uint64_t own[4]; /* the owner's */
    struct buffer_slot slot[];
};

/* Where the owner keeps what it knows of each slot. */
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

/* As buffer_put, while a table that was empty is loaded; false if the digest is there already, and
 * then the table is good for nothing.  A head is written before it is looked at: what is read first
 * of memory that was never touched costs the system two page faults instead of one. */
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

/* Before the i-th of n digests: fetches the chains of those about to come. */
static inline void buffer_prefetch(const struct buffer *b, size_t i, size_t n,
                                   const seen_digest *d) {
    enum { GROUP = 16 };
    if (i % GROUP) return;
    for (size_t j = i; j < n && j < i + GROUP; j++) buffer_fetch(b, d[j]);
}

#endif
