/* open.c - the filters of a stream: found as they were asked for, or made.
 *
 * All shards must be there or none.  Who asks for a spec gets shards of that spec, so that missing
 * ones can be made; a change of the number of shards shows in each one's share, or in a shard too
 * many. */
#include "base/cli.h"
#include "judge/redis/shards.h"
#include "judge/redis/share.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* What was put into r->commands since the last one is a command for that slot. */
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

/* What is there, with what was asked for put in, is still the same. */
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

/* The seed is each filter's own. */
static void without_seed(char *out, size_t cap, const char *text) {
    const char *seed = strstr(text, " seed="), *behind = seed ? strchr(seed + 1, ' ') : NULL;
    snprintf(out, cap, "%.*s%s", seed ? (int)(seed - text) : (int)strlen(text), text,
             behind ? behind : "");
}

static void keep_spec(struct shards *s, const char *there, const char *key) {
    char text[sizeof s->spec];
    struct seen_spec spec;
    struct seen_error e;
    without_seed(text, sizeof text, there);
    if (seen_spec_parse(&spec, text, &e)) die("--redis: %s is '%s': %s", key, there, e.text);
    if (s->spec[0] && strcmp(s->spec, text) != 0)
        die("--redis: the shards differ: %s is '%s', and the one before '%s'", key, text, s->spec);
    snprintf(s->spec, sizeof s->spec, "%s", text);
    s->timed = spec.unit == SEEN_MICROSECONDS;
}

/* Looks at every shard; returns how many there are, and which is not. */
static uint32_t look(struct shards *s, const struct seen_plan *one, bool adopt, bool *missing) {
    struct round r;
    uint32_t found = 0;
    begin(&r, s->n);
    for (uint32_t i = 0; i < s->n; i++)
        put(&r.commands, "SEEN.INFO", s->shard[i].key), add(&r, s->shard[i].slot);
    run(s, &r);
    for (uint32_t i = 0; i < s->n; i++) {
        const char *key = s->shard[i].key, *there = spec_in(r.request[i].reply, key);
        missing[i] = !there;
        if (!there) continue;
        found++;
        if (!adopt && !as_asked(there, one))
            die("--redis: %s is '%s', which is not what was asked for; leave out -w to use it, "
                "take another name, or DEL it",
                key, there);
        keep_spec(s, there, key);
    }
    end(&r);
    return found;
}

static void refuse_more(struct shards *s, const char *name) {
    struct round r;
    char key[sizeof s->shard->key];
    snprintf(key, sizeof key, "%s:{%u}", name, s->n);
    begin(&r, 1);
    put(&r.commands, "EXISTS", key);
    add(&r, slot_of(key));
    run(s, &r);
    if (r.request[0].reply->type == REDIS_REPLY_INTEGER && r.request[0].reply->integer)
        die("--redis: %s is there as well, so %s has more than %u shards; take as many as it was "
            "made with",
            key, name, s->n);
    end(&r);
}

/* -- making ------------------------------------------------------------------------------- */

void shards_put_create(const struct shards *s, uint32_t i, struct wire *w) {
    wire_array(w, 3);
    wire_word(w, "SEEN.CREATE");
    wire_word(w, s->shard[i].key);
    wire_word(w, s->spec);
}

/* Another client may have been faster: that is as well. */
static void make(struct shards *s, const bool *missing) {
    struct round r;
    begin(&r, s->n);
    for (uint32_t i = 0; i < s->n; i++)
        if (missing[i]) shards_put_create(s, i, &r.commands), add(&r, s->shard[i].slot);
    run(s, &r);
    for (size_t i = 0; i < r.n; i++) {
        const redisReply *reply = r.request[i].reply;
        bool there = reply->type == REDIS_REPLY_ERROR && !strncmp(reply->str, "BUSYKEY", 7);
        if (reply->type != REDIS_REPLY_STATUS && !there) refuse("SEEN.CREATE", reply);
    }
    end(&r);
}

static void find_or_make(struct shards *s, const struct redis_url *url, const struct seen_plan *one,
                         bool adopt) {
    bool *missing = calloc(s->n, sizeof *missing);
    if (!missing) die("out of memory for %u shards", s->n);
    uint32_t found = look(s, one, adopt, missing);
    if (s->n > 1) refuse_more(s, url->name);
    if (adopt && found && found < s->n)
        die("--redis: %s has %u of %u shards; give the number, or the spec, that it was made with",
            url->name, found, s->n);
    if (!found) {
        seen_spec_print(&one->asked, s->spec,
                        sizeof s->spec); /* the rest is the server's to plan */
        s->timed = one->spec.unit == SEEN_MICROSECONDS;
    }
    if (found < s->n) make(s, missing);
    if (found && found < s->n)
        warn("%u of the %u shards of %s were gone, and are made again: what they had seen is "
             "forgotten",
             s->n - found, s->n, url->name);
    if (found < s->n) s->spec[0] = '\0'; /* as the servers have it now */
    if (found < s->n && look(s, one, adopt, missing) < s->n)
        die("--redis: a shard of %s was deleted while it was made", url->name);
    free(missing);
}

void shards_open(struct shards *s, const struct redis_url *url, const struct seen_plan *whole,
                 bool adopt, double patience) {
    struct seen_plan one;
    *s = (struct shards){.n = (uint32_t)whole->spec.shards};
    share_plan(&one, whole);
    s->shard = calloc(s->n, sizeof *s->shard);
    if (!s->shard) die("out of memory for %u shards", s->n);
    for (uint32_t i = 0; i < s->n; i++) {
        const char *form = s->n == 1 ? "%s" : "%s:{%u}";
        snprintf(s->shard[i].key, sizeof s->shard[i].key, form, url->name, i);
        s->shard[i].slot = slot_of(s->shard[i].key);
    }
    cluster_open(&s->cluster, url, patience);
    find_or_make(s, url, &one, adopt);
}

void shards_free(struct shards *s) {
    cluster_close(&s->cluster);
    wire_free(&s->keys);
    wire_free(&s->commands);
    free(s->shard);
}
