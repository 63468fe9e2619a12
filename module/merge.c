/* merge.c - SEEN.MERGE: what one filter has seen enters another, a piece with each call.
 *
 *     SEEN.MERGE key source           -> cursor        from there on with the cursor, until
 *     SEEN.MERGE key source cursor    -> 0             it is 0
 *
 * So no call holds the server long.  `key` works on between calls; `source` must not change, since
 * in most structures its keys would move.  A cursor holds the version of the source, the life of
 * the filter it belongs to, and where the engine goes on (struct seen_merging).  It is signed, so
 * that clients cannot make one up.  Replicas get the same pieces, and trust them. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define STEPS   256 /* lines or keys a call; replicas of another version must do as many */
#define WORDS   (sizeof((struct seen_merging *)0)->opaque / sizeof(uint64_t))
#define NUMBERS (WORDS + 3)
#define TEXT    (NUMBERS * 17)

struct cursor {
    uint64_t version, life; /* of the source; of the filter */
    struct seen_merging at;
    uint64_t signature; /* of all others */
};

static uint64_t signature_of(const struct cursor *c) {
    static uint64_t secret;
    uint64_t all[] = {c->version, c->life, seen_hash(&c->at, sizeof c->at, 0).lo};
    if (!secret && getrandom(&secret, sizeof secret, 0) != sizeof secret) secret = 1;
    return seen_hash(all, sizeof all, secret).lo;
}

/* A merge that has not begun is all zero. */
static bool has_begun(const struct cursor *c) {
    static const struct seen_merging none;
    return memcmp(&c->at, &none, sizeof none) != 0;
}

/* -- as text ------------------------------------------------------------------------------ */

static void numbers_of(struct cursor *c, uint64_t *number[NUMBERS]) {
    number[0] = &c->version, number[1] = &c->life;
    for (size_t i = 0; i < WORDS; i++) number[2 + i] = &c->at.opaque[i];
    number[NUMBERS - 1] = &c->signature;
}

static bool parse(struct cursor *c, const char *text) {
    uint64_t *number[NUMBERS];
    numbers_of(c, number);
    for (size_t i = 0; i < NUMBERS; i++) {
        size_t digits = strspn(text, "0123456789abcdef");
        if (digits < 1 || digits > 16 || text[digits] != (i + 1 < NUMBERS ? '-' : 0)) return false;
        *number[i] = strtoull(text, NULL, 16);
        text += digits + 1;
    }
    return has_begun(c);
}

/* -- the command -------------------------------------------------------------------------- */

/* False after an error reply.  Without a cursor, or with 0, a merge begins. */
static bool read_cursor(RedisModuleCtx *ctx, const RedisModuleString *given,
                        const struct value *into, const struct value *from, struct cursor *c) {
    char text[TEXT];
    *c = (struct cursor){.version = from->version, .life = into->life};
    if (!given || command_is(given, "0")) return true;
    if (!command_text(given, text, sizeof text) || !parse(c, text) ||
        (c->signature != signature_of(c) && !command_obeys(ctx))) {
        RedisModule_ReplyWithError(ctx,
                                   "ERR a cursor is 0, or what the last call on this server gave");
        return false;
    }
    if ((c->version == from->version && c->life == into->life) || command_obeys(ctx)) return true;
    RedisModule_ReplyWithError(ctx, "ERR the source changed since this merge began, or one of the "
                                    "filters was made again; begin again without a cursor (from a "
                                    "COPY, if it never rests)");
    return false;
}

static int merge_piece(RedisModuleCtx *ctx, RedisModuleString *name, struct value *into,
                       const struct value *from, struct cursor *c) {
    struct seen_error e;
    int more = seen_merge_some(value_filter(into), value_filter(from), STEPS, &c->at, &e);
    if (more < 0) return command_error(ctx, &e);
    if (from->last > into->last) into->last = from->last;
    value_changed(into);
    RedisModule_ReplicateVerbatim(ctx);
    command_changed(ctx, name, "seen.merge");
    if (!more) return RedisModule_ReplyWithStringBuffer(ctx, "0", 1);
    char text[TEXT], *end = text;
    uint64_t *number[NUMBERS];
    numbers_of(c, number);
    c->signature = signature_of(c);
    for (size_t i = 0; i < NUMBERS; i++)
        end += sprintf(end, "%s%llx", i ? "-" : "", (unsigned long long)*number[i]);
    return RedisModule_ReplyWithStringBuffer(ctx, text, strlen(text));
}

static int merge(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct opened into, from;
    struct cursor c;
    struct seen_stats source;
    if (argc < 3 || argc > 4) return RedisModule_WrongArity(ctx);
    if (!command_open(ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE, false, &into) ||
        !command_open(ctx, argv[2], REDISMODULE_READ, false, &from))
        return REDISMODULE_OK;
    if (!into.value || !from.value) return RedisModule_ReplyWithError(ctx, COMMAND_NO_KEY);
    if (!read_cursor(ctx, argc > 3 ? argv[3] : NULL, into.value, from.value, &c))
        return REDISMODULE_OK;
    if (!has_begun(&c)) {
        seen_stats(value_filter(from.value), &source);
        if (!source.records) return RedisModule_ReplyWithStringBuffer(ctx, "0", 1);
    }
    return merge_piece(ctx, argv[1], into.value, from.value, &c);
}

static const RedisModuleCommandArg merge_args[] = {COMMAND_KEY,
                                                   {.name = "source", .type = REDISMODULE_ARG_KEY},
                                                   COMMAND_TEXT("cursor", REDISMODULE_ARG_OPTIONAL),
                                                   {0}};

const struct command commands_merge[] = {{"seen.merge", merge, "write deny-oom", -3,
                                          REDISMODULE_KEY_RW | REDISMODULE_KEY_UPDATE, 2,
                                          "What a filter has seen enters another of the same spec "
                                          "and seed; again with the cursor, till 0",
                                          "O(1) a call", merge_args},
                                         {0}};
