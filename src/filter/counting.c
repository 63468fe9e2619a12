/* counting - a Bloom filter of small counters, so that keys can be taken out again.
 *
 * Idea       A cell counts the keys that hash to it instead of remembering that one did.  Taking a
 *            key out decrements its k counters; filters are added and subtracted cell by cell.
 * Guarantee  No false negatives, as long as only keys that were stored are forgotten.  (One that
 *            was called a duplicate by mistake was not stored: forgetting it may take a share of
 *            others, with probability fp.)  False positives as bloom with as many cells:
 *            (1-(1-1/m)^(kn))^k.  A counter that reaches its top of 2^width-1 sticks there, because
 *            the number of its keys is unknown from then on.  The statistics say how many stuck.  A
 *            stuck counter is free again when its generation has left.
 * Jumping    combine=or asks the sub-windows' filters one by one: 1-(1-e)^live, n/Q keys in each.
 *            combine=subtract asks one filter, their sum: it errs as one Bloom filter of all n
 *            distinct keys of the window.  Both find the same keys; they differ in false positives
 *            only.
 * Paper      Metwally, Agrawal, El Abbadi, WWW 2005, §5.2.3 (counters) and §5.2.4 (add, subtract);
 *            they after Fan, Cao, Almeida, Broder, Summary Cache, 2000.
 * Layout     lines of cells (table.h), a counter of `width` bits a live generation in each, by the
 *            sum of them if there is one; the counter of generation g stands at g mod live.  After
 *            the lines one more: the head.
 *
 *                combine=or        | cell 0: c0 c1 …   | cell 1: c0 c1 …   | … spare | stamp |
 *                combine=subtract  | cell 0: Σ c0 c1 … | cell 1: Σ c0 c1 … | … spare | stamp |
 *                head              | counters that stuck, 64 bits | unused |
 *
 *            A line whose stamp is old is brought up to date when it is next touched: the counters
 *            of generations since are subtracted from the sum and set to zero, because they are
 *            theirs now.  The sum is always min(top, c0 + c1 + …), so it never sticks: a sum at its
 *            top is added up again.
 * Example    landmark:1e6 fp=.01 takes 4.85 MiB, k = 5: four times a Bloom filter.
 *            combine=subtract, three generations, as the first leaves: a cell 3 = 2+1+0 becomes
 *            1 = 0+1+0; a cell 15 = 9+8+0, which stood for 17, becomes 8 = 0+8+0.
 * Cost       k cache lines a record.
 */
#include "base/base.h"
#include "filter/filter.h"
#include "spec/spec.h"
#include "table/table.h"
#include "theory/bloom.h"

#include <string.h>

struct head {
    uint64_t saturated, unused[7];
};

/* -- geometry ----------------------------------------------------------------------------- */

static uint32_t width_of(const struct filter_shape *s) {
    return s->width ? s->width : COUNTERS_WIDTH;
}
static uint32_t top_of(const struct filter_shape *s) { return counters_top(width_of(s)); }

/* Counters of a cell: the sum, if any, and after it one for each slot. */
static uint32_t cell_bits(const struct filter_shape *s) {
    return (s->live + s->summed) * width_of(s);
}
static uint32_t a_line(const struct filter_shape *s) { return TABLE_BITS / cell_bits(s); }

static uint32_t slot_of(const struct filter_shape *s, uint64_t generation) {
    return (uint32_t)(generation % s->live);
}

/* Where the counter of a slot stands in a cell. */
static uint32_t slot_bit(const struct filter_shape *s, uint32_t slot) {
    return (s->summed + slot) * width_of(s);
}

static struct head *head_of(const struct filter *f) {
    return (struct head *)table_line(f, f->shape.lines);
}

/* -- the sum ------------------------------------------------------------------------------ */

static void add_up(const struct filter_shape *s, uint64_t *line, uint32_t cell) {
    uint32_t top = top_of(s), sum = 0;
    for (uint32_t i = 0; i < s->live; i++) sum += counters_get(line, cell + slot_bit(s, i), top);
    counters_set(line, cell, top, bits_min(sum, top));
}

/* Takes the counters of the `stale` generations up to this one out of a cell. */
static void take_over(const struct filter_shape *s, uint64_t *line, uint32_t cell,
                      uint64_t generation, uint32_t stale) {
    uint32_t top = top_of(s), gone = 0;
    for (uint32_t i = 0; i < stale; i++) {
        uint32_t bit = cell + slot_bit(s, slot_of(s, generation - i));
        gone += counters_get(line, bit, top);
        counters_set(line, bit, top, 0);
    }
    if (!s->summed || !gone) return;
    uint32_t sum = counters_get(line, cell, top);
    if (sum == top || gone > sum)
        add_up(s, line, cell);
    else
        counters_set(line, cell, top, sum - gone);
}

static void freshen(const struct filter_shape *s, uint64_t *line, uint64_t generation) {
    uint32_t stale = (uint16_t)(generation - table_stamp(line));
    if (!stale) return;
    if (stale >= s->live) {
        memset(line, 0, 64);
    } else {
        for (uint32_t cell = 0, n = a_line(s); n > 0; n--, cell += cell_bits(s))
            take_over(s, line, cell, generation, stale);
    }
    line[7] = (line[7] & TABLE_STAMP_BELOW) | generation << TABLE_STAMP_SHIFT;
}

/* -- test and add ------------------------------------------------------------------------- */

struct probe {
    uint64_t *line;
    uint32_t cell; /* where it begins */
};

static struct probe place(const struct filter *f, seen_digest d, uint32_t i) {
    struct cells_probe p = cells_place(bits_draw(d.lo, d.hi, i), f->shape.lines, a_line(&f->shape));
    return (struct probe){table_line(f, p.line), p.cell * cell_bits(&f->shape)};
}

/* The parts of a filter that hold a key. */
struct held {
    uint64_t slots; /* bit i: in the filter of slot i all k counters are above zero */
    bool found;     /* the window finds the key: in the sum, or in one of the slots */
};

/* Narrows `held` to what the cell of one probe holds as well. */
static void narrow(const struct filter_shape *s, struct held *held, const uint64_t *line,
                   uint32_t cell) {
    uint32_t top = top_of(s), bit = cell + slot_bit(s, 0);
    uint64_t slots = 0;
    for (uint32_t i = 0; i < s->live; i++, bit += width_of(s))
        slots |= (uint64_t)(counters_get(line, bit, top) > 0) << i;
    held->slots &= slots;
    held->found &= s->summed ? counters_get(line, cell, top) > 0 : held->slots != 0;
}

static struct held test(const struct filter *f, uint64_t generation, const struct probe *probe) {
    struct held held = {cells_low(f->shape.live), true};
    for (uint32_t j = 0; j < f->shape.k; j++) {
        freshen(&f->shape, probe[j].line, generation);
        narrow(&f->shape, &held, probe[j].line, probe[j].cell);
    }
    return held;
}

/* The age, in generations, of the youngest slot in `slots`. */
static uint32_t youngest(const struct filter_shape *s, uint64_t generation, uint64_t slots) {
    uint32_t age = 0;
    while (age < s->live && !(slots >> slot_of(s, generation - age) & 1)) age++;
    return age;
}

/* Adds a key to the current generation.  In the sum it counts in this generation only from now on.
 */
static void store(struct filter *f, uint64_t generation, const struct probe *probe,
                  uint64_t slots) {
    uint32_t top = top_of(&f->shape);
    for (uint32_t j = 0; j < f->shape.k; j++) {
        uint32_t bit = probe[j].cell + slot_bit(&f->shape, slot_of(&f->shape, generation));
        head_of(f)->saturated += counters_up(probe[j].line, bit, top) + 1 == top;
        if (f->shape.summed) counters_up(probe[j].line, probe[j].cell, top);
    }
    if (!f->shape.summed || !slots) return;
    uint32_t age = youngest(&f->shape, generation, slots);
    f->renewed[slot_of(&f->shape, generation - age)]++;
}

static size_t observe(struct filter *f, uint64_t generation, size_t n, const seen_digest *d,
                      uint8_t *verdict) {
    struct probe probe[BITS_AHEAD][64];
    uint32_t slot = slot_of(&f->shape, generation);
    size_t added = 0;
    for (size_t from = 0, group; from < n; from += group) {
        group = bits_min(n - from, BITS_AHEAD);
        for (size_t i = 0; i < group; i++)
            for (uint32_t j = 0; j < f->shape.k; j++) {
                probe[i][j] = place(f, d[from + i], j);
                __builtin_prefetch(probe[i][j].line, 1);
            }
        for (size_t i = 0; i < group; i++) {
            struct held held = test(f, generation, probe[i]);
            verdict[from + i] = held.found;
            bool stored = held.slots >> slot & 1;
            if (stored || (held.found && f->refresh_first)) continue;
            added++;
            store(f, generation, probe[i], held.slots);
        }
    }
    return added;
}

/* -- ask, forget -------------------------------------------------------------------------- */

static void find(const struct filter *f, uint64_t generation, size_t n, const seen_digest *d,
                 uint32_t *age) {
    const struct filter_shape *s = &f->shape;
    for (size_t i = 0; i < n; i++) {
        struct held held = {cells_low(s->live), true};
        for (uint32_t j = 0; j < s->k; j++) {
            struct probe p = place(f, d[i], j);
            uint64_t line[8];
            memcpy(line, p.line, sizeof line);
            freshen(s, line, generation);
            narrow(s, &held, line, p.cell);
        }
        /* If the sum holds a key and no generation does, it was never there: the age is the
         * oldest. */
        uint64_t back = bits_min(youngest(s, generation, held.slots), s->live - 1);
        age[i] = held.found ? (uint32_t)back : FILTER_NONE;
    }
}

static size_t forget(struct filter *f, uint64_t generation, size_t n, const seen_digest *d) {
    const struct filter_shape *s = &f->shape;
    struct probe probe[64];
    size_t gone = 0;
    for (size_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < f->shape.k; j++) probe[j] = place(f, d[i], j);
        uint64_t slots = test(f, generation, probe).slots;
        gone += slots != 0;
        for (const struct probe *p = probe; slots && p < probe + s->k; p++) {
            for (uint32_t slot = 0; slot < s->live; slot++)
                if (slots >> slot & 1)
                    counters_down(p->line, p->cell + slot_bit(s, slot), top_of(s));
            if (s->summed) add_up(s, p->line, p->cell);
        }
    }
    return gone;
}

/* -- upkeep ------------------------------------------------------------------------------- */

static void advance(struct filter *f, uint64_t generation) {
    uint64_t i, end;
    for (table_slice(generation, f->shape.lines, &i, &end); i < end; i++)
        freshen(&f->shape, table_line(f, i), generation);
}

/* Adds the counters of one line to those of another, generation by generation as `match` says. */
static void add_line(struct filter *into, uint64_t *to, uint64_t generation, const uint64_t *source,
                     const struct filter_match *match) {
    const struct filter_shape *s = &into->shape;
    uint32_t top = top_of(s);
    for (uint32_t cell = 0, n = a_line(s); n > 0; n--, cell += cell_bits(s)) {
        for (uint32_t age = 0; age < s->live; age++) {
            if (generation - filter_matching(match, age) >= s->live) continue;
            uint32_t here = slot_of(s, filter_matching(match, age));
            uint32_t there = slot_of(s, match->from - age);
            uint32_t was = counters_get(to, cell + slot_bit(s, here), top);
            uint32_t more = counters_get(source, cell + slot_bit(s, there), top);
            uint32_t sum = was + more < top ? was + more : top;
            counters_set(to, cell + slot_bit(s, here), top, sum);
            head_of(into)->saturated += sum == top && was < top;
        }
        if (s->summed) add_up(s, to, cell);
    }
}

static bool merge(struct filter *into, uint64_t generation, const struct filter *from,
                  const struct filter_match *match, uint64_t most, struct merge_cursor *m) {
    uint64_t i, end;
    bool last = table_piece(from, most, m, &i, &end);
    for (; i < end; i++) {
        uint64_t source[8];
        memcpy(source, table_line(from, i), sizeof source);
        freshen(&into->shape, source, match->from);
        freshen(&into->shape, table_line(into, i), generation);
        add_line(into, table_line(into, i), generation, source, match);
    }
    return last;
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
    if (head_of(f)->saturated >= MAX_COUNT)
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot's saturated counters make no sense");
    return 0;
}

/* -- planning ----------------------------------------------------------------------------- */

static int settle(struct seen_spec *spec, uint32_t live, struct seen_error *e) {
    int bad = counters_settle(spec, live, e);
    if (bad) return bad;
    bool summed = options_get(spec, OPTION_COMBINE) == SEEN_COMBINE_SUBTRACT;
    uint32_t most = TABLE_BITS / (uint32_t)options_get(spec, OPTION_WIDTH) - summed;
    if (live > most)
        return error_set(e, SEEN_EREFUSED, 0,
                         "with width=%llu a line holds %u sub-windows at most; ask for fewer, or "
                         "for a smaller width=",
                         (unsigned long long)options_get(spec, OPTION_WIDTH), most - 1);
    return 0;
}

static double fp(const struct filter_shape *s, double keys) {
    return theory_bloom((double)s->lines * a_line(s), keys, s->k);
}

static uint64_t size(const struct filter_shape *s, uint64_t keys) {
    return table_size(s, keys) + sizeof(struct head);
}

const struct filter_ops filter_counting = {
    .theory = {.name = "counting",
               .help = "Bloom filter of counters: keys can be taken out",
               .traits = SEEN_NO_FN | SEEN_MERGEABLE | SEEN_DELETABLE | SEEN_ON_REQUEST,
               .k_most = 64,
               .live_most = CELLS_MAX_LIVE,
               .settle = settle,
               .fp = fp,
               .touches = cells_touches,
               .size = size},
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
