/* stamps.h - clocks that wrap around, which tables of stamped cells share.
 *
 * A cell is 0 (empty) or clock mod range + 1.  Clocks are logical: they advance by the window's
 * ticks, but a silence longer than the window is one tick.  Stamps from before `floor` no longer
 * count then.
 *
 *     age    0 ──── live ──── N ── expired, to be swept ── range-1
 *                             └── cycle, in which every cell is visited ──┘
 *
 * cycle is range - N - jump.  jump is the most that the clock moves at once: 1 for records in one
 * shard, else N.  A cycle of 1 is enough to sweep every stamp before it comes round: the least
 * stamp of N counted records has ceil(log2(N+3)) bits, 10 at N = 1000.  Each record sweeps 1/cycle
 * of the table.  The paper's stamps 1 to 2N (11 bits) leave a cycle of N.  The default (16 bits at
 * N = 1000) also bounds the cells that a record sweeps in a table far larger than N.  Cells are
 * counted by tick, so the number of live ones is known. */
#ifndef STAMPS_H
#define STAMPS_H

#include "base/bits.h"
#include "window/window.h"

#define STAMPS_BUCKETS 128 /* a window takes up to half of them */
#define STAMPS_MAX     56  /* bits of a stamp */

/* What a snapshot keeps. */
struct stamps_head {
    uint64_t clock;   /* logical ticks */
    uint64_t last;    /* tick of the window's clock at `clock` */
    uint64_t floor;   /* stamps from before this logical tick no longer count */
    uint64_t cleared; /* 1: no stamp counts (at birth and after a landmark) */
    uint64_t cursor;  /* next cell to sweep, */
    uint64_t owed;    /* and the part of one still owed, in 1/cycle */
};

struct stamps {
    struct stamps_head h;
    uint64_t phase; /* clock mod range */
    uint64_t reach; /* N: a stamp counts up to this age */
    uint64_t unit;  /* records or microseconds a tick */
    uint64_t range, cycle, cells;
    uint64_t shift;
    uint64_t stamped[STAMPS_BUCKETS]; /* cells stamped since `floor`, in steps of 2^shift ticks */
};

/* Decides stamp=, ticks= and overload= (`does`) for the plan's structure, and the slack. */
int stamps_plan(struct seen_plan *, uint32_t does, struct seen_error *);
/* The share of all cells that one tick sweeps. */
double stamps_swept(const struct seen_spec *);

void stamps_init(struct stamps *, const struct seen_spec *, uint64_t cells);
bool stamps_sane(const struct stamps *, uint64_t at); /* a loaded head */

/* Live stamps of the last `reach` ticks. */
double stamps_live(const struct stamps *, uint64_t reach);
/* The same for a record `ahead` ticks after the last. */
double stamps_live_ahead(const struct stamps *, uint64_t ahead);

/* Are all stamps expired at `tick`? */
bool stamps_expired(const struct stamps *, uint64_t tick);
/* Moves the clock to `tick`.  Returns how many cells to sweep. */
uint64_t stamps_advance(struct stamps *, uint64_t tick);

/* The youngest possible age on the window's clock, at `at`, for an age in logical ticks. */
uint64_t stamps_age_at(const struct stamps *, uint64_t age, uint64_t at);

static inline uint64_t stamps_since(const struct stamps *s) { return s->h.clock - s->h.floor; }
static inline uint64_t stamps_limit(const struct stamps *s) {
    return bits_min(s->reach, stamps_since(s));
}

/* The age of a cell in ticks before `clock`.  An empty cell is older than any that counts. */
static inline uint64_t stamps_age(const struct stamps *s, uint64_t cell) {
    if (!cell) return UINT64_MAX;
    return s->phase - (cell - 1) + (cell - 1 > s->phase ? s->range : 0);
}

/* The bucket that counts a cell of such an age, or NULL. */
static inline uint64_t *stamps_bucket(struct stamps *s, uint64_t age) {
    if (age > stamps_since(s)) return NULL;
    uint64_t then = (s->h.clock - age) >> s->shift;
    if ((s->h.clock >> s->shift) - then >= STAMPS_BUCKETS) return NULL;
    return &s->stamped[then % STAMPS_BUCKETS];
}

/* Counts a cell that was loaded. */
static inline void stamps_tally(struct stamps *s, uint64_t cell) {
    uint64_t *bucket = stamps_bucket(s, stamps_age(s, cell));
    if (bucket) ++*bucket;
}

/* Counts a cell whose stamp `old` is replaced: by a stamp of now, or by nothing. */
static inline void stamps_count(struct stamps *s, uint64_t old, bool by_now) {
    uint64_t *bucket = stamps_bucket(s, stamps_age(s, old));
    if (bucket) --*bucket;
    if (by_now) ++*stamps_bucket(s, 0);
}

#endif
