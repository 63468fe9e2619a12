#include "truth/interval.h"

#include "theory/numeric.h"

#include <math.h>
#include <stdbool.h>

static double variance(const struct control_sum *s) {
    double sum = 0, squares = 0, n = (double)s->groups;
    for (uint64_t g = 0; g < s->groups; g++) {
        sum += s->group[g];
        squares += s->group[g] * s->group[g];
    }
    return fmax(s->poisson, n / (n - 1) * (squares - sum * sum / n));
}

/* The sum's own interval.  A key more, of the greatest weight, might have been sampled just as
 * well: the upper end counts with it. */
static struct estimate own(const struct control_sum *s, double alpha) {
    double r = s->total - s->certain, v = variance(s);
    struct estimate e = {s->total, s->total, s->total};
    if (r > 0 && v > 0) e.lo = s->certain + v / r * theory_gamma_quantile(r * r / v, alpha / 2);
    if (s->weight <= 1) return e; /* every key is sampled */
    double more = r + s->weight, wide = v + s->weight * s->weight;
    e.hi = s->certain + wide / more * theory_gamma_quantile(more * more / wide, 1 - alpha / 2);
    return e;
}

struct estimate interval_sample(const struct control_sum *s, const struct control_sum *others,
                                const struct control_sum *even, double all, double alpha) {
    struct estimate e = own(s, alpha), o = own(others, alpha);
    o = (struct estimate){all - o.value, all - o.hi, all - o.lo};
    bool contradict = e.hi < o.lo || o.hi < e.lo; /* frequent keys are missing from the sample */
    const struct control_sum *lesser = variance(others) < variance(s) ? others : s;
    if ((contradict ? even : lesser) == others) e = o;
    double least = fmin(s->count, all), most = all - fmin(others->count, all - least);
    e.value = fmin(fmax(e.value, least), most);
    e.lo = fmin(fmax(e.lo, least), most);
    e.hi = fmin(fmax(e.hi, least), most);
    return e;
}

struct estimate interval_model(double expected, double alpha) {
    double v = 2 * expected + expected * expected / 100;
    if (expected <= 0) return (struct estimate){0, 0, 0};
    double shape = expected * expected / v, scale = v / expected;
    return (struct estimate){expected, scale * theory_gamma_quantile(shape, alpha / 2),
                             scale * theory_gamma_quantile(shape, 1 - alpha / 2)};
}
