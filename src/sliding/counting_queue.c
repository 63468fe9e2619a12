/* counting_queue - a counting Bloom filter, and a queue of what it counts.
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
 *            their stream comes 10,781 times: counters reach their top.  A recount frees them
 *            (counting_queue.h).
 * Layout     queue: a ring of entries, after the lines of the table (counting_queue.h).
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
 *            record (128 with a clock) and the filter: sliding:1e6 fp=.01 takes 107 bits a key. */
#include "sliding/counting_queue.h"

#include "base/base.h"
#include "spec/spec.h"
#include "theory/bloom.h"
#include "window/window.h"

#include <math.h>

#define WALK         4    /* entries counted again a record, if a counter is stuck */
#define READ_ENTRIES 1024 /* of the queue of a snapshot, at once */
#define LEAVE                                                                                      \
    1024 /* entries popped a record at most, plus a 1024th of the queue's room, so that the        \
            queue is empty after 1024 records */

/* -- the table: counters that stuck are counted again ------------------------------------- */

#define REGIONS 16

uint64_t recount_lines(uint64_t lines) { return lines - bits_ceil_div(lines, REGIONS + 1); }

static uint32_t a_line(const struct filter_shape *s) { return TABLE_BITS / s->width; }

uint64_t recount_cells(const struct filter_shape *s) { return recount_lines(s->lines) * a_line(s); }

void recount_init(struct recount *r, const struct filter_shape *s) {
    r->lines = recount_lines(s->lines);
    r->shadow = s->lines - r->lines;
    r->width = s->width;
    r->top = counters_top(s->width);
    r->a_line = a_line(s);
}

/* -- counters ----------------------------------------------------------------------------- */

static bool stale(const struct recount *r, const uint64_t *line) {
    return table_stamp(line) != (uint16_t)r->h.epoch;
}

static uint64_t *fresh(const struct recount *r, uint64_t *table, uint64_t i) {
    uint64_t *line = table + 8 * i;
    if (stale(r, line)) {
        memset(line, 0, 64);
        line[7] = r->h.epoch << TABLE_STAMP_SHIFT;
    }
    return line;
}

/* The line of the shadow that stands for line i, or NULL. */
static uint64_t *shadow_of(const struct recount *r, uint64_t *table, uint64_t i) {
    uint64_t first = r->h.region * r->shadow;
    if (i < first || i >= first + r->shadow) return NULL;
    return fresh(r, table, r->lines + i - first);
}

uint32_t recount_get(const struct recount *r, const uint64_t *table, struct cells_probe p) {
    const uint64_t *line = table + 8 * p.line;
    return stale(r, line) ? 0 : counters_get(line, p.cell * r->width, r->top);
}

/* Lines of the shadow taken over already are zero, and stay so for the next region. */
static uint64_t *counted_in(const struct recount *r, uint64_t *table, struct cells_probe p) {
    bool idle = !r->h.walking && !r->h.taken;
    uint64_t *line = idle ? NULL : shadow_of(r, table, p.line);
    return line && p.line - r->h.region * r->shadow >= r->h.taken ? line : NULL;
}

void recount_walked(struct recount *r, uint64_t *table, struct cells_probe p) {
    uint64_t *line = counted_in(r, table, p);
    if (line) counters_up(line, p.cell * r->width, r->top);
}

void recount_up(struct recount *r, uint64_t *table, struct cells_probe p) {
    uint32_t was = counters_up(fresh(r, table, p.line), p.cell * r->width, r->top);
    r->set += was == 0;
    r->stuck += was + 1 == r->top;
    r->h.saturated += was + 1 == r->top;
    recount_walked(r, table, p);
}

void recount_down(struct recount *r, uint64_t *table, struct cells_probe p, bool shadowed) {
    uint32_t was = counters_down(fresh(r, table, p.line), p.cell * r->width, r->top);
    r->set -= was == 1;
    uint64_t *line = shadowed ? counted_in(r, table, p) : NULL;
    if (line) counters_down(line, p.cell * r->width, r->top);
}

void recount_empty(struct recount *r, uint64_t *table) {
    uint64_t i, end;
    r->h.epoch++;
    r->h.walking = r->h.taken = r->set = r->stuck = 0;
    for (table_slice(r->h.epoch, r->lines + r->shadow, &i, &end); i < end; i++) fresh(r, table, i);
}

/* -- counting again ----------------------------------------------------------------------- */

/* A stuck counter becomes what the shadow counted, if that is below the top. */
static void set_free(struct recount *r, uint64_t *line, const uint64_t *shadow, uint32_t bit) {
    if (counters_get(line, bit, r->top) != r->top) return;
    uint32_t count = counters_get(shadow, bit, r->top);
    if (count == r->top) return;
    counters_set(line, bit, r->top, count);
    r->set -= count == 0;
    r->stuck--;
    r->h.rebuilt++;
}

static void take_over(struct recount *r, uint64_t *table) {
    uint64_t i = r->h.region * r->shadow + r->h.taken;
    uint64_t *shadow = fresh(r, table, r->lines + r->h.taken);
    uint64_t *line = i < r->lines ? fresh(r, table, i) : shadow; /* the last region is shorter */
    for (uint32_t cell = 0; cell < r->a_line; cell++) set_free(r, line, shadow, cell * r->width);
    memset(shadow, 0, 56);
    shadow[7] = r->h.epoch << TABLE_STAMP_SHIFT;
    if (++r->h.taken < r->shadow) return;
    r->h.taken = 0;
    if (++r->h.region * r->shadow >= r->lines) r->h.region = 0;
}

bool recount_step(struct recount *r, uint64_t *table, uint64_t begin, uint64_t end) {
    if (r->h.walking && r->h.walk > begin) return true;
    if (r->h.walking || r->h.taken) {
        r->h.walking = 0;
        take_over(r, table);
    } else if (r->stuck) {
        r->h.walking = 1;
        r->h.walk = end;
    }
    return false;
}

/* -- snapshot ----------------------------------------------------------------------------- */

bool recount_sane(const struct recount *r, uint64_t end) {
    const struct recount_head *h = &r->h;
    return h->epoch < MAX_COUNT && h->region * r->shadow < r->lines && h->walking <= 1 &&
           h->region <= REGIONS && h->walk <= end && h->taken < r->shadow &&
           (!h->walking || !h->taken) && h->saturated < MAX_COUNT && h->rebuilt < MAX_COUNT;
}

void recount_tally(struct recount *r, const uint64_t *table, uint64_t line) {
    for (uint32_t cell = 0; line < r->lines && cell < r->a_line; cell++) {
        uint32_t value = recount_get(r, table, (struct cells_probe){line, cell});
        r->set += value > 0;
        r->stuck += value == r->top;
    }
}

/* -- the queue ---------------------------------------------------------------------------- */

static uint64_t *table(const struct counting_queue *s) {
    return (uint64_t *)((char *)s + COUNTING_QUEUE_BYTES);
}

static uint64_t *entry(const struct counting_queue *s, uint64_t number) {
    uint64_t *queue = table(s) + 8 * (s->r.lines + s->r.shadow);
    return queue + number % s->room * (s->clocked ? 2 : 1);
}

static uint64_t clock_of(const struct counting_queue *s, uint64_t number, uint64_t at) {
    return s->clocked ? entry(s, number)[1] : at - (s->h.end - number);
}

/* Has it left the window of a record at `at`? */
static bool left(const struct counting_queue *s, uint64_t number, uint64_t at) {
    return at - clock_of(s, number, at) > s->reach;
}

static bool all_left(const struct counting_queue *s, uint64_t at) {
    return s->h.begin == s->h.end || left(s, s->h.end - 1, at);
}

static uint64_t entry_of(seen_digest d) { return d.lo ? d.lo : 1; }

static void place(const struct counting_queue *s, uint64_t digest, struct cells_probe *probe) {
    for (uint32_t j = 0; j < s->k; j++)
        probe[j] = cells_place(bits_draw(digest, 0, j), s->r.lines, s->r.a_line);
}

static void pop(struct counting_queue *s) {
    struct cells_probe probe[COUNTING_QUEUE_MAX_K];
    bool shadowed = s->h.begin >= s->r.h.walk;
    uint64_t digest = *entry(s, s->h.begin++);
    if (!digest) return;
    place(s, digest, probe);
    for (uint32_t j = 0; j < s->k; j++) recount_down(&s->r, table(s), probe[j], shadowed);
}

static void leave_all(struct counting_queue *s) {
    s->h.begin = s->h.end;
    recount_empty(&s->r, table(s));
}

/* Pops what has left the window at `at`. */
static void expire(struct counting_queue *s, uint64_t at) {
    if (s->h.begin == s->h.end) return;
    if (all_left(s, at)) {
        leave_all(s);
        return;
    }
    for (uint64_t n = s->leave; n > 0 && left(s, s->h.begin, at); n--) pop(s);
}

/* Makes room in a full queue.  The oldest record leaves; if a later record could still have met it,
 * it counts as forgotten. */
static void make_room(struct counting_queue *s, uint64_t at) {
    if (s->h.end - s->h.begin < s->room) return;
    uint64_t age = at + !s->time - clock_of(s, s->h.begin, at);
    if (age <= s->reach) {
        s->h.forgotten++;
        s->h.kept = bits_min(s->h.kept, age ? age - 1 : 0);
    }
    pop(s);
}

static void count_anew(struct counting_queue *s) {
    struct cells_probe probe[COUNTING_QUEUE_MAX_K];
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
    struct counting_queue *s = w->state;
    struct filter_shape shape = plan_shape(spec, 1);
    recount_init(&s->r, &shape);
    s->k = shape.k;
    s->room = counting_queue_room(spec);
    s->leave = LEAVE + s->room / LEAVE;
    s->time = spec->unit == SEEN_UNIT_MICROSECONDS;
    s->reach = spec->length - s->time;
    s->clocked = counting_queue_clocked(spec);
    s->first = options_get(spec, OPTION_REFRESH) == SEEN_REFRESH_FIRST;
    s->h.kept = SEEN_NEVER;
}

static uint8_t observe_one(struct counting_queue *s, uint64_t at, uint64_t digest,
                           const struct cells_probe *probe) {
    expire(s, at);
    uint8_t seen = 1;
    for (uint32_t j = 0; j < s->k; j++) seen &= recount_get(&s->r, table(s), probe[j]) > 0;
    bool counts = !seen || !s->first;
    if (counts || !s->clocked) {
        make_room(s, at);
        uint64_t *e = entry(s, s->h.end++);
        *e = counts ? digest : 0;
        if (s->clocked) e[1] = at;
        for (uint32_t j = 0; *e && j < s->k; j++) recount_up(&s->r, table(s), probe[j]);
    }
    count_anew(s);
    return seen;
}

static void prefetch(const struct counting_queue *s, const struct cells_probe *probe) {
    for (uint32_t j = 0; j < s->k; j++) __builtin_prefetch(table(s) + 8 * probe[j].line, 1);
}

static void observe(struct window *w, size_t n, const seen_digest *d, const uint64_t *at,
                    uint8_t *verdict) {
    struct counting_queue *s = w->state;
    struct cells_probe probe[BITS_AHEAD][COUNTING_QUEUE_MAX_K], leaving[COUNTING_QUEUE_MAX_K];
    for (size_t i = 0; i < n; i += BITS_AHEAD) {
        size_t batch = bits_min(n - i, BITS_AHEAD);
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

/* Whether a record at `at` would be a duplicate, after the records that leave before it. */
static bool found(const struct counting_queue *s, seen_digest d, uint64_t at) {
    struct cells_probe probe[COUNTING_QUEUE_MAX_K];
    uint32_t value[COUNTING_QUEUE_MAX_K], held = 0;
    if (all_left(s, at)) return false;
    place(s, entry_of(d), probe);
    for (uint32_t j = 0; j < s->k; j++)
        if (!(value[j] = recount_get(&s->r, table(s), probe[j]))) return false;
    for (uint64_t i = s->h.begin; i < s->h.begin + s->leave && left(s, i, at); i++) {
        struct cells_probe gone[COUNTING_QUEUE_MAX_K];
        uint64_t leaving = *entry(s, i);
        place(s, leaving, gone);
        for (uint32_t g = 0; leaving && g < s->k; g++)
            for (uint32_t j = 0; j < s->k; j++)
                if (gone[g].line == probe[j].line && gone[g].cell == probe[j].cell)
                    value[j] -= value[j] > 0 && value[j] < s->r.top;
    }
    for (uint32_t j = 0; j < s->k; j++) held += value[j] > 0;
    return held == s->k;
}

static void find(const struct window *w, size_t n, const seen_digest *d, uint64_t at,
                 uint64_t *age) {
    const struct counting_queue *s = w->state;
    for (size_t i = 0; i < n; i++) age[i] = !found(s, d[i], at) ? SEEN_NEVER : s->time ? 0 : 1;
}

static void landmark(struct window *w, uint64_t at) {
    (void)at;
    struct counting_queue *s = w->state;
    if (s->h.begin == s->h.end) return;
    s->h.landmarks++;
    leave_all(s);
}

static void stats(const struct window *w, uint64_t at, struct seen_stats *out) {
    const struct counting_queue *s = w->state;
    out->landmarks = bits_max(out->landmarks, s->h.landmarks);
    out->forgotten += s->h.forgotten;
    out->kept = bits_min(out->kept, s->h.kept);
    out->saturated += s->r.h.saturated;
    out->rebuilt += s->r.h.rebuilt;
    if (all_left(s, at)) return;
    double cells = (double)(s->r.lines * s->r.a_line);
    out->stored += (uint64_t)(theory_bloom_keys(cells, (double)s->r.set, s->k) + .5);
    out->fp_now += pow((double)s->r.set / (double)(s->r.lines * s->r.a_line), s->k) /
                   (double)options_get(&w->plan->spec, OPTION_SHARDS);
}

static void clear_counters(struct window *w) {
    struct counting_queue *s = w->state;
    s->h.landmarks = s->h.forgotten = s->r.h.saturated = s->r.h.rebuilt = 0;
    s->h.kept = SEEN_NEVER;
}

/* -- snapshot ----------------------------------------------------------------------------- */

/* Bytes of the entries from one on, up to `end` or to where the ring turns; `next` is after them.
 */
static size_t stretch(const struct counting_queue *s, uint64_t number, uint64_t end,
                      uint64_t *next) {
    uint64_t n = bits_min(end - number, s->room - number % s->room);
    *next = number + n;
    return n * (s->clocked ? 16 : 8);
}

static int save(const struct window *w, struct seen_writer out) {
    const struct counting_queue *s = w->state;
    if (out.write(out.ctx, &s->h, sizeof s->h) || out.write(out.ctx, &s->r.h, sizeof s->r.h) ||
        out.write(out.ctx, table(s), options_get(&w->plan->spec, OPTION_BLOCKS) * 64))
        return -1;
    for (uint64_t i = s->h.begin, next; i < s->h.end; i = next) {
        size_t bytes = stretch(s, i, s->h.end, &next);
        if (out.write(out.ctx, entry(s, i), bytes)) return -1;
    }
    return 0;
}

static int load_queue(struct counting_queue *s, uint64_t at, struct seen_reader in,
                      struct seen_error *e) {
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
    struct counting_queue *s = w->state;
    struct counting_queue_head *h = &s->h;
    uint64_t lines = options_get(&w->plan->spec, OPTION_BLOCKS);
    if (in.read(in.ctx, h, sizeof *h) || in.read(in.ctx, &s->r.h, sizeof s->r.h))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends before its table");
    if (h->begin > h->end || h->end >= MAX_COUNT || h->end - h->begin > s->room ||
        (!s->clocked && h->end - h->begin > at) || h->landmarks >= MAX_COUNT ||
        h->forgotten >= MAX_COUNT || !recount_sane(&s->r, h->end))
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
    .plan = counting_queue_plan,
    .size = counting_queue_size,
    .init = init,
    .observe = observe,
    .find = find,
    .landmark = landmark,
    .stats = stats,
    .clear_counters = clear_counters,
    .save = save,
    .load = load,
};
