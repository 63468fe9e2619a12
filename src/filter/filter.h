/* filter.h - the seam between windows and filters.
 *
 * A filter is a set of keys that remembers, coarsely, *when*: each key belongs to the generation in
 * which it was last added, and the `live` youngest generations count.  One live generation is the
 * plain set of a landmark window; Q+1 of them are a jumping window.  What lies further back is gone
 * at once when the generation advances: cells carry a stamp, are cleaned when next touched, and a
 * slow sweep keeps 16-bit stamps from being met again.  So nothing ever clears a whole table.
 *
 * A structure is one file that fills in a filter_ops, and one row in registry.c.  Every function
 * that a comment does not call needed may be NULL: then there is nothing to do. */
#ifndef FILTER_H
#define FILTER_H

#include "base/base.h"
#include "table/table.h"
#include "theory/shape.h"

struct filter_ops {
    struct filter_theory theory;

    /* -- work; `generation` only ever grows; `digests` of the shape are one key's -- */
    void (*init)(struct filter *);
    void (*destroy)(struct filter *);
    /* Called after the filter's block may have moved: updates pointers and offers the mover all
     * memory outside the block (NULL: there is none). */
    void (*move)(struct filter *, struct seen_mover);
    /* Tests and adds in order; returns how many keys the current generation did not hold before. */
    size_t (*observe)(struct filter *, uint64_t generation, size_t n, const seen_digest *,
                      uint8_t *verdict);
    /* Prefetches the lines of a key (NULL: this would not be faster). */
    void (*prefetch)(const struct filter *, seen_digest);
    /* Writes for each key how many generations ago it was last added, at least (0 = the current
     * one), or FILTER_NONE. */
    void (*find)(const struct filter *, uint64_t generation, size_t n, const seen_digest *,
                 uint32_t *age);
    /* Does bounded upkeep.  Called once for every generation that begins. */
    void (*advance)(struct filter *, uint64_t generation);
    size_t (*forget)(struct filter *, uint64_t generation, size_t n, const seen_digest *);
    /* Does one piece of a merge, as a window's `merge` does.  The filter may use the first
     * FILTER_PLACES entries of `place`; the others are the window's. */
    bool (*merge)(struct filter *into, uint64_t generation, const struct filter *from,
                  const struct filter_match *, uint64_t most, struct merge_cursor *);
    void (*stats)(const struct filter *, struct seen_stats *); /* adds bytes that grew, forgotten */
    uint64_t (*stored)(const struct filter *, uint64_t generation); /* NULL: not known exactly */
    void (*clear_counters)(struct filter *);                        /* NULL: stats counts nothing */
    int (*save)(const struct filter *, struct seen_writer);
    int (*load)(struct filter *, uint64_t generation, struct seen_reader, uint64_t limit,
                struct seen_error *);
};

#endif
