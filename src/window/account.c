#include "window/account.h"

#include "bits.h"
#include "plan/theory.h"

#include <math.h>

/* Rates with `load` keys in the current generation. */
struct rates {
    double share; /* part of the false duplicates that is its own */
    double odds;  /* p/(1-p) of all generations, above that of the full ones alone */
};

double account_rate(const struct filter *f, uint64_t load) {
    return load ? f->ops->fp(&f->shape, (double)load) : 0;
}

static struct rates rates_at(const struct account *a, const struct filter *f,
                             struct account_load load) {
    double mine = account_rate(f, load.all), all = mine + a->others - mine * a->others;
    double own = load.own == load.all ? mine : account_rate(f, load.own);
    return (struct rates){all > 0 ? own / all : 0, theory_odds(all) - theory_odds(a->others)};
}

static struct account_load plus(struct account_load load, uint64_t keys) {
    return (struct account_load){load.own + keys, load.all + keys};
}

static uint64_t halfway(uint64_t from, uint64_t to) {
    return to > from ? from + (to - from) / 2 : to;
}

/* Area under a power law through (l0, r0) and (l1, r1). */
static double power_area(double l0, double r0, double l1, double r1) {
    double power = log(r1 / r0) / log(l1 / l0);
    return fabs(power + 1) < 1e-9 ? r1 * (l1 - l0) : (r1 * l1 - r0 * l0) / (power + 1);
}

/* Mean odds from the piece's begin to `load`, where they are `odds`: two power laws, met halfway.
 */
static double mean_odds(const struct account *a, const struct filter *f, struct account_load load,
                        double odds) {
    struct account_load half = {halfway(a->saved.from.own, load.own),
                                halfway(a->saved.from.all, load.all)};
    double l0 = (double)a->saved.from.all, l = (double)half.all, l1 = (double)load.all;
    double middle = rates_at(a, f, half).odds;
    if (l <= l0 || l1 <= l || middle <= 0) return odds;
    double latter = power_area(l, middle, l1, odds), former;
    if (l0 > 0 && a->saved.odds > 0)
        former = power_area(l0, a->saved.odds, l, middle);
    else /* from an empty filter: the latter's power */
        former = middle * l / (1 + fmax(0, log(odds / middle) / log(l1 / l)));
    return (former + latter) / (l1 - l0);
}

struct account_sum account_now(const struct account *a, const struct filter *f,
                               struct account_load load) {
    struct account_sum sum = a->saved.sum;
    double piece = 0, own = 0;
    for (int pass = 0; a->saved.fresh && pass < 2; pass++) {
        struct account_load keys = plus(load, (uint64_t)own);
        struct rates r = rates_at(a, f, keys);
        piece = (double)a->saved.fresh * (theory_odds(a->others) + mean_odds(a, f, keys, r.odds));
        own = piece * r.share;
        if (own < 1e-3 * (double)load.own) break; /* too few to change the rate */
    }
    sum.expected += piece;
    sum.unnoticed += own;
    return sum;
}

void account_open(struct account *a, const struct filter *f, struct account_load load) {
    a->saved.from = load;
    a->saved.until = load.own + load.own / 4 + f->shape.lines + 16;
    a->saved.odds = rates_at(a, f, load).odds;
    a->saved.fresh = 0;
}

uint64_t account_close(struct account *a, const struct filter *f, struct account_load load) {
    a->saved.sum = account_now(a, f, load);
    double whole = floor(a->saved.sum.unnoticed);
    a->saved.sum.unnoticed -= whole;
    a->saved.fresh = 0;
    return (uint64_t)whole;
}

#define FRESH_MOST ((uint64_t)1 << 40)

bool account_sane(const struct account_saved *a, struct account_load now) {
    return isfinite(a->sum.expected) && a->sum.expected >= 0 && a->sum.unnoticed >= 0 &&
           a->sum.unnoticed < 1e15 && a->odds >= 0 && a->odds <= 1e6 && a->from.own <= now.own &&
           a->from.all <= now.all && a->from.own <= a->from.all && a->until < COUNT_MOST &&
           a->fresh < FRESH_MOST;
}
