/* type.c - the data type: what the server asks of a value.
 *
 *     RDB    0 | repeats | chunks of the bytes of persist.h | an empty chunk
 *            1 | chunks loaded so far | an empty chunk
 *     AOF    SEEN.LOAD of the same chunks
 */
#include "persist.h"
#include "transfer.h"

#include <string.h>

#define ENCODING 1
#define CHUNK    TRANSFER_CHUNK

enum { WHOLE, LOADING };

/* -- RDB: save ---------------------------------------------------------------------------- */

/* Bytes on their way out, a chunk at a time. */
struct chunked {
    RedisModuleIO *io;
    RedisModuleString *key; /* of AOF */
    char *buf;
    size_t at;
    long long sent;
};

static void rdb_chunk(struct chunked *c) {
    if (c->at) RedisModule_SaveStringBuffer(c->io, c->buf, c->at);
}

static void aof_chunk(struct chunked *c, bool last) {
    c->sent += (long long)c->at;
    RedisModule_EmitAOF(c->io, "SEEN.LOAD", "slb", c->key, last ? 0LL : c->sent, c->buf, c->at);
}

/* A full chunk goes only when there is more: the last one is for the caller. */
static int save_chunk(void *ctx, const void *buf, size_t len) {
    struct chunked *c = ctx;
    const char *bytes = buf;
    while (len) {
        if (c->at == CHUNK) {
            c->key ? aof_chunk(c, false) : rdb_chunk(c);
            c->at = 0;
        }
        size_t n = CHUNK - c->at < len ? CHUNK - c->at : len;
        memcpy(c->buf + c->at, bytes, n);
        c->at += n;
        bytes += n;
        len -= n;
    }
    return 0;
}

static void rdb_save(RedisModuleIO *io, void *value) {
    struct value *v = value;
    if (v->load) {
        RedisModule_SaveUnsigned(io, LOADING);
        for (const struct load_chunk *c = load_chunks(v); c; c = c->next)
            RedisModule_SaveStringBuffer(io, c->bytes, c->len);
        RedisModule_SaveStringBuffer(io, "", 0);
        return;
    }
    struct chunked c = {.io = io, .buf = RedisModule_Alloc(CHUNK)};
    RedisModule_SaveUnsigned(io, WHOLE);
    RedisModule_SaveUnsigned(io, v->repeats);
    persist_write(v, (struct seen_writer){save_chunk, &c});
    rdb_chunk(&c);
    RedisModule_SaveStringBuffer(io, "", 0);
    RedisModule_Free(c.buf);
}

static void aof_rewrite(RedisModuleIO *io, RedisModuleString *key, void *value) {
    const struct value *v = value;
    long long sent = 0;
    if (v->load) {
        for (const struct load_chunk *c = load_chunks(v); c; c = c->next) {
            sent += (long long)c->len;
            RedisModule_EmitAOF(io, "SEEN.LOAD", "slb", key, sent, c->bytes, c->len);
        }
        return;
    }
    struct chunked c = {.io = io, .key = key, .buf = RedisModule_Alloc(CHUNK)};
    persist_write(v, (struct seen_writer){save_chunk, &c});
    aof_chunk(&c, true);
    RedisModule_Free(c.buf);
}

/* -- RDB: load ---------------------------------------------------------------------------- */

/* Bytes that come a chunk at a time, read as one stream. */
struct chunks {
    char *buf;
    size_t at, len;
    bool (*more)(struct chunks *); /* the next chunk, which may be empty; false: there is none */
};

static int read_chunks(void *ctx, void *buf, size_t len) {
    struct chunks *c = ctx;
    char *out = buf;
    while (len) {
        if (c->at == c->len && !c->more(c)) return -1;
        size_t n = c->len - c->at < len ? c->len - c->at : len;
        memcpy(out, c->buf + c->at, n);
        c->at += n;
        out += n;
        len -= n;
    }
    return 0;
}

struct unchunked {
    struct chunks c;
    RedisModuleIO *io;
};

static bool next_chunk(struct chunks *c) {
    RedisModuleIO *io = ((struct unchunked *)c)->io;
    RedisModule_Free(c->buf);
    c->at = c->len = 0;
    c->buf = RedisModule_LoadStringBuffer(io, &c->len);
    if (!c->buf) c->len = 0;
    return !RedisModule_IsIOError(io) && c->len;
}

static int fail(struct seen_error *e, const char *text) {
    *e = (struct seen_error){.code = SEEN_EFORMAT};
    strcpy(e->text, text);
    return e->code;
}

static struct value *load_whole(struct unchunked *c, uint64_t limit, struct seen_error *e) {
    uint64_t repeats = RedisModule_LoadUnsigned(c->io);
    struct value *v = persist_read((struct seen_reader){read_chunks, &c->c}, limit, e);
    if (!v) return NULL;
    v->repeats = repeats;
    bool ends = c->c.at == c->c.len && !next_chunk(&c->c); /* with the empty chunk */
    if (ends && !RedisModule_IsIOError(c->io)) return v;
    fail(e, "bytes follow the snapshot");
    value_free(v);
    return NULL;
}

static struct value *load_loading(struct unchunked *c, uint64_t limit, struct seen_error *e) {
    struct value *done, *v = load_begin(limit);
    int bad = v ? 0 : fail(e, "no memory for another filter");
    while (!bad && next_chunk(&c->c))
        bad = load_feed(v, c->c.buf, c->c.len, false, limit, &done, e);
    if (!bad && RedisModule_IsIOError(c->io)) bad = fail(e, "the chunks are cut short");
    if (!bad) return v;
    if (v) value_free(v);
    return NULL;
}

static void *rdb_load(RedisModuleIO *io, int encoding) {
    struct seen_error e;
    struct unchunked c = {{.more = next_chunk}, io};
    struct value *v = NULL;
    uint64_t limit = value_limit(RedisModule_GetContextFromIO(io));
    uint64_t state = RedisModule_LoadUnsigned(io);
    fail(&e, "this value was written by a later version of the module, or is damaged");
    if (encoding == ENCODING && !RedisModule_IsIOError(io)) {
        if (state == WHOLE) v = load_whole(&c, limit, &e);
        if (state == LOADING) v = load_loading(&c, limit, &e);
    }
    if (!v) RedisModule_LogIOError(io, "warning", "seen: %s", e.text);
    RedisModule_Free(c.c.buf);
    return v;
}

/* -- the rest ----------------------------------------------------------------------------- */

static size_t mem_usage(const void *value) { return value_bytes(value); }

static void digest(RedisModuleDigest *d, void *value) {
    const struct value *v = value;
    if (v->load) {
        for (const struct load_chunk *c = load_chunks(v); c; c = c->next)
            RedisModule_DigestAddStringBuffer(d, c->bytes, c->len);
        return;
    }
    seen_digest sum = persist_digest(value);
    RedisModule_DigestAddStringBuffer(d, (const char *)&sum, sizeof sum);
    RedisModule_DigestEndSequence(d);
}

/* In one call, though the server would grant more: a link is copied in microseconds or not at all,
 * and links are few. */
static int defrag(RedisModuleDefragCtx *ctx, RedisModuleString *key, void **value) {
    (void)key;
    *value = value_move(*value, ctx);
    return 0;
}

/* -- COPY: one transfer out is read back in ------------------------------------------------- */

struct copying {
    struct chunks c;
    struct transfer *out;
    bool last;
};

static bool next_of_copy(struct chunks *c) {
    struct copying *from = (struct copying *)c;
    if (from->last) return false;
    c->len = transfer_next(from->out, c->buf, CHUNK, &from->last);
    c->at = 0;
    return true;
}

static void *copy(RedisModuleString *from, RedisModuleString *to, const void *value) {
    (void)from, (void)to;
    const struct value *v = value;
    struct seen_error e;
    struct copying c = {.c = {.buf = RedisModule_TryAlloc(CHUNK), .more = next_of_copy}};
    struct value *made = NULL;
    if (c.c.buf && !v->load && transfer_dump(&c.out, v)) {
        made = persist_read((struct seen_reader){read_chunks, &c.c}, 0, &e);
        transfer_end(&c.out);
    }
    if (made) made->repeats = v->repeats;
    RedisModule_Free(c.c.buf);
    return made;
}

int type_register(RedisModuleCtx *ctx) {
    RedisModuleTypeMethods methods = {
        .version = REDISMODULE_TYPE_METHOD_VERSION,
        .rdb_load = rdb_load,
        .rdb_save = rdb_save,
        .aof_rewrite = aof_rewrite,
        .copy = copy,
        .mem_usage = mem_usage,
        .digest = digest,
        .free = value_free,
        .defrag = defrag,
    };
    value_type = RedisModule_CreateDataType(ctx, VALUE_TYPE, ENCODING, &methods);
    return value_type ? REDISMODULE_OK : REDISMODULE_ERR;
}
