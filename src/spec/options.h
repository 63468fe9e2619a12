/* options.h - the rows of the option table by name, for code that asks whether one was given. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "seen.h"

#include <stddef.h>

#include <stdbool.h>

enum option {
    OPTION_FP,
    OPTION_MEM,
    OPTION_ITEMS,
    OPTION_RATE,
    OPTION_FILTER,
    OPTION_REFRESH,
    OPTION_OVERLOAD,
    OPTION_HASH,
    OPTION_SEED,
    OPTION_SHARDS,
    OPTION_CACHE,
    OPTION_K,
    OPTION_LINES,
    OPTION_WIDTH,
    OPTION_STAMP,
    OPTION_TICKS,
    OPTION_MAX,
    OPTION_P,
    OPTION_DECREMENT,
    OPTION_GAPS,
    OPTION_LAMBDA,
    OPTION_SIGNATURE,
    OPTION_MOVES,
    OPTION_VLA,
    OPTION_BY,
    OPTION_BITS,
    OPTION_SUBSTRING,
    OPTION_GENERATIONS,
    OPTION_WAYS,
    OPTION_LATENESS,
    OPTION_CONTROL,
    OPTION_COUNT
};

int options_find(const char *name, size_t len); /* its row, or -1 */
bool options_has(const struct seen_spec *, enum option);
bool options_serve(enum option, const char *filter); /* does this structure take it? */
void options_mark(struct seen_spec *, enum option);  /* marks it as given */

#endif
