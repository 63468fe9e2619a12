/* counting - a Bloom filter of small counters, so that keys can be taken out again.
 *
 * Idea       A cell counts the keys that hash to it instead of remembering that one did.  Taking a
 *            key out decrements its k counters; filters are added and subtracted cell by cell.
 * Guarantee  No false negatives, as long as only keys that were stored are forgotten.  (One that
 *            was called a duplicate by mistake was not stored: forgetting it may take a share of
 *            others, with probability fp.)  False positives as bloom with as many cells:
 *            (1-(1-1/m)^(kn))^k.  A counter that reaches its top of 2^width-1 sticks there, because
 *            nobody knows how many keys it stands for; how many did is in the statistics.  It is
 *            free again when its generation has left.
 * Paper      Metwally, Agrawal, El Abbadi, WWW 2005, §5.2.3 (counters) and §5.2.4 (add); they after
 *            Fan, Cao, Almeida, Broder, Summary Cache, 2000.
 * Layout     lines of cells (table.h), a counter of `width` bits a live generation in each; the
 *            counters of generation g stand at g mod live.  After the lines one more: the head.
 *
 *                line  | cell 0: c0 c1 … | cell 1: c0 c1 … | …  spare | stamp, 16 bits |
 *                head  | counters that stuck, 64 bits | unused |
 *
 *            A line whose stamp is old is brought up to date when it is next touched: the counters
 *            of generations since are set to zero, because they are theirs now.
 * Example    landmark:1e6 fp=.01 takes 4.85 MiB, k = 5: four times a Bloom filter.
 * Cost       k cache lines a record.
 */
#include "bits.h"
#include "error.h"
#include "filter/cells.h"
#include "plan/theory.h"
#include "spec/options.h"

#include <string.h>

#define WIDTH_DEFAULT 4
#define WIDTH_MOST    16

struct head {
    uint64_t saturated, unused[7];
};

/* -- geometry ----------------------------------------------------------------------------- */

static uint32_t width_of(const struct filter_shape *s) {
    return s->width ? s->width : WIDTH_DEFAULT;
}
static uint32_t top_of(const struct filter_shape *s) { return (1u << width_of(s)) - 1; }

/* Counters of a cell; the one of a slot stands at slot x width. */
static uint32_t cell_bits(const struct filter_shape *s) { return s->live * width_of(s); }
static uint32_t a_line(const struct filter_shape *s) { return TABLE_BITS / cell_bits(s); }

static uint32_t slot_of(const struct filter_shape *s, uint64_t generation) {
    return (uint32_t)(generation % s->live);
}

static struct head *head_of(const struct filter *f) {
    return (struct head *)table_line(f, f->shape.lines);
}

static uint32_t counter(const uint64_t *line, uint32_t bit, uint32_t top) {
    uint32_t word = bit >> 6, shift = bit & 63;
    uint64_t value = line[word] >> shift;
    if (shift > 64 - WIDTH_MOST) value |= line[word + 1] << (64 - shift);
    return (uint32_t)value & top;
}

static void set_counter(uint64_t *line, uint32_t bit, uint32_t top, uint64_t value) {
    uint32_t word = bit >> 6, shift = bit & 63, back = 64 - shift;
    line[word] = (line[word] & ~((uint64_t)top << shift)) | value << shift;
    if (shift > 64 - WIDTH_MOST)
        line[word + 1] = (line[word + 1] & ~((uint64_t)top >> back)) | value >> back;
}

/* -- counters ----------------------------------------------------------------------------- */

static void count_up(struct filter *f, uint64_t *line, uint32_t bit) {
    uint32_t top = top_of(&f->shape), value = counter(line, bit, top);
    if (value == top) return;
    set_counter(line, bit, top, value + 1);
    head_of(f)->saturated += value + 1 == top;
}

static void count_down(const struct filter_shape *s, uint64_t *line, uint32_t bit) {
    uint32_t top = top_of(s), value = counter(line, bit, top);
    if (value && value < top) set_counter(line, bit, top, value - 1);
}

/* Clears the counters that generations since the line's stamp have taken over. */
static void freshen(const struct filter_shape *s, uint64_t *line, uint64_t generation) {
    uint32_t stale = (uint16_t)(generation - table_stamp(line));
    if (!stale) return;
    if (stale >= s->live) {
        memset(line, 0, 64);
    } else {
        for (uint32_t bit = 0, n = a_line(s); n > 0; n--, bit += cell_bits(s))
            for (uint32_t i = 0; i < stale; i++)
                set_counter(line, bit + slot_of(s, generation - i) * width_of(s), top_of(s), 0);
    }
    line[7] = (line[7] & TABLE_STAMP_BELOW) | generation << TABLE_STAMP_SHIFT;
}

/* Bit i: the counter of slot i is above zero. */
static uint64_t slots_held(const struct filter_shape *s, const uint64_t *line, uint32_t bit) {
    uint32_t top = top_of(s);
    uint64_t held = 0;
    for (uint32_t i = 0; i < s->live; i++, bit += width_of(s))
        held |= (uint64_t)(counter(line, bit, top) > 0) << i;
    return held;
}

/* -- test and add ------------------------------------------------------------------------- */

struct probe {
    uint64_t *line;
    uint32_t bit; /* where its cell begins */
};

static struct probe place(const struct filter *f, seen_digest d, uint32_t i) {
    struct cells_probe p = cells_place(bits_draw(d.lo, d.hi, i), f->shape.lines, a_line(&f->shape));
    return (struct probe){table_line(f, p.line), p.cell * cell_bits(&f->shape)};
}

/* The slots whose k counters are all above zero. */
static uint64_t test(const struct filter *f, uint64_t generation, const struct probe *probe) {
    uint64_t held = cells_low(f->shape.live);
    for (uint32_t j = 0; j < f->shape.k; j++) {
        freshen(&f->shape, probe[j].line, generation);
        held &= slots_held(&f->shape, probe[j].line, probe[j].bit);
    }
    return held;
}

static void add(struct filter *f, uint32_t slot, const struct probe *probe) {
    for (uint32_t j = 0; j < f->shape.k; j++)
        count_up(f, probe[j].line, probe[j].bit + slot * width_of(&f->shape));
}

static size_t observe_group(struct filter *f, uint64_t generation, size_t n, const seen_digest *d,
                            uint8_t *verdict) {
    struct probe probe[CELLS_GROUP][64];
    uint32_t slot = slot_of(&f->shape, generation);
    size_t added = 0;
    for (size_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < f->shape.k; j++) {
            probe[i][j] = place(f, d[i], j);
            __builtin_prefetch(probe[i][j].line, 1);
        }
    for (size_t i = 0; i < n; i++) {
        uint64_t held = test(f, generation, probe[i]);
        verdict[i] = held != 0;
        bool stored = held >> slot & 1;
        if (stored || (held && f->refresh_first)) continue;
        added++;
        add(f, slot, probe[i]);
    }
    return added;
}

static size_t observe(struct filter *f, uint64_t generation, size_t n, const seen_digest *d,
                      uint8_t *verdict) {
    size_t added = 0;
    for (size_t i = 0; i < n; i += CELLS_GROUP)
        added += observe_group(f, generation, bits_min(n - i, CELLS_GROUP), d + i, verdict + i);
    return added;
}

/* -- ask, forget -------------------------------------------------------------------------- */

static uint32_t age_of(const struct filter *f, uint64_t generation, seen_digest d) {
    const struct filter_shape *s = &f->shape;
    uint64_t held = cells_low(s->live), line[8];
    for (uint32_t j = 0; j < s->k; j++) {
        struct probe p = place(f, d, j);
        memcpy(line, p.line, sizeof line);
        freshen(s, line, generation);
        held &= slots_held(s, line, p.bit);
    }
    for (uint32_t age = 0; held && age < s->live; age++)
        if (held >> slot_of(s, generation - age) & 1) return age;
    return FILTER_NONE;
}

static void find(const struct filter *f, uint64_t generation, size_t n, const seen_digest *d,
                 uint32_t *age) {
    for (size_t i = 0; i < n; i++) age[i] = age_of(f, generation, d[i]);
}

static size_t forget(struct filter *f, uint64_t generation, size_t n, const seen_digest *d) {
    struct probe probe[64];
    size_t gone = 0;
    for (size_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < f->shape.k; j++) probe[j] = place(f, d[i], j);
        uint64_t held = test(f, generation, probe);
        gone += held != 0;
        for (uint32_t slot = 0; slot < f->shape.live; slot++)
            for (uint32_t j = 0; held >> slot & 1 && j < f->shape.k; j++)
                count_down(&f->shape, probe[j].line, probe[j].bit + slot * width_of(&f->shape));
    }
    return gone;
}

/* -- upkeep ------------------------------------------------------------------------------- */

static void advance(struct filter *f, uint64_t generation) {
    uint64_t i, end;
    for (table_slice(generation, f->shape.lines, &i, &end); i < end; i++)
        freshen(&f->shape, table_line(f, i), generation);
}

/* Adds one line's counters to another's, each generation where its age belongs. */
static void add_line(struct filter *into, uint64_t *to, uint64_t into_generation,
                     const uint64_t *source, uint64_t from_generation, bool younger) {
    const struct filter_shape *s = &into->shape;
    uint32_t width = width_of(s), top = top_of(s);
    for (uint32_t bit = 0, n = a_line(s); n > 0; n--, bit += cell_bits(s))
        for (uint32_t age = 0; age < s->live; age++) {
            uint32_t here = bit + slot_of(s, into_generation - age + (younger && age)) * width;
            uint32_t there = bit + slot_of(s, from_generation - age) * width;
            uint32_t was = counter(to, here, top), more = counter(source, there, top);
            uint32_t sum = was + more < top ? was + more : top;
            set_counter(to, here, top, sum);
            head_of(into)->saturated += sum == top && was < top;
        }
}

static void merge(struct filter *into, uint64_t into_generation, const struct filter *from,
                  uint64_t from_generation, bool younger) {
    for (uint64_t i = 0; i < into->shape.lines; i++) {
        uint64_t source[8];
        memcpy(source, table_line(from, i), sizeof source);
        freshen(&into->shape, source, from_generation);
        freshen(&into->shape, table_line(into, i), into_generation);
        add_line(into, table_line(into, i), into_generation, source, from_generation, younger);
    }
}

static void stats(const struct filter *f, struct seen_stats *out) {
    out->saturated += head_of(f)->saturated;
}

static void clear_counters(struct filter *f) { head_of(f)->saturated = 0; }

static int save(const struct filter *f, struct seen_writer w) {
    if (table_save(f, w)) return -1;
    return w.write(w.ctx, &head_of(f)->saturated, sizeof head_of(f)->saturated);
}

static int load(struct filter *f, uint64_t generation, struct seen_reader r, uint64_t limit,
                struct seen_error *e) {
    int bad = table_load(f, generation, r, limit, e);
    if (bad) return bad;
    if (r.read(r.ctx, &head_of(f)->saturated, sizeof head_of(f)->saturated))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends behind its table");
    return 0;
}

/* -- planning ----------------------------------------------------------------------------- */

static int settle(struct seen_spec *spec, uint32_t live, struct seen_error *e) {
    if (!options_has(spec, OPTION_WIDTH)) spec->width = WIDTH_DEFAULT;
    options_mark(spec, OPTION_WIDTH);
    if (spec->width < 2 || spec->width > WIDTH_MOST)
        return error_set(e, SEEN_EREFUSED, 0,
                         "filter=counting has counters of width=2 to %d bits, not %llu", WIDTH_MOST,
                         (unsigned long long)spec->width);
    uint32_t most = TABLE_BITS / (uint32_t)spec->width;
    if (live > most)
        return error_set(e, SEEN_EREFUSED, 0,
                         "with width=%llu a line holds %u sub-windows at most; ask for fewer, or "
                         "for a smaller width=",
                         (unsigned long long)spec->width, most - 1);
    return 0;
}

static uint32_t columns(uint32_t live) { return live; }

static double cells(const struct filter_shape *s) { return (double)s->lines * a_line(s); }

static double fp(const struct filter_shape *s, double keys) {
    return theory_bloom(cells(s), keys, s->k);
}

static uint64_t size(const struct filter_shape *s, uint64_t keys) {
    return table_size(s, keys) + sizeof(struct head);
}

static uint64_t granule(const struct filter_shape *s) {
    (void)s;
    return 1;
}

const struct filter_ops filter_counting = {
    .name = "counting",
    .help = "Bloom filter of counters: keys can be taken out",
    .traits = SEEN_NO_FN | SEEN_MERGEABLE | SEEN_DELETABLE | SEEN_BY_NAME,
    .k_most = 64,
    .live_most = CELLS_LIVE_MOST,
    .columns = columns,
    .settle = settle,
    .fp = fp,
    .touches = cells_touches,
    .size = size,
    .granule = granule,
    .observe = observe,
    .find = find,
    .advance = advance,
    .forget = forget,
    .merge = merge,
    .stats = stats,
    .clear_counters = clear_counters,
    .save = save,
    .load = load,
};
