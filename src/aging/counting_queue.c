/* sliding, counting - a counting Bloom filter, and a queue of what it counts.
 *
 * Idea       A record increments its k counters and joins the queue; one that leaves the window is
 *            popped and decrements the same k.  The queue holds 64 bits of a digest, from which
 *            the k places are drawn, so it need not keep the key.
 * Guarantee  No false negatives in a window of N records.  In a window of time the queue has room
 *            for as many records as items=, rate= or mem= say: of more the oldest leave early, and
 *            are counted.  False positives (1-(1-1/m)^(kn))^k with n distinct keys in the window,
 *            and as long as a counter sticks after its keys have left: a key that came 2^width-1
 *            times may be found for some four windows more.  (Two keys alike in 64 bits are one.)
 *            The window is exact, unless its clock jumps: of what leaves at once a record pops 1024
 *            and a 1024th of the queue's room, so the last are gone within 1024 records; if all
 *            leave, all are gone.  Ages are not known.
 * Refresh    last: every record joins the queue.  first: only records called new.
 * Paper      Metwally, Agrawal, El Abbadi, WWW 2005, §5.2.3; counters after Fan, Cao, Almeida,
 *            Broder, Summary Cache, 2000.  They do not say how wide a counter is, and one id of
 *            their stream comes 10,781 times: counters reach their top.  recount.h frees them.
 * Layout     queue: a ring of entries, after the lines of the table (recount.h).
 *
 *                one shard, N records:  |digest|digest|  -   |digest| …    the i-th of them is i
 *                                                       └ 0: not counted (refresh=first)
 *                else:                  |digest, clock|digest, clock| …
 *                                        begin ──────────────► end
 *
 *                lines  | cells of `width` bits … | stamp |  …  | shadow |
 *
 * Example    sliding:3, k = 1, stream a b a c d b: after the third record the counter of a is 2.
 *            Then the oldest leave, a, b, a …: when b comes again its counter is 0, so it is new.
 * Cost       k cache lines for the record that comes and k for the one that leaves; 64 bits a
 *            record (128 with a clock) and the filter: sliding:1e6 fp=.01 takes 107 bits a key.
 */
#include "aging/recount.h"
#include "detector.h"
#include "error.h"
#include "plan/plan.h"
#include "plan/theory.h"
#include "window/pieces.h"

#include <math.h>

#define BATCH        16 /* records whose lines are fetched together */
#define K_MOST       64
#define WALK         4    /* entries counted anew a record */
#define READ_ENTRIES 1024 /* of the queue of a snapshot, at once */
#define LEAVE                                                                                      \
    1024 /* entries popped a record, at most, and as many more as empty the queue in               \
            so many records */

/* What a snapshot keeps beside the table and the queue. */
struct head {
    uint64_t begin, end; /* numbers of the oldest entry and of the next to come */
    uint64_t landmarks, forgotten, kept;
    struct pieces pieces;
};

struct state {
    struct head h;
    struct recount r;
    uint64_t reach; /* an entry counts while clock - its own <= reach */
    uint64_t room;  /* entries */
    uint64_t leave; /* popped a record at most */
    uint32_t k, first, clocked, time;
};

#define STATE_BYTES ((sizeof(struct state) + 63) / 64 * 64)

/* -- geometry ----------------------------------------------------------------------------- */

/* Records of one shard among others have numbers that tell nothing, so they are kept. */
static bool clocked(const struct seen_spec *spec) {
    return spec->unit == SEEN_MICROSECONDS || spec->shards > 1;
}

/* Any one key may bring all the records of a window: each shard has room for them. */
static uint64_t room_of(const struct seen_spec *spec) {
    if (spec->unit == SEEN_RECORDS) return spec->length;
    if (!options_has(spec, OPTION_RATE)) return spec->items;
    return (uint64_t)fmin(1e15, fmax(1, ceil(spec->rate * (double)spec->length / 1e6)));
}

static uint64_t queue_bytes(const struct seen_spec *spec, uint64_t room) {
    return bits_ceil_div(room * (clocked(spec) ? 16 : 8), 64) * 64;
}

static uint64_t size(const struct seen_plan *plan, const struct filter_ops *none) {
    (void)none;
    const struct seen_spec *spec = &plan->spec;
    return STATE_BYTES + spec->lines * 64 + queue_bytes(spec, room_of(spec));
}

/* -- planning ----------------------------------------------------------------------------- */

static double fp(const struct filter_shape *s, double keys) {
    return theory_bloom((double)recount_cells(s), keys, s->k);
}

static double touches(const struct filter_shape *s) { return 2 * s->k + 2; }

static uint64_t granule(const struct filter_shape *s) {
    (void)s;
    return 2;
}

static const struct filter_ops sizing = {.name = "counting",
                                         .traits = SEEN_NO_FN | SEEN_NO_AGES,
                                         .k_most = K_MOST,
                                         .live_most = 1,
                                         .fp = fp,
                                         .touches = touches,
                                         .size = table_size,
                                         .granule = granule};

static uint64_t fixed_bytes(const struct seen_spec *spec, uint64_t room) {
    return detector_fixed(spec, STATE_BYTES + queue_bytes(spec, room));
}

/* Bytes of a whole detector for so many keys, queue and filter; infinite if none is large enough.
 */
static double bytes_for(const struct seen_spec *spec, const struct fit *fit, double keys) {
    struct filter_shape shape = plan_shape(spec, 1);
    double allowed = options_has(spec, OPTION_FP) ? spec->fp : PLAN_FP_DEFAULT;
    uint32_t k = options_has(spec, OPTION_K) ? (uint32_t)spec->k : 0;
    if (!options_has(spec, OPTION_LINES) &&
        !fit_lines(fit, &shape, keys / (double)spec->shards, allowed, k, 0))
        return INFINITY;
    return (double)fixed_bytes(spec, (uint64_t)keys) + (double)(spec->shards * shape.lines) * 64;
}

/* Where memory alone says how many records a window of time holds: about as many as fill it. */
static void choose_items(struct seen_spec *spec, const struct fit *fit) {
    double none = (double)fixed_bytes(spec, 0), mem = (double)spec->mem;
    double keys = fmax(1, (mem - none) / (16. * (double)spec->shards)), takes;
    for (int i = 0; i < 16 && keys > 1 && (takes = bytes_for(spec, fit, keys)) > mem; i++)
        keys = isinf(takes) ? fmax(1, keys / 16)
                            : fmax(1, floor(keys * .998 * fmax(0, mem - none) / (takes - none)));
    spec->items = (uint64_t)keys;
    options_mark(spec, OPTION_ITEMS);
}

static int plan_room(struct seen_plan *plan, const struct fit *fit, struct seen_error *e) {
    struct seen_spec *spec = &plan->spec;
    uint64_t keys;
    int bad = plan_keys(&keys, spec, e);
    if (bad || keys) return bad;
    if (!options_has(spec, OPTION_MEM)) {
        if (options_has(spec, OPTION_LINES))
            return error_set(e, SEEN_EREFUSED, 0,
                             "nothing says how many records this window holds; give rate=, items= "
                             "or mem=");
        spec->mem = PLAN_MEM_DEFAULT;
        options_mark(spec, OPTION_MEM);
    }
    choose_items(spec, fit);
    return 0;
}

static int plan(struct seen_plan *plan, const struct filter_ops *none, struct seen_error *e) {
    (void)none;
    struct seen_spec *spec = &plan->spec;
    struct fit fit = {&sizing, 1, 1, spec->shards, false};
    plan->traits = sizing.traits;
    int bad = counters_settle(spec, 1, e);
    if (bad) return bad;
    if (spec->width < 3)
        return error_set(e, SEEN_EREFUSED, 0,
                         "counters of width=2 stick faster than a sliding window counts them anew; "
                         "use width=3 or more");
    bool time = spec->unit == SEEN_MICROSECONDS;
    bad = plan_overload(plan, time ? SEEN_SHRINK : SEEN_KEEP, e);
    if (!bad) bad = plan_room(plan, &fit, e);
    if (!bad) bad = plan_filter(plan, &fit, fixed_bytes(spec, room_of(spec)), e);
    if (bad) return bad;
    plan->capacity = bits_min(plan->capacity, room_of(spec));
    return 0;
}

/* -- the queue ---------------------------------------------------------------------------- */

static uint64_t *table(const struct state *s) { return (uint64_t *)((char *)s + STATE_BYTES); }

static uint64_t *entry(const struct state *s, uint64_t number) {
    uint64_t *queue = table(s) + 8 * (s->r.lines + s->r.shadow);
    return queue + number % s->room * (s->clocked ? 2 : 1);
}

static uint64_t clock_of(const struct state *s, uint64_t number, uint64_t at) {
    return s->clocked ? entry(s, number)[1] : at - (s->h.end - number);
}

/* Has it left the window of a record at `at`? */
static bool left(const struct state *s, uint64_t number, uint64_t at) {
    return at - clock_of(s, number, at) > s->reach;
}

static bool all_left(const struct state *s, uint64_t at) {
    return s->h.begin == s->h.end || left(s, s->h.end - 1, at);
}

static uint64_t entry_of(seen_digest d) { return d.lo ? d.lo : 1; }

static void place(const struct state *s, uint64_t digest, struct cells_probe *probe) {
    for (uint32_t j = 0; j < s->k; j++)
        probe[j] = cells_place(bits_draw(digest, 0, j), s->r.lines, s->r.a_line);
}

static double rate(const struct state *s) {
    return pow((double)s->r.set / (double)(s->r.lines * s->r.a_line), s->k);
}

static void close_piece(struct state *s) {
    pieces_close(&s->h.pieces, rate(s), 16 + s->r.set / (64 * s->k));
}

static void pop(struct state *s) {
    struct cells_probe probe[K_MOST];
    bool shadowed = s->h.begin >= s->r.h.walk;
    uint64_t digest = *entry(s, s->h.begin++);
    if (!digest) return;
    place(s, digest, probe);
    for (uint32_t j = 0; j < s->k; j++) recount_down(&s->r, table(s), probe[j], shadowed);
}

static void leave_all(struct state *s) {
    close_piece(s);
    s->h.begin = s->h.end;
    recount_empty(&s->r, table(s));
    close_piece(s);
}

/* Pops what has left the window at `at`. */
static void expire(struct state *s, uint64_t at) {
    if (s->h.begin == s->h.end) return;
    if (all_left(s, at)) {
        leave_all(s);
        return;
    }
    for (uint64_t n = s->leave; n > 0 && left(s, s->h.begin, at); n--) pop(s);
}

/* A full queue: the oldest leaves early, if a record to come could still have met it. */
static void make_room(struct state *s, uint64_t at) {
    if (s->h.end - s->h.begin < s->room) return;
    uint64_t age = at + !s->time - clock_of(s, s->h.begin, at);
    if (age <= s->reach) {
        s->h.forgotten++;
        s->h.kept = bits_min(s->h.kept, age ? age - 1 : 0);
    }
    pop(s);
}

static void join(struct state *s, uint64_t at, uint64_t digest, const struct cells_probe *probe) {
    make_room(s, at);
    uint64_t *e = entry(s, s->h.end++);
    *e = digest;
    if (s->clocked) e[1] = at;
    for (uint32_t j = 0; digest && j < s->k; j++) recount_up(&s->r, table(s), probe[j]);
}

static void count_anew(struct state *s) {
    struct cells_probe probe[K_MOST];
    if (!recount_step(&s->r, table(s), s->h.begin, s->h.end)) return;
    for (int n = WALK; n > 0 && s->r.h.walk > s->h.begin; n--) {
        uint64_t digest = *entry(s, --s->r.h.walk);
        if (!digest) continue;
        place(s, digest, probe);
        for (uint32_t j = 0; j < s->k; j++) recount_walked(&s->r, table(s), probe[j]);
    }
}

/* -- life, work --------------------------------------------------------------------------- */

static void init(struct window *w) {
    const struct seen_spec *spec = &w->plan->spec;
    struct state *s = w->state;
    struct filter_shape shape = plan_shape(spec, 1);
    recount_init(&s->r, &shape);
    s->k = shape.k;
    s->room = room_of(spec);
    s->leave = LEAVE + s->room / LEAVE;
    s->time = spec->unit == SEEN_MICROSECONDS;
    s->reach = spec->length - s->time;
    s->clocked = clocked(spec);
    s->first = spec->refresh == SEEN_REFRESH_FIRST;
    s->h.kept = SEEN_NEVER;
}

static void destroy(struct window *w) { (void)w; }

static uint8_t observe_one(struct state *s, uint64_t at, uint64_t digest,
                           const struct cells_probe *probe) {
    expire(s, at);
    uint8_t seen = 1;
    for (uint32_t j = 0; j < s->k; j++) seen &= recount_get(&s->r, table(s), probe[j]) > 0;
    bool counts = !seen || !s->first;
    if (counts || !s->clocked) join(s, at, counts ? digest : 0, probe);
    if (!seen && ++s->h.pieces.fresh >= s->h.pieces.until) close_piece(s);
    count_anew(s);
    return seen;
}

static void prefetch(const struct state *s, const struct cells_probe *probe) {
    for (uint32_t j = 0; j < s->k; j++) __builtin_prefetch(table(s) + 8 * probe[j].line, 1);
}

static void observe(struct window *w, size_t n, const seen_digest *d, const uint64_t *at,
                    uint8_t *verdict) {
    struct state *s = w->state;
    struct cells_probe probe[BATCH][K_MOST], leaving[K_MOST];
    for (size_t i = 0; i < n; i += BATCH) {
        size_t batch = bits_min(n - i, BATCH);
        for (size_t j = 0; j < batch; j++) {
            place(s, entry_of(d[i + j]), probe[j]);
            prefetch(s, probe[j]);
            if (s->h.begin + j >= s->h.end) continue;
            place(s, *entry(s, s->h.begin + j), leaving);
            prefetch(s, leaving);
        }
        for (size_t j = 0; j < batch; j++)
            verdict[i + j] = observe_one(s, at[i + j], entry_of(d[i + j]), probe[j]);
    }
}

/* -- ask ---------------------------------------------------------------------------------- */

/* Takes from the counters `value` of a key's places what one that leaves will. */
static void without(const struct state *s, uint64_t leaving, const struct cells_probe *probe,
                    uint32_t *value) {
    struct cells_probe gone[K_MOST];
    place(s, leaving, gone);
    for (uint32_t i = 0; leaving && i < s->k; i++)
        for (uint32_t j = 0; j < s->k; j++)
            if (gone[i].line == probe[j].line && gone[i].cell == probe[j].cell)
                value[j] -= value[j] > 0 && value[j] < s->r.top;
}

/* What a record at `at` would find, after it has popped what it would. */
static bool found(const struct state *s, seen_digest d, uint64_t at) {
    struct cells_probe probe[K_MOST];
    uint32_t value[K_MOST], held = 0;
    if (all_left(s, at)) return false;
    place(s, entry_of(d), probe);
    for (uint32_t j = 0; j < s->k; j++)
        if (!(value[j] = recount_get(&s->r, table(s), probe[j]))) return false;
    for (uint64_t i = s->h.begin; i < s->h.begin + s->leave && left(s, i, at); i++)
        without(s, *entry(s, i), probe, value);
    for (uint32_t j = 0; j < s->k; j++) held += value[j] > 0;
    return held == s->k;
}

static void find(const struct window *w, size_t n, const seen_digest *d, uint64_t at,
                 uint64_t *age) {
    const struct state *s = w->state;
    for (size_t i = 0; i < n; i++) age[i] = !found(s, d[i], at) ? SEEN_NEVER : s->time ? 0 : 1;
}

static void landmark(struct window *w, uint64_t at) {
    (void)at;
    struct state *s = w->state;
    if (s->h.begin == s->h.end) return;
    s->h.landmarks++;
    leave_all(s);
}

static void stats(const struct window *w, uint64_t at, struct seen_stats *out) {
    const struct state *s = w->state;
    out->expected_false += pieces_now(&s->h.pieces, rate(s));
    out->landmarks = bits_max(out->landmarks, s->h.landmarks);
    out->forgotten += s->h.forgotten;
    out->kept = bits_min(out->kept, s->h.kept);
    out->saturated += s->r.h.saturated;
    out->rebuilt += s->r.h.rebuilt;
    if (all_left(s, at)) return;
    double cells = (double)(s->r.lines * s->r.a_line);
    out->stored += (uint64_t)(theory_bloom_keys(cells, (double)s->r.set, s->k) + .5);
    out->fp_now += rate(s) / (double)w->plan->spec.shards;
}

static void clear_counters(struct window *w) {
    struct state *s = w->state;
    s->h.landmarks = s->h.forgotten = s->r.h.saturated = s->r.h.rebuilt = 0;
    s->h.kept = SEEN_NEVER;
    pieces_clear(&s->h.pieces);
}

/* -- snapshot ----------------------------------------------------------------------------- */

/* Bytes of the entries from one on, up to `end` or to where the ring turns; `next` is after them.
 */
static size_t stretch(const struct state *s, uint64_t number, uint64_t end, uint64_t *next) {
    uint64_t n = bits_min(end - number, s->room - number % s->room);
    *next = number + n;
    return n * (s->clocked ? 16 : 8);
}

static int save(const struct window *w, struct seen_writer out) {
    const struct state *s = w->state;
    if (out.write(out.ctx, &s->h, sizeof s->h) || out.write(out.ctx, &s->r.h, sizeof s->r.h) ||
        out.write(out.ctx, table(s), w->plan->spec.lines * 64))
        return -1;
    for (uint64_t i = s->h.begin, next; i < s->h.end; i = next) {
        size_t bytes = stretch(s, i, s->h.end, &next);
        if (out.write(out.ctx, entry(s, i), bytes)) return -1;
    }
    return 0;
}

static int load_queue(struct state *s, uint64_t at, struct seen_reader in, struct seen_error *e) {
    for (uint64_t i = s->h.begin, last = 0, next; i < s->h.end;) {
        size_t bytes = stretch(s, i, bits_min(s->h.end, i + READ_ENTRIES), &next);
        if (in.read(in.ctx, entry(s, i), bytes))
            return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends inside its queue");
        for (; i < next; i++) {
            uint64_t clock = clock_of(s, i, at);
            if (clock < last || clock > at)
                return error_set(e, SEEN_EFORMAT, 0, "the snapshot's queue is not in order");
            last = clock;
        }
    }
    return 0;
}

static int load(struct window *w, uint64_t at, struct seen_reader in, uint64_t limit,
                struct seen_error *e) {
    (void)limit;
    struct state *s = w->state;
    struct head *h = &s->h;
    uint64_t lines = w->plan->spec.lines;
    if (in.read(in.ctx, h, sizeof *h) || in.read(in.ctx, &s->r.h, sizeof s->r.h))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends before its table");
    if (h->begin > h->end || h->end >= COUNT_MOST || h->end - h->begin > s->room ||
        (!s->clocked && h->end - h->begin > at) || h->landmarks >= COUNT_MOST ||
        h->forgotten >= COUNT_MOST || !pieces_sane(&h->pieces) || !recount_sane(&s->r, h->end))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot's window does not fit its spec");
    for (uint64_t i = 0, next; i < lines;) {
        if (!(next = table_read(in, table(s), i, lines)))
            return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends inside its table");
        for (; i < next; i++) recount_tally(&s->r, table(s), i);
    }
    return load_queue(s, at, in, e);
}

const struct window_ops aging_counting = {
    .name = "sliding",
    .by_name = true,
    .plan = plan,
    .size = size,
    .init = init,
    .destroy = destroy,
    .observe = observe,
    .find = find,
    .landmark = landmark,
    .stats = stats,
    .clear_counters = clear_counters,
    .save = save,
    .load = load,
};
