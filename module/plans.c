/* plans.c - keeps the last plans, since planning is slow. */
#include "plans.h"

#include <string.h>

#define KEPT 16

static struct {
    char spec[SPEC_TEXT_MOST];
    uint64_t limit;
    struct seen_plan plan;
} kept[KEPT];

static int bound_growth(struct seen_plan *plan, uint64_t limit, struct seen_error *e) {
    char bytes[32];
    struct seen_spec bounded = plan->asked;
    if (!limit || !(plan->traits & SEEN_GROWS) || seen_spec_get_count(&plan->spec, "mem")) return 0;
    seen_print_size(limit, bytes, sizeof bytes);
    int bad = seen_spec_set(&bounded, "mem", bytes, e);
    return bad ? bad : seen_plan_make(plan, &bounded, e);
}

const struct seen_plan *plans_get(const char *text, uint64_t limit, struct seen_error *e) {
    static size_t next;
    struct seen_spec spec;
    struct seen_plan plan;
    for (size_t i = 0; i < KEPT; i++)
        if (*text && kept[i].limit == limit && !strcmp(kept[i].spec, text)) return &kept[i].plan;
    if (seen_spec_parse(&spec, text, e) || seen_plan_make(&plan, &spec, e) ||
        bound_growth(&plan, limit, e))
        return NULL;
    size_t at = next++ % KEPT;
    strcpy(kept[at].spec, text);
    kept[at].limit = limit;
    kept[at].plan = plan;
    return &kept[at].plan;
}
