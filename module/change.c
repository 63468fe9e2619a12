/* change.c - SEEN.FORGET, SEEN.CLEAR. */
#include "command.h"
#include "seen_claims.h"

#define ITEMS_AT_ONCE 256

/* False after a reply: the key is to be there. */
static bool open_to_change(RedisModuleCtx *ctx, RedisModuleString *name, struct opened *o) {
    if (!command_open(ctx, name, REDISMODULE_READ | REDISMODULE_WRITE, false, o)) return false;
    if (!o->value) RedisModule_ReplyWithError(ctx, COMMAND_NO_KEY);
    return o->value;
}

static int changed(RedisModuleCtx *ctx, RedisModuleString *name, struct value *v,
                   const char *event) {
    value_changed(v);
    RedisModule_ReplicateVerbatim(ctx);
    command_changed(ctx, name, event);
    return REDISMODULE_OK;
}

/* Asked as of the last time in the window, not of now: so a replica forgets the same. */
static long long forget_items(struct value *v, RedisModuleString **item, int n,
                              struct seen_error *e) {
    seen_digest digest[ITEMS_AT_ONCE] = {0};
    uint8_t verdict[ITEMS_AT_ONCE];
    long long held = 0;
    for (int i = 0; i < n; i++) {
        size_t len;
        const char *bytes = RedisModule_StringPtrLen(item[i], &len);
        seen_key(value_filter(v), bytes, len, &digest[i], NULL);
    }
    value_query(v, (size_t)n, digest, 0, 0, verdict);
    for (int i = 0; i < n; i++) held += verdict[i] != SEEN_NEW;
    return seen_forget(value_filter(v), (size_t)n, digest, e) ? -1 : held;
}

static int forget(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct opened o;
    struct seen_error e;
    seen_digest unused;
    long long held = 0;
    if (argc < 3) return RedisModule_WrongArity(ctx);
    if (!open_to_change(ctx, argv[1], &o)) return REDISMODULE_OK;
    for (int i = 2; i < argc; i++)
        if (!command_digest(ctx, o.value, argv[i], &unused)) return REDISMODULE_OK;
    for (int i = 2; i < argc; i += ITEMS_AT_ONCE) {
        int n = argc - i < ITEMS_AT_ONCE ? argc - i : ITEMS_AT_ONCE;
        long long some = forget_items(o.value, argv + i, n, &e);
        if (some < 0) return command_error(ctx, &e); /* the structure cannot: at the first */
        held += some;
    }
    RedisModule_ReplyWithLongLong(ctx, held);
    return held ? changed(ctx, argv[1], o.value, "seen.forget") : REDISMODULE_OK;
}

static int clear(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct opened o;
    struct seen_stats s;
    struct seen_claims_stats claims;
    if (argc != 2) return RedisModule_WrongArity(ctx);
    if (!open_to_change(ctx, argv[1], &o)) return REDISMODULE_OK;
    seen_stats(value_filter(o.value), &s);
    seen_claims_stats(value_filter(o.value), &claims);
    o.value->repeats = 0;
    RedisModule_ReplyWithSimpleString(ctx, "OK");
    if (!s.records && !claims.claimed) return REDISMODULE_OK;
    seen_clear(value_filter(o.value));
    value_reborn(o.value);
    return changed(ctx, argv[1], o.value, "seen.clear");
}

/* ----------------------------------------------------------------------------------------- */

static const RedisModuleCommandArg forget_args[] = {
    COMMAND_KEY, COMMAND_TEXT("item", REDISMODULE_ARG_MULTIPLE), {0}};
static const RedisModuleCommandArg clear_args[] = {COMMAND_KEY, {0}};

const struct command commands_change[] = {
    {"seen.forget", forget, "write fast", -3, REDISMODULE_KEY_RW | REDISMODULE_KEY_DELETE, 1,
     "Takes items out; how many of them were in", "O(N) for N items", forget_args},
    {"seen.clear", clear, "write fast", 2, REDISMODULE_KEY_RW | REDISMODULE_KEY_DELETE, 1,
     "Empties a filter of any size at once", "O(1)", clear_args},
    {0}};
