/* cluster.h - many commands at once, each to the server that owns its key, until all are answered.
 *
 * One server is a cluster of one.  Redirections (MOVED, ASK) are followed.  Servers that are busy,
 * loading or gone are tried again, with growing pauses, for `patience` seconds.  After each failure
 * or redirection the map of slots is requested again.
 *
 * If the connection is lost before the reply, the command is sent again.  It may already have been
 * carried out the first time, so it is marked `uncertain`. */
#ifndef SEEN_CLUSTER_H
#define SEEN_CLUSTER_H

#include "judge/redis/link.h"

#include <stdint.h>

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

#endif
