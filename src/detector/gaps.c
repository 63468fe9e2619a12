/* gaps - learns the distances between repeats of keys from a sample of a stream.
 *
 * Idea       Keys stand in a log in the order of their last use.  A record of a key that is there
 *            shows how many records came since, and how many keys stand behind it: its LRU stack
 *            distance, counted by a Fenwick tree over the log.  The key moves to the end.
 * Memory     Fixed.  When keys fill half of the log, only every second key is followed from then
 *            on, chosen by its digest; later every fourth, and so on.  Each then stands for 2, 4, …
 *            keys.
 * Papers     Stack distances: Mattson, Gecsei, Slutz, Traiger 1970; by a tree: Bennett, Kruskal
 *            1975; of sampled keys: Waldspurger, Park, Garthwaite, Ahmad, FAST 2015 (SHARDS).
 * Layout     One block:
 *
 *            | struct seen_gaps | entry[places] | alive: a bit a place | tree | index[2 places] |
 *              log:    a  -  c  d  b  b is used last; its old place is dead
 *              tree:   live places in each 64, as sums (Fenwick 1994)
 *              index:  digest -> place + 1, 0 empty, linear probing
 *
 *            A full log is squeezed: dead places are removed, and keys that are no longer followed.
 * Example    a b c b a: between the two b lie 1 record and 1 key, between the two a 3 records and 2
 *            keys.
 * Cost       log2(places/64) steps a record; a squeeze every places/2 records at most. */
#include "theory/gaps.h"
#include "base/base.h"
#include "detector/block.h"
#include "plan/plan.h"
#include "seen_gaps.h"
#include "spec/spec.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { MEM_LEAST = 2 << 20, MAX_HALVINGS = 62 };

struct entry {
    seen_digest key;
    uint64_t at : 48;     /* number of the record that used it last */
    uint64_t before : 16; /* its gap then, of GAP_PAIRED */
};

struct seen_gaps {
    struct seen_allocator alloc;
    uint64_t bytes, places;
    uint64_t used, live; /* places in use; places with a key */
    uint64_t records;
    uint32_t halvings; /* one key of 2^halvings is followed */
    uint64_t alive_at, tree_at, index_at;
    double decade[GAP_DECADES];
    struct gap_counts counts;
    struct entry log[];
};

static uint64_t *alive(const seen_gaps *g) { return (uint64_t *)((uintptr_t)g + g->alive_at); }
static uint32_t *tree(const seen_gaps *g) { return (uint32_t *)((uintptr_t)g + g->tree_at); }
static uint32_t *table(const seen_gaps *g) { return (uint32_t *)((uintptr_t)g + g->index_at); }

/* -- life --------------------------------------------------------------------------------- */

static uint64_t bytes_of(uint64_t places) {
    return sizeof(seen_gaps) + places * (sizeof(struct entry) + 8) + places / 64 * 12;
}

/* The number of places that fit into `mem` bytes, a multiple of 64 and at most 2^31. */
static uint64_t places_in(uint64_t mem) {
    uint64_t fixed = bytes_of(0), a_word = bytes_of(64) - fixed;
    uint64_t words = mem > fixed ? (mem - fixed) / a_word : 0;
    return bits_min(words, (uint64_t)1 << 25) * 64;
}

int seen_gaps_new(seen_gaps **out, uint64_t mem, const struct seen_allocator *alloc,
                  struct seen_error *e) {
    uint64_t places = places_in(mem);
    *out = NULL;
    if (mem < (uint64_t)MEM_LEAST)
        return error_set(e, SEEN_EREFUSED, 0, "to learn gaps takes 2MiB of memory at least");
    if (!alloc) alloc = &alloc_default;
    seen_gaps *g = alloc->zalloc(alloc->ctx, bytes_of(places));
    if (!g)
        return error_set(e, SEEN_ENOMEM, 0, "no memory for %llu keys of the sample",
                         (unsigned long long)places / 2);
    g->alloc = *alloc;
    g->bytes = bytes_of(places);
    g->places = places;
    g->alive_at = sizeof *g + places * sizeof(struct entry);
    g->tree_at = g->alive_at + places / 64 * 8;
    g->index_at = g->tree_at + places / 64 * 4;
    *out = g;
    return 0;
}

void seen_gaps_free(seen_gaps *g) {
    if (!g) return;
    struct seen_allocator alloc = g->alloc;
    alloc.free(alloc.ctx, g, g->bytes);
}

/* -- the log: which places are live ------------------------------------------------------- */

static void count_word(const seen_gaps *g, uint64_t word, uint32_t change) {
    for (uint64_t i = word + 1; i <= g->places / 64; i += i & -i) tree(g)[i - 1] += change;
}

static void enliven(const seen_gaps *g, uint64_t place) {
    alive(g)[place / 64] |= (uint64_t)1 << place % 64;
    count_word(g, place / 64, 1);
}

static void kill(const seen_gaps *g, uint64_t place) {
    alive(g)[place / 64] &= ~((uint64_t)1 << place % 64);
    count_word(g, place / 64, UINT32_MAX);
}

/* The number of live places up to and including this one. */
static uint64_t live_to(const seen_gaps *g, uint64_t place) {
    uint64_t sum = bits_popcount(alive(g)[place / 64] << (63 - place % 64));
    for (uint64_t i = place / 64; i; i &= i - 1) sum += tree(g)[i - 1];
    return sum;
}

/* -- the index ---------------------------------------------------------------------------- */

static bool is_followed(const seen_gaps *g, seen_digest d) {
    return !g->halvings || !(bits_draw(d.lo, d.hi, DRAW_PICK) >> (64 - g->halvings));
}

/* The slot of a key, or the empty slot that it would get. */
static uint32_t *probe(const seen_gaps *g, seen_digest d) {
    uint32_t *index = table(g);
    uint64_t slots = 2 * g->places, i = bits_range(bits_draw(d.lo, d.hi, DRAW_HOME), slots);
    for (; index[i]; i = i + 1 < slots ? i + 1 : 0) {
        const struct entry *entry = &g->log[index[i] - 1];
        if (entry->key.lo == d.lo && entry->key.hi == d.hi) break;
    }
    return &index[i];
}

static void append(seen_gaps *g, uint32_t *slot, struct entry entry) {
    g->log[g->used] = entry;
    enliven(g, g->used);
    *slot = (uint32_t)++g->used;
}

/* Removes dead places, and keys that are no longer followed. */
static void squeeze(seen_gaps *g) {
    uint64_t used = g->used;
    if (g->live > g->places / 2 && g->halvings < MAX_HALVINGS) g->halvings++;
    memset(table(g), 0, 2 * g->places * sizeof *table(g));
    memset(tree(g), 0, g->places / 64 * sizeof *tree(g));
    g->used = g->live = 0;
    for (uint64_t i = 0; i < used; i++) {
        bool was = alive(g)[i / 64] >> i % 64 & 1;
        alive(g)[i / 64] &= ~((uint64_t)1 << i % 64);
        if (!was || !is_followed(g, g->log[i].key)) continue;
        append(g, probe(g, g->log[i].key), g->log[i]);
        g->live++;
    }
}

/* -- work --------------------------------------------------------------------------------- */

static void count_repeat(seen_gaps *g, size_t before, uint64_t between, uint64_t depth) {
    double weight = ldexp(1, (int)g->halvings);
    uint32_t decade = 0;
    depth = bits_min(depth << g->halvings, between);
    g->counts.repeats[gap_bucket(between)][gap_bucket(depth)] += weight;
    g->counts.pairs[before][gap_paired(gap_bucket(between))] += weight;
    for (uint64_t ago = between + 1; ago >= 10 && decade < GAP_DECADES - 1; ago /= 10) decade++;
    g->decade[decade] += weight;
}

static void add(seen_gaps *g, seen_digest d, uint64_t at) {
    while (is_followed(g, d) && g->used == g->places) squeeze(g);
    if (!is_followed(g, d)) return;
    uint32_t *slot = probe(g, d);
    size_t gap = 0;
    if (*slot) {
        uint64_t place = *slot - 1, between = at - g->log[place].at - 1;
        count_repeat(g, g->log[place].before, between, g->live - live_to(g, place));
        gap = gap_paired(gap_bucket(between));
        kill(g, place);
    } else {
        g->counts.first[gap_bucket(at)] += ldexp(1, (int)g->halvings);
        g->live++;
    }
    append(g, slot, (struct entry){d, at & UINT64_C(0xffffffffffff), gap & UINT16_MAX});
}

void seen_gaps_add(seen_gaps *g, size_t n, const seen_digest *digest) {
    for (size_t i = 0; i < n; i++) add(g, digest[i], g->records + i);
    g->records += n;
    g->counts.records = (double)g->records;
}

/* -- what was learnt ---------------------------------------------------------------------- */

const struct gap_counts *sample_counts(const seen_gaps *g) { return &g->counts; }

void seen_gaps_stats(const seen_gaps *g, struct seen_gaps_stats *out) {
    struct gap_law law;
    memset(out, 0, sizeof *out);
    gap_law_make(&law, &g->counts, INFINITY);
    out->records = g->records;
    for (size_t b = 0; b < GAP_BUCKETS; b++) out->keys += g->counts.first[b];
    for (size_t i = 0; i < GAP_DECADES; i++) out->repeats += out->decade[i] = g->decade[i];
    double surplus = out->repeats + out->keys - (double)g->records;
    gap_law_absorb(out->decade, GAP_DECADES, surplus);
    out->repeats = fmax(0, out->repeats - surplus);
    out->followed = ldexp(1, -(int)g->halvings);
    out->reach = (uint64_t)law.reach;
    out->within = law.within;
    out->bytes = g->bytes;
}

/* -- plans for a sample ------------------------------------------------------------------- */

/* Decaying windows for a stream whose gaps are known: [DR06] 4.1.  Each structure lists the
 * geometries worth trying.  Each of these is planned as if the user had asked for it, and its
 * errors are predicted for the sample. */

#define SAME 1e-6 /* rates of false negatives that differ by less count as equal */

static int check(const struct seen_spec *spec, struct seen_error *e) {
    if (spec->window != SEEN_WINDOW_DECAYING)
        return error_set(e, SEEN_EREFUSED, 0,
                         "a sample serves decaying windows, which forget by gaps; give decaying");
    if (options_get(spec, OPTION_REFRESH) == SEEN_REFRESH_FIRST)
        return error_set(e, SEEN_EREFUSED, 0,
                         "what a sample predicts holds for refresh=last; leave refresh=first out");
    return 0;
}

static int check_asked(const struct seen_spec *asked, struct seen_error *e) {
    if (options_has(asked, OPTION_ITEMS))
        return error_set(e, SEEN_EREFUSED, 0,
                         "a sample says itself how far back to reach; give mem= instead of items=");
    if (options_has(asked, OPTION_GAP_MAX))
        return error_set(e, SEEN_EREFUSED, 0,
                         "a sample says itself how far apart repeats are; leave gap-max= out");
    return check(asked, e);
}

/* The errors that the structure of a plan predicts, cut to 0 … 1. */
static struct forecast forecast_of(const struct seen_plan *plan, const struct gap_law *law) {
    struct registry_choice c;
    registry_pick(SEEN_WINDOW_DECAYING, plan->filter, 0, &c);
    struct forecast f = c.ops->forecast(plan, law);
    return (struct forecast){fmin(1, fmax(0, f.fp)), fmin(1, fmax(0, f.fn))};
}

int seen_gaps_predict(const seen_gaps *g, const struct seen_plan *plan, uint64_t run, double *fp,
                      double *fn, struct seen_error *e) {
    struct gap_law law;
    int bad = check(&plan->spec, e);
    if (bad) return bad;
    gap_law_make(&law, sample_counts(g), run ? (double)run : INFINITY);
    struct forecast f = forecast_of(plan, &law);
    *fp = f.fp;
    *fn = f.fn;
    return 0;
}

/* -- the best ----------------------------------------------------------------------------- */

static bool misses_fp(const struct seen_plan *plan) {
    double allowed = options_real(&plan->asked, OPTION_FP) > 0
                         ? options_real(&plan->asked, OPTION_FP)
                         : PLAN_FP_DEFAULT;
    return plan->fp_full > allowed * 1.001;
}

static bool better(const struct seen_plan *a, const struct seen_plan *b) {
    bool a_special = a->traits & SEEN_ON_REQUEST, b_special = b->traits & SEEN_ON_REQUEST;
    if (a_special != b_special) return b_special;
    if (misses_fp(a) != misses_fp(b)) return misses_fp(b);
    if (fabs(a->fn - b->fn) > SAME) return a->fn < b->fn;
    return a->touches != b->touches ? a->touches < b->touches : a->bytes < b->bytes;
}

static int plan_variant(struct seen_plan *plan, const struct seen_spec *spec,
                        const struct registry_choice *c, const struct gap_law *law,
                        struct seen_error *e) {
    int bad = planner_choice(plan, spec, c, e);
    if (bad) return bad;
    struct forecast f = forecast_of(plan, law);
    plan->fp_mean = f.fp;
    plan->fn = f.fn;
    return 0;
}

/* Plans the variants of one structure, and keeps the best.  best->asked then names the structure.
 */
static int best_variant(struct seen_plan *best, const struct seen_spec *asked,
                        const struct registry_choice *c, const struct gap_law *law,
                        struct seen_error *e) {
    struct seen_plan plan;
    struct seen_spec spec = *asked;
    int bad = plan_variant(best, asked, c, law, e);
    if (bad) return bad;
    bool any = false;
    for (size_t i = 0; c->ops->variant && c->ops->variant(&spec, i); i++, spec = *asked) {
        if (plan_variant(&plan, &spec, c, law, NULL)) continue;
        if (!any || better(&plan, best)) *best = plan;
        any = true;
    }
    options_set_name(&best->asked, OPTION_FILTER, c->name);
    return 0;
}

int seen_gaps_plan(const seen_gaps *g, const struct seen_spec *asked, struct seen_plan *plans,
                   size_t cap, struct seen_error *e) {
    struct registry_choice c;
    struct seen_plan plan;
    struct gap_law law;
    size_t n = 0, refused = 0;
    int bad = check_asked(asked, e);
    if (bad) return bad;
    gap_law_make(&law, sample_counts(g), INFINITY);
    for (size_t i = 0;
         registry_pick(SEEN_WINDOW_DECAYING, options_name(asked, OPTION_FILTER), i, &c); i++) {
        if (best_variant(&plan, asked, &c, &law, refused ? NULL : e)) {
            refused++;
            continue;
        }
        n = planner_insert(plans, n, cap, &plan, better);
    }
    if (!n)
        return *options_name(asked, OPTION_FILTER) && e ? e->code : advise_refuse(asked, NULL, e);
    snprintf(plans[0].reason, sizeof plans[0].reason,
             *options_name(asked, OPTION_FILTER)
                 ? "asked for by name"
                 : "misses the fewest repeats of a stream like the sample at this fp=");
    return (int)n;
}
