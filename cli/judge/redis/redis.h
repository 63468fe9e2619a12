/* redis.h - the parts of --redis: connections, a cluster of servers, and shards.  Other folders
 * include server.h only. */
#ifndef SEEN_REDIS_H
#define SEEN_REDIS_H

#include "judge/redis/server.h"
#include "records/format/record.h"

#include <hiredis/hiredis.h>
#include <stdint.h>

/* -- one connection (link.c) ------------------------------------------------------------------- */

/* -- commands as a server reads them: an array of byte strings, each with its length ------- */

/* Bytes to be sent.  All zero to begin with. */
struct wire {
    char *at;
    size_t n, cap;
};

void wire_free(struct wire *);
void wire_put(struct wire *, const void *, size_t);

/* Append the head of a command of n words, and each word. */
void wire_array(struct wire *, size_t n);
void wire_bulk(struct wire *, const void *, size_t);
void wire_word(struct wire *, const char *);

/* Appends a whole command, given as words with spaces between them. */
void wire_command(struct wire *, const char *text);

/* -- the connection ------------------------------------------------------------------------ */

struct link {
    redisContext *context; /* NULL: not open */
    struct wire out;       /* appended, and not yet sent */
    char why[200];         /* of the last failure */
};

/* Connects and gives the password.  A server may be silent for `patience` seconds, then and later.
 * False: see `why`. */
bool link_open(struct link *, const char *host, int port, const struct redis_url *login,
               double patience);
void link_close(struct link *);

/* Closes an idle link whose peer has closed it or has sent something that nothing asked for. */
void link_probe(struct link *);

void link_append(struct link *, const char *command, size_t len);

/* Sends everything appended.  False if that failed; some of it may still have arrived. */
bool link_flush(struct link *);

/* The next reply, freed with freeReplyObject, or NULL. */
redisReply *link_reply(struct link *);

/* -- a cluster (cluster.c) --------------------------------------------------------------------- */

/* A cluster divides keys into 16,384 slots; each slot has an owner. */
enum { SLOTS = 16384 };

/* The slot of a key.  Two keys with the same {tag} have the same slot. */
uint16_t slot_of(const char *key);

struct node {
    char host[256];
    int port;
    struct link link;
    bool probed, away; /* in this round: looked at; could not be reached */
    bool used;         /* sent commands since cluster_replicated was last asked */
};

struct cluster {
    struct redis_url url;
    bool sharded; /* it says that it is a cluster */
    bool stale;   /* the map of slots has to be requested again */
    bool halted;  /* this round met with trouble that takes time */
    struct node *node;
    int nodes, asked;     /* asked: the node that is asked for the map next */
    int16_t owner[SLOTS]; /* a node, or -1 */
    double patience;      /* seconds */
    char why[256];        /* what the last trouble was */
    uint64_t lost;        /* connections lost with commands under way */
    uint64_t redirected;  /* commands sent to another server than first thought */
};

struct request {
    uint16_t slot;
    size_t at, len;    /* of the command in the bytes given to cluster_run */
    redisReply *reply; /* the caller's to free */
    bool uncertain;    /* it may have been carried out twice */
    int node;          /* private: where it is under way, or -1; ... */
    int ask;           /* ... where to send it this once, or -1 */
};

/* Connects.  Dies with a sentence if no server answers, or none accepts the login. */
void cluster_open(struct cluster *, const struct redis_url *, double patience);
void cluster_close(struct cluster *);

/* Zeroed requests with slot, at and len set.  Those of one slot are carried out in their order.
 * False: patience is at an end, or a signal asks us to end; some replies are then NULL (`why`). */
bool cluster_run(struct cluster *, const struct wire *bytes, struct request *, size_t n);

/* Waits, a quarter of a second at most, until `replicas` replicas of each server have all commands
 * sent since the last call.  False: some server has fewer, or did not answer. */
bool cluster_replicated(struct cluster *, unsigned replicas);

/* -- shards (shards.c, open.c) ----------------------------------------------------------------- */

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
