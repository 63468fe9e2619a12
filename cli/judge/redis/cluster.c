/* cluster.c - many commands at once, each to the server that owns its key. */
#include "judge/redis/redis.h"

#include "time/time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_NODES = 4096, FREE_ROUNDS = 3 };

static const double shortest_pause = 0.01, longest_pause = 0.5, longest_silence = 5; /* seconds */

/* The cluster specification: CRC16 (XMODEM: polynomial 0x1021, from 0) of the key modulo 16,384.
 * If the key has a {tag} that is not empty, only the tag counts. */
uint16_t slot_of(const char *key) {
    const char *open = strchr(key, '{'), *close = open ? strchr(open + 1, '}') : NULL;
    const char *from = close && close > open + 1 ? open + 1 : key;
    const char *end = from == key ? key + strlen(key) : close;
    uint16_t crc = 0;
    for (const char *p = from; p < end; p++) {
        crc = (uint16_t)(crc ^ (unsigned char)*p << 8);
        for (int bit = 0; bit < 8; bit++) crc = (uint16_t)(crc << 1 ^ (crc >> 15 ? 0x1021 : 0));
    }
    return crc % SLOTS;
}

static void trouble(struct cluster *c, const struct node *node, const char *why) {
    snprintf(c->why, sizeof c->why, "%.40s:%d: %.190s", node->host, node->port, why);
    c->halted = true;
}

/* -- nodes -------------------------------------------------------------------------------- */

/* The node at that address, which is added if it is new; -1 if the address cannot be right. */
static int node_at(struct cluster *c, const char *host, long port) {
    if (!host[0] || strlen(host) >= sizeof c->node->host || port < 1 || port > 65535) return -1;
    for (int i = 0; i < c->nodes; i++)
        if (c->node[i].port == port && !strcmp(c->node[i].host, host)) return i;
    if (c->nodes == MAX_NODES) return -1;
    struct node *node = realloc(c->node, (size_t)(c->nodes + 1) * sizeof *node);
    if (!node) die("out of memory for %d servers", c->nodes + 1);
    c->node = node;
    c->node[c->nodes] = (struct node){.port = (int)port};
    snprintf(c->node[c->nodes].host, sizeof node->host, "%s", host);
    return c->nodes++;
}

/* The link to a node, opened if need be; NULL if the node cannot be reached.  Each node is tried
 * once a round. */
static struct link *link_to(struct cluster *c, struct node *node) {
    if (!node->probed) link_probe(&node->link);
    node->probed = true;
    double silence = c->patience < longest_silence ? c->patience : longest_silence;
    if (!node->link.context && !node->away)
        node->away = !link_open(&node->link, node->host, node->port, &c->url, silence);
    if (node->link.context) return &node->link;
    trouble(c, node, node->link.why);
    return NULL;
}

static void begin_round(struct cluster *c) {
    for (int i = 0; i < c->nodes; i++) c->node[i].probed = c->node[i].away = false;
}

/* -- who owns what ------------------------------------------------------------------------ */

static redisReply *element(const redisReply *r, size_t i, int type) {
    bool there = r && r->type == REDIS_REPLY_ARRAY && i < r->elements;
    return there && r->element[i]->type == type ? r->element[i] : NULL;
}

/* Takes one row of CLUSTER SLOTS: first and last slot, then [address, port, ...] of the
 * primary.  An empty address means the server that answered. */
static bool take_range(struct cluster *c, const redisReply *row, int teller) {
    const redisReply *first = element(row, 0, REDIS_REPLY_INTEGER);
    const redisReply *last = element(row, 1, REDIS_REPLY_INTEGER);
    const redisReply *primary = element(row, 2, REDIS_REPLY_ARRAY);
    const redisReply *host = element(primary, 0, REDIS_REPLY_STRING);
    const redisReply *port = element(primary, 1, REDIS_REPLY_INTEGER);
    if (!first || !last || !port || first->integer < 0 || last->integer >= SLOTS) return false;
    char address[256];
    snprintf(address, sizeof address, "%s", host && host->len ? host->str : c->node[teller].host);
    int owner = node_at(c, address, port->integer);
    for (long long s = first->integer; s <= last->integer; s++) c->owner[s] = (int16_t)owner;
    return owner >= 0;
}

/* Takes the answer to CLUSTER SLOTS.  A server without cluster mode owns all slots. */
static bool take_answer(struct cluster *c, const redisReply *r, int teller) {
    if (r->type == REDIS_REPLY_ERROR && !c->sharded && strncmp(r->str, "LOADING", 7) &&
        strncmp(r->str, "NOAUTH", 6)) {
        for (int slot = 0; slot < SLOTS; slot++) c->owner[slot] = (int16_t)teller;
        return true;
    }
    if (r->type == REDIS_REPLY_ERROR) return trouble(c, &c->node[teller], r->str), false;
    c->sharded = true;
    bool good = r->type == REDIS_REPLY_ARRAY && r->elements > 0;
    if (good) memset(c->owner, 0xff, sizeof c->owner);
    for (size_t i = 0; good && i < r->elements; i++) good = take_range(c, r->element[i], teller);
    if (!good) trouble(c, &c->node[teller], "it does not say who owns what");
    return good;
}

static bool ask_for_map(struct cluster *c, int teller) {
    struct link *l = link_to(c, &c->node[teller]);
    if (!l) return false;
    wire_command(&l->out, "CLUSTER SLOTS");
    redisReply *r = link_flush(l) ? link_reply(l) : NULL;
    if (!r) return trouble(c, &c->node[teller], l->why), false;
    bool good = take_answer(c, r, teller);
    freeReplyObject(r);
    return good;
}

/* Asks each server in turn, so that a server that is cut off from the others cannot mislead the
 * run for long. */
static bool refresh(struct cluster *c) {
    int known = c->nodes;
    begin_round(c);
    for (int i = 0; i < known && !signals_stop(); i++) {
        int teller = c->asked++ % known;
        if (!ask_for_map(c, teller)) continue;
        c->stale = false;
        return true;
    }
    return false;
}

/* -- one round ---------------------------------------------------------------------------- */

static void send_one(struct cluster *c, const struct wire *bytes, struct request *r) {
    int to = r->ask >= 0 ? r->ask : c->owner[r->slot];
    struct link *l = to >= 0 ? link_to(c, &c->node[to]) : NULL;
    r->node = -1;
    if (!l) {
        if (to < 0) snprintf(c->why, sizeof c->why, "no server owns slot %d", r->slot);
        c->stale = c->halted = true;
        r->ask = -1;
        return;
    }
    if (r->ask >= 0) wire_command(&l->out, "ASKING");
    link_append(l, bytes->at + r->at, r->len);
    c->node[to].used = true;
    r->node = to;
}

static bool begins(const redisReply *r, const char *word) {
    return !strncmp(r->str, word, strlen(word));
}

/* The node that "MOVED 3999 10.0.0.7:6381" names.  An empty address means the server that
 * answered. */
static int named_node(struct cluster *c, const redisReply *r, int teller) {
    const char *address = strrchr(r->str, ' ') + 1, *colon = strrchr(address, ':');
    char host[256];
    if (!colon || colon - address >= (ptrdiff_t)sizeof host) return -1;
    snprintf(host, sizeof host, "%.*s", (int)(colon - address), address);
    if (!host[0]) snprintf(host, sizeof host, "%s", c->node[teller].host);
    return node_at(c, host, strtol(colon + 1, NULL, 10));
}

/* True: the reply is a redirection or a delay.  This has noted where the request is sent again. */
static bool redirected(struct cluster *c, struct request *r, const redisReply *reply) {
    static const char *const later[] = {"TRYAGAIN",   "CLUSTERDOWN", "LOADING", "MASTERDOWN",
                                        "NOREPLICAS", "READONLY",    "BUSY "};
    if (reply->type != REDIS_REPLY_ERROR) return false;
    bool moved = begins(reply, "MOVED "), ask = begins(reply, "ASK ");
    if (moved || ask) {
        int to = named_node(c, reply, r->node);
        if (to < 0) return false;
        if (ask) r->ask = to;
        if (moved) c->owner[r->slot] = (int16_t)to, c->stale = c->sharded = true;
        c->redirected++;
        return true;
    }
    for (size_t i = 0; i < sizeof later / sizeof *later; i++) {
        if (!begins(reply, later[i])) continue;
        trouble(c, &c->node[r->node], reply->str);
        c->stale = true;
        return true;
    }
    return false;
}

static void receive_one(struct cluster *c, struct request *r) {
    struct node *node = &c->node[r->node];
    bool asking = r->ask >= 0, open = node->link.context;
    redisReply *reply = open ? link_reply(&node->link) : NULL;
    if (reply && asking) { /* the first reply is that of ASKING */
        freeReplyObject(reply);
        reply = link_reply(&node->link);
    }
    r->ask = -1;
    if (!reply) {
        c->lost += open;
        r->uncertain = true;
        c->stale = true;
        trouble(c, node, node->link.why);
    } else if (redirected(c, r, reply)) {
        freeReplyObject(reply);
    } else {
        r->reply = reply;
    }
}

/* Everything goes out before anything is read, so that all servers work at once.  Returns how many
 * requests are still without a reply. */
static size_t round_trip(struct cluster *c, const struct wire *bytes, struct request *r, size_t n) {
    size_t left = 0;
    begin_round(c);
    for (size_t i = 0; i < n; i++)
        if (!r[i].reply) send_one(c, bytes, &r[i]);
    for (int i = 0; i < c->nodes; i++)
        if (c->node[i].link.context && c->node[i].link.out.n && !link_flush(&c->node[i].link))
            c->lost++;
    for (size_t i = 0; i < n; i++) {
        if (!r[i].reply && r[i].node >= 0) receive_one(c, &r[i]);
        left += !r[i].reply;
    }
    return left;
}

/* -- all rounds --------------------------------------------------------------------------- */

bool cluster_run(struct cluster *c, const struct wire *bytes, struct request *r, size_t n) {
    double until = time_monotonic() + c->patience, pause = shortest_pause;
    for (size_t i = 0; i < n; i++) r[i].node = r[i].ask = -1;
    c->halted = false;
    for (int round = 0; round_trip(c, bytes, r, n); round++) {
        if (c->stale && c->sharded) refresh(c);
        if (signals_stop() || time_monotonic() > until) return false;
        if (!c->halted && round < FREE_ROUNDS) continue; /* merely sent elsewhere */
        struct timespec t = {.tv_nsec = (long)(pause * 1e9)};
        nanosleep(&t, NULL); /* a signal ends it */
        pause = 2 * pause < longest_pause ? 2 * pause : longest_pause;
        c->halted = false;
    }
    return true;
}

bool cluster_replicated(struct cluster *c, unsigned replicas) {
    char wait[64];
    bool all = true;
    snprintf(wait, sizeof wait, "WAIT %u 250", replicas);
    for (int i = 0; i < c->nodes; i++) {
        struct link *l = &c->node[i].link;
        if (c->node[i].used && l->context) wire_command(&l->out, wait), link_flush(l);
    }
    for (int i = 0; i < c->nodes; i++) {
        struct link *l = &c->node[i].link;
        if (!c->node[i].used) continue;
        redisReply *r = l->context ? link_reply(l) : NULL;
        all &= r && r->type == REDIS_REPLY_INTEGER && r->integer >= replicas;
        freeReplyObject(r);
        c->node[i].used = false;
    }
    return all;
}

void cluster_open(struct cluster *c, const struct redis_url *url, double patience) {
    *c = (struct cluster){.url = *url, .patience = patience};
    for (int i = 0; i < url->hosts; i++) node_at(c, url->at[i].host, url->at[i].port);
    if (!refresh(c))
        die("--redis: cannot talk to %s; start the server, or correct HOST and PORT", c->why);
}

void cluster_close(struct cluster *c) {
    for (int i = 0; i < c->nodes; i++) {
        link_close(&c->node[i].link);
        wire_free(&c->node[i].link.out);
    }
    free(c->node);
    c->node = NULL;
    c->nodes = 0;
}
