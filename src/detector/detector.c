/* detector.c - the running detector: one block that holds the plan, the counters and the shards.
 *
 *     | struct seen_detector | window[S] | state[S] | truth[S] | cache or claims |
 */
#include "detector/block.h"

#include "base/base.h"
#include "base/bits.h"
#include "base/hash.h"
#include "detector/claims.h"
#include "detector/confirm.h"
#include "spec/spec.h"
#include "theory/bloom.h"
#include "truth/truth.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

static uint64_t head_bytes(const struct seen_spec *spec) {
    uint64_t shards = options_get(spec, OPTION_SHARDS);
    uint64_t head = sizeof(struct seen_detector) + shards * sizeof(struct window);
    return (head + 63) / 64 * 64;
}

uint64_t detector_bytes(const struct seen_spec *spec, uint64_t state) {
    return head_bytes(spec) + options_get(spec, OPTION_SHARDS) * (state + truth_bytes(spec)) +
           confirm_bytes(options_get(spec, OPTION_VERIFY)) +
           claims_bytes(options_get(spec, OPTION_CLAIMS));
}

uint64_t detector_fixed(const struct seen_spec *spec, uint64_t state) {
    uint64_t shard = sizeof(struct window) + state + truth_bytes(spec);
    return sizeof(struct seen_detector) + 64 + options_get(spec, OPTION_SHARDS) * shard +
           confirm_bytes(options_get(spec, OPTION_VERIFY)) +
           claims_bytes(options_get(spec, OPTION_CLAIMS));
}

/* -- life --------------------------------------------------------------------------------- */

static void init_shards(seen_detector *d, const struct registry_choice *c) {
    const struct seen_spec *spec = &d->plan.spec;
    uint64_t each = registry_state(c, spec), shards = options_get(spec, OPTION_SHARDS);
    uint64_t truth_each = truth_bytes(spec);
    char *state = (char *)d + head_bytes(spec);
    char *truth = state + shards * each;
    for (uint64_t i = 0; i < shards; i++, state += each, truth += truth_each) {
        struct window *w = &d->shard[i];
        w->ops = c->ops;
        w->plan = &d->plan;
        w->state = state;
        w->filter.ops = c->filter;
        w->filter.alloc = &d->alloc;
        w->filter.cpu = d->plan.cpu;
        w->ops->init(w);
        w->truth = truth_each ? (struct truth *)(void *)truth : NULL;
        if (w->truth) truth_init(w, d->plan.cpu);
    }
}

/* Copies the fields that a plan and a detector share. */
#define COPY_PLAN(to, from)                                                                        \
    ((to)->spec = (from)->spec, (to)->window = (from)->window, (to)->filter = (from)->filter,      \
     (to)->traits = (from)->traits, (to)->digests = (from)->digests, (to)->bytes = (from)->bytes,  \
     (to)->capacity = (from)->capacity, (to)->fp_full = (from)->fp_full,                           \
     (to)->fp_mean = (from)->fp_mean, (to)->fn = (from)->fn, (to)->slack = (from)->slack,          \
     (to)->touches = (from)->touches)

int detector_new(seen_detector **out, const struct seen_plan *asked, uint32_t cpu,
                 const struct seen_allocator *alloc, struct seen_error *e) {
    *out = NULL;
    struct resolved plan = {.asked = asked->asked.given, .cpu = cpu_choose(cpu)};
    COPY_PLAN(&plan, asked);
    struct registry_choice c;
    if (!alloc) alloc = &alloc_default;
    if (!plan.filter || !registry_pick(plan.spec.window, plan.filter, 0, &c))
        return error_set(e, SEEN_EINVAL, 0, "the plan was not made by seen_plan_make");
    if (!options_has(&plan.spec, OPTION_SEED)) {
        uint64_t seed;
        if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
            return error_set(e, SEEN_EIO, 0, "the system gave no random seed; set seed= yourself");
        options_set(&plan.spec, OPTION_SEED, seed);
    }
    uint64_t bytes = detector_bytes(&plan.spec, registry_state(&c, &plan.spec));
    seen_detector *d = alloc->zalloc(alloc->ctx, bytes);
    if (!d) {
        char text[32];
        units_print_need(bytes, text, sizeof text);
        return error_set(e, SEEN_ENOMEM, 0,
                         "no memory for a detector of %s; ask for less with mem=", text);
    }
    d->plan = plan;
    d->alloc = *alloc;
    d->bytes = bytes;
    init_shards(d, &c);
    if (options_get(&plan.spec, OPTION_VERIFY)) confirm_init(d);
    if (options_get(&plan.spec, OPTION_CLAIMS)) claims_init(d);
    *out = d;
    return 0;
}

int seen_new(seen_detector **out, const struct seen_plan *plan, const struct seen_allocator *alloc,
             struct seen_error *e) {
    return detector_new(out, plan, 0, alloc, e);
}

void seen_free(seen_detector *d) {
    if (!d) return;
    for (uint64_t i = 0; i < options_get(&d->plan.spec, OPTION_SHARDS); i++)
        if (d->shard[i].ops->destroy) d->shard[i].ops->destroy(&d->shard[i]);
    struct seen_allocator alloc = d->alloc;
    alloc.free(alloc.ctx, d, d->bytes);
}

/* -- what it was built from --------------------------------------------------------------- */

struct seen_plan seen_plan_of(const seen_detector *d) {
    struct seen_plan out = {.asked = d->plan.spec};
    COPY_PLAN(&out, &d->plan);
    for (int o = 0; o < OPTION_COUNT; o++)
        if (!(d->plan.asked >> o & 1)) options_unset(&out.asked, (enum option)o);
    return out;
}

const struct seen_spec *seen_spec_of(const seen_detector *d) { return &d->plan.spec; }
uint32_t seen_digests(const seen_detector *d) { return d->plan.digests; }
uint64_t seen_seed(const seen_detector *d) { return options_get(&d->plan.spec, OPTION_SEED); }

/* The number of bits up to the highest 1. */
static uint32_t bits_of(const seen_digest *d, uint32_t digests) {
    while (digests > 1 && !d[digests - 1].hi && !d[digests - 1].lo) digests--;
    uint64_t hi = d[digests - 1].hi, lo = d[digests - 1].lo;
    uint32_t bits = hi   ? 128 - (uint32_t)__builtin_clzll(hi)
                    : lo ? 64 - (uint32_t)__builtin_clzll(lo)
                         : 0;
    return bits + 128 * (digests - 1);
}

/* Refuses keys of hash=int and hash=raw that are longer than bits=.  `bits`: the length of this
 * key. */
static int check_bits(const struct seen_spec *spec, const void *key, size_t len, uint32_t bits,
                      struct seen_error *e) {
    if (options_get(spec, OPTION_HASH) < SEEN_HASH_INT || !options_has(spec, OPTION_BITS) ||
        bits <= options_get(spec, OPTION_BITS))
        return 0;
    char text[48];
    if (options_get(spec, OPTION_HASH) == SEEN_HASH_INT)
        snprintf(text, sizeof text, "key %.*s", (int)bits_min(len, 39), (const char *)key);
    else
        snprintf(text, sizeof text, "a key of %zu bytes", len);
    return error_set(e, SEEN_EINVAL, 1,
                     "%s takes %u bits, and the plan says bits=%llu; ask for more bits=, or use "
                     "filter=exact",
                     text, bits, (unsigned long long)options_get(spec, OPTION_BITS));
}

int seen_key(const seen_detector *d, const void *key, size_t len, seen_digest *out,
             struct seen_error *e) {
    const struct seen_spec *spec = &d->plan.spec;
    uint32_t digests = d->plan.digests, hash = (uint32_t)options_get(spec, OPTION_HASH);
    uint64_t seed = options_get(spec, OPTION_SEED);
    if (hash == SEEN_HASH_XXH3 && digests == 1) return *out = seen_hash(key, len, seed), 0;
    int bad = hash_key(hash, seed, key, len, out, digests, e);
    return bad ? bad : check_bits(spec, key, len, bits_of(out, digests), e);
}

/* -- work --------------------------------------------------------------------------------- */

/* Writes the clock at each record: its number, or its time.  Times go back by at most lateness=. */
static void read_clock(seen_detector *d, size_t n, const seen_time *time, uint64_t *at) {
    struct detector_counters *c = &d->counters;
    bool counts = d->plan.spec.unit != SEEN_UNIT_MICROSECONDS;
    uint64_t back = options_get(&d->plan.spec, OPTION_LATENESS);
    for (size_t i = 0; i < n; i++) {
        if (time) {
            seen_time t = bits_min(time[i], MAX_TIME);
            uint64_t by = c->last - bits_min(t, c->last);
            c->last = bits_max(t, c->last);
            c->late += by > 0;
            c->clamped += by > back;
            c->max_late = bits_max(c->max_late, by);
            at[i] = c->last - bits_min(by, back);
        } else {
            at[i] = c->last;
        }
        if (counts) at[i] = c->tick + i;
    }
    c->tick += n;
}

static bool is_timed(const seen_detector *d) { return d->plan.spec.unit == SEEN_UNIT_MICROSECONDS; }

/* A window of time that gets no times would silently never forget. */
static void check_times(const seen_detector *d, bool given) {
    ERROR_MISUSE(is_timed(d) && !given,
                 "seen: windows of time need times; call the function that ends in _at");
    ERROR_MISUSE(!is_timed(d) && given,
                 "seen: only windows of time take times; call the function without _at");
}

void seen_observe_begin(seen_detector *d, size_t n, const seen_time *time, uint64_t *at) {
    check_times(d, time);
    read_clock(d, n, time, at);
}

void seen_observe_shards(seen_detector *d, uint64_t from, uint64_t to, size_t n,
                         const seen_digest *digest, const uint64_t *at, uint8_t *verdict) {
    shards_observe(d, from, bits_min(to, options_get(&d->plan.spec, OPTION_SHARDS)), n, digest, at,
                   verdict);
}

void seen_observe_end(seen_detector *d, size_t n, const seen_digest *digest, const uint64_t *at,
                      uint8_t *verdict) {
    d->counters.records += n;
    d->counters.duplicates += bits_count(verdict, n);
    if (options_get(&d->plan.spec, OPTION_VERIFY)) confirm_observe(d, n, digest, at, verdict);
    if (options_get(&d->plan.spec, OPTION_CLAIMS)) claims_observe(d, n, digest);
}

static void observe(seen_detector *d, size_t n, const seen_digest *digest, const seen_time *time,
                    uint8_t *verdict) {
    uint64_t at[SHARDS_BATCH], shards = options_get(&d->plan.spec, OPTION_SHARDS);
    size_t most = shards == 1 ? DETECTOR_BATCH : SHARDS_BATCH;
    while (n > 0) {
        size_t batch = bits_min(n, most);
        seen_observe_begin(d, batch, time, at);
        shards_observe(d, 0, shards, batch, digest, at, verdict);
        seen_observe_end(d, batch, digest, at, verdict);
        n -= batch;
        digest += batch * d->plan.digests;
        verdict += batch;
        if (time) time += batch;
    }
}

void seen_observe(seen_detector *d, size_t n, const seen_digest *digest, uint8_t *verdict) {
    check_times(d, false);
    observe(d, n, digest, NULL, verdict);
}

void seen_observe_at(seen_detector *d, size_t n, const seen_digest *digest, const seen_time *time,
                     uint8_t *verdict) {
    check_times(d, true);
    observe(d, n, digest, time, verdict);
}

uint64_t detector_now(const seen_detector *d, seen_time now) {
    if (d->plan.spec.unit != SEEN_UNIT_MICROSECONDS) return d->counters.tick;
    return bits_max(d->counters.last, bits_min(now, MAX_TIME));
}

/* The clock that a record at `now` would have if it came next. */
static uint64_t clock_of(const seen_detector *d, seen_time now) {
    uint64_t at = detector_now(d, now);
    uint64_t back = bits_min(options_get(&d->plan.spec, OPTION_LATENESS), at - bits_min(now, at));
    return at - back;
}

static void find_ages(const seen_detector *d, size_t n, const seen_digest *digest, uint64_t at,
                      uint64_t *age) {
    for (size_t i = 0; i < n;) {
        uint64_t shard = shards_of(d, digest[i]);
        size_t run = 1;
        while (i + run < n && shards_of(d, digest[i + run]) == shard) run++;
        const struct window *w = &d->shard[shard];
        w->ops->find(w, run, digest + i, at, age + i);
        i += run;
    }
}

void seen_last_seen(const seen_detector *d, size_t n, const seen_digest *digest, uint64_t *age) {
    check_times(d, false);
    find_ages(d, n, digest, clock_of(d, 0), age);
}

void seen_last_seen_at(const seen_detector *d, size_t n, const seen_digest *digest, seen_time now,
                       uint64_t *age) {
    check_times(d, true);
    find_ages(d, n, digest, clock_of(d, now), age);
}

void seen_prefetch(const seen_detector *d, size_t n, const seen_digest *digest) {
    for (size_t i = 0; i < n; i++) {
        const struct window *w = &d->shard[shards_of(d, digest[i])];
        if (w->ops->prefetch) w->ops->prefetch(w, digest[i]);
    }
}

static void query(const seen_detector *d, size_t n, const seen_digest *digest, seen_time now,
                  uint64_t within, uint8_t *verdict) {
    uint64_t age[DETECTOR_BATCH];
    if (!within) within = SEEN_NEVER - 1;
    for (size_t i = 0; i < n; i += DETECTOR_BATCH) {
        size_t batch = bits_min(n - i, DETECTOR_BATCH);
        find_ages(d, batch, digest + i * d->plan.digests, clock_of(d, now), age);
        for (size_t j = 0; j < batch; j++) verdict[i + j] = age[j] <= within;
    }
    if (options_get(&d->plan.spec, OPTION_VERIFY))
        confirm_query(d, n, digest, detector_now(d, now), within, verdict);
}

void seen_query(const seen_detector *d, size_t n, const seen_digest *digest, uint64_t within,
                uint8_t *verdict) {
    check_times(d, false);
    query(d, n, digest, 0, within, verdict);
}

void seen_query_at(const seen_detector *d, size_t n, const seen_digest *digest, seen_time now,
                   uint64_t within, uint8_t *verdict) {
    check_times(d, true);
    query(d, n, digest, now, within, verdict);
}

/* -- windows, by hand --------------------------------------------------------------------- */

void seen_landmark(seen_detector *d) {
    uint64_t at = detector_now(d, 0);
    for (uint64_t i = 0; i < options_get(&d->plan.spec, OPTION_SHARDS); i++) {
        struct window *w = &d->shard[i];
        if (w->truth) truth_before(w, at);
        w->ops->landmark(w, at);
        if (!w->truth) continue;
        truth_landmark(w);
        truth_after(w, at);
    }
    if (options_get(&d->plan.spec, OPTION_VERIFY)) confirm_landmark(d);
}

void seen_clear(seen_detector *d) {
    seen_landmark(d);
    for (uint64_t i = 0; i < options_get(&d->plan.spec, OPTION_SHARDS); i++) {
        d->shard[i].ops->clear_counters(&d->shard[i]);
        if (d->shard[i].truth) truth_clear(&d->shard[i]);
    }
    if (options_get(&d->plan.spec, OPTION_VERIFY)) confirm_clear_counters(d);
    if (options_get(&d->plan.spec, OPTION_CLAIMS)) claims_clear(d);
    d->counters = (struct detector_counters){.tick = d->counters.tick, .last = d->counters.last};
}

int seen_forget(seen_detector *d, size_t n, const seen_digest *digest, struct seen_error *e) {
    if (!(d->plan.traits & SEEN_DELETABLE))
        return error_set(e, SEEN_EREFUSED, 0,
                         "filter=%s cannot take single keys out of %s windows; filter=%s can",
                         d->plan.filter, d->plan.window,
                         d->plan.spec.window == SEEN_WINDOW_DECAYING ? "lru" : "exact");
    uint64_t at = detector_now(d, 0);
    for (size_t i = 0; i < n; i++) {
        struct window *w = &d->shard[shards_of(d, digest[i])];
        w->ops->forget(w, 1, digest + i, at);
        if (w->truth) truth_forget(w, digest[i]);
    }
    if (options_get(&d->plan.spec, OPTION_VERIFY)) confirm_forget(d, n, digest);
    return 0;
}

static int check_merge(const seen_detector *into, const seen_detector *from,
                       const struct merge_cursor *m, struct seen_error *e) {
    if (!(into->plan.traits & SEEN_MERGEABLE))
        return error_set(e, SEEN_EREFUSED, 0, "filter=%s cannot be merged", into->plan.filter);
    char ours[512], theirs[512];
    seen_spec_print(&into->plan.spec, ours, sizeof ours);
    seen_spec_print(&from->plan.spec, theirs, sizeof theirs);
    if (into == from || strcmp(ours, theirs) != 0)
        return error_set(
            e, SEEN_EMISMATCH, 0,
            "only two detectors with the same resolved spec can be merged; give both the "
            "same seed= and geometry");
    if (m->stage && m->began > detector_now(into, 0))
        return error_set(e, SEEN_EINVAL, 0, "this merge was begun on another detector");
    return 0;
}

static void begin_merge(seen_detector *into, const seen_detector *from, struct merge_cursor *m) {
    struct detector_counters *c = &into->counters;
    c->last = bits_max(c->last, from->counters.last);
    c->records += from->counters.records;
    c->duplicates += from->counters.duplicates;
    c->late += from->counters.late;
    c->clamped += from->counters.clamped;
    c->max_late = bits_max(c->max_late, from->counters.max_late);
    if (options_get(&into->plan.spec, OPTION_VERIFY)) confirm_add_counters(into, from);
    for (uint64_t i = 0; i < options_get(&into->plan.spec, OPTION_SHARDS); i++)
        if (into->shard[i].truth)
            truth_merge_begin(&into->shard[i], &from->shard[i], detector_now(from, 0));
    *m = (struct merge_cursor){.stage = 1, .began = detector_now(into, 0)};
}

/* The clock of `from` during a merge.  A clock of records advances with that of `into`; otherwise
 * the keys of `from` would grow younger while the merge goes on.  In a landmark window keys do not
 * age: they stay until the next landmark of `into`. */
static uint64_t from_now(const seen_detector *from, const seen_detector *into, uint64_t began) {
    const struct seen_spec *s = &into->plan.spec;
    bool counts = s->unit != SEEN_UNIT_MICROSECONDS && s->window != SEEN_WINDOW_LANDMARK;
    uint64_t since = counts ? detector_now(into, 0) - began : 0;
    return detector_now(from, into->counters.last) + since;
}

static bool merge_piece(seen_detector *into, const seen_detector *from, uint64_t most,
                        struct merge_cursor *m) {
    uint64_t at = detector_now(into, 0), from_at = from_now(from, into, m->began);
    uint64_t shard = m->stage - 1;
    if (shard < options_get(&into->plan.spec, OPTION_SHARDS)) {
        struct window *w = &into->shard[shard];
        const struct window *theirs = &from->shard[shard];
        if (w->truth) truth_before(w, at);
        bool last = w->ops->merge(w, at, theirs, from_at, most, m);
        if (w->truth && last) truth_merge_end(w, at, theirs, from_at);
        if (w->truth) truth_after(w, at);
        return last;
    }
    return !options_get(&into->plan.spec, OPTION_VERIFY) ||
           confirm_merge(into, at, from, from_at, most, m);
}

/* As seen_merge_some. */
static int merge_some(seen_detector *into, const seen_detector *from, uint64_t most,
                      struct merge_cursor *m, struct seen_error *e) {
    int bad = check_merge(into, from, m, e);
    if (bad) return bad;
    if (!m->stage) begin_merge(into, from, m);
    if (!merge_piece(into, from, bits_max(most, 1), m)) return 1;
    memset(m->place, 0, sizeof m->place);
    return m->stage++ <= options_get(&into->plan.spec, OPTION_SHARDS);
}

_Static_assert(sizeof(struct merge_cursor) <= sizeof(struct seen_merging), "room for a cursor");

int seen_merge_some(seen_detector *into, const seen_detector *from, uint64_t most,
                    struct seen_merging *merging, struct seen_error *e) {
    struct merge_cursor m;
    memcpy(&m, merging, sizeof m);
    int more = merge_some(into, from, most, &m, e);
    memcpy(merging, &m, sizeof m);
    return more;
}

int seen_merge(seen_detector *into, const seen_detector *from, struct seen_error *e) {
    struct merge_cursor m = {0};
    int more = 1;
    while (more > 0) more = merge_some(into, from, UINT64_MAX, &m, e);
    return more;
}

void seen_stats(const seen_detector *d, struct seen_stats *out) {
    const struct detector_counters *c = &d->counters;
    *out = (struct seen_stats){
        .records = c->records,
        .duplicates = c->duplicates,
        .unique = c->records - c->duplicates,
        .capacity = d->plan.capacity,
        .bytes = d->bytes,
        .late = c->late,
        .max_late = c->max_late,
        .clamped = c->clamped,
        .last = c->last,
        .kept = SEEN_NEVER,
        .oldest = SEEN_NEVER,
    };
    if (options_get(&d->plan.spec, OPTION_VERIFY)) out->confirmed = confirm_count(d);
    uint64_t at = detector_now(d, 0);
    for (uint64_t i = 0; i < options_get(&d->plan.spec, OPTION_SHARDS); i++)
        d->shard[i].ops->stats(&d->shard[i], at, out);
    if (d->shard[0].truth) truth_stats(d->shard, detector_now(d, 0), out);
}

const char *seen_version(void) { return SEEN_VERSION; }
