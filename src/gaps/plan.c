/* plan.c - decaying windows planned for a stream whose gaps are known: [DR06] 4.1.
 *
 * The rules of planning stay as they are.  Each structure names the geometries worth trying, each
 * of these is planned as if the user had asked for it, and its errors are predicted for the sample.
 */
#include "plan/plan.h"
#include "base/base.h"
#include "detector/registry.h"
#include "gaps/sample.h"
#include "plan/advise.h"
#include "seen_gaps.h"
#include "spec/options.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define SAME 1e-6 /* rates of false negatives that are nearer make no difference */

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
    int bad = plan_choice(plan, spec, c, e);
    if (bad) return bad;
    struct forecast f = forecast_of(plan, law);
    plan->fp_mean = f.fp;
    plan->fn = f.fn;
    return 0;
}

/* What is asked for then names the structure and its geometry. */
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
        n = plan_insert(plans, n, cap, &plan, better);
    }
    if (!n)
        return *options_name(asked, OPTION_FILTER) && e ? e->code : advise_refuse(asked, NULL, e);
    snprintf(plans[0].reason, sizeof plans[0].reason,
             *options_name(asked, OPTION_FILTER)
                 ? "asked for by name"
                 : "misses the fewest repeats of a stream like the sample at this fp=");
    return (int)n;
}
