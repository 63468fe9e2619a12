/* server.h - `--redis URL`: verdicts of filters that a Redis or Valkey server, or a cluster of
 * them, keeps.  This is the only header of the folder that other folders include.
 *
 *     redis://[USER:PASSWORD@]HOST[:PORT][,HOST[:PORT]]/NAME */
#ifndef SEEN_SERVER_H
#define SEEN_SERVER_H

#include "base/cli.h"
#include "seen.h"

struct server_options {
    const char *url;   /* NULL: verdicts are made here */
    uint64_t patience; /* microseconds a server may be away; 0: not given */
    bool at_most_once;
    uint64_t replicas; /* 0: not given */
};

/* Rows of one group, taken into a struct server_options (struct option_group). */
extern const struct option_row server_option_rows[];
void server_take(void *options, const struct option_row *, const char *value);

/* Dies if options about the server are given without a server. */
void server_check(const struct server_options *);

enum { URL_HOSTS = 16 };

struct redis_url {
    struct {
        char host[256];
        int port;    /* 6379 where none is given */
    } at[URL_HOSTS]; /* servers of one cluster: one that answers will do */
    int hosts;
    char user[128], password[256]; /* empty: none */
    char name[512];                /* of the filter: its key, or the stem of its shards' keys */
};

/* Reads an address.  Bytes that an address cannot hold are written as %40; an IPv6 address stands
 * in brackets: [::1].  The password may come from the environment variable REDISCLI_AUTH, which
 * other processes do not see.  Dies with a sentence if the address is wrong. */
void server_parse_url(struct redis_url *, const char *text);

/* The shard of a key is floor(hi * n / 2^64), where hi is the upper half of the key's XXH3-128 with
 * this seed ("seen").  Clients in other languages can compute the same. */
#define SERVER_SEED UINT64_C(0x7365656e)

#define SERVER_CLOCK UINT64_MAX /* the time of a record: the server's clock decides it */

/* Filters on a server, while a run uses them. */
struct server {
    struct redis_url url;
    uint32_t shards;
    char spec[1024];         /* of each shard, as the server prints it */
    struct seen_spec window; /* of all shards together */
    char why[300];           /* not empty: the server is lost, and there are no more verdicts */
    unsigned replicas;       /* that must have a batch before its verdicts count; 0: none */
    uint64_t unique, duplicates;
    uint64_t uncertain;        /* records passed on because their verdict is unknown */
    uint64_t unreplicated;     /* records that may be on fewer replicas than were asked for */
    uint64_t remade;           /* shards that were gone and were made again, empty */
    uint64_t redirected, lost; /* commands sent elsewhere; connections lost with commands open */
};

/* Finds the filters, or makes them as the plan says; the plan's shards= is their number.  `adopt`:
 * no spec was given, so any filter that is there will do.  Dies with a sentence if the filters that
 * are there differ from the plan. */
struct server *server_open(const struct server_options *, const struct seen_plan *, bool adopt);
void server_close(struct server *); /* NULL is fine */

/* Adds the next record to the batch, which holds at most BATCH.  `digest`: seen_hash of its key
 * with SERVER_SEED. */
void server_add(struct server *, const char *key, size_t len, seen_digest digest, uint64_t ms);

/* Writes the verdicts of the batch in order and empties it.  A record whose verdict was lost is
 * UNCERTAIN.  Once the server is lost (`why`), so are the verdicts of all later batches. */
void server_judge(struct server *, uint8_t *verdict);

#endif
