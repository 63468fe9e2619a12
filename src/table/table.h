/* table.h - a table of 64-byte lines, each stamped with the generation (mod 2^16) of its last
 * touch. Every filter of fixed size uses it.
 *
 *     line:  | words 0 … 6: 448 bits | word 7: 48 bits | stamp, 16 bits |
 *
 * A stamp comes round after 2^16 generations.  So each generation visits a slice of the lines, and
 * 2^15 generations visit all.  Any bytes are a valid table. */
#ifndef TABLE_H
#define TABLE_H

#include "base/base.h"
#include "base/bits.h"
#include "theory/shape.h"

#define FILTER_NONE UINT32_MAX /* the age of a key that no live generation holds */

/* A filter in one shard. */
struct filter {
    const struct filter_ops *ops;
    struct filter_shape shape;
    void *block; /* ops->size bytes, zeroed at birth: no pointer in it unless SEEN_GROWS */
    const struct seen_allocator *alloc; /* for structures that grow */
    uint32_t cpu;
    bool refresh_first; /* duplicates stay in the generation they were in */
    uint64_t *renewed;  /* if summed: for each live generation, at generation mod live, how many of
                           its keys came again in a younger one.  The filter counts them in memory
                           of the window */
};

/* How the generations of two filters correspond during a merge.  Generation `from` of one enters
 * generation `into` of the other.  Earlier ones enter those before it, or with `younger` one
 * generation later. */
struct filter_match {
    uint64_t into, from;
    bool younger;
};

#define FILTER_PLACES 5

/* The generation that keys `age` generations older than `from` enter. */
static inline uint64_t filter_matching(const struct filter_match *m, uint64_t age) {
    return m->into - age + (m->younger && age);
}

/* -- lines -------------------------------------------------------------------------------- */

#define TABLE_STAMP_SHIFT 48 /* in the line's last word */
#define TABLE_STAMP_BELOW (((uint64_t)1 << TABLE_STAMP_SHIFT) - 1)
#define TABLE_BITS        496

static inline uint64_t *table_line(const struct filter *f, uint64_t i) {
    return (uint64_t *)f->block + 8 * i;
}

static inline uint16_t table_stamp(const uint64_t *line) {
    return (uint16_t)(line[7] >> TABLE_STAMP_SHIFT);
}

/* Empties a line whose stamp is not of the one generation that counts. */
static inline void table_freshen(uint64_t *line, uint64_t generation) {
    if (__builtin_expect(table_stamp(line) == (uint16_t)generation, 1)) return;
    memset(line, 0, 64);
    line[7] = generation << TABLE_STAMP_SHIFT;
}

/* The line, or bucket of lines, of a uniform 64-bit draw.  For up to 2^24 places 32 bits are
 * uniform enough, and vector instructions compute several at once. */
static inline uint64_t table_place(uint64_t draw, uint64_t places) {
    if (places <= (uint64_t)1 << 24)
        return (uint64_t)(uint32_t)(draw >> 32) * (uint32_t)places >> 32;
    return bits_range(draw, places);
}

/* Sets the range of lines, from *i up to *end, for the next piece of a merge.  True: the last one.
 */
bool table_piece(const struct filter *, uint64_t most, struct merge_cursor *, uint64_t *i,
                 uint64_t *end);

/* The bytes of a table; `keys` does not matter. */
uint64_t table_size(const struct filter_shape *, uint64_t keys);

/* The lines that a generation sweeps: from *from up to *to. */
void table_slice(uint64_t generation, uint64_t lines, uint64_t *from, uint64_t *to);

/* Write and read the lines as they are.  Return what the writer or reader returned, or SEEN_EFORMAT
 * if the snapshot ends too early. */
int table_save(const struct filter *, struct seen_writer);
int table_load(struct filter *, uint64_t generation, struct seen_reader, uint64_t limit,
               struct seen_error *);

/* Reads some lines, from line i on.  Returns the number of the first line not read, or 0 on
 * failure. A loader checks and counts the lines of each piece as they come, because a server waits
 * while the loader works on the piece that it was given:
 *
 *     for (uint64_t i = 0, next; i < lines;) {
 *         if (!(next = table_read(in, table, i, lines))) return …;
 *         for (; i < next; i++) …
 *     } */
uint64_t table_read(struct seen_reader, void *table, uint64_t i, uint64_t lines);

/* -- counters side by side in a line ------------------------------------------------------ */

/* A counter of `width` bits has the top 2^width - 1.  A counter that reaches its top sticks: the
 * number of its keys is unknown from then on, so removing a key must not lower it. */

#define COUNTERS_WIDTH     4 /* bits, without width= */
#define COUNTERS_MAX_WIDTH 16

static inline uint32_t counters_top(uint32_t width) { return (1u << width) - 1; }

static inline uint32_t counters_get(const uint64_t *line, uint32_t bit, uint32_t top) {
    uint32_t word = bit >> 6, shift = bit & 63;
    uint64_t value = line[word] >> shift;
    if (shift > 64 - COUNTERS_MAX_WIDTH) value |= line[word + 1] << (64 - shift);
    return (uint32_t)value & top;
}

static inline void counters_set(uint64_t *line, uint32_t bit, uint32_t top, uint64_t value) {
    uint32_t word = bit >> 6, shift = bit & 63, back = 64 - shift;
    line[word] = (line[word] & ~((uint64_t)top << shift)) | value << shift;
    if (shift > 64 - COUNTERS_MAX_WIDTH)
        line[word + 1] = (line[word + 1] & ~((uint64_t)top >> back)) | value >> back;
}

/* Both return the counter's old value.  A counter at its top does not change. */
static inline uint32_t counters_up(uint64_t *line, uint32_t bit, uint32_t top) {
    uint32_t value = counters_get(line, bit, top);
    if (value < top) counters_set(line, bit, top, value + 1);
    return value;
}

static inline uint32_t counters_down(uint64_t *line, uint32_t bit, uint32_t top) {
    uint32_t value = counters_get(line, bit, top);
    if (value && value < top) counters_set(line, bit, top, value - 1);
    return value;
}

/* Decides width= and, with several generations, combine=.  Refuses values that are not possible. */
int counters_settle(struct seen_spec *, uint32_t live, struct seen_error *);

/* -- cells of one bit for each generation, which Bloom-like filters share ----------------- */

/* A cell holds w bits, w a power of two: bit g mod w says "set in generation g".  So one AND of a
 * key's k cells asks all sub-windows at once (a key is there if some bit is set in every cell).
 *
 *     one 64-byte line:  | cell 0 | cell 1 | … | cell c-1 |  spare  | stamp, 16 bits |
 *                          w bits                               c = 496, 248, 124, 62, 31, 15, 7
 *                                                               for w = 1, 2, 4, 8, 16, 32, 64
 *
 * A line with an old stamp is brought up to date when it is next touched.  The columns of the
 * generations since then are cleared, because they belong to new generations now.  So no call
 * clears the whole table.  cells_advance does the same to a slice of the lines at each generation.
 *
 * find must not write.  It computes which columns of a stale line still count. */

#define CELLS_MAX_LIVE 64

/* Where a probe goes. */
struct cells_probe {
    uint64_t line;
    uint32_t cell;
};

static inline uint32_t cells_width(uint32_t live) {
    uint32_t w = 1;
    while (w < live) w *= 2;
    return w;
}

static inline uint32_t cells_a_line(uint32_t width) {
    return TABLE_BITS >> __builtin_ctz(width); /* a width is a power of two */
}

static inline uint64_t cells_low(uint32_t n) {
    return n >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << n) - 1;
}

/* The bits of a cell that stand for the `count` generations up to `last`. */
static inline uint64_t cells_columns(uint64_t last, uint32_t count, uint32_t width) {
    if (count >= width) return cells_low(width);
    uint64_t run = cells_low(count);
    uint32_t first = (uint32_t)(last - count + 1) & (width - 1);
    return ((run << first) | (first ? run >> (width - first) : 0)) & cells_low(width);
}

/* A uniform 64-bit draw gives a line and, with what is left over, a cell of it. */
static inline struct cells_probe cells_place(uint64_t draw, uint64_t lines, uint32_t a_line) {
    bits_u128 product = (bits_u128)draw * lines;
    return (struct cells_probe){(uint64_t)(product >> 64),
                                (uint32_t)bits_range((uint64_t)product, a_line)};
}

/* The place of cell `number`, and the number of lines that `cells` cells take. */
static inline struct cells_probe cells_number(uint64_t number, uint32_t a_line) {
    return (struct cells_probe){number / a_line, (uint32_t)(number % a_line)};
}

static inline uint64_t cells_lines(uint64_t cells, uint32_t live) {
    return bits_ceil_div(cells, cells_a_line(cells_width(live)));
}

/* The place of the i-th probe of a key, which may have several digests.  Each structure has its own
 * such function; the rest is shared. */
typedef struct cells_probe cells_place_fn(const struct filter_shape *, const seen_digest *,
                                          uint32_t i, uint32_t a_line);

/* -- the shared half of a filter_ops (table.c) -------------------------------------------- */

/* As filter_theory's columns, and its touches.  cells_count: the cells of one generation. */
uint32_t cells_columns_of(uint32_t live);
double cells_count(const struct filter_shape *);
double cells_touches(const struct filter_shape *);

/* Brings a line up to date: clears the columns of the generations since its stamp. */
void cells_freshen(uint64_t *line, uint64_t generation, uint32_t width);

/* As filter_ops's advance and merge. */
void cells_advance(struct filter *, uint64_t generation);
bool cells_merge(struct filter *into, uint64_t generation, const struct filter *from,
                 const struct filter_match *, uint64_t most, struct merge_cursor *);

/* -- test and add, specialised at compile time by `place`, `width` and the `digests` a key - */

#define CELLS_AHEAD 1024 /* probes whose lines are fetched ahead of use, at most */

ALWAYS_INLINE size_t cells_observe(struct filter *f, uint64_t generation, size_t n,
                                   const seen_digest *digest, uint8_t *verdict,
                                   cells_place_fn *place, uint32_t width, uint32_t digests) {
    const struct filter_shape *shape = &f->shape;
    uint64_t(*lines)[8] = f->block;
    uint32_t k = shape->k, a_line = cells_a_line(width);
    uint64_t live = cells_columns(generation, shape->live, width);
    uint64_t current = cells_columns(generation, 1, width);
    struct cells_probe probes[CELLS_AHEAD];
    size_t added = 0, most = k <= CELLS_AHEAD / BITS_AHEAD ? BITS_AHEAD : CELLS_AHEAD / k;
    for (size_t from = 0, group; from < n; from += group) {
        group = bits_min(n - from, most);
        for (size_t i = 0; i < group; i++) {
            seen_digest one = digest[(from + i) * digests]; /* kept in registers, where alone */
            const seen_digest *key = digests == 1 ? &one : digest + (from + i) * digests;
            for (uint32_t j = 0; j < k; j++) {
                struct cells_probe *probe = &probes[i * k + j];
                *probe = place(shape, key, j, a_line);
                __builtin_prefetch(lines[probe->line], 1);
            }
        }
        for (size_t i = 0; i < group; i++) {
            const struct cells_probe *probe = probes + i * k;
            uint64_t found = live;
            for (uint32_t j = 0; j < k; j++) {
                uint64_t *line = lines[probe[j].line];
                uint32_t bit = probe[j].cell * width;
                if (__builtin_expect(table_stamp(line) != (uint16_t)generation, 0))
                    cells_freshen(line, generation, width);
                found &= line[bit >> 6] >> (bit & 63);
            }
            verdict[from + i] = found != 0;
            bool stored = found & current;
            if (stored || (found && f->refresh_first)) continue;
            added++;
            for (uint32_t j = 0; j < k; j++) {
                uint32_t bit = probe[j].cell * width;
                lines[probe[j].line][bit >> 6] |= current << (bit & 63);
            }
        }
    }
    return added;
}

ALWAYS_INLINE void cells_find(const struct filter *f, uint64_t generation, size_t n,
                              const seen_digest *digest, uint32_t *age, cells_place_fn *place,
                              uint32_t width, uint32_t digests) {
    const struct filter_shape *shape = &f->shape;
    const uint64_t(*lines)[8] = (const uint64_t(*)[8])f->block;
    uint32_t a_line = cells_a_line(width);
    for (size_t i = 0; i < n; i++) {
        uint64_t found = cells_columns(generation, shape->live, width);
        seen_digest one = digest[i * digests];
        const seen_digest *key = digests == 1 ? &one : digest + i * digests;
        for (uint32_t j = 0; j < shape->k; j++) {
            struct cells_probe p = place(shape, key, j, a_line);
            const uint64_t *line = lines[p.line];
            uint32_t bit = p.cell * width, stale = (uint16_t)(generation - table_stamp(line));
            found &= line[bit >> 6] >> (bit & 63);
            if (stale) found &= ~cells_columns(generation, stale, width);
        }
        age[i] = FILTER_NONE;
        for (uint32_t a = 0; found && a < shape->live; a++)
            if (found & cells_columns(generation - a, 1, width)) {
                age[i] = a;
                break;
            }
    }
}

/* Defines NAME_observe and NAME_find of a structure whose probes go to `place` and whose keys have
 * `digests` digests.  The width is a constant in each. */
#define CELLS_OPERATIONS(name, place, digests)                                                     \
    static size_t name##_observe(struct filter *f, uint64_t generation, size_t n,                  \
                                 const seen_digest *d, uint8_t *verdict) {                         \
        uint32_t width = cells_width(f->shape.live);                                               \
        if (width == 1) return cells_observe(f, generation, n, d, verdict, place, 1, digests);     \
        return cells_observe(f, generation, n, d, verdict, place, width, digests);                 \
    }                                                                                              \
    static void name##_find(const struct filter *f, uint64_t generation, size_t n,                 \
                            const seen_digest *d, uint32_t *age) {                                 \
        cells_find(f, generation, n, d, age, place, cells_width(f->shape.live), digests);          \
    }

#endif
