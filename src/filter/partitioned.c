/* partitioned - a Bloom filter with a space of its own for every probe.
 *
 * Guarantee  No false negatives.  False positives (1-(1-k/m)^n)^k with n keys in m cells.
 * Paper      Metwally, Agrawal, El Abbadi, WWW 2005, §5.1 and figure 4: spaces can lie in memory
 *            modules of their own, so that the k accesses of a key wait for ⌈k/D⌉ of them, not
 *            for k.
 * Layout     lines of cells, a bit a generation in each (cells.h), in k equal runs of lines.
 *
 *                digest ──┬─ probe 0 ─▼ ├─ probe 1 ──▼       ├─ probe 2 ▼
 *                space 0 | 0 0 0 1 0 … | 0 0 0 0 1 … space 1 | 1 0 0 1 … space 2 |
 *
 * Example    n = 1e6 keys, 9.6 bits a key, k = 7: 1 % when full, as bloom up to O(1/m).
 * Cost       k cache lines a record, one in each space.
 */
#include "filter/filter.h"
#include "table/cells.h"
#include "theory/bloom.h"

static struct cells_probe place(const struct filter_shape *shape, const seen_digest *d, uint32_t i,
                                uint32_t a_line) {
    uint64_t space = shape->lines / shape->k;
    struct cells_probe p = cells_place(bits_draw(d->lo, d->hi, i), space, a_line);
    p.line += i * space;
    return p;
}

CELLS_OPERATIONS(place, 1)

static double fp(const struct filter_shape *shape, double keys) {
    return theory_partitioned(cells_count(shape), keys, shape->k);
}

static uint64_t granule(const struct filter_shape *shape) { return shape->k; }

const struct filter_ops filter_partitioned = {
    .theory = {.name = "partitioned",
               .help = "Bloom filter, a space for each probe",
               .traits = SEEN_NO_FN | SEEN_MERGEABLE,
               .k_most = 64,
               .live_most = CELLS_LIVE_MOST,
               .columns = cells_columns_of,
               .fp = fp,
               .touches = cells_touches,
               .size = table_size,
               .granule = granule},
    .observe = observe,
    .find = find,
    .advance = cells_advance,
    .merge = cells_merge,
    .save = table_save,
    .load = table_load,
};
