/* wish.h - what `seen generate` was asked for: its options, read and completed. */
#ifndef SEEN_GENERATE_WISH_H
#define SEEN_GENERATE_WISH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cli.h"
#include "click.h"
#include "order.h"
#include "records/run_stats.h"
#include "repeats.h"

struct wish {
    struct repeats repeats;
    struct click_style style;
    enum gaps gaps;
    uint64_t gap_most;
    double rate;         /* 0: records a day */
    const char *start;   /* as given */
    const char *truth;   /* file name, or NULL */
    uint64_t duplicates; /* as given, with or ... */
    double percent;      /* ... */
    bool has_distinct, has_duplicates, has_percent, has_top, has_stamp, has_start,
        has_dress; /* what was given */
    bool json;     /* -o json */
    struct run_stats stats;
};

const struct option_row *wish_rows(void);

/* Exits with 2 and a sentence where the options make no sense. */
void wish_read(struct wish *, int argc, char **argv);

/* The arguments, every default spelled out: they give the same stream again.  Like snprintf. */
int wish_print(const struct wish *, char *buf, size_t cap);

#endif
