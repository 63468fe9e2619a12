/* sliding_counter.c - counts the different keys in a sliding window: exactly while they are few,
 * with a sliding HyperLogLog when they are many.
 *
 * Guarantee  The estimate is that of a HyperLogLog over exactly the window's keys, bit by bit, for
 *            the window and for any shorter one: nothing older counts and nothing is missing.
 *            Times may come in any order.  The standard error is 1.04/sqrt(m) with m registers.
 * Paper      Chabchoub and Hébrail, "Sliding HyperLogLog: estimating cardinality in a data stream
 *            over a sliding window", ICDM workshops 2010; the estimator is Ertl's (hll.c).
 * Why        Sketches of sub-windows, merged, are smaller: 31 of them take 496 KiB at one percent,
 *            the lists 16 bytes * m * (ln(n/m) + 0.58), 1.2 MiB with 1e6 keys and 2.3 MiB with 1e8,
 *            and up to twice that as their room doubles.
 *            But sub-windows count a window of another length, by up to a 31st, and records that
 *            come late in another one; the lists have no slack and need no order.
 * Layout     | struct seen_sliding_counter | head[m] |  ->  maxima: pairs of time and rank
 *                                                       latest: the keys so far, while few
 * Cost       A cache line of heads, one or two of pairs.  Every eighth record one register loses
 *            what has left the window.
 * Snapshot   "SEEW" | version u32 | kind u32 | flags u32 | m u64 | window u64 | newest u64
 *            | slots u64 | used u64 | checksum u64 | slots, or of each register the number of its
 *            pairs u8, and of each pair time u64, rank u8 | checksum u64; little-endian. */
#include "base/base.h"
#include "base/bits.h"
#include "base/hash.h"
#include "seen_counter.h"
#include "sketch/counter.h"
#include "table/digests.h"

#include <math.h>
#include <string.h>

enum { VERSION = 1, SHARE = 4, SWEEP = 8, PAIR_BYTES = 9 }; /* SHARE: as in counter.c */
enum { FIRST_ROOM = 256 };                                  /* pairs */
enum { FLAG_MANY = 1, FLAG_SHORT = 2, FLAGS = 3 };

struct maxima_pair {
    seen_time time;
    uint32_t next; /* index + 1; 0: none */
    uint8_t rank;  /* 0: spare */
};

struct maxima {
    uint32_t *head; /* [m], the caller's: index + 1 of each register's latest pair */
    struct maxima_pair *pair;
    uint32_t room, used, spare; /* pairs: places, ever used, list of those handed back */
};

struct seen_sliding_counter {
    struct seen_allocator alloc;
    uint32_t kind;
    bool many;   /* the sketch counts */
    bool missed; /* the memory did not suffice for a key */
    uint64_t m, window;
    seen_time newest;
    uint64_t added, hand; /* keys since the last sweep; the register whose turn is next */
    struct latest few;
    struct maxima maxima;
    uint32_t head[];
};

struct header {
    char magic[4];
    uint32_t version, kind, flags;
    uint64_t m, window, newest, slots, used;
};

/* -- maxima: the greatest ranks over any last part of a window ---------------------------- */

/* Makes room for `pairs` pairs; false: there is no memory. */
static bool maxima_reserve(struct maxima *x, uint64_t pairs, const struct seen_allocator *alloc) {
    if (pairs <= x->room) return true;
    if (pairs > UINT32_MAX / 2) return false;
    struct maxima_pair *more = alloc->zalloc(alloc->ctx, pairs * sizeof *more);
    if (!more) return false;
    if (x->pair) {
        memcpy(more, x->pair, x->used * sizeof *more);
        alloc->free(alloc->ctx, x->pair, x->room * sizeof *x->pair);
    }
    x->pair = more;
    x->room = (uint32_t)pairs;
    return true;
}

static struct maxima_pair *pair_at(const struct maxima *x, uint32_t ref) {
    return &x->pair[ref - 1];
}

/* Takes the pair at *link out of its list. */
static void drop(struct maxima *x, uint32_t *link) {
    uint32_t ref = *link;
    *link = pair_at(x, ref)->next;
    *pair_at(x, ref) = (struct maxima_pair){.next = x->spare};
    x->spare = ref;
}

/* Adds a rank that came at this time.  False, and nothing has changed: there is no memory. */
static bool maxima_add(struct maxima *x, uint64_t reg, uint8_t rank, seen_time time,
                       const struct seen_allocator *alloc) {
    bool room = x->spare || x->used < x->room;
    if (!room && !maxima_reserve(x, x->room ? 2 * (uint64_t)x->room : FIRST_ROOM, alloc))
        return false;
    uint32_t *link = &x->head[reg];
    for (; *link && pair_at(x, *link)->time >= time; link = &pair_at(x, *link)->next) {
        if (pair_at(x, *link)->rank >= rank) return true;
        if (pair_at(x, *link)->time == time) break;
    }
    while (*link && pair_at(x, *link)->rank <= rank) drop(x, link);
    uint32_t ref = x->spare;
    if (ref)
        x->spare = pair_at(x, ref)->next;
    else
        ref = ++x->used;
    *pair_at(x, ref) = (struct maxima_pair){time, *link, rank};
    *link = ref;
    return true;
}

/* -- life --------------------------------------------------------------------------------- */

static uint64_t own_bytes(uint64_t m) { return sizeof(seen_sliding_counter) + m * 4; }

/* As many keys as seen_counter keeps. */
static uint64_t slots_most(const seen_sliding_counter *c) {
    uint64_t slots = 1;
    if (!c->m) return UINT64_MAX;
    while (2 * slots * sizeof(seen_digest) <= SHARE * c->m) slots *= 2;
    return slots;
}

static int make(seen_sliding_counter **out, uint32_t kind, uint64_t m, uint64_t window,
                const struct seen_allocator *alloc, struct seen_error *e) {
    if (!alloc) alloc = &alloc_default;
    seen_sliding_counter *c = alloc->zalloc(alloc->ctx, own_bytes(m));
    if (!c)
        return error_set(e, SEEN_ENOMEM, 0, "no memory for a counter of %llu bytes",
                         (unsigned long long)own_bytes(m));
    c->alloc = *alloc;
    c->kind = kind;
    c->m = m;
    c->window = window;
    c->maxima.head = c->head;
    *out = c;
    return 0;
}

int seen_sliding_counter_new(seen_sliding_counter **out, uint32_t kind, double error,
                             uint64_t window, const struct seen_allocator *alloc,
                             struct seen_error *e) {
    *out = NULL;
    if (kind != SEEN_COUNTER_HLL && kind != SEEN_COUNTER_SET)
        return error_set(e, SEEN_EINVAL, 0, "unknown kind of sliding counter: %u", kind);
    if (!window || window > MAX_COUNT)
        return error_set(e, SEEN_EINVAL, 0, "a window has a length between 1 and 2^62");
    uint64_t m = kind == SEEN_COUNTER_HLL && error > 0 && error < 1 ? counter_hll.size(error) : 0;
    if (kind == SEEN_COUNTER_HLL && !m)
        return error_set(e, SEEN_EREFUSED, 0,
                         "a sliding counter has no relative standard error of %g; ask for 0.0011 "
                         "to 0.25",
                         error);
    return make(out, kind, m, window, alloc, e);
}

void seen_sliding_counter_free(seen_sliding_counter *c) {
    if (!c) return;
    struct seen_allocator alloc = c->alloc;
    latest_free(&c->few, &alloc);
    if (c->maxima.pair)
        alloc.free(alloc.ctx, c->maxima.pair, c->maxima.room * sizeof *c->maxima.pair);
    alloc.free(alloc.ctx, c, own_bytes(c->m));
}

uint64_t seen_sliding_counter_bytes(const seen_sliding_counter *c) {
    return own_bytes(c->m) + c->few.slots * sizeof *c->few.slot +
           c->maxima.room * sizeof *c->maxima.pair;
}

/* -- work --------------------------------------------------------------------------------- */

/* The earliest time in the last `window`. */
static seen_time least_of(const seen_sliding_counter *c, uint64_t window) {
    return c->newest >= window ? c->newest - window + 1 : 0;
}

static void sketch(seen_sliding_counter *c, seen_digest d, seen_time time) {
    uint8_t rank;
    uint64_t reg = hll_place(d, __builtin_ctzll(c->m), &rank);
    if (!maxima_add(&c->maxima, reg, rank, time, &c->alloc)) c->missed = true;
    if (++c->added < SWEEP) return;
    c->added = 0;
    uint32_t *link = &c->maxima.head[c->hand];
    while (*link && pair_at(&c->maxima, *link)->time >= least_of(c, c->window))
        link = &pair_at(&c->maxima, *link)->next;
    while (*link) drop(&c->maxima, link); /* earlier pairs have left the window */
    c->hand = (c->hand + 1) & (c->m - 1);
}

static void add_one(seen_sliding_counter *c, seen_digest d, seen_time time, uint64_t most) {
    c->newest = bits_max(c->newest, time);
    seen_time least = least_of(c, c->window);
    if (time < least) return;
    if (!c->many && latest_add(&c->few, d, time, least, most, &c->alloc)) return;
    if (c->kind == SEEN_COUNTER_SET) {
        c->missed = true;
        return;
    }
    if (!c->many) { /* the sketch takes the keys over */
        for (uint64_t i = 0; i < c->few.slots; i++)
            if (c->few.slot[i].stamp > least)
                sketch(c, c->few.slot[i].digest, c->few.slot[i].stamp - 1);
        latest_free(&c->few, &c->alloc);
        c->many = true;
    }
    sketch(c, d, time);
}

void seen_sliding_counter_add(seen_sliding_counter *c, size_t n, const seen_digest *digest,
                              const seen_time *time) {
    uint64_t most = slots_most(c);
    for (size_t i = 0; i < n; i++)
        add_one(c, digest[i], bits_min(time ? time[i] : c->newest + 1, MAX_TIME), most);
}

double seen_sliding_counter_estimate(const seen_sliding_counter *c, uint64_t last, double *error) {
    seen_time least = least_of(c, last && last < c->window ? last : c->window);
    if (error) *error = c->missed ? INFINITY : c->many ? counter_hll.error(c->m) : 0;
    if (!c->many) return (double)latest_count(&c->few, least);
    uint64_t count[HLL_RANKS + 2] = {0};
    for (uint64_t i = 0; i < c->m; i++) {
        uint8_t rank = 0; /* the greatest since `least` */
        for (uint32_t at = c->maxima.head[i]; at && pair_at(&c->maxima, at)->time >= least;
             at = pair_at(&c->maxima, at)->next)
            rank = pair_at(&c->maxima, at)->rank;
        count[rank]++;
    }
    return hll_estimate(count, c->m);
}

int seen_sliding_counter_alike(const seen_sliding_counter *a, const seen_sliding_counter *b) {
    return a->kind == b->kind && a->m == b->m && a->window == b->window;
}

/* -- snapshots ---------------------------------------------------------------------------- */

/* Writes the pairs of a register. */
static int write_register(struct stream *s, const seen_sliding_counter *c, uint64_t reg) {
    unsigned char bytes[1 + (HLL_RANKS + 1) * PAIR_BYTES] = {0}, *at = bytes + 1;
    for (uint32_t ref = c->head[reg]; ref; ref = c->maxima.pair[ref - 1].next) {
        const struct maxima_pair *p = &c->maxima.pair[ref - 1];
        memcpy(at, &p->time, 8);
        at[8] = p->rank;
        at += PAIR_BYTES;
        bytes[0]++;
    }
    return stream_write(s, bytes, (size_t)(at - bytes));
}

int seen_sliding_counter_save(const seen_sliding_counter *c, struct seen_writer writer,
                              struct seen_error *e) {
    struct stream s = {.writer = writer};
    struct header h = {{'S', 'E', 'E', 'W'}, VERSION,    c->kind, 0, c->m, c->window, c->newest,
                       c->few.slots,         c->few.used};
    h.flags = (c->many ? FLAG_MANY : 0) | (c->missed ? FLAG_SHORT : 0);
    if (c->many) {
        uint64_t n = 0;
        for (uint32_t i = 0; i < c->maxima.used; i++) n += c->maxima.pair[i].rank != 0;
        h.used = n;
    }
    stream_begin(&s);
    int bad = stream_write(&s, &h, sizeof h) || stream_write_sum(&s);
    if (!bad && c->few.slots)
        bad = stream_write(&s, c->few.slot, c->few.slots * sizeof *c->few.slot);
    for (uint64_t i = 0; c->many && !bad && i < c->m; i++) bad = write_register(&s, c, i);
    if (bad || stream_write_sum(&s))
        return error_set(e, SEEN_EIO, 0, "the snapshot could not be written");
    return 0;
}

static bool header_sound(const struct header *h) {
    bool sketches = h->kind == SEEN_COUNTER_HLL, many = h->flags & FLAG_MANY;
    if ((!sketches && h->kind != SEEN_COUNTER_SET) || h->flags & ~(uint32_t)FLAGS) return false;
    if (sketches ? !counter_hll.valid(h->m) : h->m != 0 || many) return false;
    if (!h->window || h->window > MAX_COUNT || h->newest > MAX_COUNT) return false;
    if (many) return !h->slots && h->used <= h->m * hll_rank_most(h->m);
    return h->slots ? h->slots >= 16 && !(h->slots & (h->slots - 1)) : !h->used;
}

static int read_header(struct stream *s, struct header *h, uint64_t limit, struct seen_error *e) {
    int bad = stream_read_header(s, h, sizeof *h, "SEEW", VERSION,
                                 "the snapshot is not a sliding counter's", e);
    if (!bad) bad = stream_check_sum(s, "header", e);
    if (bad) return bad;
    if (!header_sound(h))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot's header makes no sense");
    uint64_t each = h->flags & FLAG_MANY ? sizeof(struct maxima_pair) : sizeof(struct latest_slot);
    uint64_t n = h->flags & FLAG_MANY ? h->used : h->slots;
    if (own_bytes(h->m) > limit || n > (limit - own_bytes(h->m)) / each)
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot needs more than the %llu bytes allowed",
                         (unsigned long long)limit);
    return 0;
}

static int read_few(struct stream *s, const struct header *h, seen_sliding_counter *c,
                    struct seen_error *e) {
    if (h->slots > slots_most(c))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot's header makes no sense");
    if (h->slots) c->few.slot = c->alloc.zalloc(c->alloc.ctx, h->slots * sizeof *c->few.slot);
    if (h->slots && !c->few.slot) return error_set(e, SEEN_ENOMEM, 0, "no memory for a counter");
    c->few.slots = h->slots;
    c->few.used = h->used;
    if (h->slots && stream_read(s, c->few.slot, h->slots * sizeof *c->few.slot))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends in its keys");
    return 0;
}

/* Reads the list of a register, along which times fall and ranks rise.  False: it does not, or the
 * bytes end. */
static bool read_register(struct stream *s, seen_sliding_counter *c, uint64_t reg, uint64_t most) {
    uint8_t n, rank = 0, bytes[PAIR_BYTES];
    seen_time before = c->newest + 1;
    uint32_t *link = &c->head[reg];
    if (stream_read(s, &n, 1) || n > most - c->maxima.used) return false;
    for (; n; n--) {
        struct maxima_pair *p = &c->maxima.pair[c->maxima.used];
        if (stream_read(s, bytes, sizeof bytes)) return false;
        memcpy(&p->time, bytes, 8);
        p->rank = bytes[8];
        if (p->time >= before || p->rank <= rank || p->rank > hll_rank_most(c->m)) return false;
        before = p->time;
        rank = p->rank;
        *link = ++c->maxima.used;
        link = &p->next;
    }
    return true;
}

static int read_many(struct stream *s, const struct header *h, seen_sliding_counter *c,
                     struct seen_error *e) {
    if (!maxima_reserve(&c->maxima, h->used, &c->alloc))
        return error_set(e, SEEN_ENOMEM, 0, "no memory for a counter");
    bool good = true;
    for (uint64_t i = 0; good && i < c->m; i++) good = read_register(s, c, i, h->used);
    if (!good || c->maxima.used != h->used)
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot's lists make no sense");
    return 0;
}

int seen_sliding_counter_load(seen_sliding_counter **out, struct seen_reader reader, size_t limit,
                              const struct seen_allocator *alloc, struct seen_error *e) {
    struct stream s = {.reader = reader};
    struct header h;
    seen_sliding_counter *c = NULL;
    *out = NULL;
    stream_begin(&s);
    int bad = read_header(&s, &h, limit ? limit : SIZE_MAX, e);
    if (bad || (bad = make(&c, h.kind, h.m, h.window, alloc, e))) return bad;
    c->many = h.flags & FLAG_MANY;
    c->missed = h.flags & FLAG_SHORT;
    c->newest = h.newest;
    bad = c->many ? read_many(&s, &h, c, e) : read_few(&s, &h, c, e);
    if (!bad) bad = stream_check_sum(&s, "table", e);
    if (!bad && !c->many && !latest_sound(&c->few, c->newest))
        bad = error_set(e, SEEN_EFORMAT, 0, "the snapshot's table makes no sense");
    if (bad)
        seen_sliding_counter_free(c);
    else
        *out = c;
    return bad;
}
