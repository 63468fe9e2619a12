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
    uint32_t generations; /* that the window spans, where it is cut into them; 0: as k says */
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
    uint64_t *renewed;  /* where summed: keys of each live generation, at generation mod live, that
                           came again in a younger one; the filter counts, the window keeps */
};

/* Which generation of one filter is which of another, all through a merge: `from` is `into`, and
 * those before it are those before the other, but one younger each where `younger`. */
struct filter_match {
    uint64_t into, from;
    bool younger;
};

#define FILTER_PLACES 5

/* Where what is `age` generations older than `from` goes. */
static inline uint64_t filter_matching(const struct filter_match *m, uint64_t age) {
    return m->into - age + (m->younger && age);
}

struct filter_ops {
    const char *name;
    const char *help;
    uint32_t traits;    /* enum seen_trait */
    uint32_t k_most;    /* 0: has no probes, nothing to choose */
    uint32_t live_most; /* generations it can keep apart */

    /* Decides or refuses the options that are the structure's own (NULL: it has none). */
    int (*settle)(struct seen_spec *, uint32_t live, struct seen_error *);

    /* -- theory, pure -- */
    uint32_t (*columns)(uint32_t live);                     /* that fit the cell a live one needs */
    double (*fp)(const struct filter_shape *, double keys); /* of one generation holding keys */
    /* of a Poisson number of keys, as shards get (NULL: the mean of fp over them) */
    double (*fp_scattered)(const struct filter_shape *, double keys);
    /* of either, the mean while so many keys come (NULL: by quadrature) */
    double (*fp_filling)(const struct filter_shape *, double keys, bool scattered);
    double (*touches)(const struct filter_shape *); /* cache lines a record */
    uint64_t (*size)(const struct filter_shape *,
                     uint64_t keys);                  /* bytes; keys matters if it grows */
    uint64_t (*granule)(const struct filter_shape *); /* lines come in multiples of it, or: */
    /* The i-th size there is, where not any number of lines is one; the smallest first, each
     * erring no more than those before.  False: there are no more. */
    bool (*form)(struct filter_shape *, uint32_t i);
    double (*most)(const struct filter_shape *); /* keys there can be at all (NULL: any number) */

    /* -- work; `generation` only ever grows; `digests` of the shape are one key's -- */
    void (*init)(struct filter *);
    void (*destroy)(struct filter *);
    /* Its block may have moved; offers what it has outside (NULL: nothing). */
    void (*move)(struct filter *, struct seen_mover);
    /* Test and add in order; returns how many keys the current generation did not hold before. */
    size_t (*observe)(struct filter *, uint64_t generation, size_t n, const seen_digest *,
                      uint8_t *verdict);
    /* Has memory fetch a key's lines; NULL: it would not pay. */
    void (*prefetch)(const struct filter *, seen_digest);
    /* Generations ago that each was last added (at least; 0 = the current one), or FILTER_NONE. */
    void (*find)(const struct filter *, uint64_t generation, size_t n, const seen_digest *,
                 uint32_t *age);
    /* Bounded upkeep, called once for every generation that begins. */
    void (*advance)(struct filter *, uint64_t generation);
    size_t (*forget)(struct filter *, uint64_t generation, size_t n, const seen_digest *);
    /* A piece of it, as a window's; place[FILTER_PLACES] and on are not the filter's. */
    bool (*merge)(struct filter *into, uint64_t generation, const struct filter *from,
                  const struct filter_match *, uint64_t most, struct seen_merging *);
    void (*stats)(const struct filter *, struct seen_stats *); /* adds bytes that grew, forgotten */
    uint64_t (*stored)(const struct filter *, uint64_t generation); /* NULL: nobody knows exactly */
    void (*clear_counters)(struct filter *);                        /* NULL: stats counts nothing */
    int (*save)(const struct filter *, struct seen_writer);
    int (*load)(struct filter *, uint64_t generation, struct seen_reader, uint64_t limit,
                struct seen_error *);
};

#endif
