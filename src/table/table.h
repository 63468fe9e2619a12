/* table.h - a table of 64-byte lines, each stamped with the generation (mod 2^16) of its last
 * touch. Every filter of fixed size uses it.
 *
 *     line:  | words 0 … 6: 448 bits | word 7: 48 bits | stamp, 16 bits |
 *
 * A stamp comes round after 2^16 generations.  So each generation visits a slice of the lines, and
 * 2^15 generations visit all.  Any bytes are a valid table. */
#ifndef TABLE_H
#define TABLE_H

#include "base/bits.h"
#include "base/cursor.h"
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

uint64_t table_size(const struct filter_shape *, uint64_t keys);
void table_slice(uint64_t generation, uint64_t lines, uint64_t *from, uint64_t *to);
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

#define COUNTERS_WIDTH      4 /* bits, without width= */
#define COUNTERS_WIDTH_MOST 16

static inline uint32_t counters_top(uint32_t width) { return (1u << width) - 1; }

static inline uint32_t counters_get(const uint64_t *line, uint32_t bit, uint32_t top) {
    uint32_t word = bit >> 6, shift = bit & 63;
    uint64_t value = line[word] >> shift;
    if (shift > 64 - COUNTERS_WIDTH_MOST) value |= line[word + 1] << (64 - shift);
    return (uint32_t)value & top;
}

static inline void counters_set(uint64_t *line, uint32_t bit, uint32_t top, uint64_t value) {
    uint32_t word = bit >> 6, shift = bit & 63, back = 64 - shift;
    line[word] = (line[word] & ~((uint64_t)top << shift)) | value << shift;
    if (shift > 64 - COUNTERS_WIDTH_MOST)
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

#endif
