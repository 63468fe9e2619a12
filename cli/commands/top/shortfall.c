#include "commands/top/shortfall.h"

#include "base/cli.h"
#include "base/number.h"

#include <math.h>
#include <stdio.h>

void shortfall_note(struct shortfall *s, const struct missing *m, uint64_t twice) {
    bool sure;
    double missed = missing_all(m, &sure);
    double pairs = (double)m->counted + missed;
    s->twice += twice;
    s->missed += missed;
    s->missed_most |= !sure;
    if (pairs > s->most_pairs) s->most_pairs = pairs;
}

/* The number with two digits, and so that a spec takes it: 3.3e6. */
static const char *rough(double n, char buf[32]) {
    int power = n >= 1 ? (int)floor(log10(n)) : 0;
    snprintf(buf, 32, "%.1fe%d", ceil(n / pow(10, power - 1)) / 10, power);
    return buf;
}

/* The detector of pairs was too small for a window. */
static void tell_pairs(const struct shortfall *s, const struct seen_plan *pairs) {
    char items[32], spec[64];
    struct seen_spec enough;
    struct seen_plan plan;
    struct seen_error e;
    if (s->missed < 0.5 && !s->twice) return;
    snprintf(spec, sizeof spec, "landmark items=%s", rough(1.1 * s->most_pairs, items));
    if (seen_spec_parse(&enough, spec, &e) || seen_plan_make(&plan, &enough, &e)) return;
    struct number memory = number_size(plan.bytes);
    if (s->missed >= 0.5)
        warn("%s %.0f pairs are missing from the counts, because the table of pairs was planned "
             "for %ju in a window; the errors include them; items=%s and no mem= would hold all, "
             "in %s",
             s->missed_most ? "up to" : "about", s->missed, (uintmax_t)pairs->capacity, items,
             memory.text);
    if (s->twice)
        warn("up to %ju pairs were counted twice, because memory for pairs was short; the errors "
             "include them; items=%s and no mem= or filter= would hold all, in %s",
             (uintmax_t)s->twice, items, memory.text);
}

void shortfall_tell(const struct shortfall *s, const struct seen_plan *pairs, uint64_t keep) {
    if (s->left_out)
        warn("%ju row%s left out, whose error is as large as the count; more counters (--keep, now "
             "%ju) have smaller errors",
             (uintmax_t)s->left_out, s->left_out == 1 ? " is" : "s are", (uintmax_t)keep);
    tell_pairs(s, pairs);
}
