/* confirm.h - a cache of exact keys that confirms duplicates (verify=).
 *
 * Idea       The cache keeps the digests of the last N keys that were called duplicates, each with
 *            the clock of its last report.  Such a key certainly came, even if that report was a
 *            false positive.  If it is called a duplicate again within the window, the second
 *            report is certainly right: the record is *confirmed*, SEEN_CONFIRMED.
 * Guarantee  A confirmed duplicate is a true one, up to the 128 bits of a digest.  A key's first
 *            report in a window is never confirmed.  Each later one is, unless N other keys entered
 *            the cache since this one did.
 * Paper      Metwally, Agrawal, El Abbadi, WWW 2005, §5.2.1: what is output as duplicate can be
 *            stored in a separate cache to verify that it is duplicated frequently.
 * Layout     One cache a detector, at the end of its block; first in, first out.
 *
 *                | head | slot 0 | slot 1 | … | slot N-1 | stamp 0 | stamp 1 | … |
 *                         └ buffer.h, 24 bytes             └ clock of the last report + 1,
 *                                                            0: none that counts (forgotten)
 *
 * Example    verify=1 on a a a b a b b a: the second a is called a duplicate and enters, the third
 *            and the fourth are confirmed; the second b takes the place of a, the third is
 *            confirmed, and the last a is not.
 * Cost       32 bytes a key; about three cache lines a duplicate, none for a new record.
 *
 * A report counts only inside the part of the window that is certain: its length without the slack,
 * and not before the last landmark.  An explicit landmark empties the cache, at no cost. */
#ifndef CONFIRM_H
#define CONFIRM_H

#include "detector/block.h"

/* Bytes of a cache of `keys` keys; 0 for 0. */
uint64_t confirm_bytes(uint64_t keys);

/* Refuses verify= with a structure that has no false positives, and with refresh=first, under which
 * a report would not be certain. */
int confirm_plan(const struct seen_plan *, struct seen_error *);

/* The other functions are for detectors that have a cache.  This one prepares it. */
void confirm_init(seen_detector *);

/* Takes the window's verdicts on n records, in order, and turns SEEN_DUPLICATE into SEEN_CONFIRMED
 * for those that are certain. */
void confirm_observe(seen_detector *, size_t n, const seen_digest *, const uint64_t *at,
                     uint8_t *verdict);
/* The same for a query at `at`, without changing the cache.  Only reports at most `within` old
 * count. */
void confirm_query(const seen_detector *, size_t n, const seen_digest *, uint64_t at,
                   uint64_t within, uint8_t *verdict);

/* Forget all reports, and the reports of n keys. */
void confirm_landmark(seen_detector *);
void confirm_forget(seen_detector *, size_t n, const seen_digest *);

/* Merging.  The first adds the counters of `from`, once.  The second adds up to `most` keys of
 * `from` that count, with their ages; true: that was the last piece. */
void confirm_add_counters(seen_detector *into, const seen_detector *from);
bool confirm_merge(seen_detector *into, uint64_t at, const seen_detector *from, uint64_t from_at,
                   uint64_t most, struct merge_cursor *);

uint64_t confirm_count(const seen_detector *); /* records confirmed so far */
void confirm_clear_counters(seen_detector *);

/* Write and read the cache.  confirm_load returns SEEN_EFORMAT for a cache that does not fit. */
int confirm_save(const seen_detector *, struct seen_writer);
int confirm_load(seen_detector *, struct seen_reader, struct seen_error *);

#endif
