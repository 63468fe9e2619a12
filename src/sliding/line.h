/* line.h - the layout of a line, and declarations that the kernels and the rest of `line` share.
 * line.c explains the idea.
 *
 * A line is a number of 512 bits, in eight words:
 *
 *     bit 0                                      432      438     448   454
 *     | entry 0 | entry 1 | ... entry c-1 | none | before | stamp | now | map |
 *       f bits each, oldest first                  6 bits   10      6     58
 *
 *     map     from its lowest bit, oldest first: a 1 for each entry, a 0 where a generation ends.
 *             There are `ends` ends.  The entries behind the last end belong to the generation of
 *             the stamp; the next entry would get bit ends + count.  The map n generations later is
 *             this map without its lowest bits up to the n-th end.  While fewer generations count,
 *             the first ends have no entries before them.
 *     stamp   the generation of the last touch, mod 2^10
 *     now     classes of fingerprints that overflowed from this line in this epoch.  An epoch lasts
 *             until all entries from before it have left: ends+1 generations at most
 *     before  the same for the epoch before
 */
#ifndef LINE_H
#define LINE_H

#include "base/bits.h"
#include "theory/sliding.h"
#include "window/window.h"

#include <stdbool.h>

#define LINE_PAYLOAD     432 /* bits of entries */
#define LINE_MAX_LIVE    31
#define LINE_MAP_BITS    58
#define LINE_STAMPS      1024
#define LINE_CLASSES     THEORY_LINE_CLASSES
#define LINE_MARKS       (((uint64_t)1 << LINE_CLASSES) - 1)
#define LINE_STAMP_SHIFT 54 /* in word 6 */
#define LINE_BEFORE      48
#define LINE_CHAIN       4 /* lines in which a key may stand */
#define LINE_NONE        UINT64_MAX
#define LINE_SLOTS       16 /* slots of the spare area in which a key may stand */
#define LINE_AHEAD       32 /* records whose lines are fetched ahead */
#define LINE_GROUP       64 /* records that go together through the three steps of the kernel */
#define LINE_RING        64 /* generations that are remembered, a power of two above live + 1 */

/* A key that no line of its chain had room for. */
struct line_spare {
    uint64_t tag;        /* of its last line and its fingerprint */
    uint64_t generation; /* 0: none */
};

/* What a snapshot keeps beside lines and spare area. */
struct line_head {
    struct rotation rotation;
    uint64_t floor;   /* the oldest generation that counts */
    uint64_t cut;     /* the last floor that a lack of memory set; 0: none */
    uint64_t cleared; /* 1: nothing counts (at birth and after a landmark) */
    uint64_t lost, forgotten, kept;
    uint64_t flood;               /* generation in which the last key was lost; 0: none */
    uint64_t looked;              /* lines looked at behind the first */
    uint64_t reached[LINE_CHAIN]; /* generation in which a key was last put there; 0: none */
    uint64_t due,
        swept; /* generation whose slice is swept next, and lines of the slice already swept */
    uint64_t epoch, before;    /* first generations of this epoch of marks, and of the last one */
    uint64_t by_count;         /* bit g % 64: generation g began by count */
    uint64_t base;             /* entries when the current generation began */
    uint64_t wait;             /* records until entries are counted again, 1 at least */
    uint64_t until;            /* clock up to which memory counts as short */
    uint64_t start[LINE_RING]; /* clock at which a generation began; before 0: mod 2^64 */
};

/* Which generations count, for a record at some clock. */
struct line_view {
    uint64_t generation;
    uint32_t live;           /* full generations that count */
    uint32_t ends;           /* of generations in a map */
    uint32_t extra;          /* of these ends, those before the oldest generation that counts */
    uint64_t since, earlier; /* generations since this epoch began, and since the last one did */
};

struct line_state;
typedef void line_observe_fn(struct line_state *, size_t n, const seen_digest *, const uint64_t *at,
                             uint8_t *verdict);

struct line_state {
    struct line_head h;
    line_observe_fn *kernel;
    uint64_t held[LINE_RING];   /* entries last stamped in each generation ... */
    uint64_t spared[LINE_RING]; /* ... and of these in the spare area */
    uint64_t clock;             /* the next record comes at this clock or later (overload=shrink) */
    struct line_view view;      /* of the current generation */
    uint64_t lines, spares, step, length;
    uint64_t planned, most; /* entries: as planned, and the most that a plan allows */
    uint64_t quota;         /* new entries of a generation; 0: any number */
    uint32_t live, steps;   /* full generations: in a map; of the window, by the clock */
    uint32_t bits, room;    /* f; c */
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

/* -- where a key may stand: its line, and the next line, which line and fingerprint give -- */

static inline uint64_t line_home(const struct line_state *s, seen_digest d) {
    return bits_range(d.lo, s->lines);
}
static inline uint64_t line_fingerprint(seen_digest d, uint32_t bits) {
    return d.hi & (((uint64_t)1 << bits) - 1);
}
static inline uint64_t line_next(const struct line_state *s, uint64_t at, uint64_t print) {
    return bits_range(bits_fold(at ^ print * BITS_GOLDEN, 0x8ebc6af09c88c6e3u), s->lines);
}
static inline uint64_t line_tag(uint64_t at, uint64_t print) { return bits_draw(at, print, 5); }

/* The class of a fingerprint.  Each class has marks of its own. */
static inline uint64_t line_class(uint64_t print) { return (print & 0xffff) * LINE_CLASSES >> 16; }

/* -- the map ------------------------------------------------------------------------------ */

static inline uint64_t line_map(const uint64_t *line) { return line[7] >> LINE_CLASSES; }

/* The number of bits of a map that belong to its oldest n ends and the entries before these. */
static inline uint64_t line_cut(uint64_t map, uint64_t n) { return bits_select(~map << 1 | 1, n); }

/* How many generations ago a line was last touched. */
static inline uint64_t line_ago(const uint64_t *line, uint64_t generation) {
    return (generation - (line[6] >> LINE_STAMP_SHIFT)) & (LINE_STAMPS - 1);
}

#define LINE_NO_ENTRY 63

/* The youngest of the entries whose bits are set. */
static inline uint32_t line_youngest(uint32_t found) { return bits_leading(found) ^ 31; }

/* The age in generations of the i-th entry, whose bit in the map is `bit`. */
static inline uint64_t line_age(uint64_t bit, uint64_t i, uint32_t ends) {
    return ends + i - bits_low(bit);
}

/* -- kernels: test and add for records of one generation ---------------------------------- */

line_observe_fn *line_kernel_avx2(uint32_t bits), *line_kernel_vbmi2(uint32_t bits);

/* Makes room for a key that found none, by removing the oldest generation at the clock of the
 * current record.  False: overload=saturate does not do this. */
bool line_shrink(struct line_state *);

static inline bool line_counts(const struct line_view *view, uint64_t generation) {
    return view->generation - generation <= view->live;
}

/* The slot of a tag in the spare area, or one for it if `add`; NULL if there is none. */
struct line_spare *line_spare_find(const struct line_state *, const struct line_view *,
                                   uint64_t tag, bool add);

/* Gives a slot of the spare area to a generation, and counts it there. */
static inline void line_spare_stamp(struct line_state *s, struct line_spare *spare,
                                    uint64_t generation) {
    uint64_t was = spare->generation % LINE_RING, is = generation % LINE_RING;
    if (spare->generation) s->held[was]--, s->spared[was]--;
    s->held[is]++, s->spared[is]++;
    spare->generation = generation;
}

/* -- generations (line_generations.c) ----------------------------------------------------- */

/* Prepares a zeroed state. */
void line_begin(struct line_state *);

/* The view of the current generation. */
struct line_view line_view_now(const struct line_state *);

/* The number of entries of the generations that count. */
uint64_t line_stored(const struct line_state *);

/* Removes the oldest generations until the rest fits (overload=shrink), and splits the current one
 * if it is large.  The next record comes at `clock` or later. */
void line_weigh(struct line_state *, uint64_t clock);

/* Counts `keys` keys of a generation that has left as forgotten, if they are still in the window.
 */
void line_forget(struct line_state *, uint64_t generation, uint64_t keys);

/* Sweeps up to n lines that are due, of generations up to `until`. */
void line_sweep(struct line_state *, uint64_t n, uint64_t until);

/* Sets the counts of all generations to 0. */
void line_count_none(struct line_state *);

/* Whether a loaded head is possible for a detector whose clock is `at`. */
bool line_head_sane(const struct line_state *, uint64_t at);

/* Whether nothing counts for a record at `at`, after a landmark or a long silence. */
bool line_expired(const struct line_state *, uint64_t at);

/* The view that a record at `at` would have. */
struct line_view line_view_at(const struct line_state *, uint64_t at);

/* Begins the generations up to `at`.  If nothing counts, one begins and becomes the floor. */
void line_advance(struct line_state *, uint64_t at);

/* The least age, at clock `at`, of a key in the generation `ago` generations back. */
uint64_t line_age_at(const struct line_state *, const struct line_view *, uint64_t ago,
                     uint64_t at);

/* As window_ops.merge. */
bool line_merge(struct window *into, uint64_t at, const struct window *from, uint64_t from_at,
                uint64_t most, struct merge_cursor *);

/* -- planning (line_plan.c) --------------------------------------------------------------- */

/* As window_ops.size and window_ops.plan. */
uint64_t line_size(const struct seen_spec *);
int line_plan(struct seen_plan *, struct seen_error *);
/* The length of a generation on the clock, the number of full generations in a window, and the
 * number of ends in a map. */
uint64_t line_step(const struct seen_spec *);
uint32_t line_live(const struct seen_spec *);
uint32_t line_ends(const struct seen_spec *);

/* The number of keys, including those in the slack, for which `lines` lines are planned. */
double line_planned(uint64_t lines, uint32_t bits);
/* The number of slots in the spare area of `lines` lines. */
uint64_t line_spare_slots(uint64_t lines);

#endif
