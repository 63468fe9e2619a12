/* main.c - the module as the server loads it: arguments, settings, commands.
 *
 *     loadmodule seen.so [default SPEC] [max-bytes SIZE] [bf no]
 *                        [bf-error-rate RATE] [bf-initial-size N] [bf-expansion-factor N]
 *
 * All but bf are settings as well, seen.default and so on, for CONFIG GET and SET and for the
 * server's configuration file.  CONFIG REWRITE writes arguments without quotes: so the words of a
 * spec may be several arguments, up to the name of the next one. */
#include "chain.h"
#include "command.h"
#include "memory.h"
#include "persist.h"

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

/* What CONFIG GET shows.  The server reads it before it asks again, and does not free it. */
static RedisModuleString *shown(const char *text) {
    static RedisModuleString *string;
    if (string) RedisModule_FreeString(NULL, string);
    string = RedisModule_CreateString(NULL, text, strlen(text));
    return string;
}

static RedisModuleString *get_spec(const char *name, void *unused) {
    (void)name, (void)unused;
    return shown(settings.spec);
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

/* A size as the server's own settings have it: 64m is 64,000,000 bytes and 64mb is 64 x 1024^2, in
 * any case of letters.  64MiB says the latter as well. */
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

static bool set_bytes(const char *text, struct seen_error *e) {
    uint64_t bytes;
    bool read = read_server_size(&bytes, text);
    if (read && bytes >= BYTES_LEAST && bytes <= BYTES_MOST) {
        value_bytes_most = (long long)bytes;
        return true;
    }
    snprintf(e->text, sizeof e->text,
             read ? "max-bytes is between 1kb and 1024gb, and '%.40s' is not"
                  : "'%.40s' is not a size; write max-bytes as in 1gb or 500mb",
             text);
    return false;
}

static RedisModuleString *get_bytes(const char *name, void *unused) {
    (void)name, (void)unused;
    char text[32];
    snprintf(text, sizeof text, "%lld", value_bytes_most);
    return shown(text);
}

static int configure_bytes(const char *name, RedisModuleString *value, void *unused,
                           RedisModuleString **error) {
    (void)name, (void)unused;
    char text[64];
    struct seen_error e = {.text = "max-bytes is a size such as 1gb or 500mb"};
    if (command_text(value, text, sizeof text) && set_bytes(text, &e)) return REDISMODULE_OK;
    *error = RedisModule_CreateString(NULL, e.text, strlen(e.text));
    return REDISMODULE_ERR;
}

/* What BF.ADD and BF.INSERT make of a missing key, by the names that RedisBloom has for it. */
static bool set_error_rate(const char *text, struct seen_error *e) {
    char *end;
    double rate = strtod(text, &end);
    if (end != text && !*end && rate > 0 && rate < 1) {
        settings.chain.error = rate < CHAIN_ERROR_MOST ? rate : CHAIN_ERROR_MOST;
        return true;
    }
    snprintf(e->text, sizeof e->text, "bf-error-rate is between 0 and 1, and '%.40s' is not", text);
    return false;
}

static bool set_count(const char *name, const char *text, uint64_t least, uint64_t most,
                      uint64_t *count, struct seen_error *e) {
    char *end;
    errno = 0;
    uint64_t n = strtoull(text, &end, 10);
    if (*text >= '0' && *text <= '9' && !*end && !errno && n >= least && n <= most) {
        *count = n;
        return true;
    }
    snprintf(e->text, sizeof e->text, "%s is between %llu and %llu, and '%.40s' is not", name,
             (unsigned long long)least, (unsigned long long)most, text);
    return false;
}

static RedisModuleString *get_rate(const char *name, void *unused) {
    (void)name, (void)unused;
    char text[32];
    snprintf(text, sizeof text, "%.15g", settings.chain.error);
    return shown(text);
}

static int configure_rate(const char *name, RedisModuleString *value, void *unused,
                          RedisModuleString **error) {
    (void)name, (void)unused;
    char text[64];
    struct seen_error e = {.text = "bf-error-rate is a number between 0 and 1"};
    if (command_text(value, text, sizeof text) && set_error_rate(text, &e)) return REDISMODULE_OK;
    *error = RedisModule_CreateString(NULL, e.text, strlen(e.text));
    return REDISMODULE_ERR;
}

static long long get_count(const char *name, void *count) {
    (void)name;
    return (long long)*(uint64_t *)count;
}

static int configure_count(const char *name, long long value, void *count,
                           RedisModuleString **error) {
    (void)name, (void)error;
    *(uint64_t *)count = (uint64_t)value;
    return REDISMODULE_OK;
}

/* -- arguments ---------------------------------------------------------------------------- */

struct arguments {
    bool bf;
};

/* ERROR_RATE and INITIAL_SIZE are what RedisBloom called them before its version 8. */
static const char *const argument_names[] = {
    "default",    "max-bytes",       "bf",           "bf-error-rate",
    "ERROR_RATE", "bf-initial-size", "INITIAL_SIZE", "bf-expansion-factor"};
enum { DEFAULT, MAX_BYTES, BF, RATE, OLD_RATE, SIZE, OLD_SIZE, EXPANSION, ARGUMENTS };

static int argument_of(const RedisModuleString *word) {
    int i = 0;
    while (i < ARGUMENTS && !command_is(word, argument_names[i])) i++;
    return i;
}

static bool read_argument(struct arguments *a, int which, const char *value, struct seen_error *e) {
    struct chain *chain = &settings.chain;
    if (which == DEFAULT) return set_spec(value, e);
    if (which == MAX_BYTES) return set_bytes(value, e);
    if (which == RATE || which == OLD_RATE) return set_error_rate(value, e);
    if (which == SIZE || which == OLD_SIZE)
        return set_count("bf-initial-size", value, 1, CHAIN_CAPACITY_MOST, &chain->capacity, e);
    if (which == EXPANSION)
        return set_count("bf-expansion-factor", value, 0, CHAIN_EXPANSION_MOST, &chain->expansion,
                         e);
    if (which == BF && (!strcmp(value, "no") || !strcmp(value, "yes"))) {
        a->bf = !strcmp(value, "yes");
        return true;
    }
    snprintf(e->text, sizeof e->text,
             "the arguments are: default SPEC, max-bytes SIZE, bf yes|no, bf-error-rate RATE, "
             "bf-initial-size N, bf-expansion-factor N");
    return false;
}

static int read_arguments(RedisModuleCtx *ctx, struct arguments *a, RedisModuleString **argv,
                          int argc) {
    char value[SPEC_TEXT_MOST];
    struct seen_error e = {.text = "each argument is a name and a value"};
    bool fine = true;
    for (int i = 0, words; i < argc && fine; i += 1 + words) {
        int which = argument_of(argv[i]);
        words = i + 1 < argc;
        while (which == DEFAULT && i + 1 + words < argc &&
               argument_of(argv[i + 1 + words]) == ARGUMENTS)
            words++;
        fine = words && command_join(argv + i + 1, words, value, sizeof value) &&
               read_argument(a, which, value, &e);
    }
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

static int register_bloom_settings(RedisModuleCtx *ctx) {
    char rate[32];
    struct chain *chain = &settings.chain;
    snprintf(rate, sizeof rate, "%.15g", chain->error);
    return RedisModule_RegisterStringConfig(ctx, "bf-error-rate", rate, 0, get_rate, configure_rate,
                                            NULL, NULL) ||
           RedisModule_RegisterNumericConfig(ctx, "bf-initial-size", (long long)chain->capacity, 0,
                                             1, (long long)CHAIN_CAPACITY_MOST, get_count,
                                             configure_count, NULL, &chain->capacity) ||
           RedisModule_RegisterNumericConfig(
               ctx, "bf-expansion-factor", (long long)chain->expansion, 0, 0, CHAIN_EXPANSION_MOST,
               get_count, configure_count, NULL, &chain->expansion);
}

static int register_all(RedisModuleCtx *ctx, const struct arguments *a) {
    char spec[SPEC_TEXT_MOST]; /* LoadConfigs sets what is not configured to its preset */
    char bytes[32];
    strcpy(spec, settings.spec);
    snprintf(bytes, sizeof bytes, "%lld", value_bytes_most);
    RedisModule_SetModuleOptions(ctx, REDISMODULE_OPTIONS_HANDLE_IO_ERRORS |
                                          REDISMODULE_OPTION_NO_IMPLICIT_SIGNAL_MODIFIED);
    if (RedisModule_AddACLCategory) RedisModule_AddACLCategory(ctx, "seen");
    const struct command *tables[] = {commands_add,    commands_ask,   commands_change,
                                      commands_claims, commands_merge, commands_move};
    if (type_register(ctx) || command_watch_role(ctx)) return REDISMODULE_ERR;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (command_register(ctx, tables[i], "seen")) return REDISMODULE_ERR;
    if (a->bf && register_bloom(ctx)) return REDISMODULE_ERR;
    if (a->bf && register_bloom_settings(ctx)) return REDISMODULE_ERR;
    if (RedisModule_RegisterStringConfig(ctx, "default", spec, 0, get_spec, configure_spec, NULL,
                                         NULL) ||
        RedisModule_RegisterStringConfig(ctx, "max-bytes", bytes, 0, get_bytes, configure_bytes,
                                         NULL, NULL))
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
    settings.chain = (struct chain){CHAIN_ERROR, CHAIN_CAPACITY, CHAIN_GROWTH};
    if (read_arguments(ctx, &a, argv, argc)) return REDISMODULE_ERR;
    return register_all(ctx, &a);
}
