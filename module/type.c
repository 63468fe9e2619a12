/* type.c - the data type: what the server asks of a value.
 *
 *     RDB    repeats | chunks of the bytes of persist.h | an empty chunk
 *     AOF    SEEN.LOAD of the same bytes, chunk by chunk
 */
#include "type.h"

#include "persist.h"

#include <string.h>

#define ENCODING 1
#define CHUNK    ((size_t)256 << 10)

/* -- RDB: save ---------------------------------------------------------------------------- */

/* Bytes on their way out, a chunk at a time. */
struct chunked {
    RedisModuleIO *io;
    char *buf;
    size_t at;
};

static int save_chunk(void *ctx, const void *buf, size_t len) {
    struct chunked *c = ctx;
    const char *bytes = buf;
    while (len) {
        size_t n = CHUNK - c->at < len ? CHUNK - c->at : len;
        memcpy(c->buf + c->at, bytes, n);
        c->at += n;
        bytes += n;
        len -= n;
        if (c->at < CHUNK) continue;
        RedisModule_SaveStringBuffer(c->io, c->buf, c->at);
        c->at = 0;
    }
    return 0;
}

static void rdb_save(RedisModuleIO *io, void *value) {
    struct value *v = value;
    struct chunked c = {io, RedisModule_Alloc(CHUNK), 0};
    RedisModule_SaveUnsigned(io, v->repeats);
    persist_write(v, (struct seen_writer){save_chunk, &c});
    if (c.at) RedisModule_SaveStringBuffer(io, c.buf, c.at);
    RedisModule_SaveStringBuffer(io, "", 0);
    RedisModule_Free(c.buf);
}

/* -- RDB: load ---------------------------------------------------------------------------- */

struct unchunked {
    RedisModuleIO *io;
    char *buf;
    size_t at, len;
};

static int next_chunk(struct unchunked *c) {
    RedisModule_Free(c->buf);
    c->at = c->len = 0;
    c->buf = RedisModule_LoadStringBuffer(c->io, &c->len);
    if (!c->buf) c->len = 0;
    return RedisModule_IsIOError(c->io) || !c->len;
}

static int load_chunk(void *ctx, void *buf, size_t len) {
    struct unchunked *c = ctx;
    char *out = buf;
    while (len) {
        if (c->at == c->len && next_chunk(c)) return -1;
        size_t n = c->len - c->at < len ? c->len - c->at : len;
        memcpy(out, c->buf + c->at, n);
        c->at += n;
        out += n;
        len -= n;
    }
    return 0;
}

/* Nothing may follow the value but the empty chunk. */
static bool ends(struct unchunked *c) {
    return c->at == c->len && next_chunk(c) && !RedisModule_IsIOError(c->io);
}

static void *rdb_load(RedisModuleIO *io, int encoding) {
    if (encoding != ENCODING) {
        RedisModule_LogIOError(io, "warning",
                               "seen: this value has encoding %d, from a later module", encoding);
        return NULL;
    }
    struct seen_error e;
    struct unchunked c = {.io = io};
    uint64_t repeats = RedisModule_LoadUnsigned(io);
    uint64_t limit = value_limit(RedisModule_GetContextFromIO(io));
    struct value *v = RedisModule_IsIOError(io)
                          ? NULL
                          : persist_read((struct seen_reader){load_chunk, &c}, limit, &e);
    if (v && !ends(&c)) {
        value_free(v);
        v = NULL;
        strcpy(e.text, "bytes follow the snapshot");
    }
    if (v)
        v->repeats = repeats;
    else
        RedisModule_LogIOError(io, "warning", "seen: %s",
                               RedisModule_IsIOError(io) ? "the value cannot be read" : e.text);
    RedisModule_Free(c.buf);
    return v;
}

/* -- the rest ----------------------------------------------------------------------------- */

static size_t mem_usage(const void *value) { return value_bytes(value); }

static void digest(RedisModuleDigest *d, void *value) {
    seen_digest sum = persist_digest(value);
    RedisModule_DigestAddStringBuffer(d, (const char *)&sum, sizeof sum);
    RedisModule_DigestEndSequence(d);
}

/* The server frees on a thread of its own what takes more than 64 steps; a large value goes to ours
 * whoever frees it. */
static size_t free_effort(RedisModuleString *key, const void *value) {
    (void)key;
    const struct value *v = value;
    return 1 + v->memory.bytes / 4096;
}

int type_register(RedisModuleCtx *ctx) {
    RedisModuleTypeMethods methods = {
        .version = REDISMODULE_TYPE_METHOD_VERSION,
        .rdb_load = rdb_load,
        .rdb_save = rdb_save,
        .mem_usage = mem_usage,
        .digest = digest,
        .free = value_free,
        .free_effort = free_effort,
    };
    value_type = RedisModule_CreateDataType(ctx, VALUE_TYPE, ENCODING, &methods);
    return value_type ? REDISMODULE_OK : REDISMODULE_ERR;
}
