/* remote.h - `seen dedup --redis URL`: the same records, keys and output, judged by filters that a
 * Redis or Valkey server, or a cluster of them, keeps. */
#ifndef SEEN_REMOTE_H
#define SEEN_REMOTE_H

#include "base/cli.h"

#include <stdint.h>

/* What the command line says of it. */
struct remote {
    const char *url; /* NULL: judged here */
    double patience; /* seconds a server may be away; 0: not given */
    bool at_most_once;
    uint64_t replicas; /* 0: not given */
};

enum { REMOTE_URL = 700, REMOTE_PATIENCE, REMOTE_AT_MOST_ONCE, REMOTE_REPLICAS };

#define REMOTE_ROWS                                                                                \
    {"Judged by a server (the seen module in Redis or Valkey)", 0, NULL, NULL, 0},                 \
        {"redis", 0, "URL", "redis://HOST:PORT/NAME; --shards N: over NAME:{0} to {N-1}",          \
         REMOTE_URL},                                                                              \
        {"patience", 0, "SPAN", "how long a server may be away (default: 30s)", REMOTE_PATIENCE},  \
        {"at-most-once", 0, NULL, "drop what a lost connection leaves in doubt",                   \
         REMOTE_AT_MOST_ONCE},                                                                     \
    {                                                                                              \
        "replicas", 0, "N", "wait until N replicas of each server have what it has",               \
            REMOTE_REPLICAS                                                                        \
    }

/* False if the option is none of these. */
bool remote_take(struct remote *, int id, const char *value);

struct settings;

/* All options are known.  Dies where they do not go together. */
void remote_check(const struct settings *);

/* The whole run; returns the exit code. */
int remote_main(const struct settings *);

#endif
