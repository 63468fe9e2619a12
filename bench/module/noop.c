/* noop.c - a module that does what every command must, and nothing else: what SEEN.ADD and
 * SEEN.MADD are measured against.  And the same with what every filter of one cache line an item
 * must do besides, hash the item and change that line: what they could reach at most. */
#include "redis_api.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define ITEMS_AT_ONCE 256
#define LINE          64

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

/* -- with a line -------------------------------------------------------------------------- */

static char *block;
static unsigned long long lines;

/* NOOP.MEMORY bytes: the block whose lines are changed from now on. */
static int memory(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    long long bytes;
    if (argc != 2) return RedisModule_WrongArity(ctx);
    if (RedisModule_StringToLongLong(argv[1], &bytes) || bytes < LINE)
        return RedisModule_ReplyWithError(ctx, "ERR bytes, a line at least");
    RedisModule_Free(block);
    block = RedisModule_TryAlloc((size_t)bytes);
    lines = block ? (unsigned long long)bytes / LINE : 0;
    if (!block) return RedisModule_ReplyWithError(ctx, "ERR no memory");
    memset(block, 1, (size_t)bytes); /* no page is to be had for the first time while measured */
    return RedisModule_ReplyWithLongLong(ctx, bytes);
}

static char *line_of(RedisModuleString *item) {
    size_t len;
    const char *bytes = RedisModule_StringPtrLen(item, &len);
    XXH128_hash_t h = XXH3_128bits_withSeed(bytes, len, lines);
    char *line = block + (h.low64 >> 32) * lines / (1ULL << 32) * LINE;
    __builtin_prefetch(line, 1);
    return line;
}

/* NOOP.LINE key item: the answer is in the line, which is on its way while the rest is done. */
static int add_line(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc != 3 || !lines) return RedisModule_WrongArity(ctx);
    RedisModuleKey *key = RedisModule_OpenKey(ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE);
    char *line = line_of(argv[2]);
    RedisModule_ReplicateVerbatim(ctx);
    RedisModule_CloseKey(key);
    return RedisModule_ReplyWithLongLong(ctx, ++*line & 1);
}

/* NOOP.MLINE key item...: lines of many are fetched together. */
static int madd_line(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    char *line[ITEMS_AT_ONCE];
    if (argc < 3 || !lines) return RedisModule_WrongArity(ctx);
    RedisModule_ReplyWithArray(ctx, argc - 2);
    for (int i = 2; i < argc; i += ITEMS_AT_ONCE) {
        int n = argc - i < ITEMS_AT_ONCE ? argc - i : ITEMS_AT_ONCE;
        for (int j = 0; j < n; j++) line[j] = line_of(argv[i + j]);
        for (int j = 0; j < n; j++) RedisModule_ReplyWithLongLong(ctx, ++*line[j] & 1);
    }
    return REDISMODULE_OK;
}

/* ----------------------------------------------------------------------------------------- */

int RedisModule_OnLoad(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    (void)argv, (void)argc;
    if (redis_api_bind(ctx)) return REDISMODULE_ERR;
    RedisModule_SetModuleAttribs(ctx, "noop", 1, REDISMODULE_APIVER_1);
    return RedisModule_CreateCommand(ctx, "noop.add", add, "write deny-oom fast", 1, 1, 1) ||
           RedisModule_CreateCommand(ctx, "noop.madd", madd, "write deny-oom", 1, 1, 1) ||
           RedisModule_CreateCommand(ctx, "noop.memory", memory, "write deny-oom", 0, 0, 0) ||
           RedisModule_CreateCommand(ctx, "noop.line", add_line, "write deny-oom fast", 1, 1, 1) ||
           RedisModule_CreateCommand(ctx, "noop.mline", madd_line, "write deny-oom", 1, 1, 1);
}
