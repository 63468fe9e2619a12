/* bounds.c - a plan's bits a key beside what no structure can go below (theory/sliding.h). */
#include "plan/plan.h"
#include "spec/options.h"
#include "theory/sliding.h"

#include <math.h>

#define DIGEST_BITS 128

/* The keys that the plan's window is to hold; as many as it can, where nothing says or those are
 * too many. */
static double keys_of(const struct seen_plan *plan) {
    uint64_t keys = 0;
    bool told = !plan_keys(&keys, &plan->spec, NULL) && keys;
    if (!told || (plan->capacity && plan->capacity < keys)) keys = plan->capacity;
    return (double)keys;
}

static double universe_of(const struct seen_spec *spec) {
    bool bits = options_has(spec, OPTION_BITS) && options_get(spec, OPTION_BITS) < DIGEST_BITS;
    return ldexp(1, bits ? (int)options_get(spec, OPTION_BITS) : DIGEST_BITS);
}

/* The greatest of the bounds that hold for the plan's window. */
static double greatest(const struct seen_bounds *b) {
    return fmax(fmax(b->set, b->sliding), b->ordered); /* fmax passes over NAN */
}

void seen_plan_bounds(const struct seen_plan *plan, double universe, struct seen_bounds *out) {
    uint32_t window = plan->spec.window;
    bool slides = window == SEEN_WINDOW_SLIDING || window == SEEN_WINDOW_JUMPING;
    double n = keys_of(plan), fp = plan->fp_full;
    *out = (struct seen_bounds){.keys = n,
                                .universe = universe,
                                .bits = NAN,
                                .set = NAN,
                                .dynamic = NAN,
                                .sliding = NAN,
                                .ordered = NAN,
                                .ratio = NAN};
    if (!(universe > 0)) out->universe = universe_of(&plan->spec);
    if (n < 1) return;
    out->bits = 8 * (double)plan->bytes / n;
    if (!(plan->traits & SEEN_NO_FN) || n > out->universe) return;
    bool exact = plan->traits & SEEN_NO_FP || fp <= 0;
    out->set = exact ? theory_bound_exact(n, out->universe) / n : theory_bound_static(n, fp) / n;
    if (!exact) out->dynamic = theory_bound_dynamic(n, fp) / n;
    if (!exact && slides) out->sliding = theory_bound_sliding(n, plan->slack * n, fp) / n;
    double ordered = theory_bound_decaying(n, out->universe, exact ? 0 : fp) / n;
    if (window == SEEN_WINDOW_SLIDING && ordered > 0) out->ordered = ordered;
    out->ratio = out->bits / greatest(out);
}
