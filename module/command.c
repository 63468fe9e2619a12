/* command.c - helpers that all commands of the module share. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

struct module_settings settings;

/* -- registering -------------------------------------------------------------------------- */

static const RedisModuleCommandInfoVersion info_version = {
    1, sizeof(RedisModuleCommandHistoryEntry), sizeof(RedisModuleCommandKeySpec),
    sizeof(RedisModuleCommandArg)};

static int describe(RedisModuleCommand *command, const struct command *row) {
    RedisModuleCommandKeySpec keys[3] = {
        {.flags = row->access, .begin_search_type = 2, .find_keys_type = 2}};
    keys[0].bs.index.pos = 1;
    keys[0].fk.range.keystep = 1;
    if (row->keys != 1) {
        keys[1] = keys[0];
        keys[1].bs.index.pos = 2;
        keys[1].flags = row->keys > 0 ? REDISMODULE_KEY_RO | REDISMODULE_KEY_ACCESS
                                      : REDISMODULE_KEY_RW | REDISMODULE_KEY_INSERT;
    }
    const RedisModuleCommandInfo info = {
        .version = &info_version,
        .summary = row->summary,
        .complexity = row->complexity,
        .since = SEEN_VERSION,
        .arity = row->arity,
        .key_specs = keys,
        .args = (RedisModuleCommandArg *)row->args, /* which it copies */
    };
    return RedisModule_SetCommandInfo(command, &info);
}

/* The server's own categories follow from the flags, but not where one names any. */
static void categorise(RedisModuleCommand *command, const struct command *row,
                       const char *category) {
    char list[64];
    if (!RedisModule_SetCommandACLCategories || !RedisModule_AddACLCategory) return;
    snprintf(list, sizeof list, "%s %s %s", category,
             strstr(row->flags, "write") ? "write" : "read",
             strstr(row->flags, "fast") ? "fast" : "slow");
    RedisModule_SetCommandACLCategories(command, list);
}

int command_register(RedisModuleCtx *ctx, const struct command *table, const char *category) {
    for (const struct command *row = table; row->name; row++) {
        if (RedisModule_CreateCommand(ctx, row->name, row->run, row->flags, 1, abs(row->keys), 1))
            return REDISMODULE_ERR;
        RedisModuleCommand *command = RedisModule_GetCommand(ctx, row->name);
        if (!command || describe(command, row)) return REDISMODULE_ERR;
        categorise(command, row, category);
    }
    return REDISMODULE_OK;
}

/* -- keys --------------------------------------------------------------------------------- */

bool command_open(RedisModuleCtx *ctx, RedisModuleString *name, int mode, bool chain,
                  struct opened *out) {
    RedisModule_AutoMemory(ctx);
    return command_open_fast(ctx, name, mode, chain, out);
}

bool command_open_fast(RedisModuleCtx *ctx, RedisModuleString *name, int mode, bool chain,
                       struct opened *out) {
    *out = (struct opened){name, RedisModule_OpenKey(ctx, name, mode), NULL};
    if (RedisModule_ModuleTypeGetType(out->key) == value_type) {
        out->value = RedisModule_ModuleTypeGetValue(out->key);
        if (out->value->load) return RedisModule_ReplyWithError(ctx, COMMAND_LOADING), false;
        if (chain == (out->value->chain.capacity > 0)) return true;
    } else if (RedisModule_KeyType(out->key) == REDISMODULE_KEYTYPE_EMPTY) {
        return true;
    }
    RedisModule_ReplyWithError(ctx, COMMAND_WRONG_TYPE);
    return false;
}

void command_changed(RedisModuleCtx *ctx, RedisModuleString *name, const char *event) {
    RedisModule_SignalModifiedKey(ctx, name);
    RedisModule_NotifyKeyspaceEvent(ctx, REDISMODULE_NOTIFY_MODULE, event, name);
}

void command_warn(RedisModuleCtx *ctx, long long *warned, const RedisModuleString *name,
                  const char *text) {
    enum { HOUR = 3600000, SHOWN = 64 };
    char shown[SHOWN + 1];
    size_t len;
    const char *bytes = RedisModule_StringPtrLen(name, &len);
    long long now = command_clock();
    if (*warned && now >= *warned && now - *warned < HOUR) return;
    *warned = now;
    if (len > SHOWN) len = SHOWN;
    for (size_t i = 0; i < len; i++) shown[i] = (unsigned char)bytes[i] < ' ' ? '?' : bytes[i];
    shown[len] = 0;
    RedisModule_Log(ctx, "warning", "key '%s': %s", shown, text);
}

/* -- time, and whom we serve --------------------------------------------------------------- */

/* Asking a command's context costs as much as the rest of a command: it is asked only while the
 * server replicates another or loads. */
static bool is_replica, loads;

static void role_changed(RedisModuleCtx *ctx, RedisModuleEvent event, uint64_t now, void *data) {
    (void)ctx, (void)event, (void)data;
    is_replica = now != REDISMODULE_ROLE_NOW_PRIMARY;
}

static void loading_changed(RedisModuleCtx *ctx, RedisModuleEvent event, uint64_t now, void *data) {
    (void)ctx, (void)event, (void)data;
    loads = now < REDISMODULE_LOADING_ENDED;
}

int command_watch_role(RedisModuleCtx *ctx) {
    int flags = RedisModule_GetContextFlags(ctx);
    is_replica = flags & REDISMODULE_CTX_FLAGS_REPLICA;
    loads = flags & REDISMODULE_CTX_FLAGS_LOADING;
    return RedisModule_SubscribeToServerEvent(
               ctx, (RedisModuleEvent){REDISMODULE_EVENT_ROLE_CHANGED, 1}, role_changed) ||
           RedisModule_SubscribeToServerEvent(ctx, (RedisModuleEvent){REDISMODULE_EVENT_LOADING, 1},
                                              loading_changed);
}

bool command_obeys(RedisModuleCtx *ctx) {
    int obeyed = REDISMODULE_CTX_FLAGS_REPLICATED | REDISMODULE_CTX_FLAGS_LOADING |
                 REDISMODULE_CTX_FLAGS_ASYNC_LOADING;
    return (is_replica || loads) && RedisModule_GetContextFlags(ctx) & obeyed;
}

/* The server's time of this command where it tells (Redis 7.2, Valkey); else the kernel's of its
 * last tick, which is some milliseconds old and costs next to nothing. */
long long command_clock(void) {
    struct timespec t;
    if (RedisModule_CachedMicroseconds) return RedisModule_CachedMicroseconds() / 1000;
    clock_gettime(CLOCK_REALTIME_COARSE, &t);
    return (long long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

bool command_time(RedisModuleCtx *ctx, const RedisModuleString *given, long long *ms) {
    if (!given || command_is(given, "*")) {
        *ms = command_clock();
        return true;
    }
    if (!RedisModule_StringToLongLong(given, ms) && *ms >= 0 && *ms <= INT64_MAX / 1000)
        return true;
    RedisModule_ReplyWithError(ctx, COMMAND_BAD_TIME);
    return false;
}

/* The clock's text changes a thousand times a second at most. */
RedisModuleString *command_clock_text(long long ms) {
    static RedisModuleString *text;
    static long long of = -1;
    if (ms == of) return text;
    if (text) RedisModule_FreeString(NULL, text);
    text = RedisModule_CreateStringFromLongLong(NULL, ms);
    of = ms;
    return text;
}

/* -- arguments and replies ---------------------------------------------------------------- */

bool command_is(const RedisModuleString *s, const char *word) {
    size_t len;
    const char *text = RedisModule_StringPtrLen(s, &len);
    return len == strlen(word) && !strncasecmp(text, word, len);
}

bool command_text(const RedisModuleString *s, char *buf, size_t cap) {
    size_t len;
    const char *text = RedisModule_StringPtrLen(s, &len);
    if (len >= cap || memchr(text, 0, len)) return false;
    memcpy(buf, text, len);
    buf[len] = 0;
    return true;
}

bool command_join(RedisModuleString **words, int n, char *buf, size_t cap) {
    size_t at = 0;
    for (int i = 0; i < n; i++) {
        if (i && at + 1 < cap) buf[at++] = ' ';
        if (!command_text(words[i], buf + at, cap - at)) return false;
        at += strlen(buf + at);
    }
    return true;
}

bool command_digest(RedisModuleCtx *ctx, const struct value *v, const RedisModuleString *item,
                    seen_digest *out) {
    size_t len;
    struct seen_error e;
    const char *bytes = RedisModule_StringPtrLen(item, &len);
    if (!seen_key(value_filter(v), bytes, len, out, &e)) return true;
    command_error(ctx, &e);
    return false;
}

int command_error(RedisModuleCtx *ctx, const struct seen_error *e) {
    char text[sizeof e->text + 8];
    snprintf(text, sizeof text, "ERR %s", e->text);
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ') *c = '?';
    return RedisModule_ReplyWithError(ctx, text);
}
