/* link.c - one connection to one server.  hiredis connects and reads replies.  This file sends the
 * bytes, so that a server that went away does not end the process by SIGPIPE. */
#include "judge/redis/redis.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* -- commands ------------------------------------------------------------------------------
 *
 *     *3\r\n $8\r\nSEEN.ADD\r\n $5\r\nclick\r\n $3\r\na,b\r\n        (without the spaces)
 */

void wire_free(struct wire *w) {
    free(w->at);
    *w = (struct wire){0};
}

void wire_put(struct wire *w, const void *bytes, size_t n) {
    if (!n) return;
    if (n > w->cap - w->n) {
        size_t cap = w->cap + n + (w->cap < 4096 ? 4096 : w->cap);
        char *at = cap > n ? realloc(w->at, cap) : NULL;
        if (!at) die("out of memory for a command of %zu bytes", w->n + n);
        w->at = at;
        w->cap = cap;
    }
    memcpy(w->at + w->n, bytes, n);
    w->n += n;
}

/* "$17\r\n": digits by hand, because this is done for every record. */
static void put_head(struct wire *w, char kind, size_t value) {
    char text[24], *p = text + sizeof text;
    *--p = '\n';
    *--p = '\r';
    do *--p = (char)('0' + value % 10);
    while (value /= 10);
    *--p = kind;
    wire_put(w, p, (size_t)(text + sizeof text - p));
}

void wire_array(struct wire *w, size_t n) { put_head(w, '*', n); }

void wire_bulk(struct wire *w, const void *bytes, size_t n) {
    put_head(w, '$', n);
    wire_put(w, bytes, n);
    wire_put(w, "\r\n", 2);
}

void wire_word(struct wire *w, const char *word) { wire_bulk(w, word, strlen(word)); }

void wire_command(struct wire *w, const char *text) {
    size_t words = 0;
    for (const char *p = text; *(p += strspn(p, " ")); p += strcspn(p, " ")) words++;
    wire_array(w, words);
    for (const char *p = text; *(p += strspn(p, " ")); p += strcspn(p, " "))
        wire_bulk(w, p, strcspn(p, " "));
}

/* -- the connection ----------------------------------------------------------------------- */

static bool fail(struct link *l, const char *why) {
    snprintf(l->why, sizeof l->why, "%s", why);
    link_close(l);
    return false;
}

void link_close(struct link *l) {
    if (l->context) redisFree(l->context);
    l->context = NULL;
    l->out.n = 0;
}

/* -- opening ------------------------------------------------------------------------------ */

static bool give_password(struct link *l, const struct redis_url *login) {
    const char *words[] = {"AUTH", login->user, login->password};
    if (!login->password[0]) return true;
    wire_array(&l->out, login->user[0] ? 3 : 2);
    for (int i = 0; i < 3; i++)
        if (i != 1 || login->user[0]) wire_word(&l->out, words[i]);
    redisReply *r = link_flush(l) ? link_reply(l) : NULL;
    if (!r) return false;
    bool good = r->type == REDIS_REPLY_STATUS;
    if (!good) fail(l, r->type == REDIS_REPLY_ERROR ? r->str : "AUTH got no answer");
    freeReplyObject(r);
    return good;
}

bool link_open(struct link *l, const char *host, int port, const struct redis_url *login,
               double patience) {
    uint64_t us = (uint64_t)(patience * 1e6) + 1; /* 0 would be for ever */
    const struct timeval limit = {(time_t)(us / 1000000), (suseconds_t)(us % 1000000)};
    link_close(l);
    l->context = redisConnectWithTimeout(host, port, limit);
    if (!l->context) return fail(l, "out of memory for a connection");
    if (l->context->err) return fail(l, l->context->errstr);
    redisSetTimeout(l->context, limit);
    redisEnableKeepAlive(l->context);
    return give_password(l, login);
}

void link_probe(struct link *l) {
    char byte;
    if (!l->context) return;
    ssize_t n = recv(l->context->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    fail(l, n > 0 ? "the server spoke without being asked" : "the server closed the connection");
}

/* -- sending and receiving ---------------------------------------------------------------- */

void link_append(struct link *l, const char *command, size_t len) {
    wire_put(&l->out, command, len);
}

bool link_flush(struct link *l) {
    size_t sent = 0;
    while (sent < l->out.n) {
        ssize_t n = send(l->context->fd, l->out.at + sent, l->out.n - sent, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return fail(l, errno == EAGAIN ? "the server does not read" : strerror(errno));
        sent += (size_t)n;
    }
    l->out.n = 0;
    return true;
}

redisReply *link_reply(struct link *l) {
    void *reply = NULL;
    if (l->context && redisGetReply(l->context, &reply) == REDIS_OK && reply) return reply;
    bool slow = l->context && l->context->err == REDIS_ERR_IO && errno == EAGAIN;
    fail(l, slow ? "the server does not answer" : l->context ? l->context->errstr : "closed");
    return NULL;
}
