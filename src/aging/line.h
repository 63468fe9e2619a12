/* line.h - what a line is, and what the kernels and the rest of `line` share (line.c tells the
 * idea).
 *
 * A line is a number of 512 bits, in eight words:
 *
 *     bit 0                                      432      437     448                 507
 *     | entry 0 | entry 1 | ... entry c-1 | none | before | stamp | map               | now |
 *       f bits each, oldest first                  5 bits   11      59                  5
 *
 *     map     from its lowest bit, oldest first: a 0 an entry, a 1 where a generation ends, and a
 *             last 1.  There are `live` ends, so that the entries behind the last end are of the
 *             generation of the stamp.  Kept xor-ed with an empty map: zeroed memory is an empty
 *             line.
 *     stamp   the generation of the last touch, mod 2^11
 *     now     classes of fingerprints that overflowed from here in this epoch of live+1
 *             generations
 *     before  and in the epoch before
 */
#ifndef LINE_H
#define LINE_H

#include "bits.h"
#include "detector.h"
#include "window/ring.h"

#include <stdbool.h>

#define LINE_PAYLOAD     432 /* bits of entries */
#define LINE_LIVE_MOST   31
#define LINE_STAMPS      2048
#define LINE_MAP_BITS    59
#define LINE_MAP         (((uint64_t)1 << LINE_MAP_BITS) - 1)
#define LINE_STAMP_SHIFT 53 /* in word 6 */
#define LINE_BEFORE      48
#define LINE_CHAIN       4 /* lines in which a key may stand */
#define LINE_NONE        UINT64_MAX
#define LINE_SLOTS       16 /* of the spare area that a key may stand in */
#define LINE_AHEAD       32 /* records whose lines are fetched ahead */
#define LINE_NEAR                                                                                  \
    16384            /* lines that a processor's own cache holds: the next is not fetched ahead */
#define LINE_RING 64 /* generations that are remembered, a power of two above live + 1 */

/* A key that no line of its chain had room for. */
struct line_spare {
    uint64_t tag;        /* of its last line and its fingerprint */
    uint64_t generation; /* 0: none */
};

/* What a snapshot keeps beside lines and spare area. */
struct line_head {
    struct ring ring;
    uint64_t floor;   /* what was stamped before this generation counts no more */
    uint64_t cleared; /* 1: nothing counts (at birth and after a landmark) */
    uint64_t lost, forgotten, kept;
    uint64_t flood;            /* generation in which the last key was lost; 0: none */
    uint64_t taken;            /* records taken for lost keys */
    uint64_t compared;         /* entries that records called new were compared with */
    uint64_t looked;           /* lines looked at behind the first */
    uint64_t start[LINE_RING]; /* clock at which a generation began */
};

/* Which generations count, for a record at some clock. */
struct line_view {
    uint64_t generation, empty; /* an empty map */
    uint32_t live;              /* full generations that count */
    uint32_t since;             /* generations since the epoch began */
    uint32_t ends;              /* of generations in a map */
};

struct line_state;
typedef void line_observe_fn(struct line_state *, size_t n, const seen_digest *, const uint64_t *at,
                             uint8_t *verdict);

struct line_state {
    struct line_head h;
    line_observe_fn *kernel;
    uint64_t held[LINE_RING]; /* entries last stamped in each generation */
    uint64_t clock;           /* of the current record, where overload=shrink */
    struct line_view view;    /* of the current generation */
    uint64_t lines, spares, step, length;
    uint32_t live, bits, room; /* generations; f; c */
    bool shrink, first, time;
};

#define LINE_STATE_BYTES ((sizeof(struct line_state) + 63) / 64 * 64)

static inline uint64_t *line_at(const struct line_state *s, uint64_t i) {
    return (uint64_t *)(void *)((char *)s + LINE_STATE_BYTES) + 8 * i;
}

static inline struct line_spare *line_spares(const struct line_state *s) {
    return (struct line_spare *)(void *)line_at(s, s->lines);
}

static inline uint32_t line_room(uint32_t bits) { return LINE_PAYLOAD / bits; }

/* -- where a key may stand: its line, and from any line the next, by fingerprint alone ---- */

static inline uint64_t line_home(const struct line_state *s, seen_digest d) {
    return bits_range(d.lo, s->lines);
}
static inline uint64_t line_print(seen_digest d, uint32_t bits) {
    return d.hi & (((uint64_t)1 << bits) - 1);
}
static inline uint64_t line_next(const struct line_state *s, uint64_t at, uint64_t print) {
    return bits_range(bits_draw(at, print, 3), s->lines);
}
static inline uint64_t line_tag(uint64_t at, uint64_t print) { return bits_draw(at, print, 5); }

/* One of five bits; marks are kept for each. */
static inline uint64_t line_class(uint64_t print) {
    return (uint64_t)1 << ((print & 0xffff) * 5 >> 16);
}

/* -- the map ------------------------------------------------------------------------------ */

static inline uint64_t line_empty_map(uint32_t live) { return ((uint64_t)2 << live) - 1; }

/* What is left of a map after `ago` generations (at most live), and how many entries went. */
static inline uint64_t line_age_map(uint64_t map, uint64_t ago, uint32_t *gone) {
    uint64_t cut = bits_select(map << 1 | 1, ago % 64); /* behind the ago-th end */
    uint64_t length = 63 - (uint64_t)__builtin_clzll(map);
    *gone = (uint32_t)(cut - ago);
    return (map >> cut ^ (uint64_t)1 << (length - cut)) | (((uint64_t)2 << ago) - 1)
                                                              << (length - cut);
}

/* Generations ago of the entry whose 0 is bit `place`. */
static inline uint64_t line_age(uint64_t map, uint64_t place) {
    return (uint64_t)bits_popcount(map >> place) - 1;
}

/* -- kernels: test and add for records of one generation ---------------------------------- */

line_observe_fn *line_kernel_avx2(uint32_t bits), *line_kernel_vbmi2(uint32_t bits);

/* Makes room when a key found none: drops the oldest generation (overload=shrink), at the clock of
 * the current record; false where it may not. */
bool line_shrink(struct line_state *);

/* The slot of a tag in the spare area, or one for it if `add`; NULL if there is none. */
struct line_spare *line_spare_find(const struct line_state *, const struct line_view *,
                                   uint64_t tag, bool add);

/* -- planning (line_plan.c) --------------------------------------------------------------- */

uint64_t line_size(const struct seen_plan *, const struct filter_ops *);
int line_plan(struct seen_plan *, const struct filter_ops *, struct seen_error *);
uint64_t line_step(const struct seen_spec *);
uint32_t line_live(const struct seen_spec *);
uint64_t line_spare_slots(uint64_t lines);

#endif
