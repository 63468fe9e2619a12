/* bloom - the Bloom filter: k probes anywhere in one space of cells.
 *
 * Guarantee  No false negatives.  False positives (1-(1-1/m)^(kn))^k with n keys in m cells.
 * Paper      B. H. Bloom, CACM 1970; Metwally, Agrawal, El Abbadi, WWW 2005, §5.1 and figure 3.
 * Layout     lines of cells, a bit a generation in each (table.h).
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
#include "table/table.h"

static struct cells_probe place(const struct filter_shape *shape, const seen_digest *d, uint32_t i,
                                uint32_t a_line) {
    return cells_place(bits_draw(d->lo, d->hi, i), shape->lines, a_line);
}

CELLS_OPERATIONS(bloom, place, 1)

static double fp(const struct filter_shape *shape, double keys) {
    return theory_bloom(cells_count(shape), keys, shape->k);
}

const struct filter_ops filter_bloom = {
    .theory = {.name = "bloom",
               .help = "Bloom filter, k probes in one space",
               .traits = SEEN_NO_FN | SEEN_MERGEABLE,
               .k_most = 64,
               .live_most = CELLS_MAX_LIVE,
               .columns = cells_columns_of,
               .fp = fp,
               .touches = cells_touches,
               .size = table_size},
    .observe = bloom_observe,
    .find = bloom_find,
    .advance = cells_advance,
    .merge = cells_merge,
    .save = table_save,
    .load = table_load,
};

/* -- a space for every probe -------------------------------------------------------------- */

/* partitioned - a Bloom filter with a space of its own for every probe.
 *
 * Guarantee  No false negatives.  False positives (1-(1-k/m)^n)^k with n keys in m cells.
 * Paper      Metwally, Agrawal, El Abbadi, WWW 2005, §5.1 and figure 4: spaces can lie in memory
 *            modules of their own, so that the k accesses of a key wait for ⌈k/D⌉ of them, not
 *            for k.
 * Layout     lines of cells, a bit a generation in each (table.h), in k equal runs of lines.
 *
 *                digest ──┬─ probe 0 ─▼ ├─ probe 1 ──▼       ├─ probe 2 ▼
 *                space 0 | 0 0 0 1 0 … | 0 0 0 0 1 … space 1 | 1 0 0 1 … space 2 |
 *
 * Example    n = 1e6 keys, 9.6 bits a key, k = 7: 1 % when full, as bloom up to O(1/m).
 * Cost       k cache lines a record, one in each space.
 */
static struct cells_probe place_apart(const struct filter_shape *shape, const seen_digest *d,
                                      uint32_t i, uint32_t a_line) {
    uint64_t space = shape->lines / shape->k;
    struct cells_probe p = cells_place(bits_draw(d->lo, d->hi, i), space, a_line);
    p.line += i * space;
    return p;
}

CELLS_OPERATIONS(partitioned, place_apart, 1)

static double fp_apart(const struct filter_shape *shape, double keys) {
    return theory_partitioned(cells_count(shape), keys, shape->k);
}

static uint64_t granule(const struct filter_shape *shape) { return shape->k; }

const struct filter_ops filter_partitioned = {
    .theory = {.name = "partitioned",
               .help = "Bloom filter, a space for each probe",
               .traits = SEEN_NO_FN | SEEN_MERGEABLE,
               .k_most = 64,
               .live_most = CELLS_MAX_LIVE,
               .columns = cells_columns_of,
               .fp = fp_apart,
               .touches = cells_touches,
               .size = table_size,
               .granule = granule},
    .observe = partitioned_observe,
    .find = partitioned_find,
    .advance = cells_advance,
    .merge = cells_merge,
    .save = table_save,
    .load = table_load,
};
