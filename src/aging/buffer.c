#include "aging/buffer.h"

#include "error.h"
#include "plan/decaying.h"

#include <math.h>

static double reach_of(uint64_t lines, uint64_t slot) { return (double)(lines * 64 / slot); }
static double reach_25(const struct seen_spec *s, uint64_t lines) {
    (void)s;
    return reach_of(lines, 25);
}
static double reach_32(const struct seen_spec *s, uint64_t lines) {
    (void)s;
    return reach_of(lines, 32);
}

int buffer_plan(struct seen_plan *plan, uint64_t state, uint64_t slot, struct seen_error *e) {
    struct decaying d = {state, 1, slot == 25 ? reach_25 : reach_32};
    struct seen_spec *spec = &plan->spec;
    int bad = decaying_settle(plan, e);
    if (!bad) bad = decaying_lines(plan, &d, e);
    if (bad) return bad;
    uint64_t room = spec->lines * 64 / slot;
    if (room > BUFFER_MOST)
        return error_set(e, SEEN_EREFUSED, 0,
                         "filter=%s keeps 2^31 keys a shard at most; give shards=%llu or more",
                         plan->filter,
                         (unsigned long long)(spec->shards * bits_ceil_div(room, BUFFER_MOST)));
    plan->traits = SEEN_NO_FP | SEEN_DELETABLE | SEEN_ANY_DIGEST | SEEN_NO_AGES;
    plan->capacity = room * spec->shards;
    plan->fp_full = plan->fp_mean = ldexp((double)room, -128);
    plan->fn = fmax(0, 1 - log((double)room) / log(decaying_gaps(spec)));
    return 0;
}
