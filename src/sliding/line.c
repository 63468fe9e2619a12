/* line - a sliding window without false negatives at one cache line a record.
 *
 * Idea       A table of 64-byte lines.  A line is a queue of fingerprints in order of age.  Beside
 *            the queue stands a map in unary code, which gives the generation of each entry.  The
 *            order carries most of the age, so an age costs about 2.1 bits.  A record looks at one
 *            line.  The entry of a duplicate moves to the newest end.  Entries whose generation has
 *            left the window are shifted out when the line is next touched, so nothing is ever
 *            cleared or searched elsewhere.
 * Guarantee  No false negatives inside the window that was kept, for every input and CPU.  The
 *            false-positive rate is comparisons x 2^-f, about c x fill x 2^-f.  With at most the
 *            planned keys, a window of N is kept for N to N(1+1/31), or to N(1+1/25) if keys may
 *            come in bursts.
 *            With more keys and overload=shrink (the default), the oldest generation leaves early,
 *            and new keys stay new.  The statistics report the shortest window kept.  A generation
 *            ends by the clock, or when it has taken in its share of new keys, so that a burst does
 *            not leave as a whole (line_generations.c).
 *            With more keys and overload=saturate, the window keeps its length.  A key may then
 *            find no place.  While such a key may be in the window, every key that is not found
 *            behind four marked lines is called a duplicate.
 * Source     This project.  The lower bound for such windows is Naor, Yogev, ISAAC 2013
 *            (theory/sliding.h).  doc/line.md compares other designs.
 * Layout     line.h has the bits.  f from 16 to 43, c = 432/f entries:
 *
 *                entries  | a | d | b | c | e |        oldest … newest
 *                map        0   1 0   0 1 0   0   1…   b, d: one generation; c, e: the current one
 *                             └ ends of generations
 *
 *            A full line marks the class of a new key (one of six, by its fingerprint).  The key
 *            goes to the next line, which follows from this line and the fingerprint; if that is
 *            full, to a third and a fourth, and then to a small hashed spare area.  A query goes
 *            only as far as the marks.  Marks last for this epoch and the next.  An epoch is longer
 *            than the life of the entries that the marks point to.
 *
 *                home ──full, marked──► next ──full, marked──► … four ──full, marked──► spare area
 *
 * Rules      No entry ever moves to another line, because a second key with the same fingerprint
 *            may depend on it.  A match is renewed, whether it is true or false.  If the match is
 *            behind the first line and the first line has room again, the key enters the first line
 *            instead, and the match grows old.  To renew an entry behind marks renews the marks
 *            too.  The age of a key is that of its youngest match.  Under refresh=first a record
 *            called a duplicate, even falsely, is not stored: the guarantee is relative to the
 *            records called new.
 * Example    sliding:1e6 fp=5e-4: f = 16, c = 27, 48,127 lines of 64 bytes: 24.7 bits a key.
 * Cost       1.1 lines a record if a quarter of the records repeats, 1.3 if none does.
 */
#include "sliding/line.h"

#include "base/base.h"
#include "table/table.h"

#include <math.h>

/* -- entries as seven words, for machines without wide vectors ---------------------------- */

typedef struct {
    uint64_t w[7];
} vector;

/* Bits of word i that lie below bit `at` of the line. */
ALWAYS_INLINE uint64_t below(uint32_t at, uint32_t i) {
    if (at >= 64 * i + 64) return ~(uint64_t)0;
    return at <= 64 * i ? 0 : ((uint64_t)1 << (at - 64 * i)) - 1;
}

ALWAYS_INLINE uint64_t word_at(const uint64_t *w, uint32_t i, uint32_t bit) {
    uint32_t from = i + bit / 64;
    return w[from] >> bit % 64 | w[from + 1] << 1 << (63 - bit % 64);
}

ALWAYS_INLINE vector entries_shift(const uint64_t *line, uint32_t gone, uint32_t at, uint32_t count,
                                   uint32_t f) {
    (void)count;
    uint64_t w[16] = {0};
    memcpy(w, line, LINE_PAYLOAD / 8);
    vector v;
    for (uint32_t i = 0; i < 7; i++) {
        uint64_t keep = below(at * f, i);
        v.w[i] = (word_at(w, i, gone * f) & keep) | (word_at(w, i, gone * f + f) & ~keep);
    }
    return v;
}

ALWAYS_INLINE vector entries_put(vector v, uint32_t at, uint64_t print, uint32_t f) {
    uint32_t bit = at * f;
    v.w[bit / 64] |= print << bit % 64;
    if (bit % 64 + f > 64) v.w[bit / 64 + 1] |= print >> (64 - bit % 64);
    return v;
}

ALWAYS_INLINE void entries_store(uint64_t *line, vector v, uint64_t word6, uint64_t word7) {
    v.w[6] |= word6;
    memcpy(line, v.w, sizeof v.w);
    line[7] = word7;
}

/* An entry begins within a byte and ends within the 8 bytes from there on. */
ALWAYS_INLINE uint32_t entries_match(const uint64_t *line, uint64_t print, uint32_t f) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < LINE_PAYLOAD / f; i++) {
        uint64_t word;
        memcpy(&word, (const char *)line + i * f / 8, sizeof word);
        found |= (uint32_t)((word >> i * f % 8 & (((uint64_t)1 << f) - 1)) == print) << i;
    }
    return found;
}

#include "sliding/line_kernel.h"
#include "spec/spec.h"

#define SWEPT 16  /* lines that a record sweeps, while any are due */
#define MORE  1.1 /* entries over planned keys: a key from behind its line may be there twice */
#define FEW   16  /* more entries, because small tables vary by chance */

static line_observe_fn *kernel_of(uint32_t cpu, uint32_t bits) {
#if defined __x86_64__
    if (cpu == CPU_VBMI2) return line_kernel_vbmi2(bits);
    if (cpu >= CPU_AVX2) return line_kernel_avx2(bits);
#endif
    (void)cpu;
    return observe_width(bits);
}

/* -- the spare area ----------------------------------------------------------------------- */

struct line_spare *line_spare_find(const struct line_state *s, const struct line_view *view,
                                   uint64_t tag, bool add) {
    struct line_spare *slot = line_spares(s), *room = NULL;
    uint64_t at = bits_range(tag, s->spares);
    for (uint32_t i = 0; i < LINE_SLOTS; i++, at = at + 1 < s->spares ? at + 1 : 0) {
        bool live = slot[at].generation && view->generation - slot[at].generation <= view->live;
        if (live && slot[at].tag == tag) return &slot[at];
        if (!live && !room) room = &slot[at];
    }
    if (add && room) *room = (struct line_spare){tag, 0};
    return add ? room : NULL;
}

/* -- work --------------------------------------------------------------------------------- */

static void init(struct window *w) {
    const struct seen_spec *spec = &w->plan->spec;
    struct line_state *s = w->state;
    s->lines = options_get(spec, OPTION_BLOCKS);
    s->spares = line_spare_slots(options_get(spec, OPTION_BLOCKS));
    s->step = line_step(spec);
    s->steps = line_live(spec);
    s->live = line_ends(spec);
    s->length = spec->length;
    s->bits = (uint32_t)options_get(spec, OPTION_SIGNATURE);
    s->room = line_room(s->bits);
    s->time = spec->unit == SEEN_UNIT_MICROSECONDS;
    s->shrink = options_get(spec, OPTION_OVERLOAD) == SEEN_OVERLOAD_SHRINK;
    s->first = options_get(spec, OPTION_REFRESH) == SEEN_REFRESH_FIRST;
    s->kernel = kernel_of(w->filter.cpu, s->bits);
    double planned = line_planned(s->lines, s->bits);
    uint32_t splits = s->live - s->steps; /* generations that may begin by count */
    s->planned = (uint64_t)planned + FEW;
    s->most = (uint64_t)(planned * MORE) + FEW;
    s->quota = splits ? (uint64_t)ceil(planned * MORE / splits) : 0;
    line_begin(s);
}

static void observe(struct window *w, size_t n, const seen_digest *d, const uint64_t *at,
                    uint8_t *verdict) {
    struct line_state *s = w->state;
    for (size_t i = 0; i < n;) {
        if (s->h.cleared || at[i] >= s->h.rotation.boundary) line_advance(s, at[i]);
        size_t run =
            rotation_run(&s->h.rotation, s->shrink ? bits_min(n - i, s->h.wait) : n - i, at + i);
        s->kernel(s, run, d + i, at + i, verdict + i);
        if (s->shrink && !(s->h.wait -= run)) line_weigh(s, at[i + run - 1] + !s->time);
        line_sweep(s, SWEPT * run, s->view.generation);
        i += run;
    }
}

static void prefetch(const struct window *w, seen_digest d) {
    const struct line_state *s = w->state;
    __builtin_prefetch(line_at(s, line_home(s, d)), 1);
}

/* -- asking ------------------------------------------------------------------------------- */

/* The age in generations of the youngest match in the chain; UINT64_MAX: there is none. */
static uint64_t youngest(const struct line_state *s, const struct line_view *view, seen_digest d) {
    uint64_t print = line_fingerprint(d, s->bits), at = line_home(s, d), best = UINT64_MAX;
    for (uint32_t i = 0; i < LINE_CHAIN; i++, at = line_next(s, at, print)) {
        struct open o = open_line(view, line_at(s, at), print, s->bits);
        if (o.found) {
            uint32_t newest = line_youngest(o.found);
            best = bits_min(best, line_age(bits_nth(o.map, newest), newest, view->ends));
        }
        if (!marked(&o, print)) return best;
        if (i + 1 < LINE_CHAIN) continue;
        const struct line_spare *spare = line_spare_find(s, view, line_tag(at, print), false);
        if (spare) best = bits_min(best, view->generation - spare->generation);
        if (flooded(s, view)) best = bits_min(best, view->generation - s->h.flood);
    }
    return best;
}

uint64_t line_age_at(const struct line_state *s, const struct line_view *view, uint64_t ago,
                     uint64_t at) {
    uint64_t generation = view->generation - ago, least = s->time ? 0 : 1;
    if (ago == 0) return least;
    uint64_t end = generation < s->h.rotation.generation
                       ? s->h.start[(generation + 1) % LINE_RING]
                       : s->h.rotation.boundary + (generation - s->h.rotation.generation) * s->step;
    return bits_max(least, at - end + 1);
}

static void find(const struct window *w, size_t n, const seen_digest *d, uint64_t at,
                 uint64_t *age) {
    const struct line_state *s = w->state;
    struct line_view view = line_view_at(s, at);
    for (size_t i = 0; i < n; i++) {
        uint64_t ago = line_expired(s, at) ? UINT64_MAX : youngest(s, &view, d[i]);
        age[i] = ago == UINT64_MAX ? SEEN_NEVER : line_age_at(s, &view, ago, at);
    }
}

static void landmark(struct window *w, uint64_t at) {
    struct line_state *s = w->state;
    if (line_expired(s, at)) return;
    s->h.rotation.begun++;
    s->h.cleared = 1;
}

/* The part of the current generation that has passed. */
static double turned(const struct line_state *s, uint64_t at) {
    uint64_t boundary = s->h.rotation.boundary;
    if (at >= boundary) return (double)((at - boundary) % s->step) / (double)s->step;
    return 1 - (double)bits_min(boundary - at, s->step) / (double)s->step;
}

static void stats(const struct window *w, uint64_t at, struct seen_stats *out) {
    const struct line_state *s = w->state;
    struct line_view view = line_view_at(s, at);
    uint64_t stored = 0, spared = 0;
    for (uint64_t ago = 0; ago <= view.live && !line_expired(s, at); ago++)
        if (view.generation - ago <= s->h.rotation.generation) {
            uint64_t held = s->held[(view.generation - ago) % LINE_RING];
            uint64_t age = at - s->h.start[(view.generation - ago) % LINE_RING];
            if (held) stats_oldest(out, age == UINT64_MAX ? 0 : age); /* -1: begins with the next */
            stored += held;
            spared += s->spared[(view.generation - ago) % LINE_RING];
        }
    double held = (double)stored / (double)s->lines;
    double turn = turned(s, at), live = (double)bits_max(1, view.live);
    double mean = held * (live + .5) / (live + turn); /* over a generation */
    /* An epoch lasts for this many generations, and one more. */
    double lasts = s->h.floor == s->h.cut ? view.live : s->steps;
    double epoch = fmin(1, ((double)view.since + turn) / (lasts + 1));
    out->stored += stored;
    out->listed += spared;
    out->saturated += s->h.lost;
    out->forgotten += s->h.forgotten;
    out->kept = bits_min(out->kept, s->h.kept);
    double right = 1 - theory_line_fp(held, mean, s->room, s->bits, epoch);
    if (flooded(s, &view)) {
        uint64_t n = bits_min(s->lines, 1024), set = 0;
        for (uint64_t i = 0; i < n; i++) {
            struct open o = open_line(&view, line_at(s, i * (s->lines / n)), 0, s->bits);
            set += bits_popcount(o.now | o.before);
        }
        right *= 1 - pow((double)set / (double)(n * LINE_CLASSES), LINE_CHAIN);
    }
    out->fp_now += (1 - right) / (double)options_get(&w->plan->spec, OPTION_SHARDS);
    out->landmarks = bits_max(out->landmarks, s->h.rotation.begun);
}

static void clear_counters(struct window *w) {
    struct line_head *h = &((struct line_state *)w->state)->h;
    h->rotation.begun = h->lost = h->forgotten = h->looked = 0;
    h->kept = SEEN_NEVER;
}

/* -- snapshot ----------------------------------------------------------------------------- */

static int save(const struct window *w, struct seen_writer out) {
    const struct line_state *s = w->state;
    if (out.write(out.ctx, &s->h, sizeof s->h)) return -1;
    return out.write(out.ctx, line_at(s, 0), s->lines * 64 + s->spares * sizeof(struct line_spare));
}

/* A snapshot does not have the counts of entries: this counts those of a line. */
static void count(struct line_state *s, const uint64_t *line) {
    uint64_t ago = line_ago(line, s->view.generation), i = 0;
    for (uint64_t map = line_map(line); map; map &= map - 1, i++) {
        uint64_t age = ago + line_age(map, i, s->live);
        if (age <= s->view.live) s->held[(s->view.generation - age) % LINE_RING]++;
    }
}

static int load_lines(struct line_state *s, struct seen_reader in, bool *fine) {
    for (uint64_t i = 0, next; i < s->lines && *fine;) {
        if (!(next = table_read(in, line_at(s, 0), i, s->lines))) return -1;
        for (; i < next && *fine; i++) {
            uint64_t map = line_map(line_at(s, i));
            uint32_t entries = bits_popcount(map);
            *fine = entries <= s->room && map >> entries >> s->live == 0;
            if (*fine) count(s, line_at(s, i));
        }
    }
    return 0;
}

static int load_spares(struct line_state *s, struct seen_reader in, bool *fine) {
    for (uint64_t i = 0; i < s->spares && *fine; i++) {
        struct line_spare *spare = &line_spares(s)[i];
        if (in.read(in.ctx, spare, sizeof *spare)) return -1;
        *fine = spare->generation <= s->h.rotation.generation;
        if (*fine && spare->generation &&
            s->h.rotation.generation - spare->generation <= s->view.live) {
            s->held[spare->generation % LINE_RING]++;
            s->spared[spare->generation % LINE_RING]++;
        }
    }
    return 0;
}

static int load(struct window *w, uint64_t at, struct seen_reader in, uint64_t limit,
                struct seen_error *e) {
    (void)limit;
    struct line_state *s = w->state;
    if (in.read(in.ctx, &s->h, sizeof s->h))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends inside its lines");
    s->view = line_view_now(s);
    line_count_none(s);
    bool fine = line_head_sane(s, at);
    if (load_lines(s, in, &fine) || load_spares(s, in, &fine))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends inside its lines");
    fine = fine && (s->h.cleared || s->h.base <= line_stored(s));
    return fine ? 0 : error_set(e, SEEN_EFORMAT, 0, "the snapshot's window does not fit its spec");
}

#define LINE(label)                                                                                \
    {                                                                                              \
        .name = label, .plan = line_plan, .size = line_size, .init = init, .observe = observe,     \
        .prefetch = prefetch, .find = find, .landmark = landmark, .stats = stats,                  \
        .clear_counters = clear_counters, .merge = line_merge, .save = save, .load = load,         \
    }

const struct window_ops aging_line = LINE("sliding");
const struct window_ops aging_line_jumping = LINE("jumping"); /* its slack is within theirs */
