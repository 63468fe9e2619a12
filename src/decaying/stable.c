/* stable - the Stable Bloom filter: a Bloom filter that forgets at random, as fast as it learns.
 *
 * Idea       Cells hold 0 … Max.  A record is a duplicate if none of its K cells is 0.  Every
 *            record, duplicate or not, then takes 1 off P cells and sets its own K cells to Max.
 *            The fraction of zeros falls exponentially to a stable point.
 * Guarantee  False positives at most Eq. 8 for every stream at every time, with equality on streams
 *            of different keys.  False negatives: none while fewer than Max records lie between,
 *            then more and more with the gap (Eqs. 9-14); none promised.
 * Paper      Deng, Rafiei, SIGMOD 2006.  Algorithm 1 as printed updates after "No" only; its text
 *            and Eq. 1 need the update on every record, which is done here.  4.1 chooses P, K and
 *            Max: stable_plan.c.
 * Layout     lines as in filter/table.h, with cells of d bits side by side; with Max = 1 and P = 0
 *            it is bloom, bit for bit.  The P cells are neighbours from a random one on, around the
 *            end (spread=run), or P different ones anywhere (spread=each).
 *
 *                line:  | cell 0 | cell 1 | … | cell 496/d - 1 | spare | stamp, 16 bits |
 *                          d bits      ▲ set to Max: K          └ generation of the last touch:
 *                     ──────[-1 -1 -1 -1]────── P                 a landmark begins a new one
 *
 * Example    fp=.01 gives K = 3, P = 11 (P = 10 would be 1.23 %).  A mebibyte then still finds half
 *            of the keys after 1.8e5 others.
 * Cost       K + 1 cache lines a record, fetched together; spread=each: K + P.
 */
#include "decaying/stable.h"
#include "base/base.h"
#include "spec/spec.h"
#include "table/table.h"
#include "theory/bloom.h"

#include <math.h>
#include <stddef.h>

struct state {
    uint64_t generation; /* landmarks before, and 1 */
    uint64_t records;    /* since the last landmark */
    uint64_t landmarks;  /* counted */
    uint64_t random;     /* of the generator that picks what to decrement */
    uint64_t set;        /* cells above 0 */
    uint64_t reserved[11];
    uint64_t line[][8];
};

_Static_assert(sizeof(struct state) == STABLE_STATE, "the plan counts with this size");

static uint64_t size(const struct seen_spec *spec) {
    return sizeof(struct state) + options_get(spec, OPTION_BLOCKS) * 64;
}

/* -- cells -------------------------------------------------------------------------------- */

/* A cell lies in at most two bytes.  The second may belong to the stamp, which does not change. */
ALWAYS_INLINE uint32_t cell_read(const uint64_t *line, uint32_t cell, uint32_t d) {
    uint32_t bit = cell * d;
    uint16_t two;
    memcpy(&two, (const char *)line + (bit >> 3), sizeof two);
    return two >> (bit & 7) & ((1u << d) - 1);
}

ALWAYS_INLINE void cell_write(uint64_t *line, uint32_t cell, uint32_t value, uint32_t d) {
    uint32_t bit = cell * d, shift = bit & 7;
    uint16_t two;
    memcpy(&two, (char *)line + (bit >> 3), sizeof two);
    two = (uint16_t)((two & ~(((1u << d) - 1) << shift)) | value << shift);
    memcpy((char *)line + (bit >> 3), &two, sizeof two);
}

/* Decrements the cells [from, to) of a line.  The cells of a line of an older generation are all 0.
 */
ALWAYS_INLINE void decrement(struct state *s, uint64_t *line, uint32_t from, uint32_t to,
                             uint32_t d) {
    if (table_stamp(line) != (uint16_t)s->generation) return;
    if (d == 1) {
        for (uint32_t word = from / 64; word * 64 < to; word++) {
            uint64_t run = ~(uint64_t)0;
            if (word * 64 < from) run &= ~(uint64_t)0 << (from & 63);
            if (to < word * 64 + 64) run &= ~(~(uint64_t)0 << (to & 63));
            s->set -= bits_popcount(line[word] & run);
            line[word] &= ~run;
        }
        return;
    }
    for (uint32_t cell = from; cell < to; cell++) {
        uint32_t value = cell_read(line, cell, d);
        if (!value) continue;
        s->set -= value == 1;
        cell_write(line, cell, value - 1, d);
    }
}

static uint64_t draw(struct state *s) { /* SplitMix64 */
    uint64_t z = s->random += BITS_GOLDEN;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

ALWAYS_INLINE void decrement_run(struct state *s, const struct seen_spec *spec,
                                 struct cells_probe at, uint32_t d) {
    uint32_t cells = TABLE_BITS / d;
    for (uint64_t left = options_get(spec, OPTION_DECREMENTS); left > 0;) {
        uint32_t n = (uint32_t)bits_min(left, cells - at.cell);
        decrement(s, s->line[at.line], at.cell, at.cell + n, d);
        left -= n;
        at.cell = 0;
        if (++at.line == options_get(spec, OPTION_BLOCKS)) at.line = 0;
    }
}

/* Decrements different cells.  The first is given; the others are drawn again until all differ. */
ALWAYS_INLINE void decrement_each(struct state *s, const struct seen_spec *spec,
                                  struct cells_probe first, uint32_t d) {
    struct cells_probe at[STABLE_MAX_EACH] = {first};
    for (uint64_t n = 0; n < options_get(spec, OPTION_DECREMENTS); n++) {
        bool met = n > 0;
        while (met) {
            at[n] = cells_place(draw(s), options_get(spec, OPTION_BLOCKS), TABLE_BITS / d);
            met = false;
            for (uint64_t i = 0; i < n; i++)
                met |= at[i].line == at[n].line && at[i].cell == at[n].cell;
        }
        decrement(s, s->line[at[n].line], at[n].cell, at[n].cell + 1, d);
    }
}

/* -- work --------------------------------------------------------------------------------- */

static void init(struct window *w) {
    struct state *s = w->state;
    s->generation = 1; /* zeroed lines are of generation 0 */
    s->random = options_get(&w->plan->spec, OPTION_SEED) ^ 0x5ab1e5ab1e5ab1e5u;
}

/* Tests the cells of a record, decrements, and sets its cells, in this order. */
ALWAYS_INLINE uint8_t observe_one(struct state *s, const struct seen_spec *spec,
                                  const struct cells_probe *probe, struct cells_probe start,
                                  uint32_t d) {
    uint32_t max = (uint32_t)options_get(spec, OPTION_CELL_MAX);
    bool found = true;
    for (uint32_t j = 0; j < options_get(spec, OPTION_K); j++) {
        table_freshen(s->line[probe[j].line], s->generation);
        found &= cell_read(s->line[probe[j].line], probe[j].cell, d) != 0;
    }
    if (options_get(spec, OPTION_SPREAD) == SEEN_DECREMENT_EACH)
        decrement_each(s, spec, start, d);
    else
        decrement_run(s, spec, start, d);
    if (found && options_get(spec, OPTION_REFRESH) == SEEN_REFRESH_FIRST) return SEEN_DUPLICATE;
    for (uint32_t j = 0; j < options_get(spec, OPTION_K); j++) {
        s->set += !cell_read(s->line[probe[j].line], probe[j].cell, d);
        cell_write(s->line[probe[j].line], probe[j].cell, max, d);
    }
    return found;
}

ALWAYS_INLINE void observe_cells(struct window *w, size_t n, const seen_digest *digest,
                                 uint8_t *verdict, uint32_t d) {
    struct state *s = w->state;
    const struct seen_spec *spec = &w->plan->spec;
    struct cells_probe probe[BITS_AHEAD][64], start[BITS_AHEAD];
    /* spread=each draws a varying number of times, so later records cannot be prefetched. */
    size_t most = options_get(spec, OPTION_SPREAD) == SEEN_DECREMENT_EACH ? 1 : BITS_AHEAD;
    for (size_t from = 0, group; from < n; from += group) {
        group = bits_min(n - from, most);
        for (size_t i = 0; i < group; i++) {
            start[i] = cells_place(draw(s), options_get(spec, OPTION_BLOCKS), TABLE_BITS / d);
            __builtin_prefetch(s->line[start[i].line], 1);
            for (uint32_t j = 0; j < options_get(spec, OPTION_K); j++) {
                seen_digest key = digest[from + i];
                probe[i][j] = cells_place(bits_draw(key.lo, key.hi, j),
                                          options_get(spec, OPTION_BLOCKS), TABLE_BITS / d);
                __builtin_prefetch(s->line[probe[i][j].line], 1);
            }
        }
        for (size_t i = 0; i < group; i++) {
            verdict[from + i] = observe_one(s, spec, probe[i], start[i], d);
            s->records++;
        }
    }
}

static void observe(struct window *w, size_t n, const seen_digest *digest, const uint64_t *at,
                    uint8_t *verdict) {
    (void)at;
    uint32_t d = stable_bits(options_get(&w->plan->spec, OPTION_CELL_MAX));
    switch (d) { /* constants for the usual widths */
    case 1: observe_cells(w, n, digest, verdict, 1); break;
    case 2: observe_cells(w, n, digest, verdict, 2); break;
    case 3: observe_cells(w, n, digest, verdict, 3); break;
    default: observe_cells(w, n, digest, verdict, d);
    }
}

/* The least age of a key: a record decrements a cell by 1 at most.  SEEN_NEVER: one of its cells is
 * 0. */
static uint64_t age_of(const struct window *w, seen_digest key) {
    const struct state *s = w->state;
    const struct seen_spec *spec = &w->plan->spec;
    uint32_t d = stable_bits(options_get(spec, OPTION_CELL_MAX)),
             least = (uint32_t)options_get(spec, OPTION_CELL_MAX);
    for (uint32_t j = 0; j < options_get(spec, OPTION_K); j++) {
        struct cells_probe p = cells_place(bits_draw(key.lo, key.hi, j),
                                           options_get(spec, OPTION_BLOCKS), TABLE_BITS / d);
        const uint64_t *line = s->line[p.line];
        if (table_stamp(line) != (uint16_t)s->generation) return SEEN_NEVER;
        least = (uint32_t)bits_min(least, cell_read(line, p.cell, d));
    }
    return least ? 1 + options_get(spec, OPTION_CELL_MAX) - least : SEEN_NEVER;
}

static void find(const struct window *w, size_t n, const seen_digest *d, uint64_t at,
                 uint64_t *age) {
    (void)at;
    for (size_t i = 0; i < n; i++) age[i] = age_of(w, d[i]);
}

static void landmark(struct window *w, uint64_t at) {
    (void)at;
    struct state *s = w->state;
    uint64_t i, end;
    if (!s->records) return;
    s->landmarks++;
    s->generation++;
    s->records = s->set = 0;
    for (table_slice(s->generation, options_get(&w->plan->spec, OPTION_BLOCKS), &i, &end); i < end;
         i++)
        table_freshen(s->line[i], s->generation);
}

static void stats(const struct window *w, uint64_t at, struct seen_stats *out) {
    (void)at;
    const struct state *s = w->state;
    const struct seen_spec *spec = &w->plan->spec;
    double m = stable_cells(spec, options_get(spec, OPTION_BLOCKS)), zeros = m - (double)s->set;
    double k = (double)options_get(spec, OPTION_K);
    /* `stored` is the number of keys that would set as many cells, each its own K. */
    out->stored += (uint64_t)(-m / k * log(fmax(zeros, .5) / m) + .5);
    out->fp_now += pow((double)s->set / m, k) / (double)options_get(spec, OPTION_SHARDS);
    out->landmarks = bits_max(out->landmarks, s->landmarks);
}

static void clear_counters(struct window *w) { ((struct state *)w->state)->landmarks = 0; }

/* -- snapshot ----------------------------------------------------------------------------- */

static int save(const struct window *w, struct seen_writer out) {
    return out.write(out.ctx, w->state, size(&w->plan->spec));
}

/* The number of cells above 0 in a line.  Many cells are handled at once: all bits of a cell are
 * or-ed into its lowest bit. */
static uint64_t set_in(const struct state *s, const uint64_t *line, uint32_t d) {
    uint32_t cells = TABLE_BITS / d, most = 56 / d;
    uint64_t set = 0, lowest = (((uint64_t)1 << most * d) - 1) / (((uint64_t)1 << d) - 1);
    if (table_stamp(line) != (uint16_t)s->generation) return 0;
    for (uint32_t c = 0; c < cells; c += most) {
        uint32_t byte = (uint32_t)bits_min(c * d >> 3, 56), left = cells - c;
        uint64_t word, any;
        memcpy(&word, (const char *)line + byte, sizeof word);
        any = word >>= c * d - 8 * byte;
        for (uint32_t bit = 1; bit < d; bit++) any |= word >> bit;
        if (left < most) any &= ((uint64_t)1 << left * d) - 1;
        set += bits_popcount(any & lowest);
    }
    return set;
}

/* Any bytes are a valid table, but the number of cells above 0 must be right. */
static int load(struct window *w, uint64_t at, struct seen_reader in, uint64_t limit,
                struct seen_error *e) {
    (void)at, (void)limit;
    struct state *s = w->state;
    const struct seen_spec *spec = &w->plan->spec;
    uint32_t d = stable_bits(options_get(spec, OPTION_CELL_MAX));
    uint64_t set = 0;
    if (in.read(in.ctx, s, sizeof *s))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends before its table");
    bool fits = s->generation && s->generation < MAX_COUNT && s->records < MAX_COUNT &&
                s->landmarks < MAX_COUNT;
    for (uint64_t i = 0, next; fits && i < options_get(spec, OPTION_BLOCKS);) {
        if (!(next = table_read(in, s->line, i, options_get(spec, OPTION_BLOCKS))))
            return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends inside its table");
        for (; i < next; i++) set += set_in(s, s->line[i], d);
    }
    if (!fits || set != s->set)
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot's window does not fit its spec");
    return 0;
}

const struct window_ops aging_stable = {
    .name = "decaying",
    .plan = stable_plan,
    .forecast = stable_forecast,
    .variant = stable_variant,
    .size = size,
    .init = init,
    .observe = observe,
    .find = find,
    .landmark = landmark,
    .stats = stats,
    .clear_counters = clear_counters,
    .save = save,
    .load = load,
};
