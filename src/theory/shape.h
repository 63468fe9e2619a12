/* shape.h - what plans know of a filter: its geometry, and its formulas as functions of it. */
#ifndef THEORY_SHAPE_H
#define THEORY_SHAPE_H

#include "seen.h"

#include <stdbool.h>

/* Geometry of one shard: all that formulas and kernels need to know. */
struct filter_shape {
    uint64_t lines;               /* 64-byte lines (exact: the most keys, 0 for no limit) */
    uint32_t k;                   /* probes a key */
    uint32_t live;                /* generations that count, including the current one */
    uint32_t width;               /* bits of a counter */
    uint32_t stamp;               /* bits of a time stamp, where cells are stamped */
    uint32_t generations;         /* in a window that is cut into them; 0: k decides */
    const struct seen_spec *spec; /* resolved; a structure reads options of its own from it */
    double
        crowd; /* records in a window, divided by its keys.  The share x of a window holds at most
                     the share min(1, x crowd) of its keys.  INFINITY: all may come at once */
    uint32_t bits, substring; /* of a key; of its substrings (where cells are named by key bits) */
    uint32_t digests;         /* of a key: 1, or more for keys of over 128 bits */
    bool summed; /* the window asks one filter, the sum of all generations: combine=subtract */
};

/* The formulas of a structure, which are pure functions, and what it promises.  A structure fills
 * in one; the planner finds a size with it. */
struct filter_theory {
    const char *name;
    const char *help;
    uint32_t traits;    /* enum seen_trait */
    uint32_t k_most;    /* 0: has no probes, nothing to choose */
    uint32_t live_most; /* generations it can keep apart */

    /* Decides or refuses the structure's own options (NULL: it has none). */
    int (*settle)(struct seen_spec *, uint32_t live, struct seen_error *);

    /* Generations that fit into the cells that `live` generations need (NULL: `live`). */
    uint32_t (*columns)(uint32_t live);
    double (*fp)(const struct filter_shape *, double keys); /* rate of a generation with `keys` */
    /* The same for a Poisson number of keys, as in a shard (NULL: the mean of fp over it). */
    double (*fp_scattered)(const struct filter_shape *, double keys);
    /* The mean rate while `keys` keys come, scattered or not (NULL: by quadrature). */
    double (*fp_filling)(const struct filter_shape *, double keys, bool scattered);
    double (*touches)(const struct filter_shape *); /* cache lines a record */
    uint64_t (*size)(const struct filter_shape *,
                     uint64_t keys); /* bytes; keys matters if it grows */
    /* Lines come in multiples of it (NULL: in any number). */
    uint64_t (*granule)(const struct filter_shape *);
    /* For structures that have certain sizes only: sets the i-th size, the smallest first.  A
     * larger size never errs more.  Returns false after the last size. */
    bool (*form)(struct filter_shape *, uint32_t i);
    double (*most)(const struct filter_shape *); /* number of possible keys (NULL: no limit) */
};

#endif
