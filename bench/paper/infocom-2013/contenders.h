/* contenders.h - what the figures compare, in an equal number of counters: a Timing Bloom filter,
 * the paper's structure as seen has it (filter=timed-cuckoo), and as it is written (literal.h). */
#ifndef CONTENDERS_H
#define CONTENDERS_H

#include "literal.h"

enum { CONTENDERS = 5, BATCH = 256 };

struct setup {
    uint64_t n, counters;
    int k;           /* hash functions of the filter, and bits of a signature where there is one */
    bool first;      /* a duplicate is not inserted */
    uint64_t within; /* questions are about this many of the last n; 0: all */
    uint64_t stamp;  /* bits of the library's stamps; 0: the planner's */
    uint64_t lines;  /* of the filter; 0: as many as the counters take */
};

struct contender {
    const char *name;
    seen_detector *d;  /* the library's, or */
    struct literal *l; /* the paper's */
    struct setup setup;
    double cells;             /* of the filter, or */
    double lambda, signature; /* of the tables; 0: not that */
};

struct contender contender_new(int which, const struct setup *, uint64_t seed);
void contender_free(struct contender *);
const char *contender_spec(const struct contender *); /* good until the next call */

/* verdict may be NULL: then the literal one is spared the search. */
void contender_observe(struct contender *, size_t n, const seen_digest *, uint8_t *verdict);
void contender_ask(const struct contender *, size_t n, const seen_digest *, uint8_t *verdict);
uint64_t contender_age(const struct contender *, seen_digest); /* 1: the last record */

struct seen_stats contender_stats(const struct contender *); /* listed and saturated only */

/* The false-positive rate by the formula, with `keys` keys in the window. */
double contender_rate(const struct contender *, double keys);

#endif
