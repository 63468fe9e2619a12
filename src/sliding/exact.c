/* exact - the last N records or the last T, without errors: a hash set and a queue.
 *
 * Guarantee  Exact up to the digest's 128 bits, slack 0, ages to the record or microsecond; with
 *            mem= the oldest keys are forgotten first, and the window really kept is reported.
 * Paper      Metwally, Agrawal, El Abbadi, WWW 2005, §4 and §5.2.3: the queue knows what expires.
 * Layout     store.h; the stamp is the record's number or its time.
 *
 *                oldest ◄──────── queue by last occurrence ────────► newest
 *                  │  at - stamp > reach: gone                          ▲ a duplicate moves here
 *
 * Example    sliding:3 on a b c d a: the second a is 4 records behind the first, so it is new; on
 *            a b c a it is a duplicate.
 * Cost       44 bytes a key and two or three cache misses a record.
 *
 * With lateness= records are judged by their own time as far back as that: late.h.
 */
#include "base/base.h"
#include "base/bits.h"
#include "plan/plan.h"
#include "spec/spec.h"
#include "table/store.h"
#include "window/window.h"

extern const struct filter_ops filter_exact;

#define MAX_BIAS         MAX_COUNT
#define COUNTED          16384   /* keys, at most, to say how many there are */
#define MAX_LATE_WINDOWS 1000000 /* taking a key out asks for each */

/* -- records that come late --------------------------------------------------------------- */

/* lateness=L: the exact sliding window of time for records that come out of order.
 *
 * Guarantee  A record at t is a duplicate iff an accepted record (one called new) of its key at t'
 *            has |t - t'| < W, exactly, for records up to L late; no record waits for others.
 * Idea       Accepted records of one key are at least W apart, so a stretch [kW, (k+1)W) of time
 *            holds at most one of them.  A store keyed by (key, k) that keeps its time answers with
 *            three lookups, at k-1, k and k+1: nothing is searched, for any L.
 * Layout     store.h, in order of arrival; the digest is that of (key, k), the stamp the record's
 *            time.  Nothing is asked about times before newest - (W + L), so what is older goes
 *            when it is the oldest by arrival: at most W + L after it came.
 *
 *                 k-1       k       k+1
 *              ├───────┼───────┼───────┤   W = 10, record at 25: k = 2; 14 in k-1 is 11 away,
 *                   14      25  31         31 in k+1 is 6 away: a duplicate
 *
 * Cost       44 bytes an accepted record of the last W + L; three lookups a record. */
struct late {
    uint64_t window, lateness;
    uint64_t newest; /* the greatest clock a record had */
    uint64_t latest; /* the greatest stamp of an accepted record */
};

#define GROUP (BITS_AHEAD / 3) /* records fetched ahead of use */

/* The digest of a key in the k-th stretch.  It goes into the upper half, which keys taken as they
 * are (hash=int) leave free. */
static seen_digest within(seen_digest key, uint64_t k) {
    key.hi += k * BITS_GOLDEN;
    return key;
}

/* Keys stamped below this matter neither to a record at `at` nor to later ones.  `bias` is the
 * difference of stamp and clock. */
static uint64_t late_least(const struct late *l, uint64_t at, uint64_t bias) {
    return at + bias - (l->window - 1) - l->lateness;
}

/* The distance from `stamp` to the nearest accepted record of the key; SEEN_NEVER: the window or
 * more. */
static uint64_t late_distance(const struct late *l, const struct store *s, seen_digest d,
                              uint64_t stamp) {
    uint64_t k = stamp / l->window, nearest = SEEN_NEVER, other;
    for (uint64_t i = k - (k > 0); i <= k + 1; i++)
        if (store_find(s, within(d, i), &other))
            nearest = bits_min(nearest, stamp < other ? other - stamp : stamp - other);
    return nearest < l->window ? nearest : SEEN_NEVER;
}

/* As store_observe, under clocks that may go back by the lateness. */
static void late_observe(struct late *l, struct store *s, size_t n, const seen_digest *d,
                         const uint64_t *at, uint64_t bias, uint8_t *verdict) {
    for (size_t i = 0; i < n; i++) {
        uint64_t stamp = at[i] + bias;
        if (i % GROUP == 0) {
            seen_digest asked[3 * GROUP];
            size_t group = bits_min(n - i, GROUP);
            for (size_t g = 0; g < group; g++)
                for (uint64_t j = 0; j < 3; j++)
                    asked[3 * g + j] = within(d[i + g], (at[i + g] + bias) / l->window + j - 1);
            store_fetch(s, 3 * group, asked);
        }
        l->newest = bits_max(l->newest, at[i]);
        uint64_t least = late_least(l, l->newest, bias);
        store_expire(s, least);
        verdict[i] = late_distance(l, s, d[i], stamp) != SEEN_NEVER;
        if (verdict[i]) continue;
        /* The place is free: a record in the same stretch would lie in the window. */
        store_add(s, within(d[i], stamp / l->window), stamp, l->newest + bias, least);
        l->latest = bits_max(l->latest, stamp);
    }
}

/* -- the window --------------------------------------------------------------------------- */

struct state {
    struct store store;
    uint64_t reach; /* a key counts while clock - stamp <= reach */
    uint64_t bias;  /* stamp = clock + bias, from past + 1, so that a key can be older than the
                       first record (merge); a landmark raises it: all before is out of reach */
    uint64_t landmarks;
    struct late late; /* its window is 0 if the spec has no lateness= */
};

/* How far back from the newest record anything counts. */
static uint64_t past(const struct state *s) { return s->reach + s->late.lateness; }

static uint64_t size(const struct seen_spec *spec) {
    (void)spec;
    return (sizeof(struct state) + 63) / 64 * 64;
}

/* Plans lateness=.  Records are judged by accepted ones, which lie at least a window apart.  After
 * a merge two of them may lie closer, so such a detector cannot be merged. */
static int plan_lateness(struct seen_plan *plan, struct seen_error *e) {
    struct seen_spec *spec = &plan->spec;
    if (options_has(spec, OPTION_REFRESH) &&
        options_get(spec, OPTION_REFRESH) != SEEN_REFRESH_FIRST)
        return error_set(e, SEEN_EREFUSED, 0,
                         "with lateness= a record is judged by those accepted, so a duplicate "
                         "cannot renew its window; leave refresh=last out");
    if (options_get(spec, OPTION_LATENESS) / MAX_LATE_WINDOWS >= spec->length)
        return error_set(e, SEEN_EREFUSED, 0,
                         "lateness= is more than %d windows; give a longer window",
                         MAX_LATE_WINDOWS);
    options_assume(spec, OPTION_REFRESH, SEEN_REFRESH_FIRST);
    plan->traits &= ~(uint32_t)SEEN_MERGEABLE;
    return 0;
}

static int plan(struct seen_plan *plan, struct seen_error *e) {
    struct seen_spec *spec = &plan->spec;
    struct fit fit = {&filter_exact.theory, 1, 1, options_get(spec, OPTION_SHARDS), false, 1};
    plan->traits = filter_exact.theory.traits;
    uint32_t does = options_has(spec, OPTION_MEM) ? SEEN_OVERLOAD_SHRINK : SEEN_OVERLOAD_GROW;
    if (options_has(spec, OPTION_OVERLOAD) && options_get(spec, OPTION_OVERLOAD) != does &&
        options_get(spec, OPTION_OVERLOAD) != SEEN_OVERLOAD_GROW)
        return error_set(e, SEEN_EREFUSED, 0,
                         "filter=exact does overload=grow, or shrink with mem=");
    if (!options_has(spec, OPTION_OVERLOAD)) options_set(spec, OPTION_OVERLOAD, does);
    int bad = options_has(spec, OPTION_LATENESS) ? plan_lateness(plan, e) : 0;
    if (bad) return bad;
    uint64_t fixed = detector_fixed(spec, size(spec) - sizeof(struct store));
    return plan_filter(plan, &fit, fixed, e);
}

static void init(struct window *w) {
    const struct seen_spec *spec = &w->plan->spec;
    struct state *s = w->state;
    store_init(&s->store, w->filter.alloc, options_get(spec, OPTION_BLOCKS));
    s->reach = spec->unit == SEEN_UNIT_RECORDS ? spec->length : spec->length - 1;
    if (options_get(spec, OPTION_LATENESS))
        s->late =
            (struct late){.window = spec->length, .lateness = options_get(spec, OPTION_LATENESS)};
    s->bias = past(s) + 1;
}

/* The oldest stamp that counts at clock `at`. */
static uint64_t least(const struct state *s, uint64_t at) { return at + s->bias - s->reach; }

static bool is_empty(const struct state *s, uint64_t at) {
    if (s->late.window) return s->late.latest < late_least(&s->late, at, s->bias);
    return !store_live(&s->store, least(s, at), 1);
}

static void destroy(struct window *w) { store_free(&((struct state *)w->state)->store); }

static void move(struct window *w, struct seen_mover mover) {
    store_move(&((struct state *)w->state)->store, w->filter.alloc, mover);
}

static void observe(struct window *w, size_t n, const seen_digest *d, const uint64_t *at,
                    uint8_t *verdict) {
    struct state *s = w->state;
    uint64_t stamp[DETECTOR_BATCH];
    if (s->late.window) {
        late_observe(&s->late, &s->store, n, d, at, s->bias, verdict);
        return;
    }
    bool first = options_get(&w->plan->spec, OPTION_REFRESH) == SEEN_REFRESH_FIRST;
    for (size_t i = 0; i < n; i += DETECTOR_BATCH) {
        size_t batch = bits_min(n - i, DETECTOR_BATCH);
        for (size_t j = 0; j < batch; j++) stamp[j] = at[i + j] + s->bias;
        store_observe(&s->store, batch, d + i, stamp, 1, s->reach, first, verdict + i);
    }
}

static uint64_t age_of(const struct state *s, seen_digest d, uint64_t at) {
    uint64_t stamp, now = at + s->bias;
    if (s->late.window) return late_distance(&s->late, &s->store, d, now);
    if (!store_find(&s->store, d, &stamp)) return SEEN_NEVER;
    uint64_t age = now > stamp ? now - stamp : 0;
    return age <= s->reach ? age : SEEN_NEVER;
}

static void find(const struct window *w, size_t n, const seen_digest *d, uint64_t at,
                 uint64_t *age) {
    for (size_t i = 0; i < n; i++) age[i] = age_of(w->state, d[i], at);
}

static void landmark(struct window *w, uint64_t at) {
    struct state *s = w->state;
    if (is_empty(s, at)) return;
    s->landmarks++;
    s->bias += past(s) + 1;
    if (s->bias < MAX_BIAS) return;
    store_empty(&s->store); /* once in thousands of landmarks, stamps start at 0 again */
    s->bias = past(s) + 1;
    s->late.latest = 0;
}

static size_t forget(struct window *w, size_t n, const seen_digest *d, uint64_t at) {
    struct state *s = w->state;
    size_t gone = 0;
    for (size_t i = 0; i < n; i++) {
        if (s->late.window) {
            bool had = false;
            for (uint64_t k = late_least(&s->late, at, s->bias) / s->late.window;
                 k <= s->late.latest / s->late.window; k++)
                had |= store_forget(&s->store, within(d[i], k));
            gone += had;
            continue;
        }
        bool live = age_of(s, d[i], at) != SEEN_NEVER;
        gone += store_forget(&s->store, d[i]) && live;
    }
    return gone;
}

static bool merge(struct window *w, uint64_t at, const struct window *from, uint64_t from_at,
                  uint64_t most, struct merge_cursor *m) {
    struct state *s = w->state;
    const struct state *other = from->state;
    struct store_moment here = {at + s->bias, least(s, at)};
    struct store_moment there = {from_at + other->bias, least(other, from_at)};
    return store_merge(&s->store, here, &other->store, there, 0, most, m);
}

static void stats(const struct window *w, uint64_t at, struct seen_stats *out) {
    const struct state *s = w->state;
    if (!s->late.window)
        out->stored += store_live(&s->store, least(s, at), COUNTED);
    else if (!is_empty(s, at))
        out->stored += s->store.size;
    out->bytes += s->store.bytes;
    out->forgotten += s->store.forgotten;
    if (s->store.forgotten)
        out->kept = bits_min(out->kept, s->store.kept - bits_min(s->store.kept, s->late.lateness));
    out->landmarks = bits_max(out->landmarks, s->landmarks);
}

static void clear_counters(struct window *w) {
    struct state *s = w->state;
    s->landmarks = 0;
    store_clear_counters(&s->store);
}

struct saved {
    uint64_t bias, landmarks, newest, latest;
};

static int save(const struct window *w, struct seen_writer out) {
    const struct state *s = w->state;
    struct saved saved = {s->bias, s->landmarks, s->late.newest, s->late.latest};
    if (out.write(out.ctx, &saved, sizeof saved)) return -1;
    return store_save(&s->store, out);
}

static int load(struct window *w, uint64_t at, struct seen_reader in, uint64_t limit,
                struct seen_error *e) {
    struct state *s = w->state;
    struct saved saved;
    if (in.read(in.ctx, &saved, sizeof saved))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends inside its window");
    if (saved.bias <= past(s) || saved.bias >= MAX_BIAS || saved.landmarks >= MAX_COUNT ||
        saved.newest > at || saved.latest > at + saved.bias)
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot's window does not fit its spec");
    s->bias = saved.bias;
    s->landmarks = saved.landmarks;
    s->late.newest = saved.newest;
    s->late.latest = saved.latest;
    return store_load(&s->store, at + saved.bias, s->late.lateness, in, limit, e);
}

const struct window_ops aging_sliding_exact = {
    .name = "sliding",
    .plan = plan,
    .size = size,
    .init = init,
    .destroy = destroy,
    .move = move,
    .observe = observe,
    .find = find,
    .landmark = landmark,
    .forget = forget,
    .merge = merge,
    .stats = stats,
    .clear_counters = clear_counters,
    .save = save,
    .load = load,
};
