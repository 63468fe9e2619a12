/* value.c - creates, frees, versions and measures the values of keys. */
#include "value.h"

#include "few.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

RedisModuleType *value_type;
long long value_bytes_most = 1LL << 30;

#define FEW   4
#define BATCH 64 /* keys that are asked about in one call */
#define PLANS 16 /* kept */

/* Versions count from a random number, so that a version or a cursor of another process does not
 * match one of ours. */
static uint64_t next_version(void) {
    static uint64_t last;
    if (!last && getrandom(&last, sizeof last, 0) != sizeof last) last = 1;
    return ++last;
}

void value_changed(struct value *v) { v->version = next_version(); }

void value_reborn(struct value *v) {
    v->life = next_version();
    value_changed(v);
}

struct value *value_new(const struct chain *chain) {
    struct value *v = RedisModule_TryAlloc(sizeof *v);
    if (!v) return NULL;
    *v = (struct value){.chain = *chain, .room = 1, .link = &v->first};
    value_reborn(v);
    return v;
}

bool value_room(struct value *v) {
    uint8_t room = (uint8_t)(v->room == 1 ? 4 : 2 * v->room);
    if (v->links < v->room) return true;
    struct link *link = RedisModule_TryAlloc(room * sizeof *link);
    if (!link) return false;
    memcpy(link, v->link, v->links * sizeof *link);
    if (v->link != &v->first) RedisModule_Free(v->link);
    v->link = link;
    v->room = room;
    return true;
}

void value_end_dumps(struct value *v, bool all) {
    for (struct dump **d = &v->dumps, *ended; *d;) {
        if (all) (*d)->end(&(*d)->transfer);
        if ((*d)->transfer) {
            d = &(*d)->next;
            continue;
        }
        ended = *d;
        *d = ended->next;
        RedisModule_Free(ended);
    }
}

static void free_all(void *value) {
    struct value *v = value;
    if (v->load) v->load->free(v);
    for (uint32_t i = 0; i < v->links; i++) {
        seen_free(v->link[i].filter);
        few_free(&v->memory, v->link[i].few);
    }
    if (v->link != &v->first) RedisModule_Free(v->link);
    RedisModule_Free(v);
}

/* Whether it is many blocks: a filter that grew, or the chunks of a load. */
static bool is_many(const struct value *v) {
    if (v->load) return v->load->bytes >= MEMORY_LARGE;
    return v->links && !v->chain.capacity && v->memory.bytes >= MEMORY_LARGE &&
           seen_plan_of(value_filter(v)).traits & SEEN_GROWS;
}

void value_free(void *value) {
    struct value *v = value;
    value_end_dumps(v, true);
    is_many(v) ? memory_free_many(free_all, v) : free_all(v);
}

struct value *value_move(struct value *v, RedisModuleDefragCtx *ctx) {
    if (v->dumps || v->load) return v;
    bool inside = v->link == &v->first;
    struct value *moved = RedisModule_DefragAlloc(ctx, v);
    if (moved) v = moved;
    struct link *link = inside ? &v->first : RedisModule_DefragAlloc(ctx, v->link);
    if (link) v->link = link;
    struct seen_allocator from = memory_allocator(&v->memory);
    for (uint32_t i = 0; i < v->links; i++) {
        struct few *few = v->link[i].few ? RedisModule_DefragAlloc(ctx, v->link[i].few) : NULL;
        if (few) v->link[i].few = few;
        if (v->link[i].filter) seen_move(&v->link[i].filter, memory_mover(ctx), &from);
    }
    return v;
}

/* A duplicate is a change in itself where records are counted, where it renews its key and where
 * it enters the cache.  In a landmark window of time, or of none, its key is there already. */
static bool is_quiet(const struct seen_spec *s) {
    if (s->unit == SEEN_UNIT_RECORDS || s->window == SEEN_WINDOW_DECAYING ||
        seen_spec_get_count(s, "verify"))
        return false;
    return s->window == SEEN_WINDOW_LANDMARK ||
           seen_spec_get_count(s, "refresh") == SEEN_REFRESH_FIRST;
}

void value_link(struct value *v, seen_detector *d) {
    const struct seen_spec *s = seen_spec_of(d);
    v->link[v->links++] = (struct link){.filter = d};
    v->timed = s->unit == SEEN_UNIT_MICROSECONDS;
    v->quiet = is_quiet(s);
    v->claims = seen_spec_has(s, "claims");
    v->plain = seen_spec_get_count(s, "hash") == SEEN_HASH_XXH3 ||
               seen_spec_get_count(s, "hash") == SEEN_HASH_SIPHASH;
    value_changed(v);
}

void value_look(struct value *v) {
    struct seen_stats s;
    seen_stats(value_filter(v), &s);
    v->last = s.last;
}

static int refuse(struct seen_error *e, int code, const char *text) {
    e->code = code;
    e->where = 0;
    strcpy(e->text, text);
    return code;
}

int value_takes(const struct seen_plan *plan, struct seen_error *e) {
    if (plan->digests == 1) return 0;
    return refuse(e, SEEN_EREFUSED,
                  "the server keeps no keys of more than 128 bits; give bits=128 at most");
}

static int refuse_bytes(struct seen_error *e, const char *smaller) {
    snprintf(e->text, sizeof e->text,
             "this would take more than seen.max-bytes, which is %lld; ask for less with %s, or "
             "raise it with CONFIG SET",
             value_bytes_most, smaller);
    e->where = 0;
    return e->code = SEEN_EREFUSED;
}

int value_fits(const struct value *v, uint64_t bytes, uint64_t limit, struct seen_error *e) {
    if (!limit || (bytes <= limit && v->memory.bytes <= limit - bytes)) return 0;
    return refuse_bytes(e,
                        v->chain.capacity ? "its capacity or error rate" : "mem=, fp= or items=");
}

static struct {
    char spec[SPEC_TEXT_MOST];
    uint64_t limit;
    struct seen_plan plan;
} plans[PLANS];

static int bound_growth(struct seen_plan *plan, uint64_t limit, struct seen_error *e) {
    char bytes[32];
    struct seen_spec bounded = plan->asked;
    if (!limit || !(plan->traits & SEEN_GROWS) || seen_spec_get_count(&plan->spec, "mem")) return 0;
    seen_print_size(limit, bytes, sizeof bytes);
    int bad = seen_spec_set(&bounded, "mem", bytes, e);
    return bad ? bad : seen_plan_make(plan, &bounded, e);
}

const struct seen_plan *value_plan(const char *text, uint64_t limit, struct seen_error *e) {
    static size_t next;
    struct seen_spec spec;
    struct seen_plan plan;
    for (size_t i = 0; i < PLANS; i++)
        if (*text && plans[i].limit == limit && !strcmp(plans[i].spec, text)) return &plans[i].plan;
    if (seen_spec_parse(&spec, text, e) || seen_plan_make(&plan, &spec, e) ||
        bound_growth(&plan, limit, e))
        return NULL;
    size_t at = next++ % PLANS;
    strcpy(plans[at].spec, text);
    plans[at].limit = limit;
    plans[at].plan = plan;
    return &plans[at].plan;
}

int value_make(struct value *v, const struct seen_plan *plan, uint64_t limit,
               struct seen_error *e) {
    struct seen_allocator from = memory_allocator(&v->memory);
    seen_detector *d;
    int bad = value_fits(v, plan->bytes, limit, e);
    if (!bad) bad = value_takes(plan, e);
    if (!bad && !value_room(v)) bad = refuse(e, SEEN_ENOMEM, "no memory for another filter");
    if (!bad) bad = seen_new(&d, plan, &from, e);
    if (!bad) value_link(v, d);
    return bad;
}

size_t value_bytes(const struct value *v) {
    size_t links = v->link == &v->first ? 0 : v->room * sizeof *v->link;
    return sizeof *v + links + v->memory.bytes + (v->load ? v->load->bytes : 0);
}

uint64_t value_limit(RedisModuleCtx *ctx) {
    int flags = RedisModule_GetContextFlags(ctx);
    int obeyed = REDISMODULE_CTX_FLAGS_REPLICATED | REDISMODULE_CTX_FLAGS_LOADING |
                 REDISMODULE_CTX_FLAGS_ASYNC_LOADING;
    return flags & obeyed ? 0 : (uint64_t)value_bytes_most;
}

void value_query(const struct value *v, size_t n, const seen_digest *digest, seen_time now,
                 uint64_t within, uint8_t *verdict) {
    if (v->timed)
        seen_query_at(value_filter(v), n, digest, now, within, verdict);
    else
        seen_query(value_filter(v), n, digest, within, verdict);
}

/* Few are asked first: in most streams one of them is new. */
static bool all_seen(const struct value *v, size_t n, const seen_digest *digest, seen_time now,
                     uint8_t *verdict) {
    for (size_t i = 0, batch = FEW; i < n; i += batch, batch = BATCH) {
        bool found = true;
        if (batch > n - i) batch = n - i;
        value_query(v, batch, digest + i, now, 0, verdict + i);
        for (size_t j = 0; j < batch; j++) found &= verdict[i + j] != SEEN_NEW;
        if (!found) return false;
    }
    return true;
}

void value_added(struct value *v, seen_time now) {
    if (v->timed && now > v->last) v->last = now;
    value_changed(v);
}

bool value_add(struct value *v, size_t n, const seen_digest *digest, seen_time now,
               uint8_t *verdict) {
    if (v->quiet && all_seen(v, n, digest, now, verdict)) {
        v->repeats += n;
        return false;
    }
    seen_time times[BATCH];
    size_t filled = n < BATCH ? n : BATCH;
    for (size_t i = 0; v->timed && i < filled; i++) times[i] = now;
    for (size_t i = 0; i < n; i += BATCH) {
        size_t batch = n - i < BATCH ? n - i : BATCH;
        if (v->timed)
            seen_observe_at(value_filter(v), batch, digest + i, times, verdict + i);
        else
            seen_observe(value_filter(v), batch, digest + i, verdict + i);
    }
    value_added(v, now);
    return true;
}
