/* ranking.h - counters of the most frequent keys, and the names of these keys. */
#ifndef SEEN_TOP_RANKING_H
#define SEEN_TOP_RANKING_H

#include "commands/top/name.h"
#include "state/blocks.h"

struct ranking {
    seen_top *top;
    struct name **name; /* of each counter's key; NULL: none yet */
    uint64_t keep;      /* counters */
    uint64_t used;      /* of those */
};

void ranking_init(struct ranking *, uint64_t keep);
void ranking_free(struct ranking *);
void ranking_clear(struct ranking *);

/* Counts a key and returns its counter.  *taken: the counter is to be named. */
size_t ranking_add(struct ranking *, seen_digest key, bool *taken);
void ranking_name(struct ranking *, size_t counter, const struct name *);

/* For a state; and back again, into a ranking just made: false if the bytes cannot be right. */
void ranking_save(const struct ranking *, struct blocks_out *);
bool ranking_load(struct ranking *, struct blocks_in *);

#endif
