/* cluster.h - many commands at once, each to the server that owns its key, until all are answered.
 *
 * One server is a cluster of one.  Redirections (MOVED, ASK) are followed, servers that are busy,
 * loading or gone are tried again, with growing pauses, for as long as `patience` says; who owns
 * what is asked anew after every surprise.
 *
 * A command whose connection was lost before its reply came is sent again, but nobody knows whether
 * it was carried out the first time: it is marked `uncertain`.  */
#ifndef SEEN_CLUSTER_H
#define SEEN_CLUSTER_H

#include "redis/link.h"
#include "redis/slots.h"

#include <stdint.h>

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
    bool stale;   /* who owns what has to be asked anew */
    bool halted;  /* this round met with trouble that takes time */
    struct node *node;
    int nodes, asked;     /* asked: whose turn it is to tell who owns what */
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

/* Connects; dies with a sentence if nobody is there, or nobody who lets us in. */
void cluster_open(struct cluster *, const struct redis_url *, double patience);
void cluster_close(struct cluster *);

/* Zeroed requests with slot, at and len set.  Those of one slot are carried out in their order.
 * False: patience is at an end, or a signal asks us to end; some replies are then NULL (`why`). */
bool cluster_run(struct cluster *, const struct wire *bytes, struct request *, size_t n);

/* Waits, a quarter of a second at most, until what was sent since this was last asked is with so
 * many replicas of each server.  False: somewhere it is not, or nobody could say. */
bool cluster_replicated(struct cluster *, unsigned replicas);

#endif
