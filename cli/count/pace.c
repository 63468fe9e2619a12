/* pace.c - where windows begin. */
#include "pace.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define DAY UINT64_C(86400000000)

static size_t option_index(const char *name) {
    size_t n, i = 0;
    const struct seen_option *table = seen_options(&n);
    while (strcmp(table[i].name, name) != 0) i++;
    return i;
}

static bool given(const struct seen_spec *spec, const char *name) {
    return spec->set >> option_index(name) & 1;
}

/* The landmark spec that ticks once a window, or once a sub-window. */
static void ticking(const struct pace *p, const struct seen_plan *plan, char *text, size_t cap) {
    char window[64];
    const struct seen_option *table = seen_options(&(size_t){0});
    struct seen_spec spec = {
        .window = SEEN_LANDMARK, .unit = plan->asked.unit, .length = p->length};
    seen_spec_print(&spec, window, sizeof window);
    snprintf(text, cap, "%s items=1 filter=exact hash=%s", window,
             table[option_index("hash")].choices[plan->spec.hash]);
}

void pace_init(struct pace *p, struct asked *a, struct source *source,
               const struct layout *layout) {
    char text[256], seed[24];
    struct seen_plan plan, ticks;
    struct seen_spec spec;
    struct seen_error e;
    if (a->specs > 1) die("-w is given twice; one window at a time is counted");
    enum zone_window zone = asked_plan(a, 0, source, &plan);
    if (plan.spec.window != SEEN_LANDMARK && plan.spec.window != SEEN_JUMPING)
        die("keys are counted in landmark and jumping windows, such as landmark:1d or "
            "jumping:1h/12");
    p->subwindows = plan.spec.window == SEEN_JUMPING ? plan.asked.subwindows : 1;
    if (plan.asked.length % p->subwindows)
        die("a window is counted in equal parts here: make its length a multiple of %" PRIu64,
            p->subwindows);
    p->length = plan.asked.length / p->subwindows;
    ticking(p, &plan, text, sizeof text);
    snprintf(seed, sizeof seed, "%" PRIu64, plan.spec.seed);
    if (seen_spec_parse(&spec, text, &e)) die("%s", e.text);
    if (given(&plan.asked, "seed") && seen_spec_set(&spec, "seed", seed, &e)) die("%s", e.text);
    if (seen_plan_make(&ticks, &spec, &e) || seen_new(&p->detector, &ticks, NULL, &e))
        die("%s", e.text);
    judge_init(&p->judge, p->detector, layout, source->max_record);
    asked_of_judge(a, source, zone, &p->judge);
    p->seed = seen_seed(p->detector);
    p->timed = p->judge.timed || zone;
}

void pace_free(struct pace *p) {
    judge_free(&p->judge);
    seen_free(p->detector);
}

/* Sub-windows from one moment to another; weeks begin on Mondays, 1970-01-01 was a Thursday. */
static uint64_t between(const struct pace *p, uint64_t from, uint64_t to) {
    uint64_t shift = p->length % (7 * DAY) == 0 ? 3 * DAY : 0;
    return (to + shift) / p->length - (from + shift) / p->length;
}

uint64_t pace_step(struct pace *p, size_t m) {
    static const seen_digest same = {1, 1};
    const struct judge *j = &p->judge;
    uint8_t verdict;
    if (judge_landmarks(j) && j->in->landmark[m]) seen_landmark(p->detector);
    seen_observe(p->detector, 1, &same, j->timed ? &j->in->time[m] : NULL, &verdict);
    p->records++;
    if (verdict != SEEN_NEW) return 0;
    uint64_t before = p->from, ended = p->records > 1;
    p->from = p->timed ? j->in->time[m] : p->records;
    if (ended && j->timed) {
        uint64_t passed = between(p, before, p->from);
        ended = passed ? passed : 1;
    }
    return ended;
}

const char *pace_from(const struct pace *p, char buf[32]) {
    struct tm tm;
    time_t seconds = (time_t)(p->from / 1000000);
    if (p->timed && gmtime_r(&seconds, &tm))
        strftime(buf, 32, "%Y-%m-%dT%H:%M:%SZ", &tm);
    else
        snprintf(buf, 32, "%" PRIu64, p->from);
    return buf;
}
