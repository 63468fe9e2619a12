#include "commands/top/partners.h"

#include "base/cli.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A landmark window of the whole length, in which no time passes, so that it ends when it is told
 * to. */
static void plan_part(struct partners *p, const struct asked *a) {
    char window[64] = "landmark", length[32];
    struct seen_spec spec;
    struct seen_error e;
    asked_spec(a, 0, &spec);
    bool timed = spec.unit == SEEN_MICROSECONDS;
    seen_print_span(spec.length, length, sizeof length);
    if (timed) snprintf(window, sizeof window, "landmark:%s", length);
    snprintf(length, sizeof length, "%" PRIu64, spec.length);
    if ((!timed && !spec.items && seen_spec_set(&spec, "items", length, &e)) ||
        seen_spec_set(&spec, "window", window, &e) || seen_plan_make(&p->plan, &spec, &e))
        die("%s", e.text);
    p->still = true;
}

void partners_plan(struct partners *p, struct asked *a, struct input_options *s, bool jumping) {
    asked_plan(a, 0, s, &p->plan);
    if (jumping) plan_part(p, a);
}

void partners_free(struct partners *p) { free(p->bytes); }

bool partners_first(struct partners *p, seen_detector *d, seen_digest key,
                    const struct slice *partner, seen_time time) {
    size_t need = sizeof key + partner->len;
    if (need > p->cap) {
        p->cap = 2 * need;
        p->bytes = realloc(p->bytes, p->cap);
        if (!p->bytes) die("out of memory for a pair of %zu bytes", need);
    }
    memcpy(p->bytes, &key, sizeof key);
    size_t len = slice_value(partner, p->bytes + sizeof key);
    seen_digest pair = seen_hash(p->bytes, sizeof key + len, seen_seed(d));
    bool timed = p->plan.spec.unit == SEEN_MICROSECONDS;
    uint8_t verdict;
    if (p->still) time = 0;
    seen_observe(d, 1, &pair, timed ? &time : NULL, &verdict);
    return verdict == SEEN_NEW;
}

uint64_t partners_windows(const struct partners *p, uint64_t most) {
    uint64_t fit = (UINT64_C(256) << 20) / (p->plan.bytes + 1);
    if (fit < 2) fit = 2;
    return fit < most ? fit : most;
}
