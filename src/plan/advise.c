/* advise.c - finds changes that would make a refused spec possible, and puts them into a sentence.
 */
#include "plan/plan.h"

#include "base/base.h"
#include "base/bits.h"
#include "spec/spec.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_RATE    .1   /* false-positive rate that is accepted without fp= */
#define RATE_USEFUL .9   /* a higher rate is not worth naming */
#define NEAR        1.01 /* the factor to which the least change is found */

/* The keys of the window; 0 if no option gives their number. */
static uint64_t keys_of(const struct seen_spec *spec) {
    uint64_t keys = 0;
    if (spec->window != SEEN_WINDOW_DECAYING) plan_keys(&keys, spec, NULL);
    return keys;
}

bool advise_accepts(const struct seen_plan *plan) {
    double allowed = fmax(
        MAX_RATE, options_has(&plan->asked, OPTION_FP) ? options_real(&plan->asked, OPTION_FP) : 0);
    bool holds = !plan->capacity || plan->capacity >= keys_of(&plan->asked);
    return holds && plan->fp_full <= allowed * (1 + 1e-9);
}

/* -- changes that are tried ----------------------------------------------------------------- */

/* Whether some structure serves the spec. */
static bool serves(const struct seen_spec *spec) {
    struct seen_plan plan;
    return !seen_plan_make(&plan, spec, NULL);
}

static bool with_mem(const struct seen_spec *asked, double mem) {
    struct seen_spec spec = *asked;
    options_assume(&spec, OPTION_MEM, (uint64_t)mem);
    return mem <= 0x1p48 && serves(&spec);
}

/* Writes the least mem= that is enough; false if none is. */
static bool least_mem(const struct seen_spec *asked, char *text, size_t cap) {
    double lo = (double)options_get(asked, OPTION_MEM), hi = 2 * lo;
    struct seen_spec free = *asked;
    options_unset(&free, OPTION_MEM);
    if (!serves(&free)) return false;
    while (hi <= 0x1p48 && !with_mem(asked, hi)) lo = hi, hi *= 2;
    if (hi > 0x1p48) return false;
    while (hi > lo * NEAR && hi - lo > 64) {
        double middle = sqrt(lo) * sqrt(hi);
        *(with_mem(asked, middle) ? &hi : &lo) = middle;
    }
    for (int i = 0; i < 64; i++, hi *= NEAR) { /* the text is rounded up */
        uint64_t size;
        units_print_need((uint64_t)hi, text, cap);
        if (!seen_parse_size(text, &size, NULL) && with_mem(asked, (double)size)) return true;
    }
    return false;
}

static bool with_items(const struct seen_spec *asked, double items) {
    struct seen_spec spec = *asked;
    options_set(&spec, OPTION_ITEMS, (uint64_t)items);
    return items >= 1 && serves(&spec);
}

double advise_items(const struct seen_spec *asked, double keys) {
    double lo = 1, hi = keys;
    if (!with_items(asked, lo)) return 0;
    while (hi > lo * NEAR && hi - lo > 1) {
        double middle = sqrt(lo) * sqrt(hi);
        *(with_items(asked, middle) ? &lo : &hi) = middle;
    }
    double unit = pow(10, fmax(0, floor(log10(lo)) - 2)), items = floor(lo / unit) * unit;
    while (items >= 1 && !with_items(asked, items)) items -= unit;
    return fmax(items, 0);
}

/* Writes the least fp= that mem= allows, to two digits; false if that is too large to be useful. */
static bool least_fp(const struct seen_spec *asked, char *text, size_t cap) {
    double lo = options_real(asked, OPTION_FP) > 0 ? options_real(asked, OPTION_FP) : MAX_RATE,
           hi = RATE_USEFUL;
    struct seen_spec spec = *asked;
    options_mark(&spec, OPTION_FP);
    options_assume_real(&spec, OPTION_FP, hi);
    if (!serves(&spec)) return false;
    while (hi > lo * NEAR) {
        options_assume_real(&spec, OPTION_FP, sqrt(lo * hi));
        *(serves(&spec) ? &hi : &lo) = options_real(&spec, OPTION_FP);
    }
    for (double rate = hi; rate < RATE_USEFUL; rate *= 1.05) {
        snprintf(text, cap, "%.2g", rate);
        if (!seen_spec_set(&spec, "fp", text, NULL) && serves(&spec)) return true;
    }
    return false;
}

/* -- sentences ------------------------------------------------------------------------------ */

/* Refuses with a sentence such as "1000000 keys at fp=1e-06 need mem=4MiB at least; mem=1MiB allows
 * fp=0.2, or items=300000".  False: mem= is not what is missing. */
static bool refuse_mem(const struct seen_spec *asked, struct seen_error *e) {
    char need[40], has[40], rate[48] = "", fp[32], allows[100] = "";
    double keys = (double)keys_of(asked), items = 0;
    if (asked->window == SEEN_WINDOW_DECAYING) keys = (double)options_get(asked, OPTION_ITEMS);
    if (!options_has(asked, OPTION_MEM) || !least_mem(asked, need, sizeof need)) return false;
    seen_print_size(options_get(asked, OPTION_MEM), has, sizeof has);
    if (keys < 1) {
        error_set(e, SEEN_EREFUSED, 0, "mem=%s is too small here; it takes mem=%s at least", has,
                  need);
        return true;
    }
    units_print_real(options_real(asked, OPTION_FP), fp, sizeof fp);
    if (options_has(asked, OPTION_FP))
        snprintf(rate, sizeof rate, " at fp=%s", fp);
    else if (asked->window != SEEN_WINDOW_DECAYING)
        snprintf(rate, sizeof rate, " to err in at most %g %% of new records", 100 * MAX_RATE);
    items = advise_items(asked, keys);
    if (asked->window != SEEN_WINDOW_DECAYING && least_fp(asked, fp, sizeof fp))
        snprintf(allows, sizeof allows, "fp=%s", fp);
    if (items >= 1)
        snprintf(allows + strlen(allows), sizeof allows - strlen(allows), "%sitems=%.0f",
                 *allows ? ", or " : "", items);
    error_set(e, SEEN_EREFUSED, 0, "%.0f keys%s need mem=%s at least; mem=%s %s%s", keys, rate,
              need, has, *allows ? "allows " : "is not enough", allows);
    return true;
}

/* Writes what is wrong with a plan that advise_accepts does not accept. */
static void describe(const struct seen_plan *plan, char *text, size_t cap) {
    uint64_t keys = keys_of(&plan->asked);
    if (plan->capacity && plan->capacity < keys)
        snprintf(text, cap, "this would keep %llu of the window's %llu keys",
                 (unsigned long long)plan->capacity, (unsigned long long)keys);
    else
        snprintf(text, cap, "this would take %.2g of the new records for duplicates",
                 plan->fp_full);
}

/* Refuses with a sentence that names an option to leave out.  Options at the end of the table are
 * tried first, because they say the most about a structure.  False: no single option is enough. */
static bool refuse_option(const struct seen_spec *asked, const struct seen_plan *best,
                          struct seen_error *e) {
    char trouble[96] = "no structure serves this window with all of these options";
    if (best) describe(best, trouble, sizeof trouble);
    for (int i = OPTION_COUNT - 1; i >= 0; i--) {
        struct seen_spec spec = *asked;
        if (!options_has(asked, (enum option)i)) continue;
        options_unset(&spec, (enum option)i);
        if (!serves(&spec)) continue;
        error_set(e, SEEN_EREFUSED, 0, "%s; leave %s= out", trouble, seen_option((size_t)i)->name);
        return true;
    }
    return false;
}

int advise_refuse(const struct seen_spec *asked, const struct seen_plan *best,
                  struct seen_error *e) {
    if (!e) return SEEN_EREFUSED;
    if (best || strstr(e->text, "filter=") || strstr(e->text, "mem=")) {
        if (refuse_mem(asked, e) || refuse_option(asked, best, e)) return SEEN_EREFUSED;
    }
    if (!best) return e->code;
    char trouble[96];
    describe(best, trouble, sizeof trouble);
    return error_set(e, SEEN_EREFUSED, 0, "%s; ask for a shorter window or fewer keys", trouble);
}
