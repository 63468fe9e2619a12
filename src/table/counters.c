/* counters.c - settles width= for filters of counters. */
#include "table/counters.h"

#include "base/base.h"
#include "spec/options.h"

int counters_settle(struct seen_spec *spec, uint32_t live, struct seen_error *e) {
    if (live > 1)
        options_mark(spec, OPTION_BY);
    else if (options_has(spec, OPTION_BY))
        return error_set(e, SEEN_EREFUSED, 0,
                         "by= says how sub-windows are put together, and this window has none; "
                         "leave it out");
    if (!options_has(spec, OPTION_WIDTH)) spec->width = COUNTERS_WIDTH;
    options_mark(spec, OPTION_WIDTH);
    if (spec->width >= 2 && spec->width <= COUNTERS_WIDTH_MOST) return 0;
    return error_set(e, SEEN_EREFUSED, 0,
                     "filter=counting has counters of width=2 to %d bits, not %llu",
                     COUNTERS_WIDTH_MOST, (unsigned long long)spec->width);
}
