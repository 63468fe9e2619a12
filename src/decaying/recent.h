/* recent.h - all of a structure that remembers the most recent keys (buffer.h) but which key makes
 * room for the next: what lru and clock share. */
#ifndef RECENT_H
#define RECENT_H

#include "table/buffer.h"
#include "window/window.h"

/* Decides blocks= for a structure that takes `slot` bytes a key, and predicts: no false positives;
 * a key is found while fewer than capacity others came since. */
int recent_plan(struct seen_plan *, uint64_t slot, struct seen_error *);

/* On a stream whose gaps are known: lru misses a repeat if as many keys or more came between; what
 * clock does instead stands in clock_forecast.c. */
struct forecast recent_forecast(const struct seen_plan *, const struct gap_law *);
struct forecast clock_forecast(const struct seen_plan *, const struct gap_law *);

uint64_t recent_size(const struct seen_spec *);
void recent_init(struct window *);
void recent_ages(const struct window *, size_t n, const seen_digest *, uint64_t at, uint64_t *age);
void recent_landmark(struct window *, uint64_t at);
void recent_stats(const struct window *, uint64_t at, struct seen_stats *);
void recent_clear_counters(struct window *);

/* Takes keys out; `vacate` is told each slot that stands vacant for it. */
size_t recent_forget(struct window *, size_t n, const seen_digest *,
                     void (*vacate)(struct buffer *, uint32_t slot));

/* -- snapshots: a few numbers of the structure's, then digests ---------------------------- */

#define RECENT_CHUNK 128 /* few enough that to find them places takes no time */

struct recent_chunk {
    struct seen_writer out;
    size_t n;
    seen_digest digest[RECENT_CHUNK];
};

int recent_save_key(struct recent_chunk *, seen_digest);
int recent_save_rest(struct recent_chunk *);

/* Reads the next slot's digest, which must not be there yet; of a vacant slot it says nothing. */
int recent_load_slot(struct buffer *, bool vacant, struct seen_reader, struct seen_error *);

#endif
