/* bounds.h - `seen plan --bounds`: bits a key, beside what no structure can go below. */
#ifndef SEEN_PLAN_BOUNDS_H
#define SEEN_PLAN_BOUNDS_H

#include "commands/plan/rows.h"

enum { BOUNDS_SHOW = 720, BOUNDS_UNIVERSE };

#define BOUNDS_ROWS                                                                                \
    {"bounds", 0, NULL, "bits a key of each plan, beside lower bounds for any structure",          \
     BOUNDS_SHOW},                                                                                 \
    {                                                                                              \
        "universe", 0, "N", "with --bounds: different keys there can be, as 1e9 or 2^32",          \
            BOUNDS_UNIVERSE                                                                        \
    }

struct bounds {
    bool shown;
    double universe; /* 0: not said */
};

/* False if the option is none of these. */
bool bounds_take(struct bounds *, int id, const char *value);

/* Dies where --universe was given alone. */
void bounds_check(const struct bounds *);

void bounds_print(const struct bounds *, const struct seen_plan *, int n);

/* A member of a JSON object, and a comma; "" where bounds are not shown.  Good until the next
 * call. */
const char *bounds_json(const struct bounds *, const struct seen_plan *);

#endif
