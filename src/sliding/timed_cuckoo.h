/* timed_cuckoo.h - where a timed cuckoo table keeps its keys, in one of two layouts.
 *
 * Cell i of 2 lambda holds a key or nothing: cells of table 0 come first.  An empty cell costs as
 * much as a full one (flat), or one bit (vla).
 *
 *     flat    | stamp, key | stamp, key | 0, - | stamp, key | ...      cells without gaps
 *
 *     vla     a line of 64 bytes serves `positions` cells: a bitmap says which of them hold a key,
 *             and the keys stand behind it without gaps, in the order of their cells.
 *
 *             | 0 1 0 0 1 0 0 0 0 1 ... | key of 1 | key of 4 | key of 9 | ... 0 ... |
 *
 *             The line holds `capacity` keys: with a key for every fourth cell it is five sixths
 *             full at most.  Keys whose stamps count no more make room for others.
 *
 * The array of variable bit length is after Blandford and Blelloch, Compact dictionaries for
 * variable-length keys and data with applications, ACM Transactions on Algorithms 2008; here its
 * blocks are of one size, so that nothing is ever allocated, and the table must do with a line that
 * is full.  A key is the place in the other table and, above it, the signature. */
#ifndef TIMED_CUCKOO_H
#define TIMED_CUCKOO_H

#include "plan/plan.h"
#include "sliding/stamps.h"

#define CUCKOO_MAX_KEY 56 /* bits of a field (bits.h) */

struct cuckoo_cells {
    uint64_t cells, lines;
    uint64_t parts;             /* that a sweep visits one by one: cells, or lines */
    uint64_t at;                /* bytes from here to the first line */
    uint64_t inverse;           /* 2^64/positions, rounded up */
    uint32_t stamp, key, entry; /* bits */
    uint32_t vla, positions, capacity;
};

struct cuckoo_key {
    uint64_t stamp; /* 0: nothing */
    uint64_t key;
};

uint32_t cuckoo_place_bits(uint64_t lambda);
uint64_t cuckoo_lines(const struct seen_spec *); /* of 64 bytes, the tail included */

void cuckoo_init(struct cuckoo_cells *, const struct seen_spec *, uint64_t at);
/* The number of cells that lie completely in the first `lines` lines. */
uint64_t cuckoo_cells_within(const struct cuckoo_cells *, uint64_t lines);
/* NULL, or what is wrong with cells that were loaded; of lines of variable length, with all of
 * those that cell `from` begins. */
const char *cuckoo_wrong(const struct cuckoo_cells *, uint64_t from, uint64_t end, uint64_t lambda);

/* What changes lines of variable length. */
void cuckoo_insert(struct cuckoo_cells *, uint64_t i, struct cuckoo_key);
void cuckoo_erase(struct cuckoo_cells *, uint64_t i);
uint32_t cuckoo_line_room(struct cuckoo_cells *, struct stamps *, uint64_t i);
/* Clears what counts no more in the given part. */
void cuckoo_sweep(struct cuckoo_cells *, struct stamps *, uint64_t part);

static inline unsigned char *cuckoo_bytes(const struct cuckoo_cells *c) {
    return (unsigned char *)c + c->at;
}

static inline void cuckoo_write(struct cuckoo_cells *c, uint64_t bit, struct cuckoo_key key) {
    bits_field_set(cuckoo_bytes(c), bit, c->stamp, key.stamp);
    bits_field_set(cuckoo_bytes(c), bit + c->stamp, c->key, key.key);
}

/* -- lines of variable length ------------------------------------------------------------- */

struct cuckoo_spot {
    uint64_t line, map; /* which line; its bitmap */
    uint32_t position;
};

static inline struct cuckoo_spot cuckoo_spot(const struct cuckoo_cells *c, uint64_t i) {
    struct cuckoo_spot s;
    s.line = bits_range(c->inverse, i);
    s.position = (uint32_t)(i - s.line * c->positions);
    memcpy(&s.map, cuckoo_bytes(c) + s.line * 64, 8);
    s.map &= UINT64_MAX >> (64 - c->positions);
    return s;
}

static inline bool cuckoo_taken(struct cuckoo_spot s) { return s.map >> s.position & 1; }

/* The bit at which the position's key stands, or would. */
static inline uint64_t cuckoo_bit(const struct cuckoo_cells *c, struct cuckoo_spot s) {
    uint32_t rank = bits_popcount(s.map & (((uint64_t)1 << s.position) - 1));
    return s.line * 512 + c->positions + rank * c->entry;
}

/* -- either layout ------------------------------------------------------------------------ */

/* The line in which cell i begins. */
static inline const unsigned char *cuckoo_line(const struct cuckoo_cells *c, uint64_t i) {
    return cuckoo_bytes(c) + (c->vla ? bits_range(c->inverse, i) * 64 : i * c->entry / 8);
}

static inline struct cuckoo_key cuckoo_get(const struct cuckoo_cells *c, uint64_t i) {
    uint64_t bit = i * c->entry;
    if (c->vla) {
        struct cuckoo_spot s = cuckoo_spot(c, i);
        if (!cuckoo_taken(s)) return (struct cuckoo_key){0, 0};
        bit = cuckoo_bit(c, s);
    }
    return (struct cuckoo_key){bits_field(cuckoo_bytes(c), bit, c->stamp),
                               bits_field(cuckoo_bytes(c), bit + c->stamp, c->key)};
}

/* Into a cell that is taken, or whose line has room. */
static inline void cuckoo_put(struct cuckoo_cells *c, uint64_t i, struct cuckoo_key key) {
    uint64_t bit = i * c->entry;
    if (c->vla) {
        struct cuckoo_spot s = cuckoo_spot(c, i);
        if (!cuckoo_taken(s)) {
            cuckoo_insert(c, i, key);
            return;
        }
        bit = cuckoo_bit(c, s);
    }
    cuckoo_write(c, bit, key);
}

static inline bool cuckoo_dead(const struct stamps *t, uint64_t stamp) {
    return stamps_age(t, stamp) > stamps_limit(t);
}

/* How many keys could be put into cell i and its line.  0: the cell's key counts, or with packed=1
 * the line is full of keys that count.  Drops keys that no longer count from a line that seems
 * full. */
static inline uint32_t cuckoo_room(struct cuckoo_cells *c, struct stamps *t, uint64_t i) {
    return c->vla ? cuckoo_line_room(c, t, i) : cuckoo_dead(t, cuckoo_get(c, i).stamp);
}

/* The cell whose key must go so that i, which has no room, can be taken: its own, or else the next
 * in its line. */
static inline uint64_t cuckoo_victim(const struct cuckoo_cells *c, uint64_t i) {
    if (!c->vla) return i;
    struct cuckoo_spot s = cuckoo_spot(c, i);
    uint64_t after = s.map & ~(((uint64_t)1 << s.position) - 1);
    return s.line * c->positions + (uint64_t)__builtin_ctzll(after ? after : s.map);
}

/* -- the table: what its algorithm and its plan share ------------------------------------- */

#define TIMED_CUCKOO_LIST      64 /* keys that found no place, kept aside */
#define TIMED_CUCKOO_MOVES     64 /* by default */
#define TIMED_CUCKOO_MAX_MOVES 256

struct timed_cuckoo_listed {
    seen_digest digest;
    uint64_t stamp; /* logical tick */
};

/* What a snapshot keeps beside the clock and the cells. */
struct timed_cuckoo_head {
    uint64_t landmarks, lost; /* lost: keys that found no place */
    uint64_t flood;           /* logical tick of the last of them, plus 1; 0: none */
    uint64_t random;          /* which table is tried first */
    uint64_t listed, check;   /* length of L; its next item to be looked at for expiry */
    struct timed_cuckoo_listed list[TIMED_CUCKOO_LIST];
};

/* A shard's state; its lines follow. */
struct timed_cuckoo {
    struct timed_cuckoo_head h;
    struct stamps t;
    struct cuckoo_cells c;
    uint64_t lambda; /* cells a table */
    uint32_t place, signature, moves, first;
};

#define TIMED_CUCKOO_BYTES ((sizeof(struct timed_cuckoo) + 63) / 64 * 64)

uint64_t timed_cuckoo_size(const struct seen_spec *);
int timed_cuckoo_plan(struct seen_plan *, struct seen_error *);

#endif
