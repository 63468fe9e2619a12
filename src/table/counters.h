/* counters.h - small counters side by side in a line of 64 bytes, which stick at their top.
 *
 * A counter of `width` bits has the top 2^width - 1.  A counter that reaches its top sticks: the
 * number of its keys is unknown from then on, so removing a key must not lower it. */
#ifndef COUNTERS_H
#define COUNTERS_H

#include "table/table.h"

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

/* Decides width= and, with several generations, by=.  Refuses values that are not possible. */
int counters_settle(struct seen_spec *, uint32_t live, struct seen_error *);

#endif
