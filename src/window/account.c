#include "window/account.h"

#include <math.h>

/* Rates with `load` keys in the current generation: its own, and with the others as odds. */
struct rates {
    double own, share, odds; /* share: part of the false duplicates that is its own */
};

double account_rate(const struct filter *f, uint64_t load) {
    return load ? f->ops->fp(&f->shape, (double)load) : 0;
}

static struct rates rates_at(const struct account *a, const struct filter *f, uint64_t load) {
    double own = account_rate(f, load), all = own + a->others - own * a->others;
    return (struct rates){own, all > 0 ? own / all : 0, all < .999999 ? all / (1 - all) : 1e6};
}

/* Mean odds from the piece's begin to `load`, where they are `odds`. */
static double mean_odds(const struct account *a, const struct filter *f, uint64_t load,
                        double odds) {
    double l0 = (double)a->from, l1 = (double)load;
    if (load <= a->from || odds <= 0) return odds;
    if (l0 <= 0 || a->odds <= 0) { /* from an empty filter: the power is that of the latter half */
        double half = rates_at(a, f, load - load / 2).odds;
        return half > 0 && load > 1 ? odds / (1 + log2(odds / half)) : odds;
    }
    double power = log(odds / a->odds) / log(l1 / l0);
    if (fabs(power + 1) < 1e-9) return odds;
    return (odds * l1 - a->odds * l0) / ((power + 1) * (l1 - l0));
}

struct account_sum account_now(const struct account *a, const struct filter *f, uint64_t load) {
    struct account_sum sum = a->sum;
    double piece = 0, own = 0;
    for (int pass = 0; a->fresh && pass < 2; pass++) {
        uint64_t keys = load + (uint64_t)own;
        struct rates r = rates_at(a, f, keys);
        piece = (double)a->fresh * mean_odds(a, f, keys, r.odds);
        own = piece * r.share;
        if (own < 1e-3 * (double)load) break; /* too few to change the rate */
    }
    sum.expected += piece;
    sum.unnoticed += own;
    return sum;
}

void account_open(struct account *a, const struct filter *f, uint64_t load) {
    a->from = load;
    a->until = load + load / 2 + f->shape.lines + 16;
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
