/* stamps.c - plans and advances clocks that wrap around. */
#include "sliding/stamps.h"

#include "base/base.h"
#include "plan/plan.h"
#include "spec/spec.h"

#define TICKS 1024

/* -- planning ----------------------------------------------------------------------------- */

static uint64_t unit_of(const struct seen_spec *spec) {
    return spec->unit == SEEN_UNIT_MICROSECONDS
               ? bits_ceil_div(spec->length, options_get(spec, OPTION_TICKS))
               : 1;
}

/* Ages in ticks up to which a key may be inside the window. */
static uint64_t reach_of(const struct seen_spec *spec) {
    uint64_t unit = unit_of(spec);
    if (spec->unit != SEEN_UNIT_MICROSECONDS) return spec->length;
    return unit == 1 ? spec->length - 1 : (spec->length - 1) / unit + 1;
}

static uint64_t jump_of(const struct seen_spec *spec) {
    bool steady = spec->unit == SEEN_UNIT_RECORDS && options_get(spec, OPTION_SHARDS) == 1;
    return steady ? 1 : bits_max(1, reach_of(spec));
}

static uint64_t range_of(uint64_t bits) { return ((uint64_t)1 << bits) - 1; }

/* The fewest bits of a stamp that leave `cycle` ticks to sweep the table in. */
static uint64_t bits_for(const struct seen_spec *spec, uint64_t cycle) {
    uint64_t bits = 2, least = reach_of(spec) + jump_of(spec) + cycle;
    while (range_of(bits) < least) bits++;
    return bits;
}

/* By default the fewest bits with which a tick sweeps a cell a probe or so, of a small window a
 * 2^15th of the table; where the clock jumps, one call sweeps a 512th of it at most.  On request
 * fewer: where the clock does not jump, down to one tick for the whole table. */
static int choose_stamp(struct seen_plan *plan, struct seen_error *e) {
    struct seen_spec *spec = &plan->spec;
    uint64_t reach = reach_of(spec);
    bool steady = jump_of(spec) == 1;
    if (reach > (uint64_t)1 << 46)
        return error_set(e, SEEN_EREFUSED, 0,
                         "filter=%s cannot stamp so long a window; use filter=exact", plan->filter);
    uint64_t bits = bits_for(spec, bits_max(steady ? reach : reach * 512, 1 << 15));
    uint64_t least = bits_for(spec, steady ? 1 : bits_max(reach * 32, 1 << 11));
    if (!options_has(spec, OPTION_STAMP)) options_assume(spec, OPTION_STAMP, bits);
    if (options_get(spec, OPTION_STAMP) < least || options_get(spec, OPTION_STAMP) > STAMPS_MAX)
        return error_set(
            e, SEEN_EREFUSED, 0,
            "stamp=%llu: filter=%s sweeps old stamps out before they come round again, "
            "for which this window takes stamp=%llu to %d; left out, it is %llu",
            (unsigned long long)options_get(spec, OPTION_STAMP), plan->filter,
            (unsigned long long)least, STAMPS_MAX, (unsigned long long)bits);
    options_mark(spec, OPTION_STAMP);
    return 0;
}

int stamps_plan(struct seen_plan *plan, uint32_t does, struct seen_error *e) {
    struct seen_spec *spec = &plan->spec;
    int bad = plan_sliding(plan, does, e);
    if (bad) return bad;
    if (spec->unit != SEEN_UNIT_MICROSECONDS && options_has(spec, OPTION_TICKS))
        return error_set(e, SEEN_EREFUSED, 0,
                         "ticks= cuts windows of time, and this window counts records");
    if (spec->unit == SEEN_UNIT_MICROSECONDS) {
        if (!options_has(spec, OPTION_TICKS)) options_set(spec, OPTION_TICKS, TICKS);
        uint64_t reach = reach_of(spec), unit = unit_of(spec);
        if (unit > 1) plan->slack = (double)((reach + 1) * unit) / (double)spec->length - 1;
    }
    return choose_stamp(plan, e);
}

double stamps_swept(const struct seen_spec *spec) {
    return 1 / (double)(range_of(options_get(spec, OPTION_STAMP)) - reach_of(spec) - jump_of(spec));
}

/* -- life --------------------------------------------------------------------------------- */

void stamps_init(struct stamps *s, const struct seen_spec *spec, uint64_t cells) {
    s->unit = unit_of(spec);
    s->reach = reach_of(spec);
    s->range = range_of(options_get(spec, OPTION_STAMP));
    s->cycle = s->range - s->reach - jump_of(spec);
    s->cells = cells;
    while (s->reach >> s->shift >= STAMPS_BUCKETS / 2) s->shift++;
    s->h.cleared = 1;
}

bool stamps_sane(const struct stamps *s, uint64_t at) {
    const struct stamps_head *h = &s->h;
    return h->clock < MAX_COUNT && h->floor <= h->clock && h->last <= at / s->unit &&
           h->cleared <= 1 && h->cursor < s->cells && h->owed < s->cycle;
}

double stamps_live(const struct stamps *s, uint64_t reach) {
    uint64_t width = (uint64_t)1 << s->shift, young = 0, old = s->h.clock & (width - 1);
    double sum = 0;
    for (uint64_t ago = 0; ago < STAMPS_BUCKETS && young <= reach; ago++) {
        double part = old <= reach ? 1 : (double)(reach - young + 1) / (double)(old - young + 1);
        sum += part * (double)s->stamped[((s->h.clock >> s->shift) - ago) % STAMPS_BUCKETS];
        young = old + 1;
        old += width;
    }
    return sum;
}

double stamps_live_ahead(const struct stamps *s, uint64_t ahead) {
    return s->h.cleared || ahead > s->reach ? 0 : stamps_live(s, s->reach - ahead);
}

/* -- the clock ---------------------------------------------------------------------------- */

bool stamps_expired(const struct stamps *s, uint64_t tick) {
    return s->h.cleared || tick - s->h.last > s->reach;
}

static uint64_t due(struct stamps *s, uint64_t ticks) {
    bits_u128 all = (bits_u128)ticks * s->cells + s->h.owed;
    uint64_t n = all >> 64 ? (uint64_t)(all / s->cycle) : (uint64_t)all / s->cycle;
    s->h.owed = (uint64_t)(all - (bits_u128)n * s->cycle);
    return bits_min(n, s->cells);
}

uint64_t stamps_advance(struct stamps *s, uint64_t tick) {
    bool expired = stamps_expired(s, tick);
    uint64_t ahead = expired ? 1 : tick - s->h.last, from = s->h.clock >> s->shift;
    s->h.last = tick;
    s->h.clock += ahead;
    s->phase += ahead;
    if (s->phase >= s->range) s->phase -= s->range;
    for (uint64_t b = s->h.clock >> s->shift; b > from; b--) s->stamped[b % STAMPS_BUCKETS] = 0;
    if (expired) {
        s->h.floor = s->h.clock;
        s->h.cleared = 0;
        memset(s->stamped, 0, sizeof s->stamped);
    }
    return ahead ? due(s, ahead) : 0;
}

uint64_t stamps_age_at(const struct stamps *s, uint64_t age, uint64_t at) {
    if (s->h.last < age) return at;                     /* such stamps are forged */
    uint64_t end = (s->h.last - age + 1) * s->unit - 1; /* of the tick it was seen in */
    return at > end ? at - end : 0;
}
