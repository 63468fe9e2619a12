/* age_partitioned - the Age-Partitioned Bloom filter: slices of different ages; a key is in the
 * window if enough neighbouring slices hold it.
 *
 * Idea       The window is cut into l generations.  There are k+l slices, Bloom filters of one
 *            probe.  A key is added to the k youngest; when a generation ends the oldest slice
 *            leaves and an empty one becomes the youngest.  A key is there if k slices in a row
 *            hold it: for the l generations after its own.
 * Guarantee  No false negatives.  A key never met is found where k slices in a row match by chance
 *            (theory_age).  A key that has just left the window still has k-1 of its slices, then
 *            k-2, …: a generation after the l it is found about as often as one more slice matches,
 *            j generations after as j more do, and k after never: so the window is kept for at most
 *            k+l generations, a slack of k/l.  Likewise the age is that of the youngest run, never
 *            above the true one, and j generations below it where j slices match by chance.
 * Refresh    last: a duplicate is added again.  first: it is not.
 * Keys       Sizes assume that items= come evenly over the window.  The same few keys in every
 *            generation fill each slice with all of them: the rate is then higher, and the account,
 *            which goes by the bits set, knows.
 * Paper      Shtul, Baquero, Almeida: Age-Partitioned Bloom Filters, arXiv:2001.03147, 2020.
 * Layout     lines of 496 bits and a stamp (table.h), as many for each slice.  A line stamped with
 *            another generation than the one in which its slice was begun is empty, so nothing is
 *            cleared when a slice is reused; each generation sweeps a few lines.
 *
 *                 youngest                                                        oldest
 *                | slice 0 | slice 1 | … | slice k-1 | slice k | … | slice k+l-1 | leaves
 *                 └──── a key is added to these ────┘
 *                            └── its run, a generation later ──┘
 *
 *            The slice begun in generation g lies in place g mod (k+l), and a place has its probe:
 *            so a key's bits stay where they are while its slices age.
 * Example    N = 8, k = 2, l = 4: a generation is 2 records, and there are 6 slices.  Records 0 and
 *            1 are added to slices 0 and 1, which are slices 4 and 5 for records 8 and 9: both are
 *            found.  For records 10 and 11 one of the two has left, and the other is slice 5: they
 *            are found if slice 4 matches by chance.  At record 12 both have left.
 * Cost       k cache lines a new record, and those of the search beyond: it tests the oldest slice
 *            of a run first and passes over all runs with a miss.  The begin of a generation
 *            sweeps a 2^15th of the table.  A landmark, or a silence, sweeps k+l such parts.
 */
#include "base/base.h"
#include "plan/plan.h"
#include "spec/spec.h"
#include "table/table.h"
#include "theory/bloom.h"
#include "window/window.h"

#include <math.h>

#define MAX_K      THEORY_AGE_K
#define SLICES     THEORY_AGE_SLICES
#define PROBE_DRAW (DRAW_SHARD + 1)

struct state {
    struct rotation rotation;
    uint64_t step, lines;          /* of a generation; of a slice */
    uint32_t k, slices, at, first; /* `at`: the place of the youngest slice */
    uint64_t set[SLICES];          /* bits set in each place */
};

#define STATE_BYTES ((sizeof(struct state) + 63) / 64 * 64)

static uint64_t size(const struct seen_spec *spec) {
    return STATE_BYTES + options_get(spec, OPTION_BLOCKS) * 64;
}

static int plan(struct seen_plan *plan, struct seen_error *e) {
    return age_plan(plan, detector_fixed(&plan->spec, STATE_BYTES), e);
}

/* -- slices ------------------------------------------------------------------------------- */

/* The youngest slice as of some generation: the current one, or one to come. */
struct youngest {
    uint64_t generation;
    uint32_t at;
};

static struct youngest now(const struct state *s) {
    return (struct youngest){s->rotation.generation, s->at};
}

/* And the other way round: the slice in a place. */
static uint32_t place_of(const struct state *s, struct youngest y, uint32_t slice) {
    return y.at >= slice ? y.at - slice : y.at + s->slices - slice;
}

static struct cells_probe probe_of(const struct state *s, struct youngest y, seen_digest d,
                                   uint32_t slice) {
    uint32_t place = place_of(s, y, slice);
    struct cells_probe p =
        cells_place(bits_draw(d.lo, d.hi, PROBE_DRAW + place), s->lines, TABLE_BITS);
    p.line += place * s->lines;
    return p;
}

static bool matches(const struct window *w, struct youngest y, struct cells_probe p,
                    uint32_t slice) {
    const uint64_t *line = table_line(&w->filter, p.line);
    return table_stamp(line) == (uint16_t)(y.generation - slice) &&
           line[p.cell >> 6] >> (p.cell & 63) & 1;
}

/* -- the search for the youngest run ------------------------------------------------------ */

/* It tests the oldest slice of a run first; where that misses, so do all runs that contain it. */
struct search {
    seen_digest key;
    uint32_t first;      /* the first run that the youngest k slices leave possible; 0: they hold */
    uint32_t start, low; /* first slice of the run in question; that down to which it is untested */
    uint32_t next; /* slice next-1 is tested next: low if none is, and the run `start` holds */
    struct cells_probe probe; /* of that slice */
};

/* Prefetches the line that is tested next.  Sets `start` to FILTER_NONE if no run is left. */
static void aim(const struct window *w, struct youngest y, struct search *q) {
    const struct state *s = w->state;
    if (q->next > s->slices) {
        q->start = FILTER_NONE;
        q->next = q->low;
    } else if (q->next > q->low) {
        q->probe = probe_of(s, y, q->key, q->next - 1);
        __builtin_prefetch(table_line(&w->filter, q->probe.line));
    }
}

/* Tests one slice.  True if more are to be. */
static bool search_on(const struct window *w, struct youngest y, struct search *q) {
    uint32_t k = w->filter.shape.k;
    if (matches(w, y, q->probe, q->next - 1)) {
        q->next--;
    } else {
        q->low = q->start + k;
        q->start = q->next;
        q->next += k;
    }
    aim(w, y, q);
    return q->next > q->low;
}

/* The first slice of the youngest run that holds a key, FILTER_NONE if none does. */
static uint32_t youngest_run(const struct window *w, struct youngest y, seen_digest key) {
    struct search q = {.key = key, .next = w->filter.shape.k};
    for (aim(w, y, &q); q.next > q.low;) search_on(w, y, &q);
    return q.start;
}

/* The same in two parts: in the youngest k slices, whose probes are known, and beyond. */
static uint32_t first_run(const struct window *w, struct youngest y,
                          const struct cells_probe *probe) {
    uint32_t i = w->filter.shape.k;
    while (i > 0 && matches(w, y, probe[i - 1], i - 1)) i--;
    return i;
}

static struct search search_beyond(const struct window *w, struct youngest y, seen_digest key,
                                   uint32_t first) {
    uint32_t k = w->filter.shape.k;
    struct search q = {.key = key, .first = first, .start = first, .low = k, .next = first + k};
    aim(w, y, &q);
    return q;
}

/* Advances several searches in turn, so that none waits for memory. */
static void youngest_runs(const struct window *w, struct youngest y, struct search *q, size_t n) {
    uint8_t open[BITS_AHEAD];
    size_t left = 0;
    for (size_t i = 0; i < n; i++) {
        open[left] = (uint8_t)i;
        left += q[i].next > q[i].low;
    }
    while (left > 0) {
        n = left;
        left = 0;
        for (size_t i = 0; i < n; i++) {
            uint8_t one = open[i];
            open[left] = one;
            left += search_on(w, y, &q[one]);
        }
    }
}

/* -- adding ------------------------------------------------------------------------------- */

static void renew(uint64_t *line, uint64_t generation) {
    memset(line, 0, 64);
    line[7] = generation << TABLE_STAMP_SHIFT;
}

/* -- what is expected --------------------------------------------------------------------- */

static bool empty(const struct state *s) {
    for (uint32_t i = 0; i < s->slices; i++)
        if (s->set[i]) return false;
    return true;
}

/* Fill of a slice `ahead` generations from now. */
static double fill_of(const struct state *s, uint32_t slice, uint64_t ahead) {
    if (slice < ahead) return 0;
    uint64_t set = s->set[place_of(s, now(s), slice - (uint32_t)ahead)];
    return (double)set / (double)(s->lines * TABLE_BITS);
}

/* -- the clock ---------------------------------------------------------------------------- */

static void begin_generations(struct window *w, uint64_t n) {
    struct state *s = w->state;
    for (n = empty(s) ? 0 : bits_min(n, s->slices); n > 0; n--) {
        s->rotation.generation++;
        s->at = s->at + 1 < s->slices ? s->at + 1 : 0;
        s->set[s->at] = 0;
        uint64_t i, end;
        for (table_slice(s->rotation.generation, s->lines * s->slices, &i, &end); i < end; i++) {
            uint32_t place = (uint32_t)(i / s->lines);
            uint64_t *line = table_line(&w->filter, i);
            uint64_t begun = s->rotation.generation - place_of(s, now(s), place);
            if (table_stamp(line) != (uint16_t)begun) renew(line, begun);
        }
    }
}

static void landmark(struct window *w, uint64_t at) {
    struct state *s = w->state;
    s->rotation.begun += !empty(s);
    begin_generations(w, s->slices);
    if (w->plan->spec.unit == SEEN_UNIT_RECORDS) s->rotation.boundary = at + s->step;
}

static void init(struct window *w) {
    const struct seen_spec *spec = &w->plan->spec;
    struct state *s = w->state;
    w->filter.shape = plan_shape(spec, 1);
    w->filter.block = (char *)w->state + STATE_BYTES;
    s->k = (uint32_t)options_get(spec, OPTION_K);
    s->slices = age_slices(&w->filter.shape);
    s->lines = options_get(spec, OPTION_BLOCKS) / s->slices;
    s->first = options_get(spec, OPTION_REFRESH) == SEEN_REFRESH_FIRST;
    s->step = s->rotation.boundary = age_step(&w->filter.shape);
    s->rotation.generation = s->slices;
}

/* -- work --------------------------------------------------------------------------------- */

/* Judges n records of one generation.  All are searched for together first.  Then each is judged in
 * order, and searched for again if an earlier one has changed its youngest slices. */
static void observe_group(struct window *w, size_t n, const seen_digest *d, uint8_t *verdict) {
    struct state *s = w->state;
    struct youngest y = now(s);
    struct cells_probe probe[BITS_AHEAD][MAX_K];
    struct search q[BITS_AHEAD];
    for (size_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < s->k; j++) {
            probe[i][j] = probe_of(s, y, d[i], j);
            __builtin_prefetch(table_line(&w->filter, probe[i][j].line), 1);
        }
    for (size_t i = 0; i < n; i++) q[i] = search_beyond(w, y, d[i], first_run(w, y, probe[i]));
    youngest_runs(w, y, q, n);
    for (size_t i = 0; i < n; i++) {
        bool changed = first_run(w, y, probe[i]) != q[i].first;
        uint32_t run = changed ? youngest_run(w, y, d[i]) : q[i].start;
        verdict[i] = run != FILTER_NONE;
        if (run == 0 || (verdict[i] && s->first)) continue;
        for (uint32_t slice = 0; slice < s->k; slice++) {
            struct cells_probe p = probe[i][slice];
            uint64_t *line = table_line(&w->filter, p.line), bit = (uint64_t)1 << (p.cell & 63);
            if (table_stamp(line) != (uint16_t)(y.generation - slice))
                renew(line, y.generation - slice);
            s->set[place_of(s, y, slice)] += !(line[p.cell >> 6] & bit);
            line[p.cell >> 6] |= bit;
        }
    }
}

static void observe(struct window *w, size_t n, const seen_digest *d, const uint64_t *at,
                    uint8_t *verdict) {
    struct state *s = w->state;
    for (size_t i = 0; i < n;) {
        if (at[i] >= s->rotation.boundary) {
            uint64_t steps = rotation_steps(&s->rotation, s->step, at[i]);
            begin_generations(w, steps);
            s->rotation.boundary += steps * s->step;
        }
        size_t run = rotation_run(&s->rotation, n - i, at + i);
        run = bits_min(run, BITS_AHEAD);
        observe_group(w, run, d + i, verdict + i);
        i += run;
    }
}

static void find(const struct window *w, size_t n, const seen_digest *d, uint64_t at,
                 uint64_t *age) {
    const struct state *s = w->state;
    uint64_t steps = bits_min(rotation_steps(&s->rotation, s->step, at), s->slices);
    struct youngest y = {s->rotation.generation + steps, (uint32_t)((s->at + steps) % s->slices)};
    uint64_t start = rotation_start(&s->rotation, s->step, at);
    for (size_t i = 0; i < n; i++) {
        uint32_t run = youngest_run(w, y, d[i]);
        age[i] =
            run == FILTER_NONE ? SEEN_NEVER : rotation_age(&w->plan->spec, s->step, start, at, run);
    }
}

static void stats(const struct window *w, uint64_t at, struct seen_stats *out) {
    const struct state *s = w->state;
    uint64_t ahead = bits_min(rotation_steps(&s->rotation, s->step, at), s->slices);
    double m = (double)(s->lines * TABLE_BITS), keys = 0;
    for (uint32_t from = 0, live = s->slices - s->k + 1; from < live; from += s->k) {
        double fill = fmin(fill_of(s, from + s->k - 1, ahead), 1 - 1 / (m + 1));
        keys += -log1p(-fill) * m * fmin(1, (double)(live - from) / s->k);
    }
    out->stored += (uint64_t)(keys + .5);
    double fill[SLICES];
    for (uint32_t i = 0; i < s->slices; i++) fill[i] = fill_of(s, i, ahead);
    out->fp_now +=
        theory_age(fill, s->slices, s->k) / (double)options_get(&w->plan->spec, OPTION_SHARDS);
    out->landmarks = bits_max(out->landmarks, s->rotation.begun);
}

static void clear_counters(struct window *w) {
    struct state *s = w->state;
    s->rotation.begun = 0;
}

/* -- snapshot ----------------------------------------------------------------------------- */

static int save(const struct window *w, struct seen_writer out) {
    const struct state *s = w->state;
    if (out.write(out.ctx, &s->rotation, sizeof s->rotation)) return -1;
    return table_save(&w->filter, out);
}

/* Counts the cells of a line for the slice in its place, if the line was touched since that slice
 * began. */
static void tally(struct state *s, uint64_t i, const uint64_t *line) {
    uint32_t place = (uint32_t)(i / s->lines);
    if (place >= s->slices) return;
    uint16_t stamp = (uint16_t)(s->rotation.generation - place_of(s, now(s), place));
    if (table_stamp(line) == stamp) {
        uint64_t set = bits_popcount(line[7] & TABLE_STAMP_BELOW);
        for (int word = 0; word < 7; word++) set += bits_popcount(line[word]);
        s->set[place] += set;
    }
}

static int load(struct window *w, uint64_t at, struct seen_reader in, uint64_t limit,
                struct seen_error *e) {
    (void)at, (void)limit;
    struct state *s = w->state;
    uint64_t first = s->rotation.boundary, lines = w->filter.shape.lines;
    if (in.read(in.ctx, &s->rotation, sizeof s->rotation))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends inside its window");
    if (!rotation_sane(&s->rotation, &w->plan->spec, s->step, first, s->slices))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot's window does not fit its spec");
    s->at = (uint32_t)(s->rotation.generation % s->slices);
    for (uint64_t i = 0, next; i < lines;) {
        if (!(next = table_read(in, w->filter.block, i, lines)))
            return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends inside its table");
        for (; i < next; i++) tally(s, i, table_line(&w->filter, i));
    }
    return 0;
}

const struct window_ops aging_age_partitioned = {
    .name = "sliding",
    .by_name = true,
    .plan = plan,
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
