/* link.h - one connection to one server: commands go out many at a time, replies come back in
 * order.  A link that failed is closed and says why; nothing on it is tried again here. */
#ifndef SEEN_LINK_H
#define SEEN_LINK_H

#include "judge/redis/server.h"

#include <hiredis/hiredis.h>

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
bool link_open(struct link *, const char *host, int port, const struct redis_url *account,
               double patience);
void link_close(struct link *);

/* Closes an idle link whose peer has closed it or has sent something that nothing asked for. */
void link_probe(struct link *);

void link_append(struct link *, const char *command, size_t len);

/* Sends everything appended.  False if that failed; some of it may still have arrived. */
bool link_flush(struct link *);

/* The next reply, freed with freeReplyObject, or NULL. */
redisReply *link_reply(struct link *);

#endif
