/* shards.c - judges batches: one command for each shard and time, all sent before any answer is
 * read (cluster.c).
 *
 * The answer to a command may be lost with its connection after the command was carried out.  The
 * command is then sent again, and the server finds the records that the first one added: the answer
 * "seen before" is worthless, and dropping the records would lose them.  So such records are passed
 * on as UNCERTAIN and counted.  The answer "new" can always be trusted. */
#include "judge/redis/redis.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAX_REMAKES = 3 };

void server_add(struct server *server, const char *key, size_t len, seen_digest digest,
                uint64_t ms) {
    struct shards *s = (struct shards *)server;
    uint64_t n = s->server.shards, low = (digest.hi & UINT32_MAX) * n;
    uint32_t shard = (uint32_t)(((digest.hi >> 32) * n + (low >> 32)) >> 32); /* hi n / 2^64 */
    s->item[s->items++] = (struct item){s->keys.n, (uint32_t)len, shard, ms};
    wire_put(&s->keys, key, len);
}

/* -- commands ----------------------------------------------------------------------------- */

/* The time is always given, so that items can be any bytes, the word AT included. */
static void put_add(struct shards *s, size_t from, size_t to) {
    const struct item *first = &s->item[s->order[from]];
    char ms[24];
    snprintf(ms, sizeof ms, "%" PRIu64, first->ms);
    wire_array(&s->commands, 2 + (to - from) + 2);
    wire_word(&s->commands, "SEEN.MADDX");
    wire_word(&s->commands, s->shard[first->shard].key);
    for (size_t i = from; i < to; i++) {
        const struct item *item = &s->item[s->order[i]];
        wire_bulk(&s->commands, s->keys.at + item->at, item->len);
    }
    wire_word(&s->commands, "AT");
    wire_word(&s->commands, first->ms == SERVER_CLOCK ? "*" : ms);
}

static void put_commands(struct shards *s) {
    s->commands.n = s->requests = 0;
    for (size_t from = 0, to; from < s->items; from = to) {
        const struct item *first = &s->item[s->order[from]];
        for (to = from + 1; to < s->items; to++) {
            const struct item *item = &s->item[s->order[to]];
            if (item->shard != first->shard || item->ms != first->ms) break;
        }
        size_t at = s->commands.n;
        put_add(s, from, to);
        s->first[s->requests] = (uint16_t)from;
        s->request[s->requests++] = (struct request){
            .slot = s->shard[first->shard].slot, .at = at, .len = s->commands.n - at};
    }
    s->first[s->requests] = (uint16_t)s->items;
}

/* -- shards that are gone ----------------------------------------------------------------- */

/* Makes a shard again that was deleted, evicted or lost with a server, so that the command can
 * be sent once more. */
static bool remake(struct shards *s, struct request *lost) {
    uint32_t shard = s->item[s->order[s->first[lost - s->request]]].shard;
    struct request make = {.slot = lost->slot};
    struct wire command = {0};
    shards_put_create(s, shard, &command);
    make.len = command.n;
    bool done = cluster_run(&s->cluster, &command, &make, 1);
    s->server.remade +=
        done && make.reply->type == REDIS_REPLY_STATUS; /* else another client did */
    freeReplyObject(make.reply);
    freeReplyObject(lost->reply);
    lost->reply = NULL;
    wire_free(&command);
    return done;
}

static bool run(struct shards *s) {
    for (int i = 0;; i++) {
        bool again = false;
        if (!cluster_run(&s->cluster, &s->commands, s->request, s->requests)) return false;
        for (size_t r = 0; r < s->requests && i < MAX_REMAKES; r++) {
            const redisReply *reply = s->request[r].reply;
            if (reply && reply->type == REDIS_REPLY_ERROR &&
                !strncmp(reply->str, "ERR no such key", 15))
                again |= remake(s, &s->request[r]);
        }
        if (!again) return true;
    }
}

/* -- verdicts ----------------------------------------------------------------------------- */

static bool take(struct shards *s, size_t request, uint8_t *verdict) {
    const struct request *r = &s->request[request];
    size_t from = s->first[request], to = s->first[request + 1];
    bool good = r->reply && r->reply->type == REDIS_REPLY_ARRAY && r->reply->elements == to - from;
    for (size_t i = 0; good && i < to - from; i++)
        good = r->reply->element[i]->type == REDIS_REPLY_INTEGER;
    for (size_t i = from; i < to; i++) {
        bool new = good && r->reply->element[i - from]->integer == 1;
        bool known = good && (new || !r->uncertain || s->trusting);
        verdict[s->order[i]] = !known ? UNCERTAIN : new ? SEEN_NEW : SEEN_DUPLICATE;
        s->server.uncertain += !known;
        s->server.unique += known && new;
        s->server.duplicates += known && !new;
    }
    if (good || s->server.why[0]) return good;
    bool error = r->reply && r->reply->type == REDIS_REPLY_ERROR;
    snprintf(s->server.why, sizeof s->server.why, "%.290s",
             error      ? r->reply->str
             : r->reply ? "the server's answer does not fit SEEN.MADDX"
                        : s->cluster.why);
    return false;
}

/* After the first batch that the server did not answer, `why` is set and nothing more is sent. */
void server_judge(struct server *server, uint8_t *verdict) {
    struct shards *s = (struct shards *)server;
    if (server->why[0]) {
        memset(verdict, UNCERTAIN, s->items);
        server->uncertain += s->items;
        s->items = s->keys.n = 0;
        return;
    }
    uint16_t end[1025] = {0}; /* shards= has at most 1024 */
    for (size_t i = 0; i < s->items; i++) end[s->item[i].shard + 1]++;
    for (uint32_t i = 0; i < s->server.shards; i++) end[i + 1] = (uint16_t)(end[i + 1] + end[i]);
    for (size_t i = 0; i < s->items; i++) s->order[end[s->item[i].shard]++] = (uint16_t)i;
    put_commands(s);
    run(s);
    for (size_t i = 0; i < s->requests; i++) {
        take(s, i, verdict);
        freeReplyObject(s->request[i].reply);
    }
    if (server->replicas && !cluster_replicated(&s->cluster, server->replicas))
        server->unreplicated += s->items;
    server->lost = s->cluster.lost;
    server->redirected = s->cluster.redirected;
    s->items = s->keys.n = 0;
}
