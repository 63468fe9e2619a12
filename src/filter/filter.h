/* filter.h - the seam between windows and filters.
 *
 * A filter is a set of keys that remembers, coarsely, *when*: each key belongs to the generation in
 * which it was last added, and the `live` youngest generations count.  One live generation is the
 * plain set of a landmark window; Q+1 of them are a jumping window.  What lies further back is gone
 * at once when the generation advances: cells carry a stamp, are cleaned when next touched, and a
 * slow sweep keeps 16-bit stamps from being met again.  So nothing ever clears a whole table.
 *
 * A structure is one file that fills in a filter_ops, and one row in registry.c.
 */
#ifndef FILTER_H
#define FILTER_H

#include "seen.h"

#include <stdbool.h>

#define FILTER_NONE UINT32_MAX /* the age of a key that no live generation holds */

/* Geometry of one shard: all that formulas and kernels need to know. */
struct filter_shape {
    uint64_t lines;       /* 64-byte lines (exact: the most keys, 0 for no limit) */
    uint32_t k;           /* probes a key */
    uint32_t live;        /* generations that count, the current one included */
    uint32_t width;       /* bits of a counter */
    uint32_t stamp;       /* bits of a time stamp, where cells are stamped */
    uint32_t generations; /* in a window that is cut into them; 0: k decides */
    uint64_t length;      /* of the window */
    double crowd; /* records of a window over its keys; a stretch x of it holds a share of at most
                     min(1, x crowd) of the keys.  INFINITY: they may all come at once */
    uint32_t bits, substring; /* of a key; of its substrings (where cells are named by key bits) */
    uint32_t digests;         /* a key: 1, but of keys of more than 128 bits */
    bool summed; /* the window asks one filter, the sum of all generations: by=subtract */
};

struct filter {
    const struct filter_ops *ops;
    struct filter_shape shape;
    void *block; /* ops->size bytes, zeroed at birth: no pointer in it unless SEEN_GROWS */
    const struct seen_allocator *alloc; /* for structures that grow */
    uint32_t cpu;
    bool refresh_first; /* duplicates stay in the generation they were in */
    uint64_t *renewed;  /* if summed: for each live generation, at generation mod live, how many of
                           its keys came again in a younger one.  The filter counts them in memory
                           of the window */
};

/* How the generations of two filters correspond during a merge.  Generation `from` of one enters
 * generation `into` of the other.  Earlier ones enter those before it, or with `younger` one
 * generation later. */
struct filter_match {
    uint64_t into, from;
    bool younger;
};

#define FILTER_PLACES 5

/* The generation that keys `age` generations older than `from` enter. */
static inline uint64_t filter_matching(const struct filter_match *m, uint64_t age) {
    return m->into - age + (m->younger && age);
}

struct filter_ops {
    const char *name;
    const char *help;
    uint32_t traits;    /* enum seen_trait */
    uint32_t k_most;    /* 0: has no probes, nothing to choose */
    uint32_t live_most; /* generations it can keep apart */

    /* Decides or refuses the structure's own options (NULL: it has none). */
    int (*settle)(struct seen_spec *, uint32_t live, struct seen_error *);

    /* -- theory, pure -- */
    uint32_t (*columns)(uint32_t live); /* generations that fit into the cell that `live` need */
    double (*fp)(const struct filter_shape *, double keys); /* rate of a generation with `keys` */
    /* The same for a Poisson number of keys, as in a shard (NULL: the mean of fp over it). */
    double (*fp_scattered)(const struct filter_shape *, double keys);
    /* The mean rate while `keys` keys come, scattered or not (NULL: by quadrature). */
    double (*fp_filling)(const struct filter_shape *, double keys, bool scattered);
    double (*touches)(const struct filter_shape *); /* cache lines a record */
    uint64_t (*size)(const struct filter_shape *,
                     uint64_t keys);                  /* bytes; keys matters if it grows */
    uint64_t (*granule)(const struct filter_shape *); /* lines come in multiples of it, or: */
    /* For structures that have certain sizes only: sets the i-th size, the smallest first.  A
     * larger size never errs more.  Returns false after the last size. */
    bool (*form)(struct filter_shape *, uint32_t i);
    double (*most)(const struct filter_shape *); /* number of possible keys (NULL: no limit) */

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
                  const struct filter_match *, uint64_t most, struct seen_merging *);
    void (*stats)(const struct filter *, struct seen_stats *); /* adds bytes that grew, forgotten */
    uint64_t (*stored)(const struct filter *, uint64_t generation); /* NULL: not known exactly */
    void (*clear_counters)(struct filter *);                        /* NULL: stats counts nothing */
    int (*save)(const struct filter *, struct seen_writer);
    int (*load)(struct filter *, uint64_t generation, struct seen_reader, uint64_t limit,
                struct seen_error *);
};

#endif
