/* shards.h - one filter kept by a server, or n of them at the keys NAME:{0} ... NAME:{n-1}, over
 * which a cluster spreads them.  A record goes to the shard that its key draws. */
#ifndef SEEN_SHARDS_H
#define SEEN_SHARDS_H

#include "judge/redis/cluster.h"
#include "records/record.h"

/* The shard of a key is floor(hi * n / 2^64), hi being the upper half of its XXH3-128 with this
 * seed ("seen"): clients in other languages can do the same. */
#define SHARDS_SEED UINT64_C(0x7365656e)

#define SHARDS_CLOCK UINT64_MAX /* the time of a record: the server's clock is to say it */

struct shard {
    char key[528];
    uint16_t slot;
};

struct item {
    size_t at;
    uint32_t len;
    uint32_t shard;
    uint64_t ms;
};

struct shards {
    struct cluster cluster;
    uint32_t n;
    struct shard *shard;
    char spec[1024];   /* of each */
    bool timed;        /* a window of time */
    bool trusting;     /* an answer to what was sent twice counts like any other */
    unsigned replicas; /* that are to have a batch before its verdicts count; 0: none has to */
    char why[300];     /* shards_judge could not go on */

    uint64_t unique, duplicates;
    uint64_t uncertain;    /* records let through because their verdict is unknown */
    uint64_t unreplicated; /* records that fewer replicas than wanted are known to have */
    uint64_t remade;       /* shards that were gone, and made again, empty */

    size_t items; /* of the batch, as are all the following */
    struct item item[BATCH];
    uint16_t order[BATCH]; /* by shard, each shard's in the order they came */
    struct wire keys, commands;
    struct request request[BATCH];
    uint16_t first[BATCH + 1]; /* of each request, in `order` */
    size_t requests;
};

/* -- opening (open.c) --------------------------------------------------------------------- */

/* Finds the filters, or makes them as the plan says, which has shards=n.  `adopt`: nothing was
 * asked for, and what is there is fine.  Dies with a sentence where what is there is something
 * else.
 */
void shards_open(struct shards *, const struct redis_url *, const struct seen_plan *, bool adopt,
                 double patience);
void shards_free(struct shards *);

/* The command that makes shard i. */
void shards_put_create(const struct shards *, uint32_t i, struct wire *);

/* -- judging (shards.c) ------------------------------------------------------------------- */

/* The batch's next record, at most BATCH; `draw` is its key's digest. */
void shards_add(struct shards *, const char *key, size_t len, seen_digest draw, uint64_t ms);

/* Verdicts of those added, in order; then there are none.  A record whose verdict got lost is
 * UNREADABLE.  False: there will be no more verdicts, see `why`. */
bool shards_judge(struct shards *, uint8_t *verdict);

#endif
