/* blocked - a Bloom filter whose probes of a key share one cache line.
 *
 * Guarantee  No false negatives.  False positives by theory_blocked: lines fill unevenly
 *            (binomial), so it takes about 10 % more bits than bloom at 1 %, and 50 % more at 1e-9.
 * Paper      Putze, Sanders, Singler, WEA 2007 (blocked); one probe a lane as in the split-block
 *            filters of Impala and Parquet; over windows after Metwally et al., WWW 2005, §5.2.
 * Layout     a line is 8 lanes of 64 bits; the last gives 16 of them to the stamp (table.h).
 *
 *                lane     0        1        2      …      6        7
 *                      | 64 bits | 64 bits | 64 bits | … | 64 bits | 48 bits, stamp |
 *                probe    0         1         2            6         7      (k <= 8)
 *                         8         9        10      …    14        15      (k <= 16)  …
 *
 *            The low half of the digest chooses the line, the high half the positions: a byte a
 *            lane.
 *            In a jumping window the lines of a bucket lie side by side, one for each of the Q+1
 *            generations, and a line counts while its stamp is young enough.
 * Example    n = 7.5e6 keys in 48 MiB, k = 12: no key in a million is called a duplicate wrongly.
 * Cost       one cache line a record; Q+1 neighbouring lines in a jumping window. */
#include "base/base.h"
#include "filter/filter.h"
#include "theory/bloom.h"

#include <string.h>

/* -- portable vectors --------------------------------------------------------------------- */

typedef struct {
    uint64_t lane[8];
} vector;

static inline vector load(const uint64_t *p) {
    vector v;
    memcpy(v.lane, p, sizeof v.lane);
    return v;
}

static inline void store(uint64_t *p, vector v) { memcpy(p, v.lane, sizeof v.lane); }

static inline vector either(vector a, vector b) {
    for (int i = 0; i < 8; i++) a.lane[i] |= b.lane[i];
    return a;
}

static inline int covers(vector a, vector b) {
    uint64_t missing = 0;
    for (int i = 0; i < 8; i++) missing |= b.lane[i] & ~a.lane[i];
    return missing == 0;
}

static inline vector probes(const uint64_t *word, vector once) {
    for (int i = 0; i < 8; i++) once.lane[i] <<= *word >> (8 * i) & 63;
    return once;
}

#include "filter/blocked_kernel.h"

/* -- the structure ------------------------------------------------------------------------ */

static size_t observe(struct filter *f, uint64_t generation, size_t n, const seen_digest *d,
                      uint8_t *verdict) {
#if defined __x86_64__
    if (f->cpu >= CPU_AVX512) return blocked_observe_avx512(f, generation, n, d, verdict);
    if (f->cpu == CPU_AVX2) return blocked_observe_avx2(f, generation, n, d, verdict);
#endif
    return observe_lines(f, generation, n, d, verdict);
}

static void find(const struct filter *f, uint64_t generation, size_t n, const seen_digest *d,
                 uint32_t *age) {
#if defined __x86_64__
    if (f->cpu >= CPU_AVX512)
        blocked_find_avx512(f, generation, n, d, age);
    else if (f->cpu == CPU_AVX2)
        blocked_find_avx2(f, generation, n, d, age);
    else
#endif
        find_lines(f, generation, n, d, age);
}

static void prefetch(const struct filter *f, seen_digest d) {
    uint32_t live = f->shape.live;
    if (live == 1) { /* no division before the fetch */
        __builtin_prefetch(table_line(f, table_place(d.lo, f->shape.lines)), 1);
        return;
    }
    uint64_t *bucket = table_line(f, live * table_place(d.lo, f->shape.lines / live));
    for (uint32_t c = 0; c < live; c++) __builtin_prefetch(bucket + 8 * c, 1);
}

/* Empties lines that no longer count, before their stamps come round. */
static void advance(struct filter *f, uint64_t generation) {
    uint64_t i, end;
    for (table_slice(generation, f->shape.lines, &i, &end); i < end; i++) {
        uint64_t *line = table_line(f, i);
        if ((uint16_t)(generation - table_stamp(line)) >= f->shape.live) memset(line, 0, 64);
    }
}

static bool merge(struct filter *into, uint64_t generation, const struct filter *from,
                  const struct filter_match *match, uint64_t most, struct merge_cursor *m) {
    uint32_t live = into->shape.live;
    uint64_t i, end;
    bool last = table_piece(from, most, m, &i, &end);
    for (; i < end; i++) {
        const uint64_t *line = table_line(from, i);
        uint32_t age = (uint16_t)(match->from - table_stamp(line));
        uint64_t to = filter_matching(match, age);
        if (age >= live || generation - to >= live) continue;
        vector bits = load(line);
        bits.lane[7] &= TABLE_STAMP_BELOW;
        put(table_line(into, i / live * live + to % live), bits, to);
    }
    return last;
}

static double fp(const struct filter_shape *shape, double keys) {
    return theory_blocked((double)(shape->lines / shape->live), keys, shape->k);
}

static double fp_scattered(const struct filter_shape *shape, double keys) {
    return theory_blocked_scattered((double)(shape->lines / shape->live), keys, shape->k);
}

static double fp_filling(const struct filter_shape *shape, double keys, bool scattered) {
    return theory_blocked_filling((double)(shape->lines / shape->live), keys, shape->k, scattered);
}

static double touches(const struct filter_shape *shape) { return shape->live; }

static uint64_t granule(const struct filter_shape *shape) { return shape->live; }

const struct filter_ops filter_blocked = {
    .theory = {.name = "blocked",
               .help = "Bloom filter, all probes of a key in one cache line",
               .traits = SEEN_NO_FN | SEEN_MERGEABLE,
               .k_most = BLOCKED_MAX_K,
               .live_most = 256,
               .fp = fp,
               .fp_scattered = fp_scattered,
               .fp_filling = fp_filling,
               .touches = touches,
               .size = table_size,
               .granule = granule},
    .observe = observe,
    .prefetch = prefetch,
    .find = find,
    .advance = advance,
    .merge = merge,
    .save = table_save,
    .load = table_load,
};
