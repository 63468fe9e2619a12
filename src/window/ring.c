/* ring.c - advances the generations of a window on its clock. */
#include "window/ring.h"

#include "base/bits.h"

uint64_t ring_steps(const struct ring *r, uint64_t step, uint64_t at) {
    return at < r->boundary ? 0 : (at - r->boundary) / step + 1;
}

uint64_t ring_run(const struct ring *r, uint64_t n, const uint64_t *at) {
    uint64_t run = n;
    if (at[n - 1] >= r->boundary)
        for (run = 0; at[run] < r->boundary;) run++;
    return run;
}

uint64_t ring_start(const struct ring *r, uint64_t step, uint64_t at) {
    uint64_t boundary = r->boundary + ring_steps(r, step, at) * step;
    return step && boundary > step ? boundary - step : 0;
}

bool ring_sane(const struct ring *r, const struct seen_spec *spec, uint64_t step, uint64_t first,
               uint32_t live) {
    bool clocked = step ? r->boundary >= bits_min(first, step) && r->boundary < COUNT_MOST
                        : r->boundary == UINT64_MAX;
    bool aligned = !step || spec->unit == SEEN_UNIT_RECORDS || (r->boundary - first) % step == 0;
    return clocked && aligned && r->generation >= live && r->generation < COUNT_MOST &&
           r->begun < COUNT_MOST;
}
