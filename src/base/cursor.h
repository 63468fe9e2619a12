/* cursor.h - how far a merge in pieces has come: what a struct merge_cursor holds. */
#ifndef CURSOR_H
#define CURSOR_H

#include <stdint.h>

struct merge_cursor {
    uint64_t stage;    /* number of the shard being merged, from 1; 0: not begun */
    uint64_t began;    /* `into`'s clock when the merge began */
    uint64_t place[8]; /* where in that shard: the structure's own; all zero at first */
};

#endif
