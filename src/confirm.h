/* confirm.h - a cache of keys called duplicates, kept exactly, so that their next duplicate is
 * certain.
 *
 * Idea       That a record came is certain, whatever was said of it.  So the last N keys that were
 *            called duplicates are kept as they are, with the clock of their last report: a record
 *            called a duplicate whose key is there, reported inside its window, is a true one.  It
 *            is *confirmed*, SEEN_CONFIRMED.
 * Guarantee  What is confirmed is no false positive, up to the digest's 128 bits.  A key's first
 *            report in a window is never confirmed; each later one is, unless N other keys entered
 *            the cache since this one did.
 * Paper      Metwally, Agrawal, El Abbadi, WWW 2005, §5.2.1: what is output as duplicate can be
 *            stored in a separate cache to verify that it is duplicated frequently.
 * Layout     One cache a detector, at the end of its block; first in, first out.
 *
 *                | head | slot 0 | slot 1 | … | slot N-1 | stamp 0 | stamp 1 | … |
 *                         └ buffer.h, 24 bytes             └ clock of the last report + 1,
 *                                                            0: none that counts (forgotten)
 *
 * Example    cache=1 on a a a b a b b a: the second a is called a duplicate and enters, the third
 *            and the fourth are confirmed; the second b takes the place of a, the third is
 *            confirmed, and the last a is not.
 * Cost       32 bytes a key; some three cache lines a duplicate, none for a new record.
 *
 * Whether the report lies inside the window is asked of its certain part: the length without the
 * slack, and since the landmark.  An explicit landmark empties the cache, at no cost. */
#ifndef CONFIRM_H
#define CONFIRM_H

#include "detector.h"

/* Of a cache of `keys`; 0 for none. */
uint64_t confirm_bytes(uint64_t keys);

/* Refuses cache= where it would be pointless or not certain. */
int confirm_plan(const struct seen_plan *, struct seen_error *);

/* The rest is for detectors that have a cache. */
void confirm_init(seen_detector *);

/* After the window's own verdicts on n records, in
 * order: which duplicates are confirmed. */
void confirm_observe(seen_detector *, size_t n, const seen_digest *, const uint64_t *at,
                     uint8_t *verdict);
/* What confirm_observe would say, were each the record at `at`, of reports at most `within` ago. */
void confirm_query(const seen_detector *, size_t n, const seen_digest *, uint64_t at,
                   uint64_t within, uint8_t *verdict);

void confirm_landmark(seen_detector *);
void confirm_forget(seen_detector *, size_t n, const seen_digest *);
/* As the windows merge: the counters, as the merge begins; then what counts in `from` enters with
 * its age. */
void confirm_add_counters(seen_detector *into, const seen_detector *from);
bool confirm_merge(seen_detector *into, uint64_t at, const seen_detector *from, uint64_t from_at,
                   uint64_t most, struct seen_merging *);

uint64_t confirm_count(const seen_detector *); /* records confirmed so far */
void confirm_clear_counters(seen_detector *);

int confirm_save(const seen_detector *, struct seen_writer);
int confirm_load(seen_detector *, struct seen_reader, struct seen_error *);

#endif
