/* recent.c - the work that lru and second-chance share. */
#include "decaying/recent.h"

#include "base/base.h"
#include "plan/plan.h"
#include "spec/spec.h"
#include "theory/decaying.h"

#include <math.h>
#include <string.h>

/* -- planning ----------------------------------------------------------------------------- */

static double reach_of(uint64_t lines, uint64_t slot) { return (double)(lines * 64 / slot); }
static double reach_25(const struct seen_spec *s, uint64_t lines) {
    (void)s;
    return reach_of(lines, 25);
}
static double reach_32(const struct seen_spec *s, uint64_t lines) {
    (void)s;
    return reach_of(lines, 32);
}

int recent_plan(struct seen_plan *plan, uint64_t slot, struct seen_error *e) {
    struct decaying d = {sizeof(struct buffer), 1, slot == 25 ? reach_25 : reach_32,
                         detector_fixed};
    struct seen_spec *spec = &plan->spec;
    int bad = decaying_settle(plan, e);
    if (!bad) bad = decaying_lines(plan, &d, e);
    if (bad) return bad;
    uint64_t room = options_get(spec, OPTION_BLOCKS) * 64 / slot;
    if (room > BUFFER_MAX)
        return error_set(e, SEEN_EREFUSED, 0,
                         "filter=%s keeps 2^31 keys a shard at most; give shards=%llu or more",
                         plan->filter,
                         (unsigned long long)(options_get(spec, OPTION_SHARDS) *
                                              bits_ceil_div(room, BUFFER_MAX)));
    plan->traits = SEEN_NO_FP | SEEN_DELETABLE | SEEN_ANY_DIGEST | SEEN_NO_AGES;
    plan->capacity = room * options_get(spec, OPTION_SHARDS);
    plan->fp_full = plan->fp_mean = ldexp((double)room, -128);
    plan->fn = theory_buffer_fn_spread((double)room, decaying_gaps(spec));
    return 0;
}

struct forecast recent_forecast(const struct seen_plan *plan, const struct gap_law *law) {
    return (struct forecast){plan->fp_full, gap_law_deeper(law, (double)plan->capacity)};
}

/* -- the window --------------------------------------------------------------------------- */

uint64_t recent_size(const struct seen_spec *spec) {
    return sizeof(struct buffer) + options_get(spec, OPTION_BLOCKS) * 64;
}

void recent_init(struct window *w) {
    struct buffer *b = w->state;
    b->room = w->plan->capacity / options_get(&w->plan->spec, OPTION_SHARDS);
}

/* No times are kept, so the age of a key that is held is given as 1, the least. */
void recent_ages(const struct window *w, size_t n, const seen_digest *d, uint64_t at,
                 uint64_t *age) {
    (void)at;
    const struct buffer *b = w->state;
    for (size_t i = 0; i < n; i++) age[i] = buffer_find(b, d[i]) != BUFFER_NONE ? 1 : SEEN_NEVER;
}

void recent_landmark(struct window *w, uint64_t at) {
    (void)at;
    struct buffer *b = w->state;
    if (!b->used) return;
    b->landmarks++;
    b->used = b->vacant = 0;
    memset(b->own, 0, sizeof b->own);
}

size_t recent_forget(struct window *w, size_t n, const seen_digest *d,
                     void (*vacate)(struct buffer *, uint32_t slot)) {
    struct buffer *b = w->state;
    size_t gone = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t slot = buffer_find(b, d[i]);
        if (slot == BUFFER_NONE) continue;
        buffer_take(b, slot);
        vacate(b, slot);
        b->vacant++;
        gone++;
    }
    return gone;
}

void recent_stats(const struct window *w, uint64_t at, struct seen_stats *out) {
    (void)at;
    const struct buffer *b = w->state;
    out->stored += b->used - b->vacant;
    out->landmarks = bits_max(out->landmarks, b->landmarks);
}

void recent_clear_counters(struct window *w) { ((struct buffer *)w->state)->landmarks = 0; }

/* -- snapshots ---------------------------------------------------------------------------- */

int recent_save_rest(struct recent_chunk *c) {
    size_t n = c->n;
    c->n = 0;
    return n ? c->out.write(c->out.ctx, c->digest, n * sizeof *c->digest) : 0;
}

int recent_save_key(struct recent_chunk *c, seen_digest d) {
    c->digest[c->n++] = d;
    return c->n < RECENT_CHUNK ? 0 : recent_save_rest(c);
}

int recent_load_slot(struct buffer *b, bool vacant, struct seen_reader in, struct seen_error *e) {
    seen_digest d;
    if (in.read(in.ctx, &d, sizeof d))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends inside its table");
    b->vacant += vacant;
    if (!vacant && !buffer_load(b, (uint32_t)b->used, d))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot holds a key twice");
    b->used++;
    return 0;
}
