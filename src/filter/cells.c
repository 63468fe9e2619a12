#include "filter/cells.h"

#include <string.h>

uint32_t cells_columns_of(uint32_t live) { return cells_width(live); }

double cells_count(const struct filter_shape *shape) {
    return (double)shape->lines * cells_a_line(cells_width(shape->live));
}

double cells_touches(const struct filter_shape *shape) { return shape->k; }

/* `mask` (of width bits) in every cell of a word. */
static uint64_t in_every_cell(uint64_t mask, uint32_t width) {
    for (uint32_t w = width; w < 64; w *= 2) mask |= mask << w;
    return mask;
}

void cells_freshen(uint64_t *line, uint64_t generation, uint32_t width) {
    uint32_t stale = (uint16_t)(generation - table_stamp(line));
    if (!stale) return;
    uint64_t keep = ~in_every_cell(cells_columns(generation, stale, width), width);
    for (int i = 0; i < 8; i++) line[i] &= keep;
    line[7] = (line[7] & TABLE_STAMP_BELOW) | generation << TABLE_STAMP_SHIFT;
}

void cells_advance(struct filter *f, uint64_t generation) {
    uint32_t width = cells_width(f->shape.live);
    uint64_t i, end;
    for (table_slice(generation, f->shape.lines, &i, &end); i < end; i++)
        cells_freshen(table_line(f, i), generation, width);
}

void cells_merge(struct filter *into, uint64_t into_generation, const struct filter *from,
                 uint64_t from_generation, bool younger) {
    uint32_t width = cells_width(into->shape.live);
    for (uint64_t i = 0; i < into->shape.lines; i++) {
        uint64_t *to = table_line(into, i), source[8];
        memcpy(source, table_line(from, i), sizeof source);
        cells_freshen(source, from_generation, width);
        cells_freshen(to, into_generation, width);
        source[7] &= TABLE_STAMP_BELOW;
        for (uint32_t age = 0; age < into->shape.live; age++) {
            uint64_t column = in_every_cell(cells_columns(from_generation - age, 1, width), width);
            uint32_t there = (uint32_t)(from_generation - age) & (width - 1);
            uint32_t here = (uint32_t)(into_generation - age + (younger && age)) & (width - 1);
            for (int w = 0; w < 8; w++) to[w] |= (source[w] & column) >> there << here;
        }
    }
}
