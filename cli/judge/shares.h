/* shares.h - a batch observed by a pool, where the detector has shards=: each thread takes the keys
 * of some of them.  The verdicts are those of one thread. */
#ifndef SEEN_SHARES_H
#define SEEN_SHARES_H

#include "base/pool.h"
#include "records/format/record.h"

struct share {
    struct job job;
    struct shares *all;
    uint64_t from, to; /* shards */
};

struct shares {
    seen_detector *detector;
    struct pool *pool;
    unsigned n; /* shares; 1: as good as no pool */
    struct share share[MAX_THREADS];
    uint64_t at[BATCH];
    /* The batch in work: */
    size_t records;
    const seen_digest *digest;
    uint8_t *verdict;
};

/* Crew (NULL: none) and detector stay the caller's. */
void shares_init(struct shares *, seen_detector *, struct pool *);

/* As seen_observe, of BATCH records at most. */
void shares_observe(struct shares *, size_t n, const seen_digest *, const seen_time *,
                    uint8_t *verdict);

#endif
