/* substrings - bit vectors over all the substrings of a key.
 *
 * Idea       A vector of 2^b cells for keys of b bits is out of the question; one of 2^p cells for
 *            each of their b-p+1 substrings of p bits is not.  A key was seen if all its substrings
 *            were, each in its vector.
 * Guarantee  No false negatives.  A new key's first substring collides with probability
 *            1-(1-2^-p)^n after n keys; substrings overlap, so that whole keys collide as the
 *            Markov chain of theory/vectors.h says.  That is for keys whose bits are uniform: under
 *            hash=xxh3, where they are the low b bits of the digest; of more than 128 bits, of a
 *            digest for each 128, hashed with seeds of their own.  hash=int and hash=raw take the
 *            ids as they are, of up to 512 bits (the paper's have 64 characters): how often those
 *            collide depends on how they are laid out (of ids that count up, nearly all do or
 *            none), and fp= and the statistics promise nothing.
 * Paper      Metwally, Agrawal, El Abbadi, WWW 2005, §4 and figure 2.
 * Layout     lines of cells, a bit a generation in each (table.h).  Vector j has the bits j to
 *            j+p-1; the vectors' lines stand in turn, line q of vector j at q (b-p+1) + j:
 *
 *                key, b = 8    1 0 1 1 0 0 1 0       (bit 0 on the right)
 *                p = 6             1 1 0 0 1 0  ──►  cell 50 of vector 0
 *                                1 1 1 0 0 1    ──►  cell 25 of vector 1  (bits 1 to 6: 011001)
 *                              1 0 1 1 0 0      ──►  cell 44 of vector 2
 *
 * Example    `landmark:1e6 filter=substrings fp=.01` chooses p = 19 of 64 bits: 46 vectors, 3
 *            MiB, where a Bloom filter takes 1.23.
 * Cost       b-p+1 cache lines a record, fetched together.  Keys of more than 128 bits are not
 *            split among shards and not cached: those go by one digest.
 */
#include "base/base.h"
#include "filter/filter.h"
#include "spec/spec.h"
#include "table/table.h"
#include "theory/bloom.h"

#define BITS_DEFAULT  64
#define MAX_SUBSTRING 40

static uint64_t word_of(const seen_digest *d, uint32_t w) {
    return w % 2 ? d[w / 2].hi : d[w / 2].lo;
}

/* p bits of the key from bit i on: i+p is at most bits=. */
static uint64_t substring(const seen_digest *d, uint32_t i, uint32_t p) {
    uint32_t w = i / 64, at = i % 64;
    uint64_t key = word_of(d, w) >> at;
    if (at + p > 64) key |= word_of(d, w + 1) << (64 - at);
    return key & cells_low(p);
}

static struct cells_probe place(const struct filter_shape *shape, const seen_digest *d, uint32_t i,
                                uint32_t a_line) {
    struct cells_probe probe = cells_number(substring(d, i, shape->substring), a_line);
    probe.line = probe.line * shape->k + i;
    return probe;
}

CELLS_OPERATIONS(substrings, place, f->shape.digests)

/* -- planning ----------------------------------------------------------------------------- */

static int settle(struct seen_spec *spec, uint32_t live, struct seen_error *e) {
    (void)live;
    if (!options_has(spec, OPTION_BITS)) options_set(spec, OPTION_BITS, BITS_DEFAULT);
    bool one = options_get(spec, OPTION_SHARDS) <= 1 && !options_get(spec, OPTION_VERIFY);
    if (options_get(spec, OPTION_BITS) > 128 && !one)
        return error_set(e, SEEN_EREFUSED, 0,
                         "%s goes by a key of one digest, and bits=%llu takes several; leave it "
                         "out, or give bits=128 at most",
                         options_get(spec, OPTION_VERIFY) ? "verify=" : "shards=",
                         (unsigned long long)options_get(spec, OPTION_BITS));
    if (options_get(spec, OPTION_SUBSTRING) > options_get(spec, OPTION_BITS))
        return error_set(e, SEEN_EREFUSED, 0,
                         "substring=%llu is longer than the key, of bits=%llu; give less of the "
                         "one, or more of the other",
                         (unsigned long long)options_get(spec, OPTION_SUBSTRING),
                         (unsigned long long)options_get(spec, OPTION_BITS));
    return 0;
}

static bool form(struct filter_shape *shape, uint32_t i) {
    uint32_t longest = shape->bits < MAX_SUBSTRING ? shape->bits : MAX_SUBSTRING;
    if (shape->substring ? i > 0 : i >= longest) return false;
    if (!shape->substring) shape->substring = 1 + i;
    shape->k = shape->bits - shape->substring + 1;
    shape->lines = shape->k * cells_lines((uint64_t)1 << shape->substring, shape->live);
    return true;
}

static double fp(const struct filter_shape *shape, double keys) {
    return theory_substrings(shape->bits, shape->substring, keys);
}

static double fp_scattered(const struct filter_shape *shape, double keys) {
    return theory_substrings_scattered(shape->bits, shape->substring, keys);
}

const struct filter_ops filter_substrings = {
    .theory = {.name = "substrings",
               .help = "bit vectors over all substrings of a key",
               .traits = SEEN_NO_FN | SEEN_MERGEABLE | SEEN_ANY_DIGEST | SEEN_ON_REQUEST,
               .live_most = CELLS_MAX_LIVE,
               .settle = settle,
               .columns = cells_columns_of,
               .fp = fp,
               .fp_scattered = fp_scattered,
               .touches = cells_touches,
               .size = table_size,
               .form = form},
    .observe = substrings_observe,
    .find = substrings_find,
    .advance = cells_advance,
    .merge = cells_merge,
    .save = table_save,
    .load = table_load,
};
