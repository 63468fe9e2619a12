/* room.c - names the options that would give a window enough room. */
#include "commands/dedup/room.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

const char *room_more(const struct seen_plan *plan) {
    bool items = plan->asked.items, mem = plan->asked.mem, lasting = !plan->spec.length;
    if (items && mem) return "give more items= and mem=, as many keys as the window holds";
    if (items) return "give more items=, as many keys as the window holds";
    return lasting ? "give more mem=" : "give more mem=, or a shorter window";
}

/* Does the spec make a plan whose window holds `keys` keys? */
static bool holds(const struct seen_spec *spec, uint64_t keys) {
    struct seen_plan plan;
    if (seen_plan_make(&plan, spec, NULL)) return false;
    return !plan.capacity || plan.capacity >= keys;
}

static void spec_clear(struct seen_spec *spec, const char *name) {
    size_t n;
    const struct seen_option *o = seen_options(&n);
    for (size_t i = 0; i < n; i++)
        if (!strcmp(o[i].name, name)) spec->set &= ~(UINT64_C(1) << i);
}

/* Writes the options that make a window hold `keys` keys: "mem=128MiB", "items=2000000". */
static void fix_for(const struct seen_spec *asked, uint64_t keys, char *text, size_t cap) {
    struct seen_spec spec = *asked;
    char size[40] = "", count[32];
    bool counted = spec.items || spec.rate > 0, rate = spec.rate > 0;
    *text = 0;
    snprintf(count, sizeof count, "%ju", (uintmax_t)keys);
    if (counted) spec_clear(&spec, "rate"), spec.rate = 0;
    if (counted && seen_spec_set(&spec, "items", count, NULL)) return;
    for (uint64_t mem = asked->mem; mem && mem < UINT64_C(1) << 48; mem += mem / 16 + 1024) {
        uint64_t grain = mem < 4 << 20 ? 1024 : 1 << 20;
        seen_print_size((mem + grain - 1) / grain * grain, size, sizeof size);
        if (!seen_spec_set(&spec, "mem", size, NULL) && holds(&spec, keys)) break;
        *size = 0;
    }
    if (asked->mem && !*size) return;
    snprintf(text, cap, "%s%s%s%s%s%s", counted ? "items=" : "", counted ? count : "",
             counted && *size ? " and " : "", *size ? "mem=" : "", size,
             rate ? " instead of rate=" : "");
}

/* The number of keys that a window must hold, with a tenth to spare.  It is the least of three
 * upper bounds: keys kept, forgotten and taken for duplicates; all keys that were ever new; and, at
 * an even pace, the keys kept times the window over the stretch that was kept. */
static uint64_t keys_needed(const struct seen_stats *s, uint64_t length) {
    double kept = (double)(s->kept ? s->kept : 1);
    double held = (double)(s->capacity > s->stored ? s->capacity : s->stored);
    double lost = s->expected_false > 0 ? s->expected_false : 0;
    double need = held + (double)s->forgotten + lost, paced = INFINITY;
    if (length && s->kept != SEEN_NEVER) paced = held * (double)length / kept;
    if (paced + lost < need) need = paced + lost;
    if ((double)s->unique + lost < need) need = (double)s->unique + lost;
    return (uint64_t)(1.1 * need) + 1;
}

void room_fix(const struct seen_plan *plan, const struct seen_stats *s, char *text, size_t cap) {
    uint64_t keys = keys_needed(s, plan->spec.length);
    if (plan->spec.unit == SEEN_RECORDS && keys > plan->spec.length) keys = plan->spec.length;
    fix_for(&plan->asked, keys, text, cap);
}
