/* redis_api.c - looks up the entry points of the server. */
#include "redis_api.h"

#define DEFINE(type, name, args) type(*RedisModule_##name) args;
REDIS_API(DEFINE, DEFINE)

/* The first word of the context that OnLoad gets is the server's look-up function. */
typedef int (*lookup)(const char *name, void *entry);

const char *redis_api_bind(RedisModuleCtx *ctx) {
    lookup find = *(lookup *)ctx;
    const char *missing = NULL;
#define MUST(type, name, args)                                                                     \
    if (find("RedisModule_" #name, &RedisModule_##name)) missing = #name;
#define MAY(type, name, args) find("RedisModule_" #name, &RedisModule_##name);
    REDIS_API(MUST, MAY)
    return missing;
}
