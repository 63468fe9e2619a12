/* control.c - the control sample: chooses keys, follows them exactly, and counts wrong verdicts. */
#include "truth/truth.h"

#include "base/base.h"
#include "base/bits.h"
#include "spec/spec.h"

#include <math.h>
#include <string.h>

#if defined __x86_64__
#include <immintrin.h>
#endif

#define RATE_LEVELS 8  /* levels that the number of records alone can reach */
#define FIRST_LEVEL 14 /* log2 of the record at which level 0 ends */

#define MAX_SLOTS   2048  /* of windows that forget keys at a time; twice as many for others */
#define SLOTS_LEAST 64    /* fewer keys are too few for an estimate */
#define BYTES_SHARE 64    /* the sample takes at most this part of a shard's bytes; ... */
#define BYTES_SMALL 32768 /* ... but shards of this size have a sample in any case */
#define GROUPS_FEW  8

/* -- which records of a batch are sampled; all instruction sets give the same places ------ */

/* Appends the places of the sampled digests among [from, to). */
ALWAYS_INLINE size_t pick_some(const seen_digest *d, size_t from, size_t to, uint64_t mask,
                               uint16_t *place, size_t m) {
    for (size_t i = from; i < to; i++) {
        place[m] = (uint16_t)i;
        m += pick_one(d[i], mask);
    }
    return m;
}

/* x - 1 has its top bit set only if x = 0, because the mask leaves the top bit out. */
static size_t pick_portable(const seen_digest *d, size_t n, uint64_t mask, uint16_t *place) {
    size_t m = 0, i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t hit = 0;
        for (size_t j = 0; j < 8; j++) hit |= ((d[i + j].lo ^ d[i + j].hi) & mask) - 1;
        if (hit >> 63) m = pick_some(d, i, i + 8, mask, place, m);
    }
    return pick_some(d, i, n, mask, place, m);
}

#if defined __x86_64__
__attribute__((target("avx2"))) static size_t pick_avx2(const seen_digest *d, size_t n,
                                                        uint64_t mask, uint16_t *place) {
    const __m256i masks = _mm256_set1_epi64x((long long)mask), zero = _mm256_setzero_si256();
    size_t m = 0, i = 0;
    for (; i + 8 <= n; i += 8) {
        __m256i hit = zero;
        for (size_t j = 0; j < 8; j += 2) {
            __m256i two = _mm256_loadu_si256((const __m256i *)(const void *)(d + i + j));
            __m256i folded = _mm256_xor_si256(two, _mm256_shuffle_epi32(two, 0x4e));
            __m256i left = _mm256_and_si256(folded, masks);
            hit = _mm256_or_si256(hit, _mm256_cmpeq_epi64(left, zero));
        }
        if (!_mm256_testz_si256(hit, hit)) m = pick_some(d, i, i + 8, mask, place, m);
    }
    return pick_some(d, i, n, mask, place, m);
}

__attribute__((target("avx512f,avx512dq"))) static inline __mmask8 sampled_of_four(
    const seen_digest *d, __m512i masks) {
    __m512i four = _mm512_loadu_si512(d);
    __m512i folded = _mm512_xor_si512(four, _mm512_shuffle_epi32(four, 0x4e));
    return _mm512_testn_epi64_mask(folded, masks);
}

__attribute__((target("avx512f,avx512dq"))) static size_t pick_avx512(const seen_digest *d,
                                                                      size_t n, uint64_t mask,
                                                                      uint16_t *place) {
    const __m512i masks = _mm512_set1_epi64((long long)mask);
    size_t m = 0, i = 0;
    for (; i + 8 <= n; i += 8)
        if (sampled_of_four(d + i, masks) | sampled_of_four(d + i + 4, masks))
            m = pick_some(d, i, i + 8, mask, place, m);
    return pick_some(d, i, n, mask, place, m);
}
#endif

static pick_fn *pick_of(uint32_t cpu) {
#if defined __x86_64__
    if (cpu >= CPU_AVX512) return pick_avx512;
    if (cpu >= CPU_AVX2) return pick_avx2;
#endif
    (void)cpu;
    return pick_portable;
}

/* -- size --------------------------------------------------------------------------------- */

static uint64_t groups_of(uint64_t slots) { return slots < 512 ? GROUPS_FEW : CONTROL_GROUPS; }

uint64_t control_bytes(uint64_t slots) {
    uint64_t tallies = groups_of(slots) * CONTROL_KINDS;
    uint64_t bytes = sizeof(struct control) + tallies * sizeof(struct control_tally) +
                     slots * sizeof(struct control_slot);
    return (bytes + 63) / 64 * 64;
}

/* Whether there can be errors that the sample measures.  With lateness= the window differs from the
 * one that the sample follows. */
static bool errs(const struct seen_plan *plan) {
    if (options_get(&plan->spec, OPTION_LATENESS)) return false;
    return !(plan->traits & SEEN_NO_FP) || plan->spec.window == SEEN_WINDOW_DECAYING ||
           options_get(&plan->spec, OPTION_OVERLOAD) == SEEN_OVERLOAD_SHRINK;
}

uint64_t control_slots(const struct seen_plan *plan, uint64_t bytes) {
    bool keeps_all =
        plan->spec.window == SEEN_WINDOW_LANDMARK || plan->spec.window == SEEN_WINDOW_DECAYING;
    uint64_t most = keeps_all ? 2 * MAX_SLOTS : MAX_SLOTS;
    uint64_t shard = bytes / options_get(&plan->spec, OPTION_SHARDS);
    if (!errs(plan) || shard < BYTES_SMALL) return 0;
    while (most > SLOTS_LEAST && control_bytes(most) > shard / BYTES_SHARE) most /= 2;
    return most;
}

/* -- places ------------------------------------------------------------------------------- */

static struct control_tally *tallies(const struct control *c, enum control_kind kind) {
    return (struct control_tally *)(uintptr_t)(c + 1) + kind * c->groups;
}

static struct control_slot *slots(const struct control *c) {
    return (struct control_slot *)(void *)tallies(c, CONTROL_KINDS);
}

void control_init(struct control *c, const struct resolved *plan, uint64_t n, uint32_t cpu) {
    const struct seen_spec *spec = &plan->spec;
    uint64_t slack = (uint64_t)ceil((double)spec->length * plan->slack - 1e-6);
    bool reduced = options_has(spec, OPTION_BITS);
    c->slots = n;
    c->groups = groups_of(n);
    c->pick = pick_of(cpu);
    c->draw = reduced || options_get(spec, OPTION_HASH) >= SEEN_HASH_INT;
    c->digests = plan->digests;
    c->bits = reduced ? options_get(spec, OPTION_BITS) : 0;
    c->first = options_get(spec, OPTION_REFRESH) == SEEN_REFRESH_FIRST;
    c->certain = spec->window == SEEN_WINDOW_DECAYING
                     ? SEEN_NEVER
                     : spec->length - (spec->unit == SEEN_UNIT_MICROSECONDS);
    c->reach = spec->window == SEEN_WINDOW_DECAYING ? SEEN_NEVER : c->certain + slack;
}

/* -- keys --------------------------------------------------------------------------------- */

static uint64_t mask_of(uint64_t level) { return (((uint64_t)1 << level) - 1) << CONTROL_SHIFT; }

/* A digest whose lo identifies the key, and whose lo ^ hi decides whether it is sampled. */
static seen_digest uniform(const struct control *c, seen_digest d) {
    if (!c->draw) return d;
    if (c->bits && c->bits < 64) d.lo &= ((uint64_t)1 << c->bits) - 1;
    if (c->bits && c->bits <= 64) d.hi = 0;
    if (c->bits > 64 && c->bits < 128) d.hi &= ((uint64_t)1 << (c->bits - 64)) - 1;
    uint64_t tag = bits_draw(d.lo, d.hi, DRAW_TAG);
    return (seen_digest){tag, tag ^ bits_draw(d.lo, d.hi, DRAW_SAMPLE)};
}

/* The same for key i of a batch, whose keys may have several digests.  Bits above bits= do not
 * count. */
static seen_digest key_at(const struct control *c, const seen_digest *d, size_t i) {
    if (c->digests == 1) return uniform(c, d[i]);
    uint64_t tag = 0, draw = 0;
    for (uint64_t w = 0; w < 2 * c->digests; w++) {
        const seen_digest *part = &d[i * c->digests + w / 2];
        uint64_t word = w % 2 ? part->hi : part->lo, above = 64 * (w + 1);
        if (above > c->bits) word = above - c->bits < 64 ? word << (above - c->bits) : 0;
        tag = bits_draw(tag ^ word, draw, DRAW_TAG);
        draw = bits_draw(tag, draw ^ word, DRAW_SAMPLE);
    }
    return (seen_digest){tag, tag ^ draw};
}

/* The tag of a key.  Its low bits decide at which level the key leaves the sample. */
static uint64_t tag_of(seen_digest d) {
    uint64_t low = ((uint64_t)1 << CONTROL_LEVELS) - 1;
    return (bits_fold(d.lo ^ BITS_GOLDEN, ~d.hi | 1) & ~low) |
           ((d.lo ^ d.hi) >> CONTROL_SHIFT & low);
}

static uint64_t place_of(const struct control *c, uint64_t tag) {
    return bits_range(tag, c->slots);
}

static uint64_t next_place(const struct control *c, uint64_t i) {
    return i + 1 == c->slots ? 0 : i + 1;
}

/* The slot of a tag, or the empty one that it would take. */
static struct control_slot *find(const struct control *c, uint64_t tag) {
    struct control_slot *s = slots(c);
    uint64_t i = place_of(c, tag);
    while (s[i].seen && s[i].tag != tag) i = next_place(c, i);
    return &s[i];
}

/* Empties slot i.  Keys behind it move up, so that every search still finds its key. */
static void drop(struct control *c, uint64_t i) {
    struct control_slot *s = slots(c);
    c->saved.used--;
    for (uint64_t j = next_place(c, i); s[j].seen; j = next_place(c, j)) {
        uint64_t home = place_of(c, s[j].tag);
        bool between = i <= j ? home > i && home <= j : home > i || home <= j;
        if (between) continue;
        s[i] = s[j];
        i = j;
    }
    s[i] = (struct control_slot){0, 0};
}

/* Empties all slots for which leaves(slot, what) holds. */
static void drop_all(struct control *c, bool (*leaves)(const struct control_slot *, uint64_t),
                     uint64_t what) {
    for (uint64_t i = 0; i < c->slots;)
        if (slots(c)[i].seen && leaves(&slots(c)[i], what))
            drop(c, i);
        else
            i++;
}

static bool leaves_sample(const struct control_slot *s, uint64_t mask) { return s->tag & mask; }
static bool leaves_window(const struct control_slot *s, uint64_t least) { return s->seen <= least; }

/* -- levels ------------------------------------------------------------------------------- */

/* Adds the tallies of this level to the sums.  Each of their records stands for `weight` records.
 */
static void settle(struct control *c) {
    double weight = exp2((double)c->saved.level), part = 1 - 1 / weight;
    for (int kind = 0; kind < CONTROL_KINDS; kind++) {
        uint64_t n = 0;
        for (uint64_t g = 0; g < c->groups; g++) {
            struct control_tally *t = &tallies(c, kind)[g];
            t->sum += weight * sqrt(part) * (double)t->now;
            n += t->now;
            t->now = 0;
        }
        c->saved.total[kind] += weight * (double)n;
        c->saved.poisson[kind] += weight * weight * part * (double)n;
        if (!c->saved.level) c->saved.certain[kind] += n;
    }
}

static void halve(struct control *c) {
    settle(c);
    drop_all(c, leaves_sample, (uint64_t)1 << c->saved.level);
    c->saved.level++;
}

/* Halves the sample as often as the number of records demands. */
static void halve_by_record(struct control *c, uint64_t record) {
    while (c->saved.level < RATE_LEVELS && record >> (FIRST_LEVEL + c->saved.level)) halve(c);
}

static bool full(const struct control *c) { return c->saved.used >= c->slots - c->slots / 8; }

/* Occurrences with clock + 1 up to this value are outside the window of a record at `at`, and
 * outside its slack. */
static uint64_t gone_by(const struct control *c, const struct window *w, uint64_t at) {
    if (w->plan->spec.window == SEEN_WINDOW_LANDMARK) return w->ops->since(w, at);
    return at - bits_min(at, c->reach);
}

static void make_room(struct control *c, const struct window *w, uint64_t at) {
    if (!full(c)) return;
    drop_all(c, leaves_window, gone_by(c, w, at));
    while (4 * c->saved.used > 3 * (c->slots - c->slots / 8) && c->saved.level < CONTROL_LEVELS)
        halve(c);
}

/* -- work --------------------------------------------------------------------------------- */

static enum control_kind judge(const struct control *c, const struct window *w, uint64_t seen,
                               uint64_t at, bool duplicate) {
    if (duplicate) return seen > gone_by(c, w, at) ? CONTROL_TRUE : CONTROL_FALSE;
    bool landmark = w->plan->spec.window == SEEN_WINDOW_LANDMARK;
    bool inside = landmark ? seen > gone_by(c, w, at) : seen && at + 1 - seen <= c->certain;
    return inside ? CONTROL_MISS : CONTROL_FRESH;
}

static void take(struct control *c, const struct window *w, uint64_t tag, uint64_t at,
                 bool duplicate) {
    struct control_slot *s = find(c, tag);
    enum control_kind kind = judge(c, w, s->seen, at, duplicate);
    tallies(c, kind)[(tag >> CONTROL_LEVELS) % c->groups].now++;
    c->saved.count[kind]++;
    if (c->first && duplicate) return;
    if (!s->seen && full(c)) return; /* no level is left */
    c->saved.used += !s->seen;
    *s = (struct control_slot){tag, at + 1};
}

static size_t pick(const struct control *c, size_t n, const seen_digest *d, uint16_t *place) {
    uint64_t mask = mask_of(c->saved.level);
    if (!c->draw) return c->pick(d, n, mask, place);
    size_t m = 0;
    for (size_t i = 0; i < n; i++) {
        place[m] = (uint16_t)i;
        m += pick_one(key_at(c, d, i), mask);
    }
    return m;
}

void control_observe(struct control *c, const struct window *w, uint64_t record, size_t n,
                     const seen_digest *d, const uint64_t *at, const uint8_t *verdict) {
    uint16_t place[DETECTOR_BATCH + 1];
    size_t m = pick(c, n, d, place);
    for (size_t j = 0; j < m; j++) {
        size_t i = place[j];
        seen_digest key = key_at(c, d, i);
        halve_by_record(c, record + i);
        make_room(c, w, at[i]);
        if (pick_one(key, mask_of(c->saved.level)))
            take(c, w, tag_of(key), at[i], verdict[i] != SEEN_NEW);
    }
    halve_by_record(c, record + n - 1);
}

void control_landmark(struct control *c) {
    memset(slots(c), 0, c->slots * sizeof(struct control_slot));
    c->saved.used = 0;
}

void control_forget(struct control *c, seen_digest d) {
    struct control_slot *s = find(c, tag_of(uniform(c, d)));
    if (s->seen) drop(c, (uint64_t)(s - slots(c)));
}

void control_clear(struct control *c) {
    memset(tallies(c, 0), 0, CONTROL_KINDS * c->groups * sizeof(struct control_tally));
    c->saved = (struct control_saved){.level = c->saved.level, .used = c->saved.used};
}

/* -- merge -------------------------------------------------------------------------------- */

void control_add(struct control *c, const struct control *from) {
    struct control_saved *s = &c->saved;
    const struct control_saved *other = &from->saved;
    settle(c);
    double weight = exp2((double)other->level), part = 1 - 1 / weight;
    for (int kind = 0; kind < CONTROL_KINDS; kind++) {
        uint64_t n = 0;
        for (uint64_t g = 0; g < c->groups; g++) {
            const struct control_tally *t = &tallies(from, kind)[g];
            tallies(c, kind)[g].sum += t->sum + weight * sqrt(part) * (double)t->now;
            n += t->now;
        }
        s->count[kind] += other->count[kind];
        s->certain[kind] += other->certain[kind] + (other->level ? 0 : n);
        s->total[kind] += other->total[kind] + weight * (double)n;
        s->poisson[kind] += other->poisson[kind] + weight * weight * part * (double)n;
    }
}

/* The clock at which a key of another sample enters.  In jumping and sliding windows it keeps its
 * age. In landmark and decaying windows it enters as if it came now. */
static uint64_t clock_there(const struct control *c, const struct window *w, uint64_t seen,
                            uint64_t from_at, uint64_t at) {
    uint32_t window = w->plan->spec.window;
    if (window == SEEN_WINDOW_LANDMARK || window == SEEN_WINDOW_DECAYING) return at;
    uint64_t age = from_at + 1 - bits_min(seen, from_at + 1);
    return age > at || age > c->reach ? SEEN_NEVER : at - age;
}

void control_enter(struct control *c, const struct window *w, uint64_t at,
                   const struct control *from, const struct window *theirs, uint64_t from_at) {
    uint64_t least = gone_by(from, theirs, from_at);
    while (c->saved.level < from->saved.level) halve(c);
    for (uint64_t i = 0; i < from->slots; i++) {
        const struct control_slot *s = &slots(from)[i];
        if (!s->seen || leaves_window(s, least)) continue;
        uint64_t clock = clock_there(c, w, s->seen, from_at, at);
        make_room(c, w, at);
        if (clock == SEEN_NEVER || s->tag & (((uint64_t)1 << c->saved.level) - 1)) continue;
        struct control_slot *mine = find(c, s->tag);
        if (!mine->seen && full(c)) continue;
        c->saved.used += !mine->seen;
        *mine = (struct control_slot){s->tag, bits_max(mine->seen, clock + 1)};
    }
}

/* -- sums --------------------------------------------------------------------------------- */

void control_sum(const struct control *c, enum control_kind kind, struct control_sum *out) {
    double weight = exp2((double)c->saved.level), part = 1 - 1 / weight;
    uint64_t n = 0;
    for (uint64_t g = 0; g < c->groups; g++) {
        const struct control_tally *t = &tallies(c, kind)[g];
        out->group[g] += t->sum + weight * sqrt(part) * (double)t->now;
        n += t->now;
    }
    out->groups = c->groups;
    out->count += (double)c->saved.count[kind];
    out->certain += (double)(c->saved.certain[kind] + (c->saved.level ? 0 : n));
    out->total += c->saved.total[kind] + weight * (double)n;
    out->poisson += c->saved.poisson[kind] + weight * weight * part * (double)n;
    out->weight = fmax(out->weight, weight);
}

uint64_t control_records(const struct control *c) {
    uint64_t n = 0;
    for (int kind = 0; kind < CONTROL_KINDS; kind++) n += c->saved.count[kind];
    return n;
}

/* -- snapshot ----------------------------------------------------------------------------- */

#define CHUNK 4096 /* bytes written at once; a reader in pieces never waits for more */

/* The bytes of tallies and slots, which lie side by side. */
static uint64_t bytes_behind(const struct control *c) {
    return CONTROL_KINDS * c->groups * sizeof(struct control_tally) +
           c->slots * sizeof(struct control_slot);
}

int control_save(const struct control *c, struct seen_writer out) {
    const char *bytes = (const char *)tallies(c, 0);
    uint64_t end = bytes_behind(c);
    int bad = out.write(out.ctx, &c->saved, sizeof c->saved);
    for (uint64_t done = 0; done < end && !bad; done += CHUNK)
        bad = out.write(out.ctx, bytes + done, bits_min(CHUNK, end - done));
    return bad;
}

static bool sane_sum(double x) { return isfinite(x) && x >= 0 && x < 1e30; }

/* Whether a search finds every key in its slot, and every key belongs to the sample of this level.
 */
static bool sane_slots(const struct control *c, uint64_t at) {
    uint64_t used = 0, mask = ((uint64_t)1 << c->saved.level) - 1;
    if (c->saved.used >= c->slots) return false;
    for (uint64_t i = 0; i < c->slots; i++) used += slots(c)[i].seen != 0;
    if (used != c->saved.used) return false; /* now each search ends at an empty slot */
    for (uint64_t i = 0; i < c->slots; i++) {
        const struct control_slot *s = &slots(c)[i];
        if (s->seen && (s->seen > at + 1 || s->tag & mask || find(c, s->tag) != s)) return false;
    }
    return true;
}

int control_load(struct control *c, uint64_t at, struct seen_reader in, struct seen_error *e) {
    char *bytes = (char *)tallies(c, 0);
    uint64_t end = bytes_behind(c);
    int bad = in.read(in.ctx, &c->saved, sizeof c->saved);
    for (uint64_t done = 0; done < end && !bad; done += CHUNK)
        bad = in.read(in.ctx, bytes + done, bits_min(CHUNK, end - done));
    if (bad) return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends inside its control sample");
    const struct control_saved *s = &c->saved;
    bool fine = s->level <= CONTROL_LEVELS;
    for (int kind = 0; kind < CONTROL_KINDS; kind++) {
        fine = fine && s->count[kind] < MAX_COUNT && s->certain[kind] <= s->count[kind] &&
               sane_sum(s->total[kind]) && sane_sum(s->poisson[kind]);
        for (uint64_t g = 0; g < c->groups; g++) {
            const struct control_tally *t = &tallies(c, kind)[g];
            fine = fine && t->now <= s->count[kind] && sane_sum(t->sum);
        }
    }
    if (!fine || !sane_slots(c, at))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot's control sample makes no sense");
    return 0;
}
