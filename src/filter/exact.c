/* exact - the set of all digests, which the other filters approximate.
 *
 * Guarantee  Exact up to the digest's 128 bits, as long as memory lasts; with mem= the oldest keys
 *            are forgotten first, and counted.
 * Paper      "store all the ids", with an index: Metwally, Agrawal, El Abbadi, WWW 2005, §4.
 * Layout     store.h; the stamp is the generation.
 * Example    1e6 keys of any length take 44 MB.
 * Cost       44 bytes a key and two or three cache misses a record.
 */
#include "base/bits.h"
#include "filter/filter.h"
#include "table/store.h"

static uint64_t reach(const struct filter *f) { return f->shape.live - 1; }

static void init(struct filter *f) { store_init(f->block, f->alloc, f->shape.lines); }
static void destroy(struct filter *f) { store_free(f->block); }
static void move(struct filter *f, struct seen_mover m) { store_move(f->block, f->alloc, m); }

static size_t observe(struct filter *f, uint64_t generation, size_t n, const seen_digest *d,
                      uint8_t *verdict) {
    return store_observe(f->block, n, d, &generation, 0, reach(f), f->refresh_first, verdict);
}

static void find(const struct filter *f, uint64_t generation, size_t n, const seen_digest *d,
                 uint32_t *age) {
    for (size_t i = 0; i < n; i++) {
        uint64_t stamp;
        bool held = store_find(f->block, d[i], &stamp) && generation - stamp <= reach(f);
        age[i] = held ? (uint32_t)(generation - stamp) : FILTER_NONE;
    }
}

static void advance(struct filter *f, uint64_t generation) { (void)f, (void)generation; }

static size_t forget(struct filter *f, uint64_t generation, size_t n, const seen_digest *d) {
    size_t gone = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t stamp;
        bool live = store_find(f->block, d[i], &stamp) && generation - stamp <= reach(f);
        gone += store_forget(f->block, d[i]) && live;
    }
    return gone;
}

static bool merge(struct filter *into, uint64_t generation, const struct filter *from,
                  const struct filter_match *match, uint64_t most, struct merge_cursor *m) {
    struct store_moment here = {match->into, generation - reach(into)};
    struct store_moment there = {match->from, match->from - reach(from)};
    return store_merge(into->block, here, from->block, there, match->younger, most, m);
}

static void stats(const struct filter *f, struct seen_stats *out) {
    const struct store *s = f->block;
    out->bytes += s->bytes;
    out->forgotten += s->forgotten;
}

static uint64_t stored(const struct filter *f, uint64_t generation) {
    return store_live(f->block, generation - reach(f), UINT64_MAX);
}

static void clear_counters(struct filter *f) { store_clear_counters(f->block); }

static int save(const struct filter *f, struct seen_writer w) { return store_save(f->block, w); }

static int load(struct filter *f, uint64_t generation, struct seen_reader r, uint64_t limit,
                struct seen_error *e) {
    return store_load(f->block, generation, 0, r, limit, e);
}

static double fp(const struct filter_shape *shape, double keys) {
    (void)shape;
    return keys * 0x1p-128;
}

static double touches(const struct filter_shape *shape) {
    (void)shape;
    return 3;
}

static uint64_t size(const struct filter_shape *shape, uint64_t keys) {
    (void)shape;
    return sizeof(struct store) + (keys ? store_bytes(keys) : 0);
}

const struct filter_ops filter_exact = {
    .theory = {.name = "exact",
               .help = "every key's digest: no errors, and it grows",
               .traits = SEEN_NO_FN | SEEN_NO_FP | SEEN_DELETABLE | SEEN_MERGEABLE | SEEN_GROWS |
                         SEEN_ANY_DIGEST,
               .live_most = 256,
               .fp = fp,
               .touches = touches,
               .size = size},
    .init = init,
    .destroy = destroy,
    .move = move,
    .observe = observe,
    .find = find,
    .advance = advance,
    .forget = forget,
    .merge = merge,
    .stats = stats,
    .stored = stored,
    .clear_counters = clear_counters,
    .save = save,
    .load = load,
};
