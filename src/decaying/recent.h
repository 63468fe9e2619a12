/* recent.h - what lru and second-chance share.  Both remember the most recent keys (buffer.h), and
 * differ in the key that makes room for a new one. */
#ifndef RECENT_H
#define RECENT_H

#include "table/buffer.h"
#include "window/window.h"

/* Decides blocks= for a structure that takes `slot` bytes a key, and predicts: no false positives;
 * a key is found while fewer than capacity others came since. */
int recent_plan(struct seen_plan *, uint64_t slot, struct seen_error *);

/* On a stream whose gaps are known: lru misses a repeat if and only if `capacity` or more different
 * keys came between. */
struct forecast recent_forecast(const struct seen_plan *, const struct gap_law *);

/* As the functions of window_ops. */
uint64_t recent_size(const struct seen_spec *);
void recent_init(struct window *);
void recent_ages(const struct window *, size_t n, const seen_digest *, uint64_t at, uint64_t *age);
void recent_landmark(struct window *, uint64_t at);
void recent_stats(const struct window *, uint64_t at, struct seen_stats *);
void recent_clear_counters(struct window *);

/* Removes keys and calls `vacate` for each slot that becomes vacant.  Returns how many were held.
 */
size_t recent_forget(struct window *, size_t n, const seen_digest *,
                     void (*vacate)(struct buffer *, uint32_t slot));

/* -- snapshots: a few numbers, then digests ----------------------------------------------- */

#define RECENT_CHUNK 128 /* keys written at once; few, because a server waits while they enter */

struct recent_chunk {
    struct seen_writer out;
    size_t n;
    seen_digest digest[RECENT_CHUNK];
};

/* Write a digest, in chunks, and what is left of the last chunk.  Return what the writer returned.
 */
int recent_save_key(struct recent_chunk *, seen_digest);
int recent_save_rest(struct recent_chunk *);

/* Reads the digest of the next slot, which must not be in the table yet.  The digest of a vacant
 * slot is dropped. */
int recent_load_slot(struct buffer *, bool vacant, struct seen_reader, struct seen_error *);

#endif
