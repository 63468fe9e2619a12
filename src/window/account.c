#include "window/account.h"

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

static struct rates rates_at(const struct account *a, const struct filter *f, uint64_t load) {
    double own = account_rate(f, load), all = own + a->others - own * a->others;
    return (struct rates){all > 0 ? own / all : 0, theory_odds(all) - theory_odds(a->others)};
}

/* Area under a power law through (l0, r0) and (l1, r1). */
static double power_area(double l0, double r0, double l1, double r1) {
    double power = log(r1 / r0) / log(l1 / l0);
    return fabs(power + 1) < 1e-9 ? r1 * (l1 - l0) : (r1 * l1 - r0 * l0) / (power + 1);
}

/* Mean odds from the piece's begin to `load`, where they are `odds`: two power laws, met halfway.
 */
static double mean_odds(const struct account *a, const struct filter *f, uint64_t load,
                        double odds) {
    uint64_t half = a->from + (load - a->from) / 2;
    double l0 = (double)a->from, l = (double)half, l1 = (double)load;
    double middle = rates_at(a, f, half).odds;
    if (half <= a->from || middle <= 0) return odds;
    double latter = power_area(l, middle, l1, odds), former;
    if (l0 > 0 && a->odds > 0)
        former = power_area(l0, a->odds, l, middle);
    else /* from an empty filter: the latter's power */
        former = middle * l / (1 + fmax(0, log(odds / middle) / log(l1 / l)));
    return (former + latter) / (l1 - l0);
}

struct account_sum account_now(const struct account *a, const struct filter *f, uint64_t load) {
    struct account_sum sum = a->sum;
    double piece = 0, own = 0;
    for (int pass = 0; a->fresh && pass < 2; pass++) {
        uint64_t keys = load + (uint64_t)own;
        struct rates r = rates_at(a, f, keys);
        piece = (double)a->fresh * (theory_odds(a->others) + mean_odds(a, f, keys, r.odds));
        own = piece * r.share;
        if (own < 1e-3 * (double)load) break; /* too few to change the rate */
    }
    sum.expected += piece;
    sum.unnoticed += own;
    return sum;
}

void account_open(struct account *a, const struct filter *f, uint64_t load) {
    a->from = load;
    a->until = load + load / 4 + f->shape.lines + 16;
    a->odds = rates_at(a, f, load).odds;
    a->fresh = 0;
}

uint64_t account_close(struct account *a, const struct filter *f, uint64_t load) {
    a->sum = account_now(a, f, load);
    double whole = floor(a->sum.unnoticed);
    a->sum.unnoticed -= whole;
    a->fresh = 0;
    return (uint64_t)whole;
}
