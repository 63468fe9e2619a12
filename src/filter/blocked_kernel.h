/* blocked_kernel.h - the blocked filter's test-and-add, in terms of five vector operations that the
 * including file defines for its instruction set:
 *
 *     vector              64 bytes
 *     load, store, either (a | b), covers (has a every bit of b?)
 *     probes(word, once)  lane i < 7: once[i] << ((word >> 6i) mod 64)
 *                         lane 7: once[7] << 48x / 2^22, x = word >> 42: below 48, under the stamp
 *
 * The layout is drawn in blocked.c. */
#include "filter/blocked.h"

#define AHEAD 16  /* keys whose lines are on their way */
#define RUN   256 /* keys whose lines are found at once */

static const uint64_t once_in[9][8] __attribute__((aligned(64))) = {{0},
                                                                    {1},
                                                                    {1, 1},
                                                                    {1, 1, 1},
                                                                    {1, 1, 1, 1},
                                                                    {1, 1, 1, 1, 1},
                                                                    {1, 1, 1, 1, 1, 1},
                                                                    {1, 1, 1, 1, 1, 1, 1},
                                                                    {1, 1, 1, 1, 1, 1, 1, 1}};

ALWAYS_INLINE vector mask_of(seen_digest d, uint32_t k) {
    vector mask = probes(d.hi, load(once_in[k < 8 ? k : 8]));
    if (k > 8)
        mask = either(mask, probes(bits_draw(d.lo, d.hi, 1), load(once_in[k < 16 ? k - 8 : 8])));
    if (k > 16) mask = either(mask, probes(bits_draw(d.lo, d.hi, 2), load(once_in[k - 16])));
    return mask;
}

/* The line is of this generation, or it is as if it were empty. */
ALWAYS_INLINE bool put(uint64_t *line, vector mask, uint64_t generation) {
    if (__builtin_expect(table_stamp(line) == (uint16_t)generation, 1)) {
        vector old = load(line);
        store(line, either(old, mask));
        return !covers(old, mask);
    }
    store(line, mask);
    line[7] |= generation << TABLE_STAMP_SHIFT;
    return true;
}

/* Lines are found for the whole run first, so that the loop is nothing but the work itself. */
ALWAYS_INLINE size_t observe_run(struct filter *f, uint64_t generation, size_t n,
                                 const seen_digest *d, uint8_t *verdict, uint32_t k) {
    uint64_t *line[RUN + AHEAD];
    uint64_t lines = f->shape.lines;
    for (size_t i = 0; i < n; i++) line[i] = table_line(f, table_place(d[i].lo, lines));
    for (size_t i = n; i < n + AHEAD; i++) line[i] = line[n - 1];
    for (size_t i = 0; i < AHEAD; i++) __builtin_prefetch(line[i], 1);
    for (size_t i = 0; i < n; i++) {
        __builtin_prefetch(line[i + AHEAD], 1);
        verdict[i] = !put(line[i], mask_of(d[i], k), generation);
    }
    return n - bits_count(verdict, n);
}

ALWAYS_INLINE size_t observe_one(struct filter *f, uint64_t generation, size_t n,
                                 const seen_digest *d, uint8_t *verdict, uint32_t k) {
    size_t added = 0;
    for (size_t i = 0; i < n; i += RUN)
        added += observe_run(f, generation, n - i < RUN ? n - i : RUN, d + i, verdict + i, k);
    return added;
}

/* A bucket of `live` lines, one a generation: all are asked, the current one is written. */
ALWAYS_INLINE size_t observe_many(struct filter *f, uint64_t generation, size_t n,
                                  const seen_digest *d, uint8_t *verdict, uint32_t k) {
    uint32_t live = f->shape.live, current = (uint32_t)(generation % live);
    uint64_t *table = f->block, buckets = f->shape.lines / live;
    size_t added = 0;
    for (size_t from = 0; from < n; from += AHEAD) {
        size_t group = n - from < AHEAD ? n - from : AHEAD;
        uint64_t *bucket[AHEAD];
        for (size_t i = 0; i < group; i++) {
            bucket[i] = table + 8 * live * table_place(d[from + i].lo, buckets);
            for (uint32_t c = 0; c < live; c++) __builtin_prefetch(bucket[i] + 8 * c, 1);
        }
        for (size_t i = 0; i < group; i++) {
            vector mask = mask_of(d[from + i], k);
            bool found = false;
            for (uint32_t c = 0; c < live; c++) {
                const uint64_t *line = bucket[i] + 8 * c;
                bool counts = (uint16_t)(generation - table_stamp(line)) < live;
                found |= counts & covers(load(line), mask);
            }
            verdict[from + i] = found;
            if (!(found && f->refresh_first))
                added += put(bucket[i] + 8 * current, mask, generation);
        }
    }
    return added;
}

static inline size_t observe_lines(struct filter *f, uint64_t generation, size_t n,
                                   const seen_digest *d, uint8_t *verdict) {
    uint32_t k = f->shape.k;
    if (f->shape.live > 1) return observe_many(f, generation, n, d, verdict, k);
    if (k == 8) return observe_one(f, generation, n, d, verdict, 8);
    if (k < 8) return observe_one(f, generation, n, d, verdict, k);
    if (k <= 16) return observe_one(f, generation, n, d, verdict, k);
    return observe_one(f, generation, n, d, verdict, k);
}
