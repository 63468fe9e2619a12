/* add.c - SEEN.CREATE, SEEN.ADD, SEEN.MADD, SEEN.MADDX. */
#include "command.h"

#include <stdio.h>
#include <string.h>

#define ITEMS_AT_ONCE 256

/* -- making ------------------------------------------------------------------------------- */

struct value *command_make(RedisModuleCtx *ctx, const char *text) {
    struct seen_error e = {.text = "no memory for another filter"};
    const struct seen_plan *plan = value_plan(text, value_limit(ctx), &e);
    struct value *v = plan ? value_new(&(struct chain){0}) : NULL;
    if (v && !value_make(v, plan, value_limit(ctx), &e)) return v;
    if (v) value_free(v);
    return command_error(ctx, &e), NULL;
}

void command_replicate_create(RedisModuleCtx *ctx, RedisModuleString *name, const struct value *v) {
    char spec[SPEC_TEXT_MOST];
    seen_spec_print(seen_spec_of(value_filter(v)), spec, sizeof spec);
    RedisModule_Replicate(ctx, "SEEN.CREATE", "sc", name, spec);
}

static int create(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct opened o;
    char text[SPEC_TEXT_MOST];
    if (argc < 3) return RedisModule_WrongArity(ctx);
    if (!command_join(argv + 2, argc - 2, text, sizeof text))
        return RedisModule_ReplyWithError(ctx, "ERR a spec is text of at most 1023 characters");
    RedisModule_AutoMemory(ctx);
    o.key = RedisModule_OpenKey(ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE);
    if (RedisModule_KeyType(o.key) != REDISMODULE_KEYTYPE_EMPTY)
        return RedisModule_ReplyWithError(ctx, COMMAND_BUSY);
    o.value = command_make(ctx, text);
    if (!o.value) return REDISMODULE_OK;
    RedisModule_ModuleTypeSetValue(o.key, value_type, o.value);
    command_replicate_create(ctx, argv[1], o.value);
    command_changed(ctx, argv[1], "seen.create");
    return RedisModule_ReplyWithSimpleString(ctx, "OK");
}

/* -- adding ------------------------------------------------------------------------------- */

struct adding {
    struct opened o;
    RedisModuleString **item;
    int items;
    RedisModuleString *ms; /* as given with AT; NULL: none was */
    seen_time now;
    bool made;  /* the key was not there */
    bool told;  /* `now` is when the last effect happened, which replicas know */
    bool there; /* it has to be */
};

/* Takes a closing AT off the items. */
static bool read_time(RedisModuleCtx *ctx, struct adding *a) {
    long long ms;
    a->ms = NULL;
    if (a->items >= 2 && command_is(a->item[a->items - 2], "AT")) {
        RedisModuleString *given = a->item[a->items - 1];
        a->items -= 2;
        if (command_is(given, "*")) return true;
        a->ms = given;
        if (!command_time(ctx, given, &ms)) return false;
        a->now = (seen_time)ms * 1000;
    }
    return true;
}

static bool open_for_adding(RedisModuleCtx *ctx, RedisModuleString *name, struct adding *a) {
    if (!command_open_fast(ctx, name, REDISMODULE_READ | REDISMODULE_WRITE, false, &a->o))
        return false;
    a->made = !a->o.value;
    if (a->made && a->there) return RedisModule_ReplyWithError(ctx, COMMAND_NO_KEY), false;
    if (a->made) a->o.value = command_make(ctx, settings.spec);
    return a->o.value;
}

/* Keys that are to be integers may not be: all are read before any is added. */
static bool read_items(RedisModuleCtx *ctx, const struct adding *a) {
    seen_digest unused;
    for (int i = 0; i < a->items && !a->o.value->plain; i++)
        if (!command_digest(ctx, a->o.value, a->item[i], &unused)) return false;
    return true;
}

/* Replicates the command with the time at which it happened.  The time is left out if it is that of
 * the command before: a replica then uses that one. */
static void replicate_add(RedisModuleCtx *ctx, RedisModuleString **argv, int argc,
                          const struct adding *a) {
    if (a->made) command_replicate_create(ctx, argv[1], a->o.value);
    bool timed = a->o.value->timed && !a->ms && !a->told;
    if (!a->made && !timed) {
        RedisModule_ReplicateVerbatim(ctx);
        return;
    }
    const char *command = argc == 3 || a->items == 1 ? "SEEN.ADD" : "SEEN.MADD";
    if (timed)
        RedisModule_Replicate(ctx, command, "svcs", argv[1], a->item, (size_t)a->items, "AT",
                              command_clock_text((long long)(a->now / 1000)));
    else
        RedisModule_Replicate(ctx, command, "v", argv + 1, (size_t)(argc - 1));
}

static void print_length(const struct value *v, uint64_t length, char *text, size_t cap) {
    if (v->timed)
        seen_print_span(length, text, cap);
    else
        snprintf(text, cap, "%llu records", (unsigned long long)length);
}

static void tell_changed(RedisModuleCtx *ctx, RedisModuleString *name, const struct adding *a) {
    if (a->made) command_changed(ctx, name, "seen.create");
    command_changed(ctx, name, "seen.add");
}

/* Reading the statistics costs too much to do it for each item.  For an exact set in a jumping
 * window it always costs too much. */
void command_warn_if_short(RedisModuleCtx *ctx, RedisModuleString *name, struct value *v,
                           int items) {
    enum { LOOK = 4096 };
    char text[256], kept[32], length[32];
    struct seen_stats s;
    v->unlooked = (uint16_t)(items < LOOK ? v->unlooked + items : LOOK);
    if (v->unlooked < LOOK || command_obeys(ctx)) return;
    v->unlooked = 0;
    struct seen_plan plan = seen_plan_of(value_filter(v));
    if (plan.traits & SEEN_NO_FP && plan.spec.window == SEEN_WINDOW_JUMPING) return;
    seen_stats(value_filter(v), &s);
    if (s.forgotten && s.kept != SEEN_NEVER) {
        print_length(v, s.kept, kept, sizeof kept);
        print_length(v, plan.spec.length, length, sizeof length);
        snprintf(text, sizeof text,
                 "the filter is short of memory: it kept %s of its window of %s, and older items "
                 "are new again; give it more mem=",
                 kept, length);
    } else if (s.stored > s.capacity && s.fp_now > 2 * plan.fp_full) {
        snprintf(text, sizeof text,
                 "the filter holds more than its %llu items: it calls %.3g %% of new items "
                 "duplicates; give it more mem= or items=",
                 (unsigned long long)s.capacity, s.fp_now * 100);
    } else {
        return;
    }
    command_warn(ctx, &v->warned, name, text);
}

/* Its line is on its way from then on. */
static seen_digest digest_of(const struct adding *a, int i) {
    seen_digest digest;
    size_t len;
    const char *bytes = RedisModule_StringPtrLen(a->item[i], &len);
    seen_key(value_filter(a->o.value), bytes, len, &digest, NULL);
    seen_prefetch(value_filter(a->o.value), 1, &digest);
    return digest;
}

static void take_time(RedisModuleCtx *ctx, struct adding *a) {
    const struct value *v = a->o.value;
    if (!v->timed || a->ms) return;
    a->now = command_obeys(ctx) ? v->last : (seen_time)command_clock() * 1000;
    a->told = a->now == v->last && !a->made;
}

/* The line comes while all is done that does not depend on the verdict. */
static void add_item(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, struct adding *a) {
    seen_digest digest = digest_of(a, 0);
    uint8_t verdict;
    bool sure = !a->o.value->quiet;
    take_time(ctx, a);
    RedisModule_CloseKey(a->o.key);
    if (sure) replicate_add(ctx, argv, argc, a);
    bool changed = value_add(a->o.value, 1, &digest, a->now, &verdict);
    if (changed && !sure) replicate_add(ctx, argv, argc, a);
    if (changed) tell_changed(ctx, argv[1], a);
    command_warn_if_short(ctx, argv[1], a->o.value, 1);
    RedisModule_ReplyWithLongLong(ctx, verdict == SEEN_NEW);
}

static void add_items(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, struct adding *a) {
    seen_digest digest[ITEMS_AT_ONCE];
    uint8_t verdict[ITEMS_AT_ONCE];
    bool changed = false;
    take_time(ctx, a);
    RedisModule_CloseKey(a->o.key);
    RedisModule_ReplyWithArray(ctx, a->items);
    for (int from = 0; from < a->items; from += ITEMS_AT_ONCE) {
        int n = a->items - from < ITEMS_AT_ONCE ? a->items - from : ITEMS_AT_ONCE;
        for (int i = 0; i < n; i++) digest[i] = digest_of(a, from + i);
        changed |= value_add(a->o.value, (size_t)n, digest, a->now, verdict);
        for (int i = 0; i < n; i++) RedisModule_ReplyWithLongLong(ctx, verdict[i] == SEEN_NEW);
    }
    if (!changed) return;
    replicate_add(ctx, argv, argc, a);
    tell_changed(ctx, argv[1], a);
    command_warn_if_short(ctx, argv[1], a->o.value, a->items);
}

static int add(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, bool many, bool there) {
    struct adding a = {.item = argv + 2, .items = argc - 2, .there = there};
    if (argc < 3) return RedisModule_WrongArity(ctx);
    if ((many || argc == 5) && !read_time(ctx, &a)) return REDISMODULE_OK;
    if (a.items < 1 || (!many && a.items != 1)) return RedisModule_WrongArity(ctx);
    bool fine = open_for_adding(ctx, argv[1], &a);
    if (fine && !read_items(ctx, &a)) {
        if (a.made) value_free(a.o.value);
        fine = false;
    }
    if (!fine) {
        RedisModule_CloseKey(a.o.key);
        return REDISMODULE_OK;
    }
    if (a.made) RedisModule_ModuleTypeSetValue(a.o.key, value_type, a.o.value);
    (many ? add_items : add_item)(ctx, argv, argc, &a);
    return REDISMODULE_OK;
}

static int add_one(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    return add(ctx, argv, argc, false, false);
}

static int add_many(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    return add(ctx, argv, argc, true, false);
}

/* For filters that are not the default: one that got lost must not come back as another. */
static int add_many_there(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    return add(ctx, argv, argc, true, true);
}

/* ----------------------------------------------------------------------------------------- */

static const RedisModuleCommandArg create_args[] = {
    COMMAND_KEY, COMMAND_TEXT("spec", REDISMODULE_ARG_MULTIPLE), {0}};
static const RedisModuleCommandArg add_args[] = {
    COMMAND_KEY, COMMAND_TEXT("item", 0), COMMAND_TIME, {0}};
static const RedisModuleCommandArg madd_args[] = {
    COMMAND_KEY, COMMAND_TEXT("item", REDISMODULE_ARG_MULTIPLE), COMMAND_TIME, {0}};

#define ADDS (REDISMODULE_KEY_RW | REDISMODULE_KEY_ACCESS | REDISMODULE_KEY_INSERT)

const struct command commands_add[] = {
    {"seen.create", create, "write deny-oom fast", -3, REDISMODULE_KEY_OW | REDISMODULE_KEY_INSERT,
     1, "Makes a filter from a spec, as seen takes it", "O(1)", create_args},
    {"seen.add", add_one, "write deny-oom fast", -3, ADDS, 1,
     "Adds an item: 1 if it is new, 0 if it was seen in the window", "O(1)", add_args},
    {"seen.madd", add_many, "write deny-oom", -3, ADDS, 1,
     "Adds items in order: 1 for each that is new, 0 for each seen in the window",
     "O(N) for N items", madd_args},
    {"seen.maddx", add_many_there, "write deny-oom", -3, ADDS, 1,
     "As SEEN.MADD, to a filter that is there", "O(N) for N items", madd_args},
    {0}};
