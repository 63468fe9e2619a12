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

/* -- with a line: of a block that a key of a data type holds ------------------------------- */

struct block {
    unsigned long long lines, seed;
    char *bytes;
};

static RedisModuleType *type;

static void release(void *value) {
    struct block *b = value;
    RedisModule_Free(b->bytes);
    RedisModule_Free(b);
}

/* NOOP.MEMORY key bytes: makes a block. */
static int memory(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    long long bytes;
    struct block *b = NULL;
    if (argc != 3) return RedisModule_WrongArity(ctx);
    if (RedisModule_StringToLongLong(argv[2], &bytes) || bytes < LINE)
        return RedisModule_ReplyWithError(ctx, "ERR bytes, a line at least");
    char *block = RedisModule_TryAlloc((size_t)bytes);
    if (block) b = RedisModule_TryAlloc(sizeof *b);
    if (!b) return RedisModule_ReplyWithError(ctx, "ERR no memory");
    memset(block, 1, (size_t)bytes); /* no page is to be had for the first time while measured */
    *b = (struct block){(unsigned long long)bytes / LINE, 1, block};
    RedisModuleKey *key = RedisModule_OpenKey(ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE);
    RedisModule_ModuleTypeSetValue(key, type, b);
    RedisModule_CloseKey(key);
    return RedisModule_ReplyWithLongLong(ctx, bytes);
}

/* NULL after an error reply. */
static const struct block *open_block(RedisModuleCtx *ctx, RedisModuleString *name,
                                      RedisModuleKey **key) {
    *key = RedisModule_OpenKey(ctx, name, REDISMODULE_READ | REDISMODULE_WRITE);
    if (RedisModule_ModuleTypeGetType(*key) == type) return RedisModule_ModuleTypeGetValue(*key);
    RedisModule_CloseKey(*key);
    return RedisModule_ReplyWithError(ctx, "ERR make one with NOOP.MEMORY"), NULL;
}

static char *line_of(const struct block *b, RedisModuleString *item) {
    size_t len;
    const char *bytes = RedisModule_StringPtrLen(item, &len);
    XXH128_hash_t h = XXH3_128bits_withSeed(bytes, len, b->seed);
    char *line = b->bytes + (h.low64 >> 32) * b->lines / (1ULL << 32) * LINE;
    __builtin_prefetch(line, 1);
    return line;
}

/* NOOP.LINE key item: the answer is in the line, which is on its way while the rest is done. */
static int add_line(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    RedisModuleKey *key;
    if (argc != 3) return RedisModule_WrongArity(ctx);
    const struct block *b = open_block(ctx, argv[1], &key);
    if (!b) return REDISMODULE_OK;
    char *line = line_of(b, argv[2]);
    RedisModule_ReplicateVerbatim(ctx);
    RedisModule_CloseKey(key);
    return RedisModule_ReplyWithLongLong(ctx, ++*line & 1);
}

/* NOOP.MLINE key item...: lines of many are fetched together. */
static int madd_line(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    char *line[ITEMS_AT_ONCE];
    RedisModuleKey *key;
    if (argc < 3) return RedisModule_WrongArity(ctx);
    const struct block *b = open_block(ctx, argv[1], &key);
    if (!b) return REDISMODULE_OK;
    RedisModule_ReplyWithArray(ctx, argc - 2);
    for (int i = 2; i < argc; i += ITEMS_AT_ONCE) {
        int n = argc - i < ITEMS_AT_ONCE ? argc - i : ITEMS_AT_ONCE;
        for (int j = 0; j < n; j++) line[j] = line_of(b, argv[i + j]);
        for (int j = 0; j < n; j++) RedisModule_ReplyWithLongLong(ctx, ++*line[j] & 1);
    }
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}

/* ----------------------------------------------------------------------------------------- */

int RedisModule_OnLoad(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    (void)argv, (void)argc;
    if (redis_api_bind(ctx)) return REDISMODULE_ERR;
    RedisModule_SetModuleAttribs(ctx, "noop", 1, REDISMODULE_APIVER_1);
    RedisModuleTypeMethods methods = {.version = REDISMODULE_TYPE_METHOD_VERSION, .free = release};
    type = RedisModule_CreateDataType(ctx, "noopblock", 0, &methods); /* which is never saved */
    if (!type) return REDISMODULE_ERR;
    return RedisModule_CreateCommand(ctx, "noop.add", add, "write deny-oom fast", 1, 1, 1) ||
           RedisModule_CreateCommand(ctx, "noop.madd", madd, "write deny-oom", 1, 1, 1) ||
           RedisModule_CreateCommand(ctx, "noop.memory", memory, "write deny-oom", 1, 1, 1) ||
           RedisModule_CreateCommand(ctx, "noop.line", add_line, "write deny-oom fast", 1, 1, 1) ||
           RedisModule_CreateCommand(ctx, "noop.mline", madd_line, "write deny-oom", 1, 1, 1);
}
