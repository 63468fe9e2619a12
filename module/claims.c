/* claims.c - SEEN.CLAIM, SEEN.ACK, SEEN.NACK, SEEN.XADD: work that is done once.
 *
 * seen_claims.h says what claims are.  Their effects are replicated with the time at which they
 * happened, so that replicas give the same tokens and end leases at the same moments.  A claim that
 * is pending or refused, and a wrong or late token, change nothing and are not replicated. */
#include "command.h"
#include "seen_claims.h"

#include <stdio.h>
#include <string.h>

#define PRESET_CLAIMS 1000 /* of a filter that SEEN.CLAIM makes */

/* What the commands about one claim have in common. */
struct work {
    struct opened o;
    seen_digest digest;
    long long ms; /* when */
    bool made;    /* the key was not there */
    bool bare;    /* no AT was given */
    bool told;    /* `ms` is when the last effect happened, which replicas know */
};

static seen_time now_of(const struct work *w) { return (seen_time)w->ms * 1000; }

/* A filter of the default spec, with claims= if the spec has none. */
static struct value *make_default(RedisModuleCtx *ctx) {
    char spec[SPEC_TEXT_MOST];
    struct seen_spec has;
    struct seen_error e;
    if (seen_spec_parse(&has, settings.spec, &e)) return command_error(ctx, &e), NULL;
    int len = snprintf(spec, sizeof spec, seen_spec_has(&has, "claims") ? "%s" : "%s claims=%d",
                       settings.spec, PRESET_CLAIMS);
    if (len < (int)sizeof spec) return command_make(ctx, spec);
    RedisModule_ReplyWithError(ctx, "ERR seen.default is too long to add claims= to it");
    return NULL;
}

/* Reads [AT ms] from argv[4] on, and opens the filter.  Without a filter `make` makes one, else
 * w->o.value is NULL.  False after an error reply; the caller closes the key in any case. */
static bool open_work(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, bool make,
                      struct work *w) {
    *w = (struct work){0};
    if (argc == 6 && !command_is(argv[4], "AT")) return RedisModule_WrongArity(ctx), false;
    if (!command_time(ctx, argc == 6 ? argv[5] : NULL, &w->ms) ||
        !command_open_fast(ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE, false, &w->o))
        return false;
    w->made = !w->o.value && make;
    if (w->made && !(w->o.value = make_default(ctx))) return false;
    if (!w->o.value) return true;
    if (!w->o.value->claims) {
        RedisModule_ReplyWithError(
            ctx, "ERR this filter takes no claims; make one with claims=N in its spec");
        return false;
    }
    struct seen_claims_stats s;
    seen_claims_stats(value_filter(w->o.value), &s);
    seen_time last = w->o.value->timed && w->o.value->last > s.last ? w->o.value->last : s.last;
    w->bare = argc == 4;
    if (w->bare && command_obeys(ctx)) w->ms = (long long)(last / 1000);
    w->told = w->bare && now_of(w) == last;
    if (command_digest(ctx, w->o.value, argv[2], &w->digest)) return true;
    if (w->made) value_free(w->o.value);
    return false;
}

/* Replicates SEEN.CLAIM, SEEN.ACK or SEEN.NACK with the time at which it happened.  The time is
 * left out if it is that of the command before: a replica then uses that one. */
static void replicate(RedisModuleCtx *ctx, RedisModuleString **argv, const struct work *w,
                      const char *command, const char *event) {
    if (w->made) command_replicate_create(ctx, argv[1], w->o.value);
    if (w->told && !w->made)
        RedisModule_ReplicateVerbatim(ctx);
    else
        RedisModule_Replicate(ctx, command, "vcs", argv + 1, (size_t)3, "AT",
                              command_clock_text(w->ms));
    if (w->made) command_changed(ctx, argv[1], "seen.create");
    command_changed(ctx, argv[1], event);
}

static void reply_claim(RedisModuleCtx *ctx, const char *answer, uint64_t number) {
    RedisModule_ReplyWithArray(ctx, number ? 2 : 1);
    RedisModule_ReplyWithStringBuffer(ctx, answer, strlen(answer));
    if (number) RedisModule_ReplyWithLongLong(ctx, (long long)number);
}

/* A claim of what was seen is a record like any other: it renews its key, as refresh= says. */
static void claim_seen(RedisModuleCtx *ctx, RedisModuleString **argv, struct work *w) {
    uint8_t verdict;
    w->told |= w->bare && !w->o.value->timed; /* then the time makes no difference */
    bool changed = value_add(w->o.value, 1, &w->digest, now_of(w), &verdict);
    if (changed) replicate(ctx, argv, w, "SEEN.CLAIM", "seen.add");
    reply_claim(ctx, "seen", 0);
}

static void claim_item(RedisModuleCtx *ctx, RedisModuleString **argv, uint64_t lease,
                       struct work *w) {
    struct value *v = w->o.value;
    struct seen_error e;
    struct seen_claims_stats s;
    uint64_t number;
    char text[128];
    switch (seen_claim(value_filter(v), &w->digest, now_of(w), lease, &number, &e)) {
    case SEEN_CLAIM_NEW:
        value_changed(v);
        replicate(ctx, argv, w, "SEEN.CLAIM", "seen.claim");
        reply_claim(ctx, "new", number);
        break;
    case SEEN_CLAIM_PENDING: reply_claim(ctx, "pending", (number + 999) / 1000); break;
    case SEEN_CLAIM_SEEN: claim_seen(ctx, argv, w); break;
    default:
        seen_claims_stats(value_filter(v), &s);
        snprintf(text, sizeof text,
                 "ERR %llu claims are open on this key; raise claims= or ack sooner",
                 (unsigned long long)s.most);
        RedisModule_ReplyWithError(ctx, text);
    }
}

static int claim(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    enum { LONGEST = 1000000000 }; /* seconds */
    struct work w;
    long long lease;
    if (argc != 4 && argc != 6) return RedisModule_WrongArity(ctx);
    if (RedisModule_StringToLongLong(argv[3], &lease) || lease < 1 || lease > LONGEST * 1000LL)
        return RedisModule_ReplyWithError(
            ctx, "ERR a lease is a number of milliseconds from 1 to 1000000000000");
    bool fine = open_work(ctx, argv, argc, true, &w);
    if (fine && w.made) RedisModule_ModuleTypeSetValue(w.o.key, value_type, w.o.value);
    RedisModule_CloseKey(w.o.key);
    if (fine) claim_item(ctx, argv, (uint64_t)lease * 1000, &w);
    return REDISMODULE_OK;
}

static int finish(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, bool ack) {
    struct work w;
    struct seen_error e;
    long long token;
    if (argc != 4 && argc != 6) return RedisModule_WrongArity(ctx);
    if (RedisModule_StringToLongLong(argv[3], &token))
        return RedisModule_ReplyWithError(ctx, "ERR a token is the number that SEEN.CLAIM gave");
    bool fine = open_work(ctx, argv, argc, false, &w);
    RedisModule_CloseKey(w.o.key);
    if (!fine) return REDISMODULE_OK;
    struct value *v = w.o.value;
    if (!v) return RedisModule_ReplyWithLongLong(ctx, 0);
    int done = ack ? seen_ack(value_filter(v), &w.digest, now_of(&w), (uint64_t)token, &e)
                   : seen_nack(value_filter(v), &w.digest, now_of(&w), (uint64_t)token);
    if (done < 0) return command_error(ctx, &e);
    if (done) {
        ack ? value_added(v, now_of(&w)) : value_changed(v);
        replicate(ctx, argv, &w, ack ? "SEEN.ACK" : "SEEN.NACK", ack ? "seen.ack" : "seen.nack");
        if (ack) command_warn_if_short(ctx, argv[1], v, 1);
    }
    return RedisModule_ReplyWithLongLong(ctx, done);
}

static int ack(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    return finish(ctx, argv, argc, true);
}

static int nack(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    return finish(ctx, argv, argc, false);
}

/* -- SEEN.XADD ---------------------------------------------------------------------------- */

/* Where the entry's id stands, behind the options of XADD. */
static int find_id(RedisModuleString **argv, int argc) {
    int i = 3;
    while (i < argc) {
        if (command_is(argv[i], "NOMKSTREAM")) {
            i++;
        } else if (command_is(argv[i], "LIMIT")) {
            i += 2;
        } else if (command_is(argv[i], "MAXLEN") || command_is(argv[i], "MINID")) {
            bool how =
                i + 1 < argc && (command_is(argv[i + 1], "=") || command_is(argv[i + 1], "~"));
            i += how ? 3 : 2;
        } else {
            break;
        }
    }
    return i;
}

/* Appends to the stream, and replies as XADD does.  False: nothing was appended. */
static bool append(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, int id) {
    RedisModuleCallReply *reply = RedisModule_Call(ctx, "XADD", "!Evv", argv + 2, (size_t)(id - 1),
                                                   argv + id + 2, (size_t)(argc - id - 2));
    if (!reply) {
        RedisModule_ReplyWithError(ctx, "ERR XADD cannot be called here");
        return false;
    }
    bool appended = RedisModule_CallReplyType(reply) == REDISMODULE_REPLY_STRING;
    RedisModule_ReplyWithCallReply(ctx, reply);
    RedisModule_FreeCallReply(reply);
    return appended;
}

/* A new item is appended before it is seen: an entry that XADD refuses is not lost.  Both happen
 * in one step of the server, and reach replicas and the AOF as one transaction. */
static int xadd(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct opened o;
    seen_digest digest;
    uint8_t verdict;
    int id = find_id(argv, argc), fields = argc - id - 2;
    if (fields < 2 || fields % 2) return RedisModule_WrongArity(ctx);
    if (!command_open(ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE, false, &o))
        return REDISMODULE_OK;
    bool made = !o.value;
    struct value *v = made ? command_make(ctx, settings.spec) : o.value;
    if (!v) return REDISMODULE_OK;
    bool fine = command_digest(ctx, v, argv[id + 1], &digest);
    long long ms = command_clock();
    seen_time now = (seen_time)ms * 1000;
    if (fine) value_query(v, 1, &digest, now, 0, &verdict);
    if (fine && verdict == SEEN_NEW) fine = append(ctx, argv, argc, id);
    if (!fine && made) value_free(v);
    if (!fine) return REDISMODULE_OK;
    if (made) {
        RedisModule_ModuleTypeSetValue(o.key, value_type, v);
        command_replicate_create(ctx, argv[1], v);
        command_changed(ctx, argv[1], "seen.create");
    }
    if (verdict != SEEN_NEW) RedisModule_ReplyWithNull(ctx);
    if (!value_add(v, 1, &digest, now, &verdict)) return REDISMODULE_OK;
    if (v->timed)
        RedisModule_Replicate(ctx, "SEEN.ADD", "sscs", argv[1], argv[id + 1], "AT",
                              command_clock_text(ms));
    else
        RedisModule_Replicate(ctx, "SEEN.ADD", "ss", argv[1], argv[id + 1]);
    command_changed(ctx, argv[1], "seen.add");
    command_warn_if_short(ctx, argv[1], v, 1);
    return REDISMODULE_OK;
}

/* ----------------------------------------------------------------------------------------- */

static const RedisModuleCommandArg claim_args[] = {
    COMMAND_KEY, COMMAND_TEXT("item", 0), COMMAND_INTEGER("milliseconds"), COMMAND_TIME, {0}};
static const RedisModuleCommandArg finish_args[] = {
    COMMAND_KEY, COMMAND_TEXT("item", 0), COMMAND_INTEGER("token"), COMMAND_TIME, {0}};
static const RedisModuleCommandArg xadd_args[] = {
    {.name = "filter", .type = REDISMODULE_ARG_KEY},
    {.name = "stream", .type = REDISMODULE_ARG_KEY, .key_spec_index = 1},
    {.name = "nomkstream",
     .type = REDISMODULE_ARG_PURE_TOKEN,
     .key_spec_index = -1,
     .token = "NOMKSTREAM",
     .flags = REDISMODULE_ARG_OPTIONAL},
    COMMAND_TEXT("trim", REDISMODULE_ARG_OPTIONAL | REDISMODULE_ARG_MULTIPLE),
    COMMAND_TEXT("id", 0),
    COMMAND_TEXT("item", 0),
    COMMAND_TEXT("field-value", REDISMODULE_ARG_MULTIPLE),
    {0}};

#define CLAIMS (REDISMODULE_KEY_RW | REDISMODULE_KEY_ACCESS | REDISMODULE_KEY_INSERT)

const struct command commands_claims[] = {
    {"seen.claim", claim, "write deny-oom fast", -4, CLAIMS, 1,
     "Claims an item for a time: new and a token, pending and ms left, or seen",
     "O(log N) for N claims", claim_args},
    {"seen.ack", ack, "write fast", -4, CLAIMS, 1, /* claims= bounds what acks can add */
     "Ends a claim whose work is done: the item is seen; 0 if the token is wrong or late",
     "O(log N) for N claims", finish_args},
    {"seen.nack", nack, "write fast", -4, REDISMODULE_KEY_RW | REDISMODULE_KEY_UPDATE, 1,
     "Ends a claim whose work failed: the item is new; 0 if the token is wrong or late",
     "O(log N) for N claims", finish_args},
    {"seen.xadd", xadd, "write deny-oom fast", -7, CLAIMS, -2,
     "Appends an entry to a stream if its item is new, and adds the item: the entry's id, or nil",
     "O(1), and what XADD takes to trim", xadd_args},
    {0}};
