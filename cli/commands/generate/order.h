/* order.h - in which order the occurrences of a generated stream come.
 *
 * uniform     A random shuffle: occurrence i is slot permute(i).  permute is a keyed permutation
 *             of 0 .. records-1 that is computed, not stored.  Repeats fall anywhere: the gaps of
 *             an id that occurs twice have density 2(n-g)/n^2.
 *
 * loguniform  The ids come in random order, and each repeat follows the occurrence before it at a
 * burst       random distance.  loguniform: log-uniform in 1 .. gap_most, as many repeats within 1
 *             to 10 records as within 1,000 to 10,000, like web and cache traces.  burst: uniform
 *             in 1 .. gap_most, like double clicks and redelivered messages.  Due repeats wait in
 *             a heap.  If one is due, it is the next record; else a new id is.
 *
 * Every order emits every slot once, so the totals stay exact.  Two corrections are needed for
 * that: repeats that are due at once queue up, and an id with m occurrences to come never draws a
 * gap beyond (records left)/m, so that all of them still fit.
 *
 * Memory: one bit a distinct id (uniform), or 24 bytes for each id whose next repeat is pending.
 * Time: six multiplications a record, or a heap step a repeat. */
#ifndef SEEN_GENERATE_ORDER_H
#define SEEN_GENERATE_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include "repeats.h"

enum gaps { GAPS_UNIFORM, GAPS_LOGUNIFORM, GAPS_BURST };

/* A keyed permutation of 0 .. n-1: a Feistel network over the a x b rectangle just above n. */
struct permutation {
    uint64_t n, a, b, key;
};

struct pending {
    uint64_t due, id, left; /* at which record, who, and how often still */
};

struct order {
    const struct repeats *repeats;
    enum gaps gaps;
    uint64_t gap_most, log_gap_most, key;
    uint64_t at;  /* records emitted */
    uint64_t met; /* distinct ids emitted */
    struct permutation permutation;
    uint64_t *bits; /* uniform: one a distinct id that was emitted */
    struct pending *heap;
    size_t pending, room;
};

/* -1: no memory. */
int order_make(struct order *, const struct repeats *, enum gaps, uint64_t gap_most, uint64_t seed);
void order_free(struct order *);

/* The next at most n occurrences: the number of the id, and whether it is its first.  Returns how
 * many; 0 at the end, or where memory ran out before it (at < records). */
size_t order_next(struct order *, size_t n, uint64_t *id, uint8_t *fresh);

#endif
