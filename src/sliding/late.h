/* late.h - lateness=L: the exact sliding window of time for records that come out of order.
 *
 * Guarantee  A record at t is a duplicate iff an accepted record (one called new) of its key at t'
 *            has |t - t'| < W, exactly, for records up to L late; no record waits for others.
 * Idea       Accepted records of one key are at least W apart, so a stretch [kW, (k+1)W) of time
 *            holds at most one of them.  A store keyed by (key, k) that keeps its time answers with
 *            three lookups, at k-1, k and k+1: nothing is searched, for any L.
 * Layout     store.h, in order of arrival; the digest is that of (key, k), the stamp the record's
 *            time.  Nothing is asked about times before newest - (W + L), so what is older goes
 *            when it is the oldest by arrival: at most W + L after it came.
 *
 *                 k-1       k       k+1
 *              ├───────┼───────┼───────┤   W = 10, record at 25: k = 2; 14 in k-1 is 11 away,
 *                   14      25  31         31 in k+1 is 6 away: a duplicate
 *
 * Cost       44 bytes an accepted record of the last W + L; three lookups a record. */
#ifndef LATE_H
#define LATE_H

#include "table/store.h"

#include <stddef.h>

struct late {
    uint64_t window, lateness;
    uint64_t newest; /* the greatest clock a record had */
    uint64_t latest; /* the greatest stamp of an accepted record */
};

/* What is stamped below this cannot matter to a record at `at` or to any that may follow; `bias` is
 * stamp less clock. */
uint64_t late_least(const struct late *, uint64_t at, uint64_t bias);

/* As store_observe, under clocks that may go back by the lateness. */
void late_observe(struct late *, struct store *, size_t n, const seen_digest *, const uint64_t *at,
                  uint64_t bias, uint8_t *verdict);

/* How far from `stamp` the accepted record nearest to it is; SEEN_NEVER: the window or more. */
uint64_t late_distance(const struct late *, const struct store *, seen_digest, uint64_t stamp);

/* Takes out all a key has from `least` on; returns whether it had anything. */
bool late_forget(const struct late *, struct store *, seen_digest, uint64_t least);

#endif
