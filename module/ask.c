/* ask.c - SEEN.CHECK, SEEN.MCHECK, SEEN.AGE, SEEN.INFO: reads, which change nothing, here or on a
 * replica: what is too old is too old by the clock of the server that is asked. */
#include "command.h"
#include "seen_claims.h"

#include <string.h>

#define ITEMS_AT_ONCE 256

struct asking {
    struct opened o;
    RedisModuleString **item;
    int items;
    RedisModuleString *within, *at;
    uint64_t reach; /* of within, in the window's unit; 0: all of it */
    seen_time now;
};

/* Takes closing WITHIN and AT off the items, in either order. */
static void read_options(struct asking *a) {
    while (a->items >= 3) {
        RedisModuleString *word = a->item[a->items - 2], **value = NULL;
        if (command_is(word, "WITHIN")) value = &a->within;
        if (command_is(word, "AT")) value = &a->at;
        if (!value || *value) return;
        *value = a->item[a->items - 1];
        a->items -= 2;
    }
}

static bool read_time(RedisModuleCtx *ctx, struct asking *a) {
    long long ms;
    if (!command_time(ctx, a->at, &ms)) return false;
    a->now = (seen_time)ms * 1000;
    return true;
}

/* Records where the window counts them, else a span. */
static bool read_within(RedisModuleCtx *ctx, struct asking *a) {
    char text[64];
    struct seen_error e = {.text = "WITHIN takes a span such as 90s or 24h, or a count of records"};
    if (!a->within) return true;
    bool fine = command_text(a->within, text, sizeof text);
    if (fine && strcmp(text, "0") != 0)
        fine = a->o.value->timed ? !seen_parse_span(text, &a->reach, &e)
                                 : !seen_parse_count(text, &a->reach, &e);
    if (!fine) command_error(ctx, &e);
    return fine;
}

/* False after a reply. */
static bool open_for_asking(RedisModuleCtx *ctx, RedisModuleString **argv, struct asking *a) {
    return command_open(ctx, argv[1], REDISMODULE_READ, false, &a->o) && read_time(ctx, a) &&
           (!a->o.value || read_within(ctx, a));
}

static int check(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, bool many) {
    struct asking a = {.item = argv + 2, .items = argc - 2};
    if (argc < 3) return RedisModule_WrongArity(ctx);
    read_options(&a);
    if (!many && a.items != 1) return RedisModule_WrongArity(ctx);
    if (!open_for_asking(ctx, argv, &a)) return REDISMODULE_OK;
    seen_digest digest[ITEMS_AT_ONCE], unused;
    uint8_t verdict[ITEMS_AT_ONCE] = {0};
    const struct value *v = a.o.value;
    for (int i = 0; v && !v->plain && i < a.items; i++)
        if (!command_digest(ctx, v, a.item[i], &unused)) return REDISMODULE_OK;
    if (many) RedisModule_ReplyWithArray(ctx, a.items);
    for (int from = 0; from < a.items; from += ITEMS_AT_ONCE) {
        int n = a.items - from < ITEMS_AT_ONCE ? a.items - from : ITEMS_AT_ONCE;
        for (int i = 0; v && i < n; i++) command_digest(ctx, v, a.item[from + i], &digest[i]);
        if (v) value_query(v, (size_t)n, digest, a.now, a.reach, verdict);
        for (int i = 0; i < n; i++) RedisModule_ReplyWithLongLong(ctx, verdict[i] != SEEN_NEW);
    }
    return REDISMODULE_OK;
}

static int check_one(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    return check(ctx, argv, argc, false);
}

static int check_many(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    return check(ctx, argv, argc, true);
}

static int age(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct asking a = {.item = argv + 2, .items = argc - 2};
    seen_digest digest;
    uint64_t age = SEEN_NEVER;
    if (argc != 3 && argc != 5) return RedisModule_WrongArity(ctx);
    if (argc == 5) {
        if (!command_is(argv[3], "AT")) return RedisModule_WrongArity(ctx);
        a.at = argv[4];
    }
    if (!open_for_asking(ctx, argv, &a)) return REDISMODULE_OK;
    if (a.o.value) {
        if (!command_digest(ctx, a.o.value, argv[2], &digest)) return REDISMODULE_OK;
        const seen_detector *d = value_filter(a.o.value);
        if (a.o.value->timed)
            seen_last_seen_at(d, 1, &digest, a.now, &age);
        else
            seen_last_seen(d, 1, &digest, &age);
    }
    if (age == SEEN_NEVER) return RedisModule_ReplyWithLongLong(ctx, -1);
    return RedisModule_ReplyWithLongLong(ctx, (long long)(a.o.value->timed ? age / 1000 : age));
}

/* -- SEEN.INFO ---------------------------------------------------------------------------- */

static void text_field(RedisModuleCtx *ctx, const char *name, const char *text) {
    RedisModule_ReplyWithStringBuffer(ctx, name, strlen(name));
    RedisModule_ReplyWithStringBuffer(ctx, text, strlen(text));
}

static void count_field(RedisModuleCtx *ctx, const char *name, uint64_t count) {
    RedisModule_ReplyWithStringBuffer(ctx, name, strlen(name));
    RedisModule_ReplyWithLongLong(ctx, (long long)count);
}

static void real_field(RedisModuleCtx *ctx, const char *name, double value) {
    RedisModule_ReplyWithStringBuffer(ctx, name, strlen(name));
    RedisModule_ReplyWithDouble(ctx, value);
}

/* Milliseconds of time windows, records of the others. */
static uint64_t in_unit(const struct value *v, uint64_t amount) {
    return v->timed ? amount / 1000 : amount;
}

static void window_fields(RedisModuleCtx *ctx, const struct value *v, const struct seen_stats *s) {
    const struct seen_spec *spec = seen_spec_of(value_filter(v));
    text_field(ctx, "unit", v->timed ? "ms" : "records");
    count_field(ctx, "window length", in_unit(v, spec->length));
    bool whole = s->kept == SEEN_NEVER;
    seen_time now = (seen_time)command_clock() * 1000;
    uint64_t since = v->timed && now > s->last ? now - s->last : 0;
    uint64_t oldest = UINT64_MAX; /* -1: nothing is held, or the structure does not know */
    if (s->oldest != SEEN_NEVER) oldest = in_unit(v, s->oldest + since);
    count_field(ctx, "window kept", in_unit(v, whole ? spec->length : s->kept));
    count_field(ctx, "oldest generation", oldest);
    count_field(ctx, "windows begun", s->landmarks);
    count_field(ctx, "last time", s->last / 1000);
}

static void rate_fields(RedisModuleCtx *ctx, const struct seen_plan *plan,
                        const struct seen_stats *s) {
    real_field(ctx, "fill", s->capacity ? (double)s->stored / (double)s->capacity : 0);
    real_field(ctx, "fp planned", plan->fp_full);
    real_field(ctx, "fp now", s->fp_now);
    real_field(ctx, "fp worst", s->fp_worst);
    real_field(ctx, "fn planned", plan->fn);
    real_field(ctx, "false duplicates", s->expected_false);
    count_field(ctx, "false duplicates low", s->false_lo);
    count_field(ctx, "false duplicates high", s->false_hi);
    text_field(ctx, "false duplicates source", s->source == SEEN_FROM_SAMPLE ? "sample" : "model");
    real_field(ctx, "missed duplicates", s->expected_missed);
    count_field(ctx, "missed duplicates low", s->missed_lo);
    count_field(ctx, "missed duplicates high", s->missed_hi);
    count_field(ctx, "sampled records", s->sampled_records);
}

static void count_fields(RedisModuleCtx *ctx, const struct value *v, const struct seen_stats *s) {
    count_field(ctx, "bytes", value_bytes(v));
    count_field(ctx, "records", s->records + v->repeats);
    count_field(ctx, "unique", s->unique);
    count_field(ctx, "duplicates", s->duplicates + v->repeats);
    count_field(ctx, "stored", s->stored);
    count_field(ctx, "capacity", s->capacity);
    count_field(ctx, "late", s->late);
    count_field(ctx, "forgotten", s->forgotten);
}

static void claim_fields(RedisModuleCtx *ctx, const struct seen_claims_stats *s) {
    count_field(ctx, "claims", s->most);
    count_field(ctx, "claims held", s->held);
    count_field(ctx, "claims given", s->claimed);
    count_field(ctx, "claims given again", s->again);
    count_field(ctx, "claims acked", s->acked);
    count_field(ctx, "claims nacked", s->nacked);
    count_field(ctx, "claims dropped", s->dropped);
}

static int info(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct opened o;
    struct seen_stats s;
    struct seen_claims_stats claims;
    char spec[SPEC_TEXT_MOST];
    if (argc != 2) return RedisModule_WrongArity(ctx);
    if (!command_open(ctx, argv[1], REDISMODULE_READ, false, &o)) return REDISMODULE_OK;
    if (!o.value) return RedisModule_ReplyWithError(ctx, COMMAND_NO_KEY);
    seen_stats(value_filter(o.value), &s);
    struct seen_plan plan = seen_plan_of(value_filter(o.value));
    seen_claims_stats(value_filter(o.value), &claims);
    RedisModule_ReplyWithMap(ctx, 3 + 6 + 13 + 8 + (claims.most ? 7 : 0));
    seen_spec_print(&plan.spec, spec, sizeof spec);
    text_field(ctx, "spec", spec);
    text_field(ctx, "window", plan.window);
    text_field(ctx, "filter", plan.filter);
    window_fields(ctx, o.value, &s);
    rate_fields(ctx, &plan, &s);
    count_fields(ctx, o.value, &s);
    if (claims.most) claim_fields(ctx, &claims);
    return REDISMODULE_OK;
}

/* ----------------------------------------------------------------------------------------- */

static const RedisModuleCommandArg check_args[] = {
    COMMAND_KEY,
    COMMAND_TEXT("item", 0),
    COMMAND_OPTION("span", "WITHIN", REDISMODULE_ARG_STRING),
    COMMAND_TIME,
    {0}};
static const RedisModuleCommandArg mcheck_args[] = {
    COMMAND_KEY,
    COMMAND_TEXT("item", REDISMODULE_ARG_MULTIPLE),
    COMMAND_OPTION("span", "WITHIN", REDISMODULE_ARG_STRING),
    COMMAND_TIME,
    {0}};
static const RedisModuleCommandArg age_args[] = {
    COMMAND_KEY, COMMAND_TEXT("item", 0), COMMAND_TIME, {0}};
static const RedisModuleCommandArg info_args[] = {COMMAND_KEY, {0}};

#define READS (REDISMODULE_KEY_RO | REDISMODULE_KEY_ACCESS)

const struct command commands_ask[] = {
    {"seen.check", check_one, "readonly fast", -3, READS, 1,
     "Whether an item was seen in the window, or within a part of it", "O(1)", check_args},
    {"seen.mcheck", check_many, "readonly", -3, READS, 1,
     "Which items were seen in the window, or within a part of it", "O(N) for N items",
     mcheck_args},
    {"seen.age", age, "readonly fast", -3, READS, 1,
     "How long ago an item was seen last, in ms or records; -1 if not in the window", "O(1)",
     age_args},
    {"seen.info", info, "readonly fast", 2, REDISMODULE_KEY_RO, 1,
     "Spec, fill, errors predicted and expected, window kept, memory", "O(1)", info_args},
    {0}};
