/* cells.c - the parts of a filter that all filters with cells of one bit share. */
#include "table/cells.h"

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

bool cells_merge(struct filter *into, uint64_t generation, const struct filter *from,
                 const struct filter_match *match, uint64_t most, struct merge_cursor *m) {
    uint32_t width = cells_width(into->shape.live);
    uint64_t i, end;
    bool last = table_piece(from, most, m, &i, &end);
    for (; i < end; i++) {
        uint64_t *to = table_line(into, i), source[8];
        memcpy(source, table_line(from, i), sizeof source);
        cells_freshen(source, match->from, width);
        cells_freshen(to, generation, width);
        source[7] &= TABLE_STAMP_BELOW;
        for (uint32_t age = 0; age < into->shape.live; age++) {
            if (generation - filter_matching(match, age) >= into->shape.live) continue;
            uint64_t column = in_every_cell(cells_columns(match->from - age, 1, width), width);
            uint32_t there = (uint32_t)(match->from - age) & (width - 1);
            uint32_t here = (uint32_t)filter_matching(match, age) & (width - 1);
            for (int w = 0; w < 8; w++) to[w] |= (source[w] & column) >> there << here;
        }
    }
    return last;
}
