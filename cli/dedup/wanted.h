/* wanted.h - what `seen dedup` can do beyond letting the first of each key through: records in
 * another order, and more told of each. */
#ifndef SEEN_WANTED_H
#define SEEN_WANTED_H

#include "judge/asked.h"

enum { WANTED_REORDER = 800, WANTED_HOLD };

#define WANTED_ROWS                                                                                \
    {"reorder", 0, "SPAN",                                                                         \
     "hold records back so long, and judge them in the order of their times", WANTED_REORDER},     \
    {                                                                                              \
        "hold", 0, "SIZE", "... in so much memory (default: 256MiB)", WANTED_HOLD                  \
    }

struct wanted {
    uint64_t reorder; /* microseconds; 0: records come in order, or are late */
    uint64_t hold;    /* bytes for records held back */
    const char *hold_given;
};

void wanted_init(struct wanted *);

/* False if the option is none of WANTED_ROWS. */
bool wanted_take(struct wanted *, int id, const char *value);

/* All options are known, the window is not: what it has to have besides. */
void wanted_ask(const struct wanted *, struct asked *);

/* The window is planned.  Dies where something does not go together. */
void wanted_check(const struct wanted *, const struct asked *, const struct source *,
                  const struct seen_plan *, bool state);

#endif
