/* open.c - finds the filters of a stream on the server, or makes them.
 *
 * Either all shards are there or none.  With a spec, each shard must have the spec's share, so that
 * missing shards can be made.  A change of the number of shards shows in each shard's share, or in
 * a shard too many.  The share of one of n shards:
 *
 *     memory          mem/n
 *     records         N/n of a window of N: a shard's window slides with the shard's own records
 *     keys, rate      m = items/n, plus 4 sqrt(m) for the luck of the draw: a shard gets more than
 *                     that in 3 of 100,000 cases
 *
 * fp= is a rate and the same for each shard.  Windows of time stay as they are. */
#include "judge/redis/redis.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- the share of one shard --------------------------------------------------------------- */

enum { MICROSECONDS = 1000000 };

static const uint64_t usual_memory = UINT64_C(64) << 20;

static double share(double whole, double n) { return whole / n + 4 * sqrt(whole / n); }

static void set(struct seen_spec *spec, const char *name, const char *format, double value) {
    char text[64];
    struct seen_error e;
    snprintf(text, sizeof text, format, value);
    if (seen_spec_set(spec, name, text, &e)) die("%s for each shard: %s", name, e.text);
}

static void share_plan(struct seen_plan *one, const struct seen_plan *whole) {
    struct seen_spec spec = whole->asked;
    struct seen_error e;
    double n = (double)seen_spec_get_count(&whole->spec, "shards");
    if (seen_spec_get_count(&whole->spec, "shards") == 1) {
        *one = *whole;
        return;
    }
    /* An option that is unset has no value, so its share is not set either. */
    uint64_t items = seen_spec_get_count(&spec, "items"), mem = seen_spec_get_count(&spec, "mem");
    double rate = seen_spec_get_real(&spec, "rate"), seconds = (double)spec.length / MICROSECONDS;
    bool bounded = items || rate > 0 || spec.unit == SEEN_UNIT_RECORDS;
    if (!mem && !bounded) mem = usual_memory;
    if (mem) set(&spec, "mem", "%.0fKiB", floor((double)mem / n / 1024));
    if (items) set(&spec, "items", "%.0f", ceil(share((double)items, n)));
    if (rate > 0) set(&spec, "rate", "%.6g", share(rate * seconds, n) / seconds);
    set(&spec, "shards", "%.0f", 1);
    if (spec.unit == SEEN_UNIT_RECORDS) {
        uint64_t shards = seen_spec_get_count(&whole->spec, "shards");
        spec.length = (spec.length + shards - 1) / shards;
        if (seen_spec_get_count(&spec, "items") > spec.length)
            seen_spec_set_count(&spec, "items", spec.length, NULL);
    }
    if (seen_plan_make(one, &spec, &e)) die("one of %.0f shards: %s", n, e.text);
}

/* -- asking all shards at once ------------------------------------------------------------ */

struct round {
    struct wire commands;
    struct request *request;
    size_t n;
};

static void begin(struct round *r, size_t most) {
    *r = (struct round){.request = calloc(most, sizeof *r->request)};
    if (!r->request) die("out of memory for %zu commands", most);
}

/* Makes the bytes put into r->commands since the last call a command for that slot. */
static void add(struct round *r, uint16_t slot) {
    size_t at = r->n ? r->request[r->n - 1].at + r->request[r->n - 1].len : 0;
    r->request[r->n++] = (struct request){.slot = slot, .at = at, .len = r->commands.n - at};
}

static void run(struct shards *s, struct round *r) {
    if (!cluster_run(&s->cluster, &r->commands, r->request, r->n))
        die("--redis: no answer: %s", s->cluster.why);
}

static void end(struct round *r) {
    for (size_t i = 0; i < r->n; i++) freeReplyObject(r->request[i].reply);
    free(r->request);
    wire_free(&r->commands);
}

static void put(struct wire *w, const char *command, const char *key) {
    wire_array(w, 2);
    wire_word(w, command);
    wire_word(w, key);
}

/* -- what is there ------------------------------------------------------------------------ */

_Noreturn static void refuse(const char *key, const redisReply *r) {
    const char *text = r->type == REDIS_REPLY_ERROR ? r->str : "an unexpected answer";
    if (!strncmp(text, "ERR unknown command", 19))
        die("--redis: the server has no SEEN commands; load the module: "
            "redis-server --loadmodule seen.so");
    die("--redis: %s: %s", key, text);
}

/* The value of "spec" among the names and values of SEEN.INFO; NULL: there is no such key. */
static const char *spec_in(const redisReply *r, const char *key) {
    if (r->type == REDIS_REPLY_ERROR && !strncmp(r->str, "ERR no such key", 15)) return NULL;
    if (r->type == REDIS_REPLY_ARRAY)
        for (size_t i = 0; i + 1 < r->elements; i += 2) {
            const redisReply *name = r->element[i], *value = r->element[i + 1];
            if (name->str && value->str && !strcmp(name->str, "spec")) return value->str;
        }
    refuse(key, r);
}

/* True if the spec of a filter that is there stays the same when the options asked for are set in
 * it. */
static bool as_asked(const char *there, const struct seen_plan *one) {
    struct seen_spec spec, was;
    char asked[1024], ours[1024], text[1024];
    if (seen_spec_parse(&spec, there, NULL)) return false;
    was = spec;
    seen_spec_print(&one->asked, asked, sizeof asked);
    seen_spec_print(&one->spec, ours, sizeof ours);
    char *word, *rest = ours;
    for (bool first = true; (word = strsep(&rest, " ")); first = false) {
        char *value = first ? word : strchr(word, '=') + 1;
        snprintf(text, sizeof text, " %.*s", (int)(value - word), word);
        if (!first && !strstr(asked, text)) continue; /* not asked for: the plan decided */
        if (!first) value[-1] = '\0';
        if (seen_spec_set(&spec, first ? "window" : word, value, NULL)) return false;
    }
    seen_spec_print(&was, asked, sizeof asked);
    seen_spec_print(&spec, ours, sizeof ours);
    return !strcmp(asked, ours);
}

/* Asks for every shard.  Returns how many are there and marks the others as missing. */
static uint32_t look(struct shards *s, const struct seen_plan *one, bool adopt, bool *missing) {
    struct round r;
    uint32_t found = 0;
    begin(&r, s->server.shards);
    for (uint32_t i = 0; i < s->server.shards; i++)
        put(&r.commands, "SEEN.INFO", s->shard[i].key), add(&r, s->shard[i].slot);
    run(s, &r);
    for (uint32_t i = 0; i < s->server.shards; i++) {
        const char *key = s->shard[i].key, *there = spec_in(r.request[i].reply, key);
        missing[i] = !there;
        if (!there) continue;
        found++;
        if (!adopt && !as_asked(there, one))
            die("--redis: %s is '%s', which is not what was asked for; leave out -w to use it, "
                "take another name, or DEL it",
                key, there);
        char text[sizeof s->server.spec];
        struct seen_spec spec;
        struct seen_error e;
        /* Each filter has a seed of its own, which does not count. */
        const char *seed = strstr(there, " seed="), *rest = seed ? strchr(seed + 1, ' ') : NULL;
        snprintf(text, sizeof text, "%.*s%s", seed ? (int)(seed - there) : (int)strlen(there),
                 there, rest ? rest : "");
        if (seen_spec_parse(&spec, text, &e)) die("--redis: %s is '%s': %s", key, there, e.text);
        if (s->server.spec[0] && strcmp(s->server.spec, text) != 0)
            die("--redis: the shards differ: %s is '%s', and the one before '%s'", key, text,
                s->server.spec);
        snprintf(s->server.spec, sizeof s->server.spec, "%s", text);
        s->server.window = spec;
        if (spec.unit == SEEN_UNIT_RECORDS) s->server.window.length *= s->server.shards;
    }
    end(&r);
    return found;
}

static void refuse_more(struct shards *s, const char *name) {
    struct round r;
    char key[sizeof s->shard->key];
    snprintf(key, sizeof key, "%s:{%u}", name, s->server.shards);
    begin(&r, 1);
    put(&r.commands, "EXISTS", key);
    add(&r, slot_of(key));
    run(s, &r);
    if (r.request[0].reply->type == REDIS_REPLY_INTEGER && r.request[0].reply->integer)
        die("--redis: %s is there as well, so %s has more than %u shards; take as many as it was "
            "made with",
            key, name, s->server.shards);
    end(&r);
}

/* -- making ------------------------------------------------------------------------------- */

void shards_put_create(const struct shards *s, uint32_t i, struct wire *w) {
    wire_array(w, 3);
    wire_word(w, "SEEN.CREATE");
    wire_word(w, s->shard[i].key);
    wire_word(w, s->server.spec);
}

/* Another client may make the same shards at the same time. */
static void make(struct shards *s, const bool *missing) {
    struct round r;
    begin(&r, s->server.shards);
    for (uint32_t i = 0; i < s->server.shards; i++)
        if (missing[i]) shards_put_create(s, i, &r.commands), add(&r, s->shard[i].slot);
    run(s, &r);
    for (size_t i = 0; i < r.n; i++) {
        const redisReply *reply = r.request[i].reply;
        bool there = reply->type == REDIS_REPLY_ERROR && !strncmp(reply->str, "BUSYKEY", 7);
        if (reply->type != REDIS_REPLY_STATUS && !there) refuse("SEEN.CREATE", reply);
    }
    end(&r);
}

static void find_or_make(struct shards *s, const struct seen_plan *one, bool adopt) {
    const char *name = s->server.url.name;
    bool *missing = calloc(s->server.shards, sizeof *missing);
    if (!missing) die("out of memory for %u shards", s->server.shards);
    uint32_t found = look(s, one, adopt, missing);
    if (s->server.shards > 1) refuse_more(s, name);
    if (adopt && found && found < s->server.shards)
        die("--redis: %s has %u of %u shards; give the number, or the spec, that it was made with",
            name, found, s->server.shards);
    if (!found) {
        seen_spec_print(&one->asked, s->server.spec,
                        sizeof s->server.spec); /* the rest is the server's to plan */
    }
    if (found < s->server.shards) make(s, missing);
    if (found && found < s->server.shards)
        warn("%u of the %u shards of %s were gone, and are made again: what they had seen is "
             "forgotten",
             s->server.shards - found, s->server.shards, name);
    if (found < s->server.shards) s->server.spec[0] = '\0'; /* as the servers have it now */
    if (found < s->server.shards && look(s, one, adopt, missing) < s->server.shards)
        die("--redis: a shard of %s was deleted while it was made", name);
    free(missing);
}

struct server *server_open(const struct server_options *o, const struct seen_plan *whole,
                           bool adopt) {
    struct seen_plan one;
    struct shards *s = calloc(1, sizeof *s);
    if (!s) die("out of memory for a batch of commands");
    struct server *server = &s->server;
    server->shards = (uint32_t)seen_spec_get_count(&whole->spec, "shards");
    server->replicas = (unsigned)o->replicas;
    s->trusting = o->at_most_once;
    server_parse_url(&server->url, o->url);
    share_plan(&one, whole);
    s->shard = calloc(server->shards, sizeof *s->shard);
    if (!s->shard) die("out of memory for %u shards", server->shards);
    for (uint32_t i = 0; i < server->shards; i++) {
        const char *form = server->shards == 1 ? "%s" : "%s:{%u}";
        snprintf(s->shard[i].key, sizeof s->shard[i].key, form, server->url.name, i);
        s->shard[i].slot = slot_of(s->shard[i].key);
    }
    cluster_open(&s->cluster, &server->url, o->patience ? (double)o->patience * 1e-6 : 30);
    find_or_make(s, &one, adopt);
    return server;
}

void server_close(struct server *server) {
    struct shards *s = (struct shards *)server;
    if (!s) return;
    cluster_close(&s->cluster);
    wire_free(&s->keys);
    wire_free(&s->commands);
    free(s->shard);
    free(s);
}
