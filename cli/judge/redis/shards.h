/* shards.h - one filter on a server, or n of them at the keys NAME:{0} ... NAME:{n-1}, which a
 * cluster spreads over its servers.  Each record goes to one shard, which its key decides. */
#ifndef SEEN_SHARDS_H
#define SEEN_SHARDS_H

#include "judge/redis/cluster.h"
#include "records/format/record.h"

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
    struct server server; /* first: server_open returns its address */
    struct cluster cluster;
    struct shard *shard;
    bool trusting; /* an answer to a command that was sent twice counts like any other */

    size_t items; /* of the batch, as are all the following */
    struct item item[BATCH];
    uint16_t order[BATCH]; /* by shard, each shard's in the order they came */
    struct wire keys, commands;
    struct request request[BATCH];
    uint16_t first[BATCH + 1]; /* of each request, in `order` */
    size_t requests;
};

/* Appends the command that makes shard i. */
void shards_put_create(const struct shards *, uint32_t i, struct wire *);

#endif
