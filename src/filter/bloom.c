/* bloom - the Bloom filter: k probes anywhere in one space of cells.
 *
 * Guarantee  No false negatives.  False positives (1-(1-1/m)^(kn))^k with n keys in m cells.
 * Paper      B. H. Bloom, CACM 1970; Metwally, Agrawal, El Abbadi, WWW 2005, §5.1 and figure 3.
 * Layout     lines of cells, a bit a generation in each (cells.h).
 *
 *                digest ──┬─ probe 0 ──────────────▼
 *                         ├─ probe 1 ─▼                             ▼ ── probe 2
 *                cells  | 0 0 1 0 0 0 1 0 | 1 0 0 1 0 0 0 0 | 0 0 0 1 0 … |
 *
 * Example    n = 1e6 keys, 9.6 bits a key, k = 7: 1 % of new keys are called duplicates when the
 *            window is full, 0.28 % on average while a landmark window fills.
 * Cost       k cache lines a record, fetched together.
 */
#include "theory/bloom.h"
#include "filter/filter.h"
#include "table/cells.h"

static struct cells_probe place(const struct filter_shape *shape, const seen_digest *d, uint32_t i,
                                uint32_t a_line) {
    return cells_place(bits_draw(d->lo, d->hi, i), shape->lines, a_line);
}

CELLS_OPERATIONS(place, 1)

static double fp(const struct filter_shape *shape, double keys) {
    return theory_bloom(cells_count(shape), keys, shape->k);
}

const struct filter_ops filter_bloom = {
    .theory = {.name = "bloom",
               .help = "Bloom filter, k probes in one space",
               .traits = SEEN_NO_FN | SEEN_MERGEABLE,
               .k_most = 64,
               .live_most = CELLS_LIVE_MOST,
               .columns = cells_columns_of,
               .fp = fp,
               .touches = cells_touches,
               .size = table_size},
    .observe = observe,
    .find = find,
    .advance = cells_advance,
    .merge = cells_merge,
    .save = table_save,
    .load = table_load,
};
