#include "literal.h"

#include <stdlib.h>
#include <string.h>

enum { MOVES_MOST = 256 };

struct position {
    uint32_t stamp, place, sign; /* T, P, S; stamp 0: empty */
};

struct listed {
    seen_digest item;
    uint32_t stamp;
};

struct literal {
    uint64_t n, lambda, mask, moves, arrived, random;
    uint32_t now; /* tau */
    bool look;
    struct position *table[2];
    struct listed *list;         /* a ring, the oldest at `tail` */
    uint64_t tail, listed, ring; /* its size less one, a power of two less one */
};

struct literal *literal_new(uint64_t n, uint64_t lambda, int signature, uint64_t moves, bool look,
                            uint64_t seed) {
    struct literal *l = lab_alloc(1, sizeof *l);
    if (moves > MOVES_MOST) lab_die("at most %d moves", MOVES_MOST);
    *l = (struct literal){.n = n,
                          .lambda = lambda,
                          .mask = ((uint64_t)1 << signature) - 1,
                          .moves = moves,
                          .random = seed,
                          .now = 1,
                          .look = look};
    for (int j = 0; j < 2; j++) l->table[j] = lab_alloc(lambda, sizeof *l->table[j]);
    while (l->ring < n + 1) l->ring = 2 * l->ring + 1;
    l->list = lab_alloc(l->ring + 1, sizeof *l->list);
    return l;
}

void literal_free(struct literal *l) {
    free(l->table[0]);
    free(l->table[1]);
    free(l->list);
    free(l);
}

uint64_t literal_listed(const struct literal *l) { return l->listed; }

/* -- time, equations 3 and 4 -------------------------------------------------------------- */

static uint64_t distance(const struct literal *l, uint32_t stamp) {
    return (l->now >= stamp ? l->now : l->now + 2 * l->n) - stamp + 1;
}

static bool gone(const struct literal *l, uint32_t stamp) {
    return !stamp || distance(l, stamp) > l->n;
}

static void tick(struct literal *l) { l->now = (uint32_t)(++l->arrived % (2 * l->n) + 1); }

/* Clears the block of each table that is due, and the end of the list if it has left the window. */
static void forget(struct literal *l) {
    uint64_t block = (l->lambda + l->n - 1) / l->n, from = l->now % l->n * block;
    for (uint64_t i = from; i < from + block && i < l->lambda; i++)
        for (int j = 0; j < 2; j++)
            if (gone(l, l->table[j][i].stamp)) l->table[j][i].stamp = 0;
    if (l->listed && gone(l, l->list[l->tail].stamp)) {
        l->tail = (l->tail + 1) & l->ring;
        l->listed--;
    }
}

/* -- search ------------------------------------------------------------------------------- */

struct item {
    seen_digest digest;
    uint32_t place[2], sign;
};

static struct item item_of(const struct literal *l, seen_digest d) {
    __extension__ typedef unsigned __int128 wide;
    struct item x = {.digest = d, .sign = (uint32_t)(d.lo & l->mask)};
    x.place[0] = (uint32_t)(((wide)d.lo * l->lambda) >> 64);
    x.place[1] = (uint32_t)(((wide)d.hi * l->lambda) >> 64);
    return x;
}

static struct position *in_tables(const struct literal *l, const struct item *x) {
    for (int j = 0; j < 2; j++) {
        struct position *p = &l->table[j][x->place[j]];
        if (!gone(l, p->stamp) && p->sign == x->sign && p->place == x->place[1 - j]) return p;
    }
    return NULL;
}

/* The i-th of the list, the oldest first. */
static struct listed *nth(const struct literal *l, uint64_t i) {
    return &l->list[(l->tail + i) & l->ring];
}

/* How many places from the oldest; UINT64_MAX: not in the list.  The newest is looked at first. */
static uint64_t in_list(const struct literal *l, seen_digest d) {
    for (uint64_t i = l->listed; i-- > 0;) {
        const struct listed *e = nth(l, i);
        if (e->item.lo == d.lo && e->item.hi == d.hi) return i;
    }
    return UINT64_MAX;
}

uint64_t literal_age(const struct literal *l, seen_digest d) {
    struct item x = item_of(l, d);
    const struct position *p = in_tables(l, &x);
    if (p) return distance(l, p->stamp);
    uint64_t i = in_list(l, d);
    if (i == UINT64_MAX) return SEEN_NEVER;
    uint32_t stamp = nth(l, i)->stamp;
    return gone(l, stamp) ? SEEN_NEVER : distance(l, stamp);
}

/* -- insertion ---------------------------------------------------------------------------- */

static void append(struct literal *l, seen_digest d) {
    *nth(l, l->listed++) = (struct listed){d, l->now};
}

static void take_out(struct literal *l, uint64_t i) {
    for (l->listed--; i < l->listed; i++) *nth(l, i) = *nth(l, i + 1);
}

/* Puts x into table j and moves what stood there to its other place, and so on; or, after the
 * most moves allowed, puts everything back. */
static bool move_in(struct literal *l, const struct item *x, int j) {
    struct {
        struct position *at, was;
    } done[MOVES_MOST + 1];
    struct position carried = {l->now, x->place[1 - j], x->sign};
    uint32_t to = x->place[j];
    for (uint64_t n = 0; n <= l->moves; n++, j = 1 - j) {
        struct position *at = &l->table[j][to], was = *at;
        *at = carried;
        if (gone(l, was.stamp)) return true;
        done[n].at = at, done[n].was = was;
        carried = (struct position){was.stamp, to, was.sign};
        to = was.place;
    }
    for (uint64_t n = l->moves + 1; n-- > 0;) *done[n].at = done[n].was;
    return false;
}

static void insert(struct literal *l, const struct item *x) {
    for (int j = 0; j < 2; j++) {
        struct position *p = &l->table[j][x->place[j]];
        if (!gone(l, p->stamp)) continue;
        *p = (struct position){l->now, x->place[1 - j], x->sign};
        return;
    }
    if (!move_in(l, x, (int)lab_below(&l->random, 2))) append(l, x->digest);
}

void literal_update(struct literal *l, seen_digest d) {
    struct item x = item_of(l, d);
    tick(l);
    struct position *p = in_tables(l, &x);
    uint64_t i = p || !l->look ? UINT64_MAX : in_list(l, d);
    if (p) {
        p->stamp = l->now;
    } else if (i != UINT64_MAX) {
        take_out(l, i);
        append(l, d);
    } else {
        insert(l, &x);
    }
    forget(l);
}

void literal_pass(struct literal *l) {
    tick(l);
    forget(l);
}
