/* oracle.h - the naive exact window: what every structure is judged by.
 *
 * Written from the definitions alone and from nothing in src/: it keeps every key it was ever told
 * of, with the clock of its last stored occurrence, and asks the definition.
 *
 *     the record at position i (time t) is a duplicate iff an equal key stands
 *         landmark   in the same window: [kN, (k+1)N) since the last explicit landmark, or
 *                    [kT, (k+1)T) since 1970-01-01 (whole weeks: since a Monday), or, without a
 *                    length, since the last explicit landmark
 *         jumping,   at i' with 1 <= i-i' <= N, or at t' with 0 <= t-t' < T; and since the last
 *         sliding    explicit landmark
 *         decaying   anywhere before, since the last explicit landmark
 *     and between N (T) and `band`, N(1+slack), either answer is right.
 *
 * Under refresh=first only records that were accepted (called new) are stored, so the oracle is
 * told each verdict. */
#ifndef ORACLE_H
#define ORACLE_H

#include "seen.h"

#include <stdbool.h>

struct oracle_rules {
    uint32_t window, unit; /* enum seen_window, enum seen_unit */
    uint64_t length;
    uint64_t band; /* length x (1+slack): beyond it every key is new again */
    bool refresh_first;
};

enum oracle_truth { ORACLE_NEW, ORACLE_EITHER, ORACLE_DUPLICATE };

struct oracle;

struct oracle *oracle_new(struct oracle_rules);
void oracle_free(struct oracle *);

/* What the next record is, were it this key at `now`; *age (may be NULL) is how long ago the key
 * was stored, SEEN_NEVER where the truth is ORACLE_NEW. */
enum oracle_truth oracle_judge(const struct oracle *, seen_digest, seen_time now, uint64_t *age);

/* The next record was this key at `now`, and was called `verdict`. */
void oracle_observe(struct oracle *, seen_digest, seen_time now, uint8_t verdict);

void oracle_landmark(struct oracle *);
void oracle_forget(struct oracle *, seen_digest);

/* Distinct keys that the next record, at `now`, would find in its window. */
uint64_t oracle_held(const struct oracle *, seen_time now);

#endif
