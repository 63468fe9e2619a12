/* planner.c - plans every structure that can serve a spec, and chooses the best.
 *
 * Planning a resolved spec gives the same spec again, so a snapshot, a benchmark row and a spec
 * pasted from `seen plan` always mean the same structure. */
#include "detector/block.h"

#include "base/base.h"
#include "base/hash.h"
#include "detector/claims.h"
#include "detector/confirm.h"
#include "plan/plan.h"
#include "spec/spec.h"
#include "truth/truth.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* -- one structure ------------------------------------------------------------------------ */

/* Whether the caller named a structure, or gave an option that only some structures have. */
static bool asked_for(const struct seen_spec *asked) {
    const struct seen_option *o;
    for (size_t i = 0; (o = seen_option(i)); i++)
        if (o->of && i != OPTION_K && options_has(asked, (enum option)i)) return true;
    return *options_name(asked, OPTION_FILTER);
}

static int check_hash(const struct seen_plan *plan, struct seen_error *e) {
    uint32_t hash = (uint32_t)options_get(&plan->spec, OPTION_HASH);
    const char *name = seen_option(OPTION_HASH)->choices[hash];
    if (!hash_available(hash))
        return error_set(e, SEEN_EREFUSED, 0,
                         "hash=%s is not in this build; install libsodium and build again", name);
    if (hash >= SEEN_HASH_INT && !(plan->traits & SEEN_ANY_DIGEST))
        return error_set(e, SEEN_EREFUSED, 0,
                         "filter=%s needs keys spread evenly, and hash=%s leaves them as they are; "
                         "use hash=xxh3, or filter=exact",
                         plan->filter, name);
    bool others = hash != options_get(&plan->asked, OPTION_HASH),
         unsure = hash >= SEEN_HASH_INT && !(plan->traits & SEEN_NO_FP);
    if ((others || unsure) && !asked_for(&plan->asked))
        return error_set(e, SEEN_EREFUSED, 0, "filter=%s with hash=%s %s; name it if you want it",
                         plan->filter, name,
                         others ? "takes other keys than were asked for" : "promises no fp=");
    return 0;
}

/* Refuses options that belong to other structures. */
static int check_options(const struct seen_plan *plan, const struct registry_choice *c,
                         struct seen_error *e) {
    const struct seen_option *o;
    bool times =
        plan->spec.window == SEEN_WINDOW_SLIDING && plan->spec.unit == SEEN_UNIT_MICROSECONDS;
    if (options_has(&plan->asked, OPTION_LATENESS) && !times)
        return error_set(e, SEEN_EREFUSED, 0,
                         "lateness= serves sliding windows of time, such as sliding:1h");
    for (size_t i = 0; (o = seen_option(i)); i++) {
        if (i == OPTION_K && c->filter && c->filter->theory.k_most) continue; /* it has probes */
        if (options_has(&plan->asked, (enum option)i) &&
            !options_serve((enum option)i, plan->filter))
            return error_set(e, SEEN_EREFUSED, 0, "%s= is for filter=%s only; leave it out here",
                             o->name, o->of);
    }
    return 0;
}

static bool special(const struct registry_choice *c) {
    return c->filter ? c->filter->theory.traits & SEEN_ON_REQUEST : c->ops->by_name;
}

static int plan_structure(struct seen_plan *plan, const struct seen_spec *asked,
                          const struct registry_choice *c, struct seen_error *e) {
    struct seen_spec *spec = &plan->spec;
    plan->spec = *asked;
    spec->value[OPTION_FILTER].name = c->name;
    if (!options_has(spec, OPTION_SHARDS)) options_assume(spec, OPTION_SHARDS, 1);
    int bad = registry_plan(c, plan, e);
    plan->digests = plan_digests(spec);
    if (special(c)) plan->traits |= SEEN_ON_REQUEST;
    if (!bad) bad = check_hash(plan, e);
    if (!bad) bad = confirm_plan(plan, e);
    if (!bad) bad = claims_plan(plan, e);
    static const enum option decided[] = {OPTION_FILTER, OPTION_REFRESH, OPTION_HASH,
                                          OPTION_SHARDS};
    for (size_t i = 0; i < sizeof decided / sizeof *decided; i++) options_mark(spec, decided[i]);
    if (!bad && !(plan->traits & SEEN_GROWS))
        plan->bytes = detector_bytes(spec, registry_state(c, spec));
    return bad;
}

/* Plans the structure and its control sample.  The first plan, without a sample, shows how much
 * memory the structure takes and so how large the sample may be.  The second includes the sample.
 * If the sample does not fit, the plan has none. */
static int plan_measured(struct seen_plan *plan, const struct seen_spec *asked,
                         const struct registry_choice *c, struct seen_error *e) {
    struct seen_spec with = *asked;
    if (options_has(asked, OPTION_CONTROL)) return plan_structure(plan, asked, c, e);
    int bad = plan_structure(plan, asked, c, NULL);
    if (!bad && !truth_plan(plan)) return 0;
    options_set(&with, OPTION_CONTROL, bad ? 0 : options_get(&plan->spec, OPTION_CONTROL));
    if (options_get(&with, OPTION_CONTROL)) bad = plan_structure(plan, &with, c, NULL);
    if (options_get(&with, OPTION_CONTROL) && !bad) return 0;
    options_assume(&with, OPTION_CONTROL, 0);
    return plan_structure(plan, &with, c, e);
}

int planner_choice(struct seen_plan *plan, const struct seen_spec *asked,
                   const struct registry_choice *c, struct seen_error *e) {
    memset(plan, 0, sizeof *plan);
    plan->asked = *asked;
    plan->window = c->ops->name;
    plan->filter = c->name;
    plan->spec = *asked;
    plan->spec.value[OPTION_FILTER].name = c->name;
    int bad = check_options(plan, c, e);
    if (!bad) bad = plan_measured(plan, asked, c, e);
    if (!bad && (plan->bytes > SIZE_MAX / 2 || plan->bytes > (uint64_t)1 << 48))
        bad = error_set(e, SEEN_EREFUSED, 0, "this would take %.3g GiB; ask for less",
                        (double)plan->bytes / 1073741824);
    return bad;
}

/* Whether plan a is better than plan b, for sliding windows.  Among structures that keep the
 * allowed rate and hold all keys, the least memory a key wins. */
static bool better_sliding(const struct seen_plan *a, const struct seen_plan *b) {
    uint64_t keys = 0;
    plan_keys(&keys, &a->asked, NULL);
    bool a_serves = advise_accepts(a), b_serves = advise_accepts(b);
    if (a_serves != b_serves) return a_serves;
    bool a_special = a->traits & SEEN_ON_REQUEST, b_special = b->traits & SEEN_ON_REQUEST;
    if (a_special != b_special) return b_special;
    bool a_short = a->capacity && a->capacity < keys, b_short = b->capacity && b->capacity < keys;
    if (a_short != b_short) return b_short;
    double allowed = options_real(&a->asked, OPTION_FP) > 0 ? options_real(&a->asked, OPTION_FP)
                                                            : PLAN_FP_DEFAULT;
    bool a_misses = a->fp_full > allowed * 1.001, b_misses = b->fp_full > allowed * 1.001;
    if (a_misses != b_misses) return b_misses;
    if (a_misses && a->fp_full != b->fp_full) return a->fp_full < b->fp_full;
    double a_each = (double)a->bytes / (double)(keys || !a->capacity ? 1 : a->capacity);
    double b_each = (double)b->bytes / (double)(keys || !b->capacity ? 1 : b->capacity);
    return a_each != b_each ? a_each < b_each : a->touches < b->touches;
}

/* Whether plan a is better than plan b, for other windows.  Structures that SEEN_ON_REQUEST marks,
 * and then structures that grow, lose against others.  The allowed rate comes next, then memory and
 * capacity: within a factor of two they count as equal.  Then decaying windows take the fewest
 * false negatives, under the assumption of plan/decaying.c.  Last come the fewest cache lines a
 * record. */
static bool better(const struct seen_plan *a, const struct seen_plan *b) {
    if (a->spec.window == SEEN_WINDOW_SLIDING) return better_sliding(a, b);
    bool a_grows = a->traits & SEEN_GROWS, b_grows = b->traits & SEEN_GROWS;
    bool a_special = a->traits & SEEN_ON_REQUEST, b_special = b->traits & SEEN_ON_REQUEST;
    if (a_special != b_special) return b_special;
    if (a_grows != b_grows) return b_grows;
    double allowed = options_real(&a->asked, OPTION_FP) > 0 ? options_real(&a->asked, OPTION_FP)
                                                            : PLAN_FP_DEFAULT;
    bool a_misses = a->fp_full > allowed * 1.001, b_misses = b->fp_full > allowed * 1.001;
    if (a_misses != b_misses) return b_misses;
    if (a_misses && a->fp_full != b->fp_full) return a->fp_full < b->fp_full;
    bool a_fat = a->bytes > 2 * b->bytes || a->capacity < b->capacity / 2;
    bool b_fat = b->bytes > 2 * a->bytes || b->capacity < a->capacity / 2;
    if (a_fat != b_fat) return b_fat;
    if (a->spec.window == SEEN_WINDOW_DECAYING && a->fn != b->fn) return a->fn < b->fn;
    if (a->touches != b->touches) return a->touches < b->touches;
    return a->bytes < b->bytes;
}

static void explain(struct seen_plan *best, int others) {
    if (options_has(&best->asked, OPTION_FILTER))
        snprintf(best->reason, sizeof best->reason, "asked for by name%s",
                 options_get(&best->spec, OPTION_HASH) >= SEEN_HASH_INT &&
                         !(best->traits & SEEN_NO_FP)
                     ? "; fp is that of keys with uniform bits, as ids seldom have"
                     : "");
    else if (!others && options_get(&best->spec, OPTION_OVERLOAD) == SEEN_OVERLOAD_SHRINK &&
             best->traits & SEEN_GROWS)
        snprintf(best->reason, sizeof best->reason,
                 "the only structure that fits; of more than %llu keys it forgets the oldest",
                 (unsigned long long)best->capacity);
    else if (!others)
        snprintf(best->reason, sizeof best->reason, "the only structure that serves this window");
    else if (best->spec.window == SEEN_WINDOW_SLIDING)
        snprintf(best->reason, sizeof best->reason,
                 "least memory of those that hold the window at this rate");
    else if (best->spec.window == SEEN_WINDOW_DECAYING)
        snprintf(best->reason, sizeof best->reason,
                 "keeps fp= and reaches furthest back; misses %.2g if gaps are as gap-max= says",
                 best->fn);
    else
        snprintf(best->reason, sizeof best->reason,
                 "fewest cache lines a record (%.3g) within twice the least memory", best->touches);
}

/* Whether a plan is left out because it grows and a bounded structure was refused: the refusal says
 * how to make the bounded one fit.  A structure that the spec names is never left out.  hash=int
 * and hash=raw have no bounded one. */
static bool stands_aside(const struct seen_plan *plan, size_t refused) {
    return refused && plan->traits & SEEN_GROWS &&
           options_get(&plan->asked, OPTION_HASH) < SEEN_HASH_INT && !asked_for(&plan->asked);
}

/* Whether a structure need not be planned.  Structures with SEEN_ON_REQUEST are not offered after a
 * refusal, except in a sliding window with a known number of keys.  They lose against every
 * acceptable structure.  So they are not planned at all if the caller wants the best plan only and
 * one of at least two is acceptable. */
static bool in_vain(const struct registry_choice *c, const struct seen_spec *asked,
                    const struct seen_plan *best, size_t n, size_t refused, bool best_only) {
    if (!special(c)) return false;
    uint64_t keys = 0;
    if (asked->window == SEEN_WINDOW_SLIDING) plan_keys(&keys, asked, NULL);
    if (!n) return refused && !asked_for(asked) && !keys;
    return best_only && n > 1 && !(best->traits & SEEN_ON_REQUEST) && advise_accepts(best);
}

static int nothing_serves(const struct seen_spec *asked, struct seen_error *e) {
    if (*options_name(asked, OPTION_FILTER))
        return error_set(e, SEEN_EREFUSED, 0,
                         "filter=%s does not serve this window; leave filter= out and the planner "
                         "chooses",
                         options_name(asked, OPTION_FILTER));
    return error_set(e, SEEN_EREFUSED, 0,
                     "no structure in this version serves this window; use landmark, jumping or "
                     "sliding");
}

size_t planner_insert(struct seen_plan *plans, size_t n, size_t cap, const struct seen_plan *plan,
                      bool (*wins)(const struct seen_plan *, const struct seen_plan *)) {
    size_t at = n;
    while (at > 0 && wins(plan, &plans[at - 1])) at--;
    if (at >= cap) return n;
    if (n < cap) n++;
    memmove(plans + at + 1, plans + at, (n - at - 1) * sizeof *plans);
    plans[at] = *plan;
    return n;
}

static int plan_several(struct seen_plan *plans, size_t cap, const struct seen_spec *asked,
                        bool best_only, struct seen_error *e) {
    struct registry_choice c;
    struct seen_plan plan;
    size_t n = 0, refused = 0;
    if (!asked->window) return error_set(e, SEEN_EINVAL, 0, "the spec has no window");
    for (size_t i = 0; registry_pick(asked->window, options_name(asked, OPTION_FILTER), i, &c);
         i++) {
        if (in_vain(&c, asked, plans, n, refused, best_only)) continue;
        if (planner_choice(&plan, asked, &c,
                           refused ? NULL : e)) { /* the user reads the first refusal */
            refused++;
            continue;
        }
        if (n == 0 && stands_aside(&plan, refused)) continue;
        n = planner_insert(plans, n, cap, &plan, better);
    }
    bool named = *options_name(asked, OPTION_FILTER);
    if (!n && !refused) return nothing_serves(asked, e);
    if (!n && named) return e ? e->code : SEEN_EREFUSED;
    if (!named && (!n || !advise_accepts(&plans[0])))
        return advise_refuse(asked, n ? &plans[0] : NULL, e);
    explain(&plans[0], (int)n - 1);
    return (int)n;
}

int seen_plan_all(const struct seen_spec *asked, struct seen_plan *plans, size_t cap,
                  struct seen_error *e) {
    return plan_several(plans, cap, asked, false, e);
}

int seen_plan_make(struct seen_plan *plan, const struct seen_spec *asked, struct seen_error *e) {
    struct seen_plan plans[2]; /* the second shows that the best is not the only one */
    int n = plan_several(plans, sizeof plans / sizeof *plans, asked, true, e);
    if (n < 0) return n;
    *plan = plans[0];
    return 0;
}
