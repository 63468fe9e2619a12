/* command.h - what the commands share: opening keys, reading arguments, replying, replicating.
 *
 * Replication is of effects: a command that changed nothing is not replicated, one whose effect
 * depends on the time is replicated with the time it happened (AT), and one that made a filter with
 * the spec it was made with, every default and the seed included.
 */
#ifndef MODULE_COMMAND_H
#define MODULE_COMMAND_H

#include "redis_api.h"
#include "value.h"

#include <stdbool.h>

#define COMMAND_WRONG_TYPE "WRONGTYPE Operation against a key holding the wrong kind of value"
#define COMMAND_NO_KEY     "ERR no such key"
#define COMMAND_BUSY       "BUSYKEY Target key name already exists; DEL it first, or take another name"
#define COMMAND_LOADING    "ERR the filter is still being loaded; SEEN.LOAD its last chunk first"
#define COMMAND_BAD_TIME   "ERR AT takes milliseconds since 1970, or * for the server's clock"

/* One command: a row of a table. */
struct command {
    const char *name;
    RedisModuleCmdFunc run;
    const char *flags; /* as the server takes them */
    int arity;         /* words, the command's name included; negative: at least */
    uint64_t access;   /* REDISMODULE_KEY_*: what it does to its key */
    int keys;          /* 1; 2 where it reads another key; -2 where it writes to another */
    const char *summary, *complexity;
    const RedisModuleCommandArg *args;
};

/* What arguments are called. */
#define COMMAND_KEY                                                                                \
    { .name = "key", .type = REDISMODULE_ARG_KEY }
#define COMMAND_TEXT(text, how)                                                                    \
    { .name = text, .key_spec_index = -1, .flags = how }
#define COMMAND_INTEGER(text)                                                                      \
    { .name = text, .type = REDISMODULE_ARG_INTEGER, .key_spec_index = -1 }
#define COMMAND_OPTION(text, word, kind)                                                           \
    {                                                                                              \
        .name = text, .type = kind, .key_spec_index = -1, .token = word,                           \
        .flags = REDISMODULE_ARG_OPTIONAL                                                          \
    }
#define COMMAND_TIME COMMAND_OPTION("ms", "AT", REDISMODULE_ARG_UNIX_TIME)

/* The spec of filters that ADD makes, and of the chains that BF.ADD makes. */
struct module_settings {
    char spec[SPEC_TEXT_MOST];
    struct chain chain;
};
extern struct module_settings settings;

/* Registers a NULL-ended table; REDISMODULE_ERR if the server refused one. */
int command_register(RedisModuleCtx *, const struct command *table, const char *category);

/* -- the tables, each in its file --------------------------------------------------------- */

extern const struct command commands_add[], commands_ask[], commands_change[], commands_claims[],
    commands_merge[], commands_move[], commands_bloom[], commands_bloom_move[];

/* -- keys --------------------------------------------------------------------------------- */

/* What is at a key. */
struct opened {
    RedisModuleString *name;
    RedisModuleKey *key;
    struct value *value; /* NULL: no such key */
};

/* Opens a key, which the server closes after the command.  Returns false after an error reply: the
 * key holds another type, or a value of the other family of commands (SEEN.* or BF.*). */
bool command_open(RedisModuleCtx *, RedisModuleString *name, int mode, bool chain, struct opened *);

/* The same without automatic memory, which is faster.  The caller closes the key, also on failure.
 */
bool command_open_fast(RedisModuleCtx *, RedisModuleString *name, int mode, bool chain,
                       struct opened *);

/* Writes a line about a key to the server's log, at most once an hour by *warned (ms). */
void command_warn(RedisModuleCtx *, long long *warned, const RedisModuleString *name,
                  const char *text);

/* After a change: WATCH and client caches, keyspace events. */
void command_changed(RedisModuleCtx *, RedisModuleString *name, const char *event);

/* -- making and adding (add.c) ------------------------------------------------------------- */

/* A filter of this spec; NULL after an error reply. */
struct value *command_make(RedisModuleCtx *, const char *spec);

/* Replicas must have exactly the same filter, so they get the resolved spec with its seed: their
 * own settings do not matter. */
void command_replicate_create(RedisModuleCtx *, RedisModuleString *name, const struct value *);

/* After `items` were added: a filter that is short of memory says so in the server's log. */
void command_warn_if_short(RedisModuleCtx *, RedisModuleString *name, struct value *, int items);

/* -- time, and whom we serve --------------------------------------------------------------- */

/* Called at start: asks the server to report changes of its role, primary or replica. */
int command_watch_role(RedisModuleCtx *);

/* Whether this command is an effect that a primary or the AOF replays. */
bool command_obeys(RedisModuleCtx *);

/* Milliseconds since 1970, by the server's clock. */
long long command_clock(void);

/* The time that AT gives: milliseconds, or the server's clock for * and NULL.  False after an error
 * reply. */
bool command_time(RedisModuleCtx *, const RedisModuleString *given, long long *ms);

/* A time as the text that AT takes, until the next call. */
RedisModuleString *command_clock_text(long long ms);

/* -- arguments and replies ---------------------------------------------------------------- */

/* A word of the command, in any case. */
bool command_is(const RedisModuleString *, const char *word);

/* A copy with a NUL, for the engine's parsers; false if it does not fit or has a NUL of its own. */
bool command_text(const RedisModuleString *, char *buf, size_t cap);

/* n of them with a space between, as if they had been one word. */
bool command_join(RedisModuleString **, int n, char *buf, size_t cap);

/* The digest of argv's key; false after an error reply. */
bool command_digest(RedisModuleCtx *, const struct value *, const RedisModuleString *item,
                    seen_digest *);

int command_error(RedisModuleCtx *, const struct seen_error *); /* "ERR " and its text */

#endif
