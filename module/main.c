/* main.c - the module as the server loads it: arguments, settings, commands.
 *
 *     loadmodule seen.so [default SPEC] [max-bytes N] [bf no]
 *
 * The first two are settings as well, seen.default and seen.max-bytes, for CONFIG GET and SET and
 * for the server's configuration file. */
#include "command.h"
#include "memory.h"
#include "type.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SPEC_PRESET "sliding:24h fp=1e-4 mem=4MiB"
#define BYTES_LEAST 1024
#define BYTES_MOST  (1LL << 40)

__attribute__((visibility("default"))) int RedisModule_OnLoad(RedisModuleCtx *,
                                                              RedisModuleString **, int);

/* -- settings ----------------------------------------------------------------------------- */

static bool set_spec(const char *text, struct seen_error *e) {
    struct seen_spec spec;
    struct seen_plan plan;
    if (strlen(text) >= sizeof settings.spec || seen_spec_parse(&spec, text, e) ||
        seen_plan_make(&plan, &spec, e))
        return false;
    strcpy(settings.spec, text);
    return true;
}

static RedisModuleString *spec_string; /* what CONFIG GET shows; the server does not free it */

static RedisModuleString *get_spec(const char *name, void *unused) {
    (void)name, (void)unused;
    if (spec_string) RedisModule_FreeString(NULL, spec_string);
    spec_string = RedisModule_CreateString(NULL, settings.spec, strlen(settings.spec));
    return spec_string;
}

static int configure_spec(const char *name, RedisModuleString *value, void *unused,
                          RedisModuleString **error) {
    (void)name, (void)unused;
    char text[SPEC_TEXT_MOST];
    struct seen_error e = {.text = "a spec is text of at most 1023 characters"};
    if (command_text(value, text, sizeof text) && set_spec(text, &e)) return REDISMODULE_OK;
    *error = RedisModule_CreateString(NULL, e.text, strlen(e.text));
    return REDISMODULE_ERR;
}

static long long get_bytes(const char *name, void *unused) {
    (void)name, (void)unused;
    return value_bytes_most;
}

static int configure_bytes(const char *name, long long value, void *unused,
                           RedisModuleString **error) {
    (void)name, (void)unused, (void)error;
    value_bytes_most = value;
    return REDISMODULE_OK;
}

/* -- arguments ---------------------------------------------------------------------------- */

/* A size as the server's own settings have it: 64m is 64,000,000 bytes and 64mb is 64 x 1024^2, in
 * any case of letters; CONFIG SET reads seen.max-bytes so.  64MiB says the latter as well. */
static bool read_server_size(uint64_t *bytes, const char *text) {
    static const struct {
        const char *name;
        uint64_t factor;
    } units[] = {{"", 1},          {"b", 1},         {"k", 1000},       {"kb", 1 << 10},
                 {"m", 1000000},   {"mb", 1 << 20},  {"g", 1000000000}, {"gb", 1 << 30},
                 {"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}};
    char *unit;
    errno = 0;
    uint64_t number = strtoull(text, &unit, 10);
    if (*text < '0' || *text > '9' || errno) return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcasecmp(unit, units[i].name))
            return !__builtin_mul_overflow(number, units[i].factor, bytes);
    return false;
}

struct arguments {
    bool bf;
};

static bool read_argument(struct arguments *a, const RedisModuleString *name, const char *value,
                          struct seen_error *e) {
    uint64_t bytes;
    if (command_is(name, "default")) return set_spec(value, e);
    if (command_is(name, "max-bytes")) {
        bool read = read_server_size(&bytes, value);
        if (read && bytes >= BYTES_LEAST && bytes <= BYTES_MOST) {
            value_bytes_most = (long long)bytes;
            return true;
        }
        snprintf(e->text, sizeof e->text,
                 read ? "max-bytes is between 1kb and 1024gb, and '%.40s' is not"
                      : "'%.40s' is not a size; write max-bytes as in 1gb or 500mb",
                 value);
        return false;
    }
    if (command_is(name, "bf") && (!strcmp(value, "no") || !strcmp(value, "yes"))) {
        a->bf = !strcmp(value, "yes");
        return true;
    }
    snprintf(e->text, sizeof e->text, "the arguments are: default SPEC, max-bytes SIZE, bf yes|no");
    return false;
}

static int read_arguments(RedisModuleCtx *ctx, struct arguments *a, RedisModuleString **argv,
                          int argc) {
    char value[SPEC_TEXT_MOST];
    struct seen_error e = {.text = "each argument is a name and a value"};
    bool fine = argc % 2 == 0;
    for (int i = 0; i < argc && fine; i += 2)
        fine =
            command_text(argv[i + 1], value, sizeof value) && read_argument(a, argv[i], value, &e);
    if (!fine) RedisModule_Log(ctx, "warning", "%s", e.text);
    return fine ? REDISMODULE_OK : REDISMODULE_ERR;
}

/* ----------------------------------------------------------------------------------------- */

/* Another module may own the names: then they stay its own. */
static int register_bloom(RedisModuleCtx *ctx) {
    if (RedisModule_AddACLCategory) RedisModule_AddACLCategory(ctx, "bloom");
    if (command_register(ctx, commands_bloom, "bloom")) {
        RedisModule_Log(ctx, "notice", "another module has BF.*; seen leaves them alone");
        return REDISMODULE_OK;
    }
    return command_register(ctx, commands_bloom_move, "bloom");
}

static int register_all(RedisModuleCtx *ctx, const struct arguments *a) {
    char spec[SPEC_TEXT_MOST]; /* LoadConfigs sets what is not configured to its preset */
    strcpy(spec, settings.spec);
    RedisModule_SetModuleOptions(ctx, REDISMODULE_OPTIONS_HANDLE_IO_ERRORS |
                                          REDISMODULE_OPTION_NO_IMPLICIT_SIGNAL_MODIFIED);
    if (RedisModule_AddACLCategory) RedisModule_AddACLCategory(ctx, "seen");
    const struct command *tables[] = {commands_add, commands_ask, commands_change, commands_merge,
                                      commands_move};
    if (type_register(ctx) || command_watch_role(ctx)) return REDISMODULE_ERR;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (command_register(ctx, tables[i], "seen")) return REDISMODULE_ERR;
    if (a->bf && register_bloom(ctx)) return REDISMODULE_ERR;
    if (RedisModule_RegisterStringConfig(ctx, "default", spec, 0, get_spec, configure_spec, NULL,
                                         NULL) ||
        RedisModule_RegisterNumericConfig(ctx, "max-bytes", value_bytes_most, 1 << 7, BYTES_LEAST,
                                          BYTES_MOST, get_bytes, configure_bytes, NULL, NULL))
        return REDISMODULE_ERR;
    return RedisModule_LoadConfigs(ctx);
}

int RedisModule_OnLoad(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct arguments a = {.bf = true};
    const char *missing = redis_api_bind(ctx);
    if (RedisModule_IsModuleNameBusy("seen")) return REDISMODULE_ERR;
    RedisModule_SetModuleAttribs(ctx, "seen", 1, REDISMODULE_APIVER_1);
    if (missing) {
        RedisModule_Log(ctx, "warning", "this server has no %s; seen needs Redis 7.0 or Valkey",
                        missing);
        return REDISMODULE_ERR;
    }
    memory_look();
    strcpy(settings.spec, SPEC_PRESET);
    if (read_arguments(ctx, &a, argv, argc)) return REDISMODULE_ERR;
    return register_all(ctx, &a);
}
