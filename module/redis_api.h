/* redis_api.h - the entry points of a Redis or Valkey server that this module uses.
 *
 * No package ships the servers' own header, so these are declarations of our own, after the public
 * reference of the module API.  Servers of both families export every name under the prefix
 * RedisModule_; redis_api_bind() looks each up when the module is loaded.  Those listed as MAY are
 * younger than Redis 7.0: they stay NULL where a server has none, and callers ask before they call.
 */
#ifndef REDIS_API_H
#define REDIS_API_H

#include <stddef.h>
#include <stdint.h>

typedef struct RedisModuleCtx RedisModuleCtx;
typedef struct RedisModuleKey RedisModuleKey;
typedef struct RedisModuleString RedisModuleString;
typedef struct RedisModuleType RedisModuleType;
typedef struct RedisModuleIO RedisModuleIO;
typedef struct RedisModuleDigest RedisModuleDigest;
typedef struct RedisModuleDefragCtx RedisModuleDefragCtx;
typedef struct RedisModuleCommand RedisModuleCommand;
typedef struct RedisModuleCallReply RedisModuleCallReply;

enum { REDISMODULE_OK, REDISMODULE_ERR, REDISMODULE_APIVER_1 = 1 };
enum { REDISMODULE_POSTPONED_LEN = -1 };
enum { REDISMODULE_READ = 1, REDISMODULE_WRITE = 2 };
enum { REDISMODULE_KEYTYPE_EMPTY = 0, REDISMODULE_KEYTYPE_MODULE = 6 };
enum { REDISMODULE_REPLY_STRING = 0 }; /* of a call */
enum { REDISMODULE_NOTIFY_GENERIC = 1 << 2, REDISMODULE_NOTIFY_MODULE = 1 << 13 };
enum {
    REDISMODULE_CTX_FLAGS_REPLICA = 1 << 3,
    REDISMODULE_CTX_FLAGS_REPLICATED = 1 << 12,
    REDISMODULE_CTX_FLAGS_LOADING = 1 << 13,
    REDISMODULE_CTX_FLAGS_RESP3 = 1 << 22,
    REDISMODULE_CTX_FLAGS_ASYNC_LOADING = 1 << 23,
};
enum {
    REDISMODULE_OPTIONS_HANDLE_IO_ERRORS = 1 << 0,
    REDISMODULE_OPTION_NO_IMPLICIT_SIGNAL_MODIFIED = 1 << 1,
};

typedef struct {
    uint64_t id, dataver;
} RedisModuleEvent;
enum { REDISMODULE_EVENT_ROLE_CHANGED = 0, REDISMODULE_EVENT_LOADING = 3 };
enum { REDISMODULE_ROLE_NOW_PRIMARY = 0, REDISMODULE_LOADING_ENDED = 3 };
typedef void (*RedisModuleEventCallback)(RedisModuleCtx *, RedisModuleEvent, uint64_t sub, void *);

/* -- a data type -------------------------------------------------------------------------- */

#define REDISMODULE_TYPE_METHOD_VERSION 3 /* of Redis 6.2 and later: up to defrag */

typedef struct {
    uint64_t version;
    void *(*rdb_load)(RedisModuleIO *, int encver);
    void (*rdb_save)(RedisModuleIO *, void *value);
    void (*aof_rewrite)(RedisModuleIO *, RedisModuleString *key, void *value);
    size_t (*mem_usage)(const void *value);
    void (*digest)(RedisModuleDigest *, void *value);
    void (*free)(void *value);
    int (*aux_load)(RedisModuleIO *, int encver, int when);
    void (*aux_save)(RedisModuleIO *, int when);
    int aux_save_triggers;
    size_t (*free_effort)(RedisModuleString *key, const void *value);
    void (*unlink)(RedisModuleString *key, const void *value);
    void *(*copy)(RedisModuleString *from, RedisModuleString *to, const void *value);
    int (*defrag)(RedisModuleDefragCtx *, RedisModuleString *key, void **value);
} RedisModuleTypeMethods;

/* -- what COMMAND DOCS tells -------------------------------------------------------------- */

enum {
    REDISMODULE_ARG_STRING,
    REDISMODULE_ARG_INTEGER,
    REDISMODULE_ARG_DOUBLE,
    REDISMODULE_ARG_KEY,
    REDISMODULE_ARG_UNIX_TIME = 5,
    REDISMODULE_ARG_PURE_TOKEN,
};
enum { REDISMODULE_ARG_OPTIONAL = 1, REDISMODULE_ARG_MULTIPLE = 2 };
enum {
    REDISMODULE_KEY_RO = 1 << 0,
    REDISMODULE_KEY_RW = 1 << 1,
    REDISMODULE_KEY_OW = 1 << 2,
    REDISMODULE_KEY_ACCESS = 1 << 4,
    REDISMODULE_KEY_UPDATE = 1 << 5,
    REDISMODULE_KEY_INSERT = 1 << 6,
    REDISMODULE_KEY_DELETE = 1 << 7,
};

typedef struct RedisModuleCommandArg {
    const char *name;
    int type, key_spec_index;
    const char *token, *summary, *since;
    int flags;
    const char *deprecated_since;
    struct RedisModuleCommandArg *subargs;
    const char *display_text;
} RedisModuleCommandArg;

typedef struct {
    const char *since, *changes;
} RedisModuleCommandHistoryEntry;

typedef struct {
    const char *notes;
    uint64_t flags;
    int begin_search_type; /* 2: by index */
    union {
        struct {
            int pos;
        } index;
        struct {
            const char *keyword;
            int startfrom;
        } keyword;
    } bs;
    int find_keys_type; /* 2: a range */
    union {
        struct {
            int lastkey, keystep, limit;
        } range;
        struct {
            int keynumidx, firstkey, keystep;
        } keynum;
    } fk;
} RedisModuleCommandKeySpec;

typedef struct {
    int version;
    size_t sizeof_historyentry, sizeof_keyspec, sizeof_arg;
} RedisModuleCommandInfoVersion;

typedef struct {
    const RedisModuleCommandInfoVersion *version;
    const char *summary, *complexity, *since;
    RedisModuleCommandHistoryEntry *history;
    const char *tips;
    int arity;
    RedisModuleCommandKeySpec *key_specs;
    RedisModuleCommandArg *args;
} RedisModuleCommandInfo;

typedef int (*RedisModuleCmdFunc)(RedisModuleCtx *, RedisModuleString **argv, int argc);
typedef RedisModuleString *(*RedisModuleGetString)(const char *name, void *);
typedef int (*RedisModuleSetString)(const char *name, RedisModuleString *, void *,
                                    RedisModuleString **error);
typedef long long (*RedisModuleGetNumber)(const char *name, void *);
typedef int (*RedisModuleSetNumber)(const char *name, long long, void *, RedisModuleString **error);
typedef int (*RedisModuleApply)(RedisModuleCtx *, void *, RedisModuleString **error);

/* -- the entry points: MUST or MAY, what they return, name, arguments ---------------------- */

#define REDIS_API(MUST, MAY)                                                                       \
    MUST(void *, Alloc, (size_t))                                                                  \
    MUST(void *, TryAlloc, (size_t))                                                               \
    MUST(void, Free, (void *))                                                                     \
    MUST(size_t, MallocSize, (void *))                                                             \
    MUST(float, GetUsedMemoryRatio, (void))                                                        \
    MUST(void, Log, (RedisModuleCtx *, const char *level, const char *format, ...))                \
    MUST(void, SetModuleAttribs, (RedisModuleCtx *, const char *name, int version, int api))       \
    MUST(int, IsModuleNameBusy, (const char *name))                                                \
    MUST(void, SetModuleOptions, (RedisModuleCtx *, int options))                                  \
    MUST(int, GetContextFlags, (RedisModuleCtx *))                                                 \
    MAY(long long, CachedMicroseconds, (void))                                                     \
    MUST(int, SubscribeToServerEvent,                                                              \
         (RedisModuleCtx *, RedisModuleEvent, RedisModuleEventCallback))                           \
                                                                                                   \
    MUST(int, CreateCommand,                                                                       \
         (RedisModuleCtx *, const char *name, RedisModuleCmdFunc, const char *flags, int first,    \
          int last, int step))                                                                     \
    MUST(RedisModuleCommand *, GetCommand, (RedisModuleCtx *, const char *name))                   \
    MUST(int, SetCommandInfo, (RedisModuleCommand *, const RedisModuleCommandInfo *))              \
    MAY(int, SetCommandACLCategories, (RedisModuleCommand *, const char *categories))              \
    MAY(int, AddACLCategory, (RedisModuleCtx *, const char *name))                                 \
    MUST(int, RegisterStringConfig,                                                                \
         (RedisModuleCtx *, const char *name, const char *preset, unsigned flags,                  \
          RedisModuleGetString, RedisModuleSetString, RedisModuleApply, void *))                   \
    MUST(int, RegisterNumericConfig,                                                               \
         (RedisModuleCtx *, const char *name, long long preset, unsigned flags, long long min,     \
          long long max, RedisModuleGetNumber, RedisModuleSetNumber, RedisModuleApply, void *))    \
    MUST(int, LoadConfigs, (RedisModuleCtx *))                                                     \
                                                                                                   \
    MUST(int, WrongArity, (RedisModuleCtx *))                                                      \
    MUST(int, ReplyWithError, (RedisModuleCtx *, const char *))                                    \
    MUST(int, ReplyWithLongLong, (RedisModuleCtx *, long long))                                    \
    MUST(int, ReplyWithBool, (RedisModuleCtx *, int))                                              \
    MUST(int, ReplyWithDouble, (RedisModuleCtx *, double))                                         \
    MUST(int, ReplyWithNull, (RedisModuleCtx *))                                                   \
    MUST(int, ReplyWithSimpleString, (RedisModuleCtx *, const char *))                             \
    MUST(int, ReplyWithStringBuffer, (RedisModuleCtx *, const char *, size_t))                     \
    MUST(int, ReplyWithArray, (RedisModuleCtx *, long))                                            \
    MUST(int, ReplyWithMap, (RedisModuleCtx *, long))                                              \
    MUST(void, ReplySetArrayLength, (RedisModuleCtx *, long))                                      \
                                                                                                   \
    MUST(const char *, StringPtrLen, (const RedisModuleString *, size_t *))                        \
    MUST(int, StringToLongLong, (const RedisModuleString *, long long *))                          \
    MUST(int, StringToDouble, (const RedisModuleString *, double *))                               \
    MUST(RedisModuleString *, CreateString, (RedisModuleCtx *, const char *, size_t))              \
    MUST(RedisModuleString *, CreateStringFromLongLong, (RedisModuleCtx *, long long))             \
    MUST(void, FreeString, (RedisModuleCtx *, RedisModuleString *))                                \
    MUST(RedisModuleString *, HoldString, (RedisModuleCtx *, RedisModuleString *))                 \
                                                                                                   \
    MUST(RedisModuleKey *, OpenKey, (RedisModuleCtx *, RedisModuleString *, int mode))             \
    MUST(void, AutoMemory, (RedisModuleCtx *))                                                     \
    MUST(void, CloseKey, (RedisModuleKey *))                                                       \
    MUST(int, KeyType, (RedisModuleKey *))                                                         \
    MUST(int, DeleteKey, (RedisModuleKey *))                                                       \
    MUST(RedisModuleType *, ModuleTypeGetType, (RedisModuleKey *))                                 \
    MUST(void *, ModuleTypeGetValue, (RedisModuleKey *))                                           \
    MUST(int, ModuleTypeSetValue, (RedisModuleKey *, RedisModuleType *, void *))                   \
    MUST(int, SignalModifiedKey, (RedisModuleCtx *, RedisModuleString *))                          \
    MUST(int, NotifyKeyspaceEvent,                                                                 \
         (RedisModuleCtx *, int type, const char *event, RedisModuleString *key))                  \
    MUST(int, Replicate, (RedisModuleCtx *, const char *command, const char *format, ...))         \
    MUST(int, ReplicateVerbatim, (RedisModuleCtx *))                                               \
    MUST(RedisModuleCallReply *, Call,                                                             \
         (RedisModuleCtx *, const char *command, const char *format, ...))                         \
    MUST(int, CallReplyType, (RedisModuleCallReply *))                                             \
    MUST(int, ReplyWithCallReply, (RedisModuleCtx *, RedisModuleCallReply *))                      \
    MUST(void, FreeCallReply, (RedisModuleCallReply *))                                            \
                                                                                                   \
    MUST(RedisModuleType *, CreateDataType,                                                        \
         (RedisModuleCtx *, const char *name, int encver, RedisModuleTypeMethods *))               \
    MUST(void, SaveUnsigned, (RedisModuleIO *, uint64_t))                                          \
    MUST(uint64_t, LoadUnsigned, (RedisModuleIO *))                                                \
    MUST(void, SaveStringBuffer, (RedisModuleIO *, const char *, size_t))                          \
    MUST(char *, LoadStringBuffer, (RedisModuleIO *, size_t *))                                    \
    MUST(int, IsIOError, (RedisModuleIO *))                                                        \
    MUST(RedisModuleCtx *, GetContextFromIO, (RedisModuleIO *))                                    \
    MUST(void, LogIOError, (RedisModuleIO *, const char *level, const char *format, ...))          \
    MUST(void, EmitAOF, (RedisModuleIO *, const char *command, const char *format, ...))           \
    MUST(void, DigestAddStringBuffer, (RedisModuleDigest *, const char *, size_t))                 \
    MUST(void, DigestEndSequence, (RedisModuleDigest *))                                           \
    MUST(void *, DefragAlloc, (RedisModuleDefragCtx *, void *))

#define REDIS_API_DECLARE(type, name, args) extern type(*RedisModule_##name) args;
REDIS_API(REDIS_API_DECLARE, REDIS_API_DECLARE)
#undef REDIS_API_DECLARE

/* Fills them in; NULL, or the name of one that the server lacks and the module needs. */
const char *redis_api_bind(RedisModuleCtx *);

#endif
