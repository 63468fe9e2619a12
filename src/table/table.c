/* table.c - sizes, saves, loads and merges tables of stamped lines. */
#include "table/table.h"

#include "base/base.h"
#include "spec/spec.h"

#define SWEEP_BITS 15
#define READ_LINES 256 /* lines that table_read reads at once */

uint64_t table_size(const struct filter_shape *shape, uint64_t keys) {
    (void)keys;
    return shape->lines * 64;
}

void table_slice(uint64_t generation, uint64_t lines, uint64_t *from, uint64_t *to) {
    uint64_t slices = (uint64_t)1 << SWEEP_BITS, slice = generation % slices;
    *from = bits_range(slice << (64 - SWEEP_BITS), lines);
    *to = slice + 1 < slices ? bits_range((slice + 1) << (64 - SWEEP_BITS), lines) : lines;
}

bool table_piece(const struct filter *f, uint64_t most, struct merge_cursor *m, uint64_t *i,
                 uint64_t *end) {
    *i = bits_min(m->place[0], f->shape.lines);
    *end = *i + bits_min(most, f->shape.lines - *i);
    m->place[0] = *end;
    return *end == f->shape.lines;
}

int table_save(const struct filter *f, struct seen_writer w) {
    return w.write(w.ctx, f->block, f->shape.lines * 64);
}

int table_load(struct filter *f, uint64_t generation, struct seen_reader r, uint64_t limit,
               struct seen_error *e) {
    (void)generation, (void)limit;
    if (r.read(r.ctx, f->block, f->shape.lines * 64))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends inside its table");
    return 0;
}

uint64_t table_read(struct seen_reader r, void *table, uint64_t i, uint64_t lines) {
    uint64_t n = bits_min(lines - i, READ_LINES);
    return r.read(r.ctx, (char *)table + i * 64, n * 64) ? 0 : i + n;
}

int counters_settle(struct seen_spec *spec, uint32_t live, struct seen_error *e) {
    if (live > 1)
        options_mark(spec, OPTION_COMBINE);
    else if (options_has(spec, OPTION_COMBINE))
        return error_set(
            e, SEEN_EREFUSED, 0,
            "combine= says how sub-windows are put together, and this window has none; "
            "leave it out");
    if (!options_has(spec, OPTION_WIDTH)) options_assume(spec, OPTION_WIDTH, COUNTERS_WIDTH);
    options_mark(spec, OPTION_WIDTH);
    if (options_get(spec, OPTION_WIDTH) >= 2 &&
        options_get(spec, OPTION_WIDTH) <= COUNTERS_MAX_WIDTH)
        return 0;
    return error_set(e, SEEN_EREFUSED, 0,
                     "filter=counting has counters of width=2 to %d bits, not %llu",
                     COUNTERS_MAX_WIDTH, (unsigned long long)options_get(spec, OPTION_WIDTH));
}

/* -- cells of one bit for each generation (table.h) --------------------------------------- */

uint32_t cells_columns_of(uint32_t live) { return cells_width(live); }

double cells_count(const struct filter_shape *shape) {
    return (double)shape->lines * cells_a_line(cells_width(shape->live));
}

double cells_touches(const struct filter_shape *shape) { return shape->k; }

/* A word with `mask`, of `width` bits, in each cell. */
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
