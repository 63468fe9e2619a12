/* table.c - sizes, saves and loads tables of stamped lines, and cuts them into pieces. */
#include "table/table.h"

#include "base/base.h"
#include "spec/options.h"

#define SWEEP_BITS 15
#define READ_LINES 256 /* at once */

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
        options_get(spec, OPTION_WIDTH) <= COUNTERS_WIDTH_MOST)
        return 0;
    return error_set(e, SEEN_EREFUSED, 0,
                     "filter=counting has counters of width=2 to %d bits, not %llu",
                     COUNTERS_WIDTH_MOST, (unsigned long long)options_get(spec, OPTION_WIDTH));
}
