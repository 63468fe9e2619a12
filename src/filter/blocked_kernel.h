/* blocked_kernel.h - the blocked filter's test-and-add, in terms of five vector operations that the
 * including file defines for its instruction set:
 *
 *     vector              64 bytes
 *     load, store, either (a | b), covers (has a every bit of b?)
 *     probes(word, once)  lane i: once[i] << (byte i of the word, mod 64)
 *
 * The layout is drawn in blocked.c. */
#include "filter/filter.h"

#define BLOCKED_MAX_K 24 /* three rounds of a probe in each of 8 lanes */

/* As filter_ops.observe; live = 1 and k <= 8 are specialised inside. */
size_t blocked_observe_avx2(struct filter *, uint64_t generation, size_t n, const seen_digest *,
                            uint8_t *verdict);
size_t blocked_observe_avx512(struct filter *, uint64_t generation, size_t n, const seen_digest *,
                              uint8_t *verdict);

/* As filter_ops.find. */
void blocked_find_avx2(const struct filter *, uint64_t generation, size_t n, const seen_digest *,
                       uint32_t *age);
void blocked_find_avx512(const struct filter *, uint64_t generation, size_t n, const seen_digest *,
                         uint32_t *age);

#define FIND   32  /* keys whose lines find prefetches at once */
#define RUN    256 /* keys prepared at once */
#define ROUNDS 3   /* of up to 8 probes each */

static const uint64_t once_in[9][8] __attribute__((aligned(64))) = {{0},
                                                                    {1},
                                                                    {1, 1},
                                                                    {1, 1, 1},
                                                                    {1, 1, 1, 1},
                                                                    {1, 1, 1, 1, 1},
                                                                    {1, 1, 1, 1, 1, 1},
                                                                    {1, 1, 1, 1, 1, 1, 1},
                                                                    {1, 1, 1, 1, 1, 1, 1, 1}};

/* Byte i of a word is the position in lane i.  Six bits are enough for the first seven lanes.  The
 * last lane has 48 places below the stamp: two bytes x give 48x / 2^16.  The first word is the high
 * half of the digest.  Further words mix both halves with operations that vector units do fast. */
ALWAYS_INLINE uint64_t word_of(seen_digest d, uint32_t round) {
    uint64_t raw = d.hi;
    if (round == 1) raw = (d.lo ^ (d.hi << 32 | d.hi >> 32)) * BITS_GOLDEN;
    if (round == 2) raw = (d.hi ^ (d.lo << 24 | d.lo >> 40)) * 0xc2b2ae3d27d4eb4fu;
    if (round) raw ^= raw >> 32;
    uint64_t last = (raw >> 56 << 8 | (d.lo >> 8 * round & 255)) * 48 >> 16;
    return (raw & 0x00ffffffffffffffu) | last << 56;
}

/* The bits of a key, given its words: k = 8 x (rounds - 1) + 1 … 8 x rounds. */
ALWAYS_INLINE vector mask_of(const uint64_t *word, size_t stride, uint32_t rounds, uint32_t k) {
    vector mask = probes(word, load(once_in[rounds > 1 ? 8 : k]));
    if (rounds > 1)
        mask = either(mask, probes(word + stride, load(once_in[rounds > 2 ? 8 : k - 8])));
    if (rounds > 2) mask = either(mask, probes(word + 2 * stride, load(once_in[k - 16])));
    return mask;
}

/* Adds the bits of a key to a line; true: they were not all there.  A line of another generation
 * counts as empty. */
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

/* Finds lines and words for the whole run first, in loops that the compiler vectorises.  The last
 * loop only reads and writes lines. */
ALWAYS_INLINE size_t observe_run(struct filter *f, uint64_t generation, size_t n,
                                 const seen_digest *d, uint8_t *verdict, uint32_t rounds) {
    uint64_t *line[RUN + BITS_AHEAD], word[ROUNDS][RUN], lines = f->shape.lines;
    uint32_t k = f->shape.k;
    for (size_t i = 0; i < n; i++) line[i] = table_line(f, table_place(d[i].lo, lines));
    for (size_t i = bits_max(n, BITS_AHEAD); i < n + BITS_AHEAD; i++) line[i] = line[n - 1];
    for (size_t i = 0; i < bits_min(n, BITS_AHEAD); i++) __builtin_prefetch(line[i], 1);
    for (uint32_t r = 0; r < rounds; r++)
        for (size_t i = 0; i < n; i++) word[r][i] = word_of(d[i], r);
#pragma GCC unroll 4
    for (size_t i = 0; i < n; i++) {
        __builtin_prefetch(line[i + BITS_AHEAD], 1);
        verdict[i] = !put(line[i], mask_of(&word[0][i], RUN, rounds, k), generation);
    }
    return n - bits_count(verdict, n);
}

ALWAYS_INLINE size_t observe_one(struct filter *f, uint64_t generation, size_t n,
                                 const seen_digest *d, uint8_t *verdict, uint32_t rounds) {
    size_t added = 0;
    for (size_t i = 0; i < n; i += RUN)
        added += observe_run(f, generation, n - i < RUN ? n - i : RUN, d + i, verdict + i, rounds);
    return added;
}

/* A bucket has a line for each of the `live` generations.  All are tested, the current one is
 * written. */
ALWAYS_INLINE size_t observe_many(struct filter *f, uint64_t generation, size_t n,
                                  const seen_digest *d, uint8_t *verdict, uint32_t rounds) {
    uint32_t live = f->shape.live, current = (uint32_t)(generation % live);
    uint64_t buckets = f->shape.lines / live;
    size_t added = 0;
    for (size_t from = 0; from < n; from += BITS_AHEAD) {
        size_t group = n - from < BITS_AHEAD ? n - from : BITS_AHEAD;
        uint64_t *bucket[BITS_AHEAD], word[ROUNDS][BITS_AHEAD];
        for (size_t i = 0; i < group; i++) {
            bucket[i] = table_line(f, live * table_place(d[from + i].lo, buckets));
            for (uint32_t c = 0; c < live; c++) __builtin_prefetch(bucket[i] + 8 * c, 1);
            for (uint32_t r = 0; r < rounds; r++) word[r][i] = word_of(d[from + i], r);
        }
        for (size_t i = 0; i < group; i++) {
            vector mask = mask_of(&word[0][i], BITS_AHEAD, rounds, f->shape.k);
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
    uint32_t rounds = (f->shape.k + 7) / 8;
    bool one = f->shape.live == 1;
    if (rounds == 1)
        return one ? observe_one(f, generation, n, d, verdict, 1)
                   : observe_many(f, generation, n, d, verdict, 1);
    if (rounds == 2)
        return one ? observe_one(f, generation, n, d, verdict, 2)
                   : observe_many(f, generation, n, d, verdict, 2);
    return one ? observe_one(f, generation, n, d, verdict, 3)
               : observe_many(f, generation, n, d, verdict, 3);
}

/* Writes the age of each key: that of the youngest line in its bucket that counts and has its bits.
 */
static inline void find_lines(const struct filter *f, uint64_t generation, size_t n,
                              const seen_digest *d, uint32_t *age) {
    uint32_t live = f->shape.live, k = f->shape.k, rounds = (k + 7) / 8;
    uint64_t buckets = f->shape.lines / live;
    for (size_t from = 0; from < n; from += FIND) {
        size_t group = bits_min(n - from, FIND);
        const uint64_t *bucket[FIND];
        for (size_t i = 0; i < group; i++) {
            bucket[i] = table_line(f, live * table_place(d[from + i].lo, buckets));
            for (uint32_t c = 0; c < live; c++) __builtin_prefetch(bucket[i] + 8 * c, 0);
        }
        for (size_t i = 0; i < group; i++) {
            seen_digest key = d[from + i];
            uint64_t word[ROUNDS] = {word_of(key, 0), word_of(key, 1), word_of(key, 2)};
            vector mask = mask_of(word, 1, rounds, k);
            uint32_t best = FILTER_NONE;
            for (uint32_t c = 0; c < live; c++) {
                const uint64_t *line = bucket[i] + 8 * c;
                uint32_t back = (uint16_t)(generation - table_stamp(line));
                if (back < live && back < best && covers(load(line), mask)) best = back;
            }
            age[from + i] = best;
        }
    }
}
