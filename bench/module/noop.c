/* noop.c - a module that does what every command must, and nothing else: what SEEN.ADD and
 * SEEN.MADD are measured against. */
#include "redis_api.h"

__attribute__((visibility("default"))) int RedisModule_OnLoad(RedisModuleCtx *,
                                                              RedisModuleString **, int);

/* NOOP.ADD key item: opens the key for writing, replicates its arguments, answers 1. */
static int add(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc != 3) return RedisModule_WrongArity(ctx);
    RedisModuleKey *key = RedisModule_OpenKey(ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE);
    RedisModule_ReplicateVerbatim(ctx);
    RedisModule_CloseKey(key);
    return RedisModule_ReplyWithLongLong(ctx, 1);
}

/* NOOP.MADD key item...: answers 1 for each item. */
static int madd(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    (void)argv;
    if (argc < 3) return RedisModule_WrongArity(ctx);
    RedisModule_ReplyWithArray(ctx, argc - 2);
    for (int i = 2; i < argc; i++) RedisModule_ReplyWithLongLong(ctx, 1);
    return REDISMODULE_OK;
}

int RedisModule_OnLoad(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    (void)argv, (void)argc;
    if (redis_api_bind(ctx)) return REDISMODULE_ERR;
    RedisModule_SetModuleAttribs(ctx, "noop", 1, REDISMODULE_APIVER_1);
    return RedisModule_CreateCommand(ctx, "noop.add", add, "write deny-oom fast", 1, 1, 1) ||
           RedisModule_CreateCommand(ctx, "noop.madd", madd, "write deny-oom", 1, 1, 1);
}
