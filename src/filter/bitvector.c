/* bitvector - one bit for each possible key.
 *
 * Idea       Keys that are small integers need no hashing: the key is the number of its cell.
 * Guarantee  Exact.  Keys are integers below 2^bits (hash=int, or hash=raw taken as one); others
 *            are refused where keys become digests (seen_key).
 * Paper      Metwally, Agrawal, El Abbadi, WWW 2005, §4 and figure 1: "simple, exact", and out of
 *            the question for their click ids of 64 bytes, which would take 2^512 bits.
 * Layout     lines of cells, a bit a generation in each (table.h); key x is cell x mod c of line
 *            x / c, where a line has c = 496 cells (landmark), 31 (jumping, 9 to 16 live), …
 *
 *                key 1493 = 3 x 496 + 5 ──────────────────┐
 *                line 3   | 0 0 1 0 0 ▼ 1 0 … 496 cells | stamp, 16 bits |
 *
 * Example    `landmark filter=bitvector bits=20` takes 133 KiB for a million ids; 32 bits, all
 *            IPv4 addresses, take 529 MiB, or 1.1 bits a possible key.
 * Cost       one cache line a record.  With shards= each has a vector for all the keys.
 */
#include "base/base.h"
#include "filter/filter.h"
#include "spec/spec.h"
#include "table/table.h"

#include <math.h>

#define BITS_LEAST 10
#define MAX_BITS   32 /* unless more are asked for ... */
#define BITS_LIMIT 40 /* ... and these at most */

static struct cells_probe place(const struct filter_shape *shape, const seen_digest *d, uint32_t i,
                                uint32_t a_line) {
    (void)i;
    return cells_number(d->lo & cells_low(shape->bits), a_line);
}

CELLS_OPERATIONS(bitvector, place, 1)

static size_t forget(struct filter *f, uint64_t generation, size_t n, const seen_digest *d) {
    uint32_t width = cells_width(f->shape.live);
    size_t gone = 0;
    for (size_t i = 0; i < n; i++) {
        struct cells_probe p = place(&f->shape, d + i, 0, cells_a_line(width));
        uint64_t *line = table_line(f, p.line);
        uint32_t bit = p.cell * width;
        cells_freshen(line, generation, width);
        gone +=
            (line[bit >> 6] >> (bit & 63) & cells_columns(generation, f->shape.live, width)) != 0;
        line[bit >> 6] &= ~(cells_low(width) << (bit & 63));
    }
    return gone;
}

/* -- planning ----------------------------------------------------------------------------- */

static int settle(struct seen_spec *spec, uint32_t live, struct seen_error *e) {
    (void)live;
    if (options_has(spec, OPTION_HASH) && options_get(spec, OPTION_HASH) < SEEN_HASH_INT)
        return error_set(e, SEEN_EREFUSED, 0,
                         "filter=bitvector has a cell for each integer below 2^bits, and a hashed "
                         "key is not such an integer; leave hash= out, or use filter=exact");
    if (!options_has(spec, OPTION_HASH)) options_assume(spec, OPTION_HASH, SEEN_HASH_INT);
    if (options_get(spec, OPTION_BITS) > BITS_LIMIT)
        return error_set(e, SEEN_EREFUSED, 0,
                         "filter=bitvector with bits=%llu would take 2^%llu cells; use bits=%d at "
                         "most, or filter=exact",
                         (unsigned long long)options_get(spec, OPTION_BITS),
                         (unsigned long long)options_get(spec, OPTION_BITS), BITS_LIMIT);
    return 0;
}

static bool form(struct filter_shape *shape, uint32_t i) {
    if (shape->bits ? i > 0 : i > MAX_BITS - BITS_LEAST) return false;
    if (!shape->bits) shape->bits = BITS_LEAST + i;
    shape->lines = cells_lines((uint64_t)1 << shape->bits, shape->live);
    shape->k = 1;
    return true;
}

static double most(const struct filter_shape *shape) {
    return shape->bits ? ldexp(1, (int)shape->bits) : INFINITY;
}

static double fp(const struct filter_shape *shape, double keys) {
    (void)shape, (void)keys;
    return 0;
}

const struct filter_ops filter_bitvector = {
    .theory = {.name = "bitvector",
               .help = "a bit for every integer that can be a key: exact",
               .traits = SEEN_NO_FN | SEEN_NO_FP | SEEN_DELETABLE | SEEN_MERGEABLE |
                         SEEN_ANY_DIGEST | SEEN_ON_REQUEST,
               .live_most = CELLS_MAX_LIVE,
               .settle = settle,
               .columns = cells_columns_of,
               .fp = fp,
               .touches = cells_touches,
               .size = table_size,
               .form = form,
               .most = most},
    .observe = bitvector_observe,
    .find = bitvector_find,
    .advance = cells_advance,
    .forget = forget,
    .merge = cells_merge,
    .save = table_save,
    .load = table_load,
};
