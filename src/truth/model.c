#include "truth/model.h"

#include "base/bits.h"
#include "theory/bloom.h"

#include <math.h>

struct state {
    double rate, load;
};

static struct state state_of(const struct window *w, uint64_t at) {
    struct seen_stats s = {.oldest = SEEN_NEVER, .kept = SEEN_NEVER};
    w->ops->stats(w, at, &s);
    return (struct state){s.fp_now * (double)w->plan->spec.shards, (double)s.stored};
}

/* Mean of a power law through (l0, r0) and (l1, r1) between them; a load that hardly changes says
 * nothing of the power. */
static double mean_between(double l0, double r0, double l1, double r1) {
    if (r1 <= 0 || l1 <= l0 * 1.01 + 1) return (r0 + r1) / 2;
    if (r0 <= 0 || l0 <= 0) return r1 / 2; /* from an empty table: pieces are short */
    double power = log(r1 / r0) / log(l1 / l0);
    if (fabs(power + 1) < 1e-9) return r1;
    return (r1 * l1 - r0 * l0) / (power + 1) / (l1 - l0);
}

/* Where more than half of the new records are called duplicates, few are left to stand for the
 * others; then there were as many at most as there were duplicates. */
static double piece(const struct model *m, struct state now) {
    double duplicates = (double)(m->records - m->began - m->fresh);
    double odds = mean_between(m->load, m->odds, now.load, theory_odds(now.rate));
    double keys = m->fresh ? (double)m->fresh * odds : 0;
    return odds > 1 ? fmin(keys, duplicates) : keys;
}

void model_open(struct model *m, const struct window *w, uint64_t at) {
    struct state now = state_of(w, at);
    m->odds = theory_odds(now.rate);
    m->load = now.load;
    m->fresh = 0;
    m->began = m->records;
    m->until = m->records + 16 + (uint64_t)now.load / 8;
    m->worst = fmax(m->worst, now.rate);
    m->fullest = fmax(m->fullest, now.load);
}

void model_close(struct model *m, struct window *w, uint64_t at) {
    double more = piece(m, state_of(w, at));
    m->expected += more;
    if (w->ops->unnoticed && more > 0) w->ops->unnoticed(w, more);
}

double model_now(const struct model *m, const struct window *w, uint64_t at) {
    return m->expected + piece(m, state_of(w, at));
}

bool model_sane(const struct model *m) {
    return m->records < COUNT_MOST && m->until > m->records && m->until < COUNT_MOST &&
           m->began <= m->records && m->fresh <= m->records - m->began && m->odds >= 0 &&
           m->odds <= 1e6 && m->load >= 0 && m->load < 1e18 && m->expected >= 0 &&
           m->expected < 1e18 && m->worst >= 0 && m->worst <= 1 && m->fullest >= 0 &&
           m->fullest < 1e18;
}
