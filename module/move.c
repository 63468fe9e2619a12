/* move.c - SEEN.DUMP and SEEN.LOAD: a filter as the bytes of a snapshot, chunk by chunk.
 *
 *     SEEN.DUMP key 0                 -> next, chunk       from there on DUMP key next, until
 *     SEEN.DUMP key next              -> 0, chunk          next is 0; the chunks are one snapshot
 *     SEEN.LOAD key next chunk        the same pairs, in the same order, make the filter again
 *
 * BF.SCANDUMP and BF.LOADCHUNK are the same, but for the end: there a pair without bytes, whose
 * cursor is 0, follows the last chunk.
 *
 * A cursor is the offset behind the chunk and, above it, the number of the dump.  Several dumps of
 * one filter may be under way.  A change ends dumps of SEEN.DUMP, which is told; BF.SCANDUMP goes
 * on. */
#include "command.h"
#include "transfer.h"

#include <stdlib.h>
#include <string.h>

#define OFFSET_BITS 40
#define DUMPS       4095 /* numbers 1 to that: cursors stay below 2^53, exact in any client */
#define BF_LAST     ((long long)1 << 52) /* of BF.*, where 0 means that all was told already */

static uint64_t offset_of(long long cursor) {
    return (uint64_t)cursor & (((uint64_t)1 << OFFSET_BITS) - 1);
}

static bool read_cursor(RedisModuleCtx *ctx, const RedisModuleString *s, long long *cursor) {
    if (!RedisModule_StringToLongLong(s, cursor) && *cursor >= 0) return true;
    RedisModule_ReplyWithError(ctx, "ERR a cursor is 0, or the number that the last call gave");
    return false;
}

/* -- DUMP --------------------------------------------------------------------------------- */

/* NULL without thread or memory. */
static struct dump *begin_dump(struct value *v) {
    static uint64_t dumps;
    struct dump *d = RedisModule_TryAlloc(sizeof *d);
    if (!d) return NULL;
    *d = (struct dump){.next = v->dumps, .version = v->version, .end = transfer_end};
    if (!transfer_dump(&d->transfer, v)) {
        RedisModule_Free(d);
        return NULL;
    }
    d->cursor = (long long)((dumps++ % DUMPS + 1) << OFFSET_BITS);
    return v->dumps = d;
}

/* The dump that goes on with `cursor`, if it may; NULL: there is none.  A chain only gains items,
 * so a dump of it may go on while others are added: it holds all that were there when it began. */
static struct dump *find_dump(struct value *v, long long cursor) {
    struct dump *d = v->dumps;
    while (d && d->cursor != cursor) d = d->next;
    if (d && !v->chain.capacity && d->version != v->version) transfer_end(&d->transfer);
    return d && d->transfer ? d : NULL;
}

static int reply_pair(RedisModuleCtx *ctx, long long cursor, const char *bytes, size_t len) {
    RedisModule_ReplyWithArray(ctx, 2);
    RedisModule_ReplyWithLongLong(ctx, cursor);
    return RedisModule_ReplyWithStringBuffer(ctx, bytes, len);
}

/* The chunk at `cursor`, and the cursor behind it: `end` after the last one. */
static int reply_chunk(RedisModuleCtx *ctx, struct value *v, long long cursor, long long end) {
    static char chunk[TRANSFER_CHUNK];
    bool last;
    value_end_dumps(v, false);
    struct dump *d = cursor ? find_dump(v, cursor) : begin_dump(v);
    if (!d && !cursor)
        return RedisModule_ReplyWithError(ctx, "ERR no thread or memory to dump the filter with");
    if (!d && v->chain.capacity) return reply_pair(ctx, 0, "", 0);
    if (!d)
        return RedisModule_ReplyWithError(
            ctx, "ERR the filter changed since this dump began, or too many others did; begin "
                 "again with cursor 0 (of a COPY, if it never rests)");
    size_t len = transfer_next(d->transfer, chunk, sizeof chunk, &last);
    d->cursor += (long long)len;
    if (last) transfer_end(&d->transfer);
    return reply_pair(ctx, last ? end : d->cursor, chunk, len);
}

static int dump(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct opened o;
    long long cursor;
    if (argc != 3) return RedisModule_WrongArity(ctx);
    if (!read_cursor(ctx, argv[2], &cursor) ||
        !command_open(ctx, argv[1], REDISMODULE_READ, false, &o))
        return REDISMODULE_OK;
    if (!o.value) return RedisModule_ReplyWithError(ctx, COMMAND_NO_KEY);
    return reply_chunk(ctx, o.value, cursor, 0);
}

static int bf_dump(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct opened o;
    long long cursor;
    if (argc != 3) return RedisModule_WrongArity(ctx);
    if (!command_open(ctx, argv[1], REDISMODULE_READ, true, &o)) return REDISMODULE_OK;
    if (!o.value) return RedisModule_ReplyWithError(ctx, "ERR not found");
    if (RedisModule_StringToLongLong(argv[2], &cursor))
        return RedisModule_ReplyWithError(ctx, "Second argument must be numeric");
    if (cursor == BF_LAST) return reply_pair(ctx, 0, "", 0);
    return reply_chunk(ctx, o.value, cursor, BF_LAST);
}

/* -- LOAD --------------------------------------------------------------------------------- */

/* What is loading at the key; a first chunk begins it.  NULL after an error reply. */
static struct value *open_load(RedisModuleCtx *ctx, RedisModuleString *name, bool first,
                               struct opened *o) {
    RedisModule_AutoMemory(ctx);
    o->key = RedisModule_OpenKey(ctx, name, REDISMODULE_READ | REDISMODULE_WRITE);
    o->value = NULL;
    if (RedisModule_ModuleTypeGetType(o->key) == value_type)
        o->value = RedisModule_ModuleTypeGetValue(o->key);
    if (o->value ? !o->value->load : RedisModule_KeyType(o->key) != REDISMODULE_KEYTYPE_EMPTY) {
        RedisModule_ReplyWithError(ctx, COMMAND_BUSY);
        return NULL;
    }
    if (o->value && !first) return o->value;
    struct value *v = load_begin(value_limit(ctx));
    if (v)
        RedisModule_ModuleTypeSetValue(o->key, value_type, v);
    else
        RedisModule_ReplyWithError(ctx, "ERR no memory for another filter");
    return v;
}

/* Nothing half loaded stays, here or on a replica. */
static void give_up(RedisModuleCtx *ctx, RedisModuleString *name, const struct opened *o) {
    RedisModule_DeleteKey(o->key);
    if (!o->value) return;
    RedisModule_Replicate(ctx, "DEL", "s", name);
    command_changed(ctx, name, "del");
}

/* False after an error reply.  *done: the whole filter, with its last chunk. */
static bool feed(RedisModuleCtx *ctx, struct value *v, long long cursor, RedisModuleString *chunk,
                 struct value **done) {
    size_t len;
    struct seen_error e;
    const char *bytes = RedisModule_StringPtrLen(chunk, &len);
    if (!load_feed(v, bytes, len, !cursor, value_limit(ctx), done, &e)) return true;
    command_error(ctx, &e);
    return false;
}

static int load_chunk(RedisModuleCtx *ctx, RedisModuleString **argv, long long cursor) {
    size_t len;
    struct opened o;
    struct value *done;
    RedisModule_StringPtrLen(argv[3], &len);
    bool first = cursor && offset_of(cursor) == len;
    struct value *v = open_load(ctx, argv[1], first, &o);
    if (!v) return REDISMODULE_OK;
    if (cursor && offset_of(cursor) != v->load->bytes + len) {
        if (!o.value) RedisModule_DeleteKey(o.key);
        return RedisModule_ReplyWithError(
            ctx, "ERR this chunk does not follow the last one; load the next, or all again");
    }
    if (!feed(ctx, v, cursor, argv[3], &done)) {
        give_up(ctx, argv[1], &o);
        return REDISMODULE_OK;
    }
    if (done) RedisModule_ModuleTypeSetValue(o.key, value_type, done);
    RedisModule_ReplicateVerbatim(ctx);
    command_changed(ctx, argv[1], "seen.load");
    return RedisModule_ReplyWithSimpleString(ctx, "OK");
}

static int load(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    long long cursor;
    if (argc != 4) return RedisModule_WrongArity(ctx);
    return read_cursor(ctx, argv[2], &cursor) ? load_chunk(ctx, argv, cursor) : REDISMODULE_OK;
}

#define FOREIGN                                                                                    \
    "this chunk is of a dump by RedisBloom, which seen cannot read; make a new filter and add "    \
    "its "                                                                                         \
    "items again (doc/migrate-redisbloom.md)"

/* RedisBloom's iterators are offsets, below any of ours.  A server that reads its own AOF goes on
 * after an error, and would begin without the filter: it must not begin. */
static int refuse_foreign(RedisModuleCtx *ctx, const RedisModuleString *name) {
    int loading = REDISMODULE_CTX_FLAGS_LOADING | REDISMODULE_CTX_FLAGS_REPLICA;
    if ((RedisModule_GetContextFlags(ctx) & loading) == REDISMODULE_CTX_FLAGS_LOADING) {
        size_t len;
        const char *key = RedisModule_StringPtrLen(name, &len);
        RedisModule_Log(ctx, "warning", "the AOF, key '%.*s': %s", (int)(len < 64 ? len : 64), key,
                        FOREIGN);
        exit(1);
    }
    return RedisModule_ReplyWithError(ctx, "ERR " FOREIGN);
}

static int bf_load(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    long long cursor;
    if (argc != 4) return RedisModule_WrongArity(ctx);
    if (RedisModule_StringToLongLong(argv[2], &cursor))
        return RedisModule_ReplyWithError(ctx, "ERR Second argument must be numeric");
    if (cursor <= 0) return RedisModule_ReplyWithError(ctx, "ERR received bad data");
    if (cursor < (long long)1 << OFFSET_BITS) return refuse_foreign(ctx, argv[1]);
    return load_chunk(ctx, argv, cursor == BF_LAST ? 0 : cursor);
}

/* ----------------------------------------------------------------------------------------- */

static const RedisModuleCommandArg dump_args[] = {COMMAND_KEY, COMMAND_INTEGER("cursor"), {0}};
static const RedisModuleCommandArg load_args[] = {
    COMMAND_KEY, COMMAND_INTEGER("next"), COMMAND_TEXT("chunk", 0), {0}};

const struct command commands_move[] = {
    {"seen.dump", dump, "readonly", 3, REDISMODULE_KEY_RO | REDISMODULE_KEY_ACCESS, 1,
     "The next chunk of a filter's snapshot, and the cursor of the one after it", "O(1) a chunk",
     dump_args},
    {"seen.load", load, "write deny-oom", 4, REDISMODULE_KEY_RW | REDISMODULE_KEY_INSERT, 1,
     "Makes a filter from the chunks of SEEN.DUMP, or of a file of the library or of seen",
     "O(1) a chunk", load_args},
    {0}};

const struct command commands_bloom_move[] = {
    {"bf.scandump", bf_dump, "readonly", 3, REDISMODULE_KEY_RO | REDISMODULE_KEY_ACCESS, 1,
     "The next chunk of a Bloom filter, and the iterator of the one after it", "O(1) a chunk",
     dump_args},
    {"bf.loadchunk", bf_load, "write deny-oom", 4, REDISMODULE_KEY_RW | REDISMODULE_KEY_INSERT, 1,
     "Makes a Bloom filter from the chunks of BF.SCANDUMP", "O(1) a chunk", load_args},
    {0}};
