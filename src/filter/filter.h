/* filter.h - the seam between windows and filters.
 *
 * A filter is a set of keys that remembers, coarsely, *when*: each key belongs to the generation in
 * which it was last added, and the `live` youngest generations count.  One live generation is the
 * plain set of a landmark window; Q+1 of them are a jumping window.  What lies further back is gone
 * at once when the generation advances: cells carry a stamp, are cleaned when next touched, and a
 * slow sweep removes 16-bit stamps before they come round.  So nothing ever clears a whole table.
 *
 * A structure is one file that fills in a filter_ops, and one row in registry.c.  Functions
 * whose comment begins with "Optional" may be NULL. */
#ifndef FILTER_H
#define FILTER_H

#include "base/base.h"
#include "table/table.h"
#include "theory/shape.h"

struct filter_ops {
    struct filter_theory theory;

    /* -- work.  `generation` never decreases.  A key has `digests` digests (filter_shape). -- */
    /* Optional: prepare a zeroed block, and free what lies outside the block. */
    void (*init)(struct filter *);
    void (*destroy)(struct filter *);
    /* Optional: called after the block may have moved.  Updates pointers and offers the mover all
     * memory outside the block. */
    void (*move)(struct filter *, struct seen_mover);
    /* Tests and adds in order; returns how many keys the current generation did not hold before. */
    size_t (*observe)(struct filter *, uint64_t generation, size_t n, const seen_digest *,
                      uint8_t *verdict);
    /* Optional: prefetches the lines of a key. */
    void (*prefetch)(const struct filter *, seen_digest);
    /* Writes for each key how many generations ago it was last added, at least (0 = the current
     * one), or FILTER_NONE. */
    void (*find)(const struct filter *, uint64_t generation, size_t n, const seen_digest *,
                 uint32_t *age);
    /* Does bounded upkeep.  Called once for every generation that begins. */
    void (*advance)(struct filter *, uint64_t generation);
    /* Optional: removes keys from all generations; returns how many were held. */
    size_t (*forget)(struct filter *, uint64_t generation, size_t n, const seen_digest *);
    /* Optional: does one piece of a merge, as a window's `merge` does.  The filter may use the
     * first FILTER_PLACES entries of `place`; the others are the window's. */
    bool (*merge)(struct filter *into, uint64_t generation, const struct filter *from,
                  const struct filter_match *, uint64_t most, struct merge_cursor *);
    /* Optional: adds to the statistics: bytes beside the block, keys forgotten, counters stuck. */
    void (*stats)(const struct filter *, struct seen_stats *);
    /* Optional: the number of keys that count, if it is known exactly. */
    uint64_t (*stored)(const struct filter *, uint64_t generation);
    void (*clear_counters)(struct filter *); /* optional: sets what stats counts back to 0 */
    /* Write and read the block.  load returns SEEN_EFORMAT for bytes that save cannot have written,
     * and allocates at most `limit` bytes. */
    int (*save)(const struct filter *, struct seen_writer);
    int (*load)(struct filter *, uint64_t generation, struct seen_reader, uint64_t limit,
                struct seen_error *);
};

#endif
