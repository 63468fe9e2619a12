/* twin.c - the exact truth about a window. */
#include "twin.h"

#include "base/cli.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The longest window a spec may have, in records. */
#define FOREVER UINT64_C(1000000000000000)

/* -- its spec ----------------------------------------------------------------------------- */

/* Where either answer is right until the key is new: N(1+slack). */
static uint64_t band(const struct seen_plan *plan) {
    double more = ceil((double)plan->spec.length * plan->slack * (1 - 1e-12));
    return plan->spec.length + (uint64_t)more;
}

static void window_of(char *buf, size_t cap, const struct seen_plan *plan, bool forever) {
    char span[64];
    const struct seen_spec *s = &plan->spec;
    if (forever || s->window == SEEN_DECAYING) {
        snprintf(buf, cap, "sliding:%" PRIu64, FOREVER);
    } else if (s->window == SEEN_LANDMARK) {
        struct seen_spec window = {
            .window = s->window, .unit = s->unit, .length = s->length, .set = 0};
        seen_spec_print(&window, buf, cap);
    } else if (s->unit == SEEN_MICROSECONDS) {
        seen_print_span((band(plan) + 999) / 1000 * 1000, span, sizeof span);
        snprintf(buf, cap, "sliding:%s", span);
    } else {
        snprintf(buf, cap, "sliding:%" PRIu64, band(plan));
    }
}

void twin_spec(char *spec, size_t cap, const struct seen_plan *plan, bool forever) {
    char window[128];
    size_t n, i = 0;
    const struct seen_option *table = seen_options(&n);
    while (strcmp(table[i].name, "hash") != 0) i++;
    window_of(window, sizeof window, plan, forever);
    snprintf(spec, cap, "%s items=1 filter=exact hash=%s seed=%" PRIu64, window,
             table[i].choices[plan->spec.hash], plan->spec.seed);
}

/* -- life --------------------------------------------------------------------------------- */

void twin_init(struct twin *t, const char *text, const struct layout *layout, uint32_t max_record) {
    struct seen_error e;
    struct seen_spec spec;
    memset(t, 0, sizeof *t);
    snprintf(t->spec, sizeof t->spec, "%s", text);
    if (seen_spec_parse(&spec, text, &e) || seen_plan_make(&t->plan, &spec, &e) ||
        seen_new(&t->detector, &t->plan, NULL, &e))
        die("the truth cannot be kept: %s", e.text);
    judge_init(&t->judge, t->detector, layout, max_record);
}

void twin_free(struct twin *t) {
    judge_free(&t->judge);
    seen_free(t->detector);
}

/* -- work --------------------------------------------------------------------------------- */

/* A record that was not stored advances the clock as a key that no record has. */
static void advance(struct twin *t, size_t m, bool stored) {
    static const seen_digest nobody = {UINT64_C(0x6e6f626f64793a3a), UINT64_C(0x6e6f626f64793b3b)};
    const seen_time *time = t->judge.timed ? &t->judge.in->time[m] : NULL;
    uint8_t verdict;
    seen_observe(t->detector, 1, stored ? &t->judge.in->digest[m] : &nobody, time, &verdict);
}

void twin_batch(struct twin *t, const struct batch *b, seen_time now, const uint8_t *verdict) {
    struct judge *j = &t->judge;
    size_t n = judge_read(j, b, now);
    bool landmarks = judge_landmarks(j);
    memset(t->read, 0, sizeof t->read);
    for (size_t m = 0; m < n; m++) {
        uint16_t i = j->in->order[m];
        if (landmarks && j->in->landmark[m]) seen_landmark(t->detector);
        seen_last_seen(t->detector, 1, &j->in->digest[m], j->timed ? j->in->time[m] : 0,
                       &t->age[i]);
        t->read[i] = true;
        advance(t, m, t->shared || verdict[i] == SEEN_NEW);
    }
}

enum truth twin_truth(const struct seen_plan *plan, uint64_t age) {
    const struct seen_spec *s = &plan->spec;
    if (age == SEEN_NEVER) return TRUTH_NEW;
    if (s->window == SEEN_LANDMARK || s->window == SEEN_DECAYING) return TRUTH_DUPLICATE;
    bool inside = s->unit == SEEN_MICROSECONDS ? age < s->length : age <= s->length;
    return inside ? TRUTH_DUPLICATE : TRUTH_EITHER;
}
