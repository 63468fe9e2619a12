/* url.h - where the filter is: redis://[USER:PASSWORD@]HOST[:PORT][,HOST[:PORT]]/NAME. */
#ifndef SEEN_URL_H
#define SEEN_URL_H

#include <stdbool.h>

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

/* Bytes that an address cannot hold as they are are written %40; an address of six has brackets:
 * [::1].  A password can be left to REDISCLI_AUTH, which other processes do not see.  Dies, saying
 * what is wrong. */
void url_parse(struct redis_url *, const char *text);

#endif
