/* decaying.h - planning that all structures of the decaying window share.
 *
 * A decaying window has no length: memory decides how far back it reaches.  `reach` is how many
 * keys back a structure remembers at least half of what it saw; the plan calls it capacity, items=
 * asks for it, and mem= (64 MiB where nothing is asked) gives it.
 *
 * False negatives depend on the stream.  To compare structures the plan assumes that repeats come
 * at gaps from 1 to gap-max= records (1e9 unless told), every order of magnitude alike, and that
 * all records between are different keys. */
#ifndef DECAYING_H
#define DECAYING_H

#include "spec/options.h"

#define DECAYING_GAPS_DEFAULT 1000000000u

struct decaying {
    uint64_t state; /* bytes a shard takes besides its lines */
    uint64_t least; /* lines a shard takes at least */
    /* The reach of a shard of `lines` lines.  All other options of the spec are resolved.  It grows
     * with the lines. */
    double (*reach)(const struct seen_spec *, uint64_t lines);
};

/* Refuses what makes no sense here and settles gap-max= and overload=. */
int decaying_settle(struct seen_plan *, struct seen_error *);

/* Decides spec->lines from blocks=, items= and mem=. */
int decaying_lines(struct seen_plan *, const struct decaying *, struct seen_error *);

/* Gaps as a shard sees them: records of other shards do not count. */
double decaying_gaps(const struct seen_spec *);

#endif
