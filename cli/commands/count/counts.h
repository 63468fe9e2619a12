/* counts.h - what `seen count` prints: a row for each window or group. */
#ifndef SEEN_COUNT_COUNTS_H
#define SEEN_COUNT_COUNTS_H

#include "commands/count/part.h"

struct counts {
    bool json, value;           /* value: the one count is all that is printed */
    const struct counting *how; /* the names of groups' fields */
    uint64_t n;                 /* so far */
    bool headed;                /* the heading of the table is printed */
};

struct figures {
    uint64_t records;
    double distinct, error; /* error: relative, standard */
};

struct figures counts_figures(uint64_t records, const seen_counter *);

/* A group of those names; a number below GROUP_FIRST stands for all. */
void counts_put(struct counts *, const char *from, const struct names *, uint32_t group,
                struct figures);

/* All groups of a part, the most distinct first. */
void counts_put_groups(struct counts *, const char *from, const struct part *);

#endif
