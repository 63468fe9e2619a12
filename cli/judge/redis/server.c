/* server.c - reads the options and the address of --redis. */
#include "judge/redis/server.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_REPLICAS = 100, MIN_PATIENCE = 100000 /* microseconds */ };

enum { URL = 1, PATIENCE, AT_MOST_ONCE, REPLICAS };

const struct option_row server_option_rows[] = {
    {"Judged by a server (the seen module in Redis or Valkey)", 0, NULL, NULL, 0},
    {"redis", 0, "URL", "redis://HOST:PORT/NAME; --shards N: over NAME:{0} to {N-1}", URL},
    {"patience", 0, "SPAN", "how long a server may be away (default: 30s)", PATIENCE},
    {"at-most-once", 0, NULL, "drop what a lost connection leaves in doubt", AT_MOST_ONCE},
    {"replicas", 0, "N", "wait until N replicas of each server have each batch", REPLICAS},
    {0},
};

void server_take(void *options, const struct option_row *row, const char *value) {
    struct server_options *o = options;
    switch (row->id) {
    case URL: o->url = value; break;
    case PATIENCE:
        o->patience = option_span("--patience", value);
        if (o->patience < MIN_PATIENCE) die("--patience %s: give at least 100ms", value);
        break;
    case REPLICAS:
        o->replicas = option_count("--replicas", value);
        if (o->replicas > MAX_REPLICAS) die("--replicas %s: give at most %d", value, MAX_REPLICAS);
        break;
    case AT_MOST_ONCE: o->at_most_once = true; break;
    }
}

void server_check(const struct server_options *o) {
    if (!o->url && (o->patience || o->at_most_once || o->replicas))
        die("--patience, --at-most-once and --replicas are about the servers of --redis; give "
            "--redis URL");
}

/* -- the address -------------------------------------------------------------------------- */

#define FORM "redis://HOST:PORT/NAME"

static int hex(char c) {
    return isdigit((unsigned char)c)    ? c - '0'
           : isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10
                                        : -1;
}

/* Copies [from, end) and decodes %40 and the like.  Dies if the part is too long or holds a NUL. */
static void decode(char *out, size_t cap, const char *from, const char *end, const char *what) {
    size_t n = 0;
    for (const char *p = from; p < end; p++) {
        int byte = (unsigned char)*p;
        if (*p == '%') {
            int high = end - p > 2 ? hex(p[1]) : -1, low = end - p > 2 ? hex(p[2]) : -1;
            if (high < 0 || low < 0)
                die("--redis: a %% in the %s needs two hex digits: %%25", what);
            byte = high * 16 + low;
            p += 2;
        }
        if (!byte) die("--redis: the %s cannot hold a NUL", what);
        if (n + 1 >= cap) die("--redis: the %s is longer than %zu bytes", what, cap - 1);
        out[n++] = (char)byte;
    }
    out[n] = '\0';
}

static void take_host(struct redis_url *u, const char *from, const char *end) {
    const char *bracket = *from == '[' ? memchr(from, ']', (size_t)(end - from)) : NULL;
    const char *stop = bracket ? bracket + 1 : memchr(from, ':', (size_t)(end - from));
    if (u->hosts == URL_HOSTS)
        die("--redis: more than %d servers; any that answers will do", URL_HOSTS);
    char *host = u->at[u->hosts].host, *rest;
    if (!stop) stop = end;
    decode(host, sizeof u->at->host, from + !!bracket, stop - !!bracket, "host");
    long port = stop == end ? 6379 : *stop == ':' ? strtol(stop + 1, &rest, 10) : 0;
    if (!host[0] || port < 1 || port > 65535 || (stop != end && rest != end))
        die("--redis: '%.*s' is not HOST:PORT", (int)(end - from), from);
    u->at[u->hosts++].port = (int)port;
}

void server_parse_url(struct redis_url *u, const char *text) {
    const char scheme[] = "redis://", *password = getenv("REDISCLI_AUTH");
    *u = (struct redis_url){0};
    if (!strncmp(text, "rediss://", 9))
        die("--redis: no TLS here (the client library, hiredis 0.14, has none); a tunnel such as "
            "stunnel in front of the server gives it");
    if (strncmp(text, scheme, sizeof scheme - 1)) die("--redis takes " FORM ", not '%s'", text);
    const char *host = text + sizeof scheme - 1, *name = host + strcspn(host, "/");
    for (const char *p = host; p < name; p++)
        if (*p == '@') host = p + 1;
    if (host > text + sizeof scheme - 1) {
        const char *user = text + sizeof scheme - 1, *end = host - 1;
        const char *colon = memchr(user, ':', (size_t)(end - user));
        if (!colon) die("--redis: USER:PASSWORD stands before the @, or :PASSWORD alone");
        decode(u->user, sizeof u->user, user, colon, "user");
        decode(u->password, sizeof u->password, colon + 1, end, "password");
    }
    for (const char *comma; (comma = memchr(host, ',', (size_t)(name - host))); host = comma + 1)
        take_host(u, host, comma);
    take_host(u, host, name);
    if (name[0] != '/' || !name[1])
        die("--redis needs the name of a filter at the end: " FORM ", such as "
            "redis://localhost:6379/clicks");
    decode(u->name, sizeof u->name, name + 1, name + strlen(name), "name");
    if (strpbrk(u->name, "{}"))
        die("--redis: the name cannot hold { or }, which say in a cluster what goes together");
    if (!u->password[0] && password) snprintf(u->password, sizeof u->password, "%s", password);
}

/* -- a build without hiredis -------------------------------------------------------------- */

#ifndef HAVE_HIREDIS
struct server *server_open(const struct server_options *o, const struct seen_plan *plan,
                           bool adopt) {
    (void)o, (void)plan, (void)adopt;
    die("--redis: this seen was built without a Redis client; install libhiredis-dev, then "
        "meson setup --reconfigure build -Dredis=enabled, and build it again");
}
void server_close(struct server *s) { (void)s; }
void server_add(struct server *s, const char *key, size_t len, seen_digest digest, uint64_t ms) {
    (void)s, (void)key, (void)len, (void)digest, (void)ms;
}
void server_judge(struct server *s, uint8_t *verdict) { (void)s, (void)verdict; }
#endif
