/* counted.h - what `seen top` counts in one window. */
#ifndef SEEN_TOP_COUNTED_H
#define SEEN_TOP_COUNTED_H

#include "commands/top/missing.h"
#include "commands/top/ranking.h"

struct counted {
    struct ranking keys;
    seen_detector *pairs; /* NULL: every record counts */
    struct missing missing;
};

/* `pairs` is the plan of the detector of pairs; NULL: every record counts. */
struct counted *counted_new(uint64_t keep, const struct seen_plan *pairs);
void counted_free(struct counted *); /* NULL is fine */

/* Another window begins, in the same memory. */
void counted_clear(struct counted *);

/* For a state; and back again: NULL if the bytes cannot be right. */
void counted_save(const struct counted *, struct blocks_out *);
struct counted *counted_load(uint64_t keep, const struct seen_plan *pairs, struct blocks_in *);

#endif
