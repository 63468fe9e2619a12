/* cells.h - lines of cells with one bit for each generation, which Bloom-like filters share.
 *
 * A cell holds w bits, w a power of two: bit g mod w says "set in generation g".  So one AND of a
 * key's k cells asks all sub-windows at once (a key is there if some bit is set in every cell).
 *
 *     one 64-byte line:  | cell 0 | cell 1 | … | cell c-1 |  spare  | stamp, 16 bits |
 *                          w bits                               c = 496, 248, 124, 62, 31, 15, 7
 *                                                               for w = 1, 2, 4, 8, 16, 32, 64
 *
 * A line whose stamp is old is brought up to date when it is next touched: the bits of the
 * generations since are cleared, because those columns are theirs now.  So nothing is ever cleared
 * in one go; cells_advance does the same to a slice of the lines at each generation (table.h).
 *
 * Readers that must not write (find) compute instead which columns of a stale line still count.
 */
#ifndef CELLS_H
#define CELLS_H

#include "base/cursor.h"
#include "table/table.h"

#define CELLS_LIVE_MOST 64

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
    static const uint8_t wide[] = {[16] = 31, [32] = 15, [64] = 7};
    return width >= 16 ? wide[width] : TABLE_BITS / width;
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

/* The place of cell `number`; then the lines that `cells` cells take. */
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

/* -- the shared half of a filter_ops (cells.c) -------------------------------------------- */

uint32_t cells_columns_of(uint32_t live);
double cells_count(const struct filter_shape *); /* cells of one generation */
double cells_touches(const struct filter_shape *);
void cells_freshen(uint64_t *line, uint64_t generation, uint32_t width);
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
