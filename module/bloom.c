/* bloom.c - BF.RESERVE, ADD, MADD, INSERT, EXISTS, MEXISTS, INFO and CARD, with the replies and the
 * errors that clients of RedisBloom know. */
#include "chain.h"
#include "command.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#define NOT_FOUND "ERR not found"

struct wish {
    struct chain chain;
    bool fixed, growing; /* NONSCALING, EXPANSION given */
    bool may_create;
    uint64_t seed;
    bool seeded;
};

static int fails(RedisModuleCtx *ctx, const char *error) {
    RedisModule_ReplyWithError(ctx, error);
    return REDISMODULE_ERR;
}

static void flag(RedisModuleCtx *ctx, bool yes) {
    if (RedisModule_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_RESP3)
        RedisModule_ReplyWithBool(ctx, yes);
    else
        RedisModule_ReplyWithLongLong(ctx, yes);
}

/* -- arguments ---------------------------------------------------------------------------- */

static struct wish preset(void) {
    return (struct wish){.chain = settings.chain, .may_create = true};
}

static bool read_number(const RedisModuleString *s, long long least, long long most,
                        uint64_t *out) {
    long long n;
    if (RedisModule_StringToLongLong(s, &n) || n < least || n > most) return false;
    *out = (uint64_t)n;
    return true;
}

static bool read_rate(const RedisModuleString *s, double *rate) {
    if (RedisModule_StringToDouble(s, rate) || !(*rate > 0 && *rate < 1)) return false;
    if (*rate > CHAIN_ERROR_MOST) *rate = CHAIN_ERROR_MOST;
    return true;
}

static int reserve_rate(RedisModuleCtx *ctx, const RedisModuleString *s, struct wish *w) {
    double any;
    if (RedisModule_StringToDouble(s, &any)) return fails(ctx, "ERR bad error rate");
    if (read_rate(s, &w->chain.error)) return REDISMODULE_OK;
    return fails(ctx, "ERR error rate must be in the range (0.000000, 1.000000)");
}

static int reserve_capacity(RedisModuleCtx *ctx, const RedisModuleString *s, struct wish *w) {
    long long any;
    if (RedisModule_StringToLongLong(s, &any)) return fails(ctx, "ERR bad capacity");
    if (read_number(s, 1, (long long)CHAIN_CAPACITY_MOST, &w->chain.capacity))
        return REDISMODULE_OK;
    return fails(ctx, "ERR capacity must be in the range [1, 1073741824]");
}

static int reserve_expansion(RedisModuleCtx *ctx, const RedisModuleString *s, struct wish *w) {
    long long any;
    if (RedisModule_StringToLongLong(s, &any)) return fails(ctx, "ERR bad expansion");
    if (!read_number(s, 0, CHAIN_EXPANSION_MOST, &w->chain.expansion))
        return fails(ctx, "ERR expansion must be in the range [0, 32768]");
    w->growing = w->chain.expansion > 0;
    w->fixed |= !w->growing;
    return REDISMODULE_OK;
}

/* SEED is ours: what a replica is told. */
static int reserve_option(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, int *at,
                          struct wish *w) {
    const RedisModuleString *word = argv[(*at)++];
    if (command_is(word, "NONSCALING")) {
        w->fixed = true;
        return REDISMODULE_OK;
    }
    bool seed = command_is(word, "SEED");
    if (!seed && !command_is(word, "EXPANSION"))
        return RedisModule_WrongArity(ctx), REDISMODULE_ERR;
    if (*at == argc) return fails(ctx, seed ? "ERR bad seed" : "ERR no expansion");
    const RedisModuleString *value = argv[(*at)++];
    if (!seed) return reserve_expansion(ctx, value, w);
    w->seeded = read_number(value, 0, INT64_MAX, &w->seed);
    return w->seeded ? REDISMODULE_OK : fails(ctx, "ERR bad seed");
}

static int read_reserve(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, struct wish *w) {
    if (argc < 4 || argc > 8) return RedisModule_WrongArity(ctx), REDISMODULE_ERR;
    if (reserve_rate(ctx, argv[2], w) || reserve_capacity(ctx, argv[3], w)) return REDISMODULE_ERR;
    for (int at = 4; at < argc;)
        if (reserve_option(ctx, argv, argc, &at, w)) return REDISMODULE_ERR;
    if (w->fixed && w->growing) return fails(ctx, "Nonscaling filters cannot expand");
    if (w->fixed) w->chain.expansion = 0;
    return REDISMODULE_OK;
}

/* One option of BF.INSERT; ITEMS is the caller's. */
static int insert_option(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, int *at,
                         struct wish *w) {
    const RedisModuleString *word = argv[(*at)++];
    if (command_is(word, "NOCREATE")) return w->may_create = false, REDISMODULE_OK;
    if (command_is(word, "NONSCALING")) return w->fixed = true, REDISMODULE_OK;
    bool error = command_is(word, "ERROR"), capacity = command_is(word, "CAPACITY");
    if (!error && !capacity && !command_is(word, "EXPANSION"))
        return fails(ctx, "Unknown argument received");
    if (*at == argc) return RedisModule_WrongArity(ctx), REDISMODULE_ERR;
    const RedisModuleString *value = argv[(*at)++];
    if (error) return read_rate(value, &w->chain.error) ? 0 : fails(ctx, "Bad error rate");
    if (capacity)
        return read_number(value, 1, (long long)CHAIN_CAPACITY_MOST, &w->chain.capacity)
                   ? 0
                   : fails(ctx, "Bad capacity");
    return read_number(value, 0, CHAIN_EXPANSION_MOST, &w->chain.expansion)
               ? 0
               : fails(ctx, "Bad expansion");
}

/* -- making ------------------------------------------------------------------------------- */

/* NULL after an error reply. */
static struct value *make(RedisModuleCtx *ctx, RedisModuleString *name, struct wish *w) {
    static long long warned;
    char text[sizeof(struct seen_error) + 64];
    struct seen_error e = {.code = SEEN_ENOMEM, .text = "the server has no memory for it"};
    struct value *v = value_new(&w->chain);
    bool bad = !v || (!w->seeded && getrandom(&w->seed, sizeof w->seed, 0) != sizeof w->seed);
    w->seed &= INT64_MAX;
    if (!bad && !chain_begin(v, w->seed, value_limit(ctx), &e)) return v;
    if (v) value_free(v);
    snprintf(text, sizeof text, "ERR Insufficient memory to create filter: %s", e.text);
    RedisModule_ReplyWithError(ctx, text);
    command_warn(ctx, &warned, name, text + strlen("ERR "));
    return NULL;
}

static void replicate_make(RedisModuleCtx *ctx, RedisModuleString *name, const struct wish *w) {
    char error[32];
    snprintf(error, sizeof error, "%.17g", w->chain.error);
    RedisModule_Replicate(ctx, "BF.RESERVE", "sclclcl", name, error, (long long)w->chain.capacity,
                          "EXPANSION", (long long)w->chain.expansion, "SEED", (long long)w->seed);
}

static int reserve(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct opened o;
    struct wish w = preset();
    if (read_reserve(ctx, argv, argc, &w)) return REDISMODULE_OK;
    if (!command_open(ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE, true, &o))
        return REDISMODULE_OK;
    if (o.value) return RedisModule_ReplyWithError(ctx, "ERR item exists");
    struct value *v = make(ctx, argv[1], &w);
    if (!v) return REDISMODULE_OK;
    RedisModule_ModuleTypeSetValue(o.key, value_type, v);
    replicate_make(ctx, argv[1], &w);
    command_changed(ctx, argv[1], "bf.reserve");
    return RedisModule_ReplyWithSimpleString(ctx, "OK");
}

/* -- adding ------------------------------------------------------------------------------- */

static void full(RedisModuleCtx *ctx) {
    RedisModule_ReplyWithError(ctx, "ERR non scaling filter is full");
}

static void cannot_grow(RedisModuleCtx *ctx, struct value *v, const RedisModuleString *name,
                        const struct seen_error *e) {
    char text[sizeof e->text + 64];
    snprintf(text, sizeof text, "ERR problem inserting into filter: to grow, %s", e->text);
    RedisModule_ReplyWithError(ctx, text);
    command_warn(ctx, &v->warned, name, text + strlen("ERR "));
}

/* Replies to each item; the first that finds no place ends the reply.  Returns how many replies;
 * *fresh: how many items were new. */
static long add_items(RedisModuleCtx *ctx, struct opened *o, RedisModuleString **item, int n,
                      long *fresh) {
    struct value *v = o->value;
    struct seen_error e;
    uint64_t limit = value_limit(ctx);
    *fresh = 0;
    for (int i = 0; i < n; i++) {
        size_t len;
        const char *bytes = RedisModule_StringPtrLen(item[i], &len);
        enum chain_verdict verdict = chain_add(v, bytes, len, limit, &e);
        if (verdict >= CHAIN_FULL) {
            verdict == CHAIN_FULL ? full(ctx) : cannot_grow(ctx, v, o->name, &e);
            return i + 1;
        }
        flag(ctx, verdict == CHAIN_NEW);
        *fresh += verdict == CHAIN_NEW;
    }
    return n;
}

static int add(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, int from, bool many,
               struct wish *w) {
    struct opened o;
    long fresh;
    if (!command_open(ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE, true, &o))
        return REDISMODULE_OK;
    bool made = !o.value;
    if (made && !w->may_create) return RedisModule_ReplyWithError(ctx, NOT_FOUND);
    if (made && !(o.value = make(ctx, argv[1], w))) return REDISMODULE_OK;
    if (made) RedisModule_ModuleTypeSetValue(o.key, value_type, o.value);
    if (many) RedisModule_ReplyWithArray(ctx, REDISMODULE_POSTPONED_LEN);
    long replies = add_items(ctx, &o, argv + from, argc - from, &fresh);
    if (many) RedisModule_ReplySetArrayLength(ctx, replies);
    if (made) {
        replicate_make(ctx, argv[1], w);
        RedisModule_Replicate(ctx, "BF.MADD", "sv", argv[1], argv + from, (size_t)(argc - from));
        command_changed(ctx, argv[1], "bf.reserve");
    } else if (fresh) {
        RedisModule_ReplicateVerbatim(ctx);
    }
    if (fresh) command_changed(ctx, argv[1], "bf.add");
    return REDISMODULE_OK;
}

static int add_one(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct wish w = preset();
    return argc == 3 ? add(ctx, argv, argc, 2, false, &w) : RedisModule_WrongArity(ctx);
}

static int add_many(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct wish w = preset();
    return argc >= 3 ? add(ctx, argv, argc, 2, true, &w) : RedisModule_WrongArity(ctx);
}

static int insert(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct wish w = preset();
    int at = 2;
    if (argc < 4) return RedisModule_WrongArity(ctx);
    while (at < argc && !command_is(argv[at], "ITEMS"))
        if (insert_option(ctx, argv, argc, &at, &w)) return REDISMODULE_OK;
    if (at + 1 >= argc) return RedisModule_WrongArity(ctx);
    if (w.fixed) w.chain.expansion = 0;
    return add(ctx, argv, argc, at + 1, true, &w);
}

/* -- asking ------------------------------------------------------------------------------- */

static int exists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, bool many) {
    struct opened o;
    if (many ? argc < 3 : argc != 3) return RedisModule_WrongArity(ctx);
    if (!command_open(ctx, argv[1], REDISMODULE_READ, true, &o)) return REDISMODULE_OK;
    if (many) RedisModule_ReplyWithArray(ctx, argc - 2);
    for (int i = 2; i < argc; i++) {
        size_t len;
        const char *bytes = RedisModule_StringPtrLen(argv[i], &len);
        flag(ctx, o.value && chain_has(o.value, bytes, len));
    }
    return REDISMODULE_OK;
}

static int exists_one(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    return exists(ctx, argv, argc, false);
}

static int exists_many(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    return exists(ctx, argv, argc, true);
}

static int card(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct opened o;
    if (argc != 2) return RedisModule_WrongArity(ctx);
    if (!command_open(ctx, argv[1], REDISMODULE_READ, true, &o)) return REDISMODULE_OK;
    return RedisModule_ReplyWithLongLong(ctx, o.value ? (long long)chain_items(o.value) : 0);
}

struct field {
    const char *word, *name;
    long long value; /* negative: none */
};

static void reply_field(RedisModuleCtx *ctx, const struct field *f, bool named) {
    if (named) RedisModule_ReplyWithSimpleString(ctx, f->name);
    if (f->value < 0)
        RedisModule_ReplyWithNull(ctx);
    else
        RedisModule_ReplyWithLongLong(ctx, f->value);
}

static int info(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    enum { FIELDS = 5 };
    struct opened o;
    if (argc != 2 && argc != 3) return RedisModule_WrongArity(ctx);
    if (!command_open(ctx, argv[1], REDISMODULE_READ, true, &o)) return REDISMODULE_OK;
    if (!o.value) return RedisModule_ReplyWithError(ctx, NOT_FOUND);
    const struct value *v = o.value;
    const struct field field[FIELDS] = {
        {"CAPACITY", "Capacity", (long long)chain_capacity(v)},
        {"SIZE", "Size", (long long)value_bytes(v)},
        {"FILTERS", "Number of filters", v->links},
        {"ITEMS", "Number of items inserted", (long long)chain_items(v)},
        {"EXPANSION", "Expansion rate", v->chain.expansion ? (long long)v->chain.expansion : -1},
    };
    if (argc == 2) {
        RedisModule_ReplyWithMap(ctx, FIELDS);
        for (int i = 0; i < FIELDS; i++) reply_field(ctx, &field[i], true);
        return REDISMODULE_OK;
    }
    bool resp3 = RedisModule_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_RESP3;
    for (int i = 0; i < FIELDS; i++) {
        if (!command_is(argv[2], field[i].word)) continue;
        resp3 ? RedisModule_ReplyWithMap(ctx, 1) : RedisModule_ReplyWithArray(ctx, 1);
        reply_field(ctx, &field[i], resp3);
        return REDISMODULE_OK;
    }
    return RedisModule_ReplyWithError(ctx, "Invalid information value");
}

/* As RedisBloom says it: a line of all, and one for each link. */
static int debug(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct opened o;
    char text[256];
    if (argc != 2) return RedisModule_WrongArity(ctx);
    if (!command_open(ctx, argv[1], REDISMODULE_READ, true, &o)) return REDISMODULE_OK;
    if (!o.value) return RedisModule_ReplyWithError(ctx, NOT_FOUND);
    const struct value *v = o.value;
    RedisModule_ReplyWithArray(ctx, 1 + (long)v->links);
    int len = snprintf(text, sizeof text, "size:%llu", (unsigned long long)chain_items(v));
    RedisModule_ReplyWithStringBuffer(ctx, text, (size_t)len);
    for (uint32_t i = 0; i < v->links; i++) {
        len = chain_describe(v, i, text, sizeof text);
        RedisModule_ReplyWithStringBuffer(ctx, text, (size_t)len);
    }
    return REDISMODULE_OK;
}

/* ----------------------------------------------------------------------------------------- */

#define NUMBER(text, word) COMMAND_OPTION(text, word, REDISMODULE_ARG_INTEGER)
#define TOKEN(text, word)  COMMAND_OPTION(text, word, REDISMODULE_ARG_PURE_TOKEN)

static const RedisModuleCommandArg reserve_args[] = {
    COMMAND_KEY,
    {.name = "error_rate", .type = REDISMODULE_ARG_DOUBLE, .key_spec_index = -1},
    {.name = "capacity", .type = REDISMODULE_ARG_INTEGER, .key_spec_index = -1},
    NUMBER("expansion", "EXPANSION"),
    TOKEN("nonscaling", "NONSCALING"),
    {0}};
static const RedisModuleCommandArg insert_args[] = {
    COMMAND_KEY,
    NUMBER("capacity", "CAPACITY"),
    COMMAND_OPTION("error", "ERROR", REDISMODULE_ARG_DOUBLE),
    NUMBER("expansion", "EXPANSION"),
    TOKEN("nocreate", "NOCREATE"),
    TOKEN("nonscaling", "NONSCALING"),
    {.name = "item", .key_spec_index = -1, .token = "ITEMS", .flags = REDISMODULE_ARG_MULTIPLE},
    {0}};
static const RedisModuleCommandArg item_args[] = {COMMAND_KEY, COMMAND_TEXT("item", 0), {0}};
static const RedisModuleCommandArg items_args[] = {
    COMMAND_KEY, COMMAND_TEXT("item", REDISMODULE_ARG_MULTIPLE), {0}};
static const RedisModuleCommandArg key_args[] = {COMMAND_KEY, {0}};
static const RedisModuleCommandArg info_args[] = {
    COMMAND_KEY, COMMAND_TEXT("field", REDISMODULE_ARG_OPTIONAL), {0}};

#define ADDS  (REDISMODULE_KEY_RW | REDISMODULE_KEY_ACCESS | REDISMODULE_KEY_INSERT)
#define READS (REDISMODULE_KEY_RO | REDISMODULE_KEY_ACCESS)

const struct command commands_bloom[] = {
    {"bf.reserve", reserve, "write deny-oom fast", -4, REDISMODULE_KEY_OW | REDISMODULE_KEY_INSERT,
     1, "Makes a Bloom filter", "O(1)", reserve_args},
    {"bf.add", add_one, "write deny-oom fast", 3, ADDS, 1, "Adds an item to a Bloom filter", "O(1)",
     item_args},
    {"bf.madd", add_many, "write deny-oom", -3, ADDS, 1, "Adds items to a Bloom filter",
     "O(N) for N items", items_args},
    {"bf.insert", insert, "write deny-oom", -4, ADDS, 1,
     "Adds items to a Bloom filter, which is made as asked if it is not there", "O(N) for N items",
     insert_args},
    {"bf.exists", exists_one, "readonly fast", 3, READS, 1, "Whether an item is in a Bloom filter",
     "O(1)", item_args},
    {"bf.mexists", exists_many, "readonly", -3, READS, 1, "Which items are in a Bloom filter",
     "O(N) for N items", items_args},
    {"bf.info", info, "readonly fast", -2, READS, 1, "Capacity, size, filters, items, expansion",
     "O(1)", info_args},
    {"bf.debug", debug, "readonly fast", 2, READS, 1, "The parts of a Bloom filter", "O(1)",
     key_args},
    {"bf.card", card, "readonly fast", 2, READS, 1, "How many items were added", "O(1)", key_args},
    {0}};
