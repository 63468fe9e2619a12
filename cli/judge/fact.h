/* fact.h - what can be told of a record beside its verdict. */
#ifndef SEEN_FACT_H
#define SEEN_FACT_H

#include "seen.h"

#include <stdbool.h>

#define NO_TIME UINT64_MAX

struct occurrence {
    uint64_t number; /* of the record, from 1; 0: there is none, or it is not known */
    seen_time time;  /* NO_TIME: not needed */
};

struct fact {
    struct occurrence itself;
    uint64_t age;            /* since its key was last seen, by the detector; SEEN_NEVER */
    struct occurrence first; /* that was let through: the one it is a duplicate of */
    struct occurrence last;  /* before this one */
};

#endif
