/* feed.h - --add-key and --query-key: one key of a record is remembered, another is asked about.
 *
 * A news feed: rows (user, shown, candidate).  What was shown is added under (user, shown); whether
 * a candidate was shown to the user before is asked under (user, candidate).
 *
 *     ann,story1,          adds ann+story1; asks nothing, so that it is not judged
 *     ann,,story1          asks about ann+story1: a duplicate; adds nothing
 *     ann,story2,story2    asks, then adds: new, for a record does not find itself
 *
 * A key with a field that is missing or empty is none. */
#ifndef SEEN_FEED_H
#define SEEN_FEED_H

#include "judge/key.h"

enum { FEED_ASKS = 1, FEED_ADDS = 2 };

/* Verdicts of a feed, or of --within, count here: the detector counts by its own. */
struct feed_counts {
    uint64_t unique, duplicates, only_added;
};

/* Reads the keys of a batch.  Returns how many records have at least one of the two keys, and
 * writes for each its place in the batch, the keys, and which of them it has (FEED_ASKS |
 * FEED_ADDS).  For each other record, `cause` at its place says why it has none. */
size_t feed_batch(struct keyer *asked, struct keyer *added, const struct batch *, uint16_t *order,
                  seen_digest *ask, seen_digest *add, uint8_t *parts, uint8_t *cause);

/* One record.  Only what was seen at most `within` ago counts (0: the whole window). */
uint8_t feed_observe(struct feed_counts *, seen_detector *, uint8_t parts, seen_digest ask,
                     seen_digest add, const seen_time *, uint64_t within);

#endif
