/* seen_top.h - finds the most frequent keys of a stream, in fixed memory.
 *
 * Failure, ownership and threads are as in seen.h. */
#ifndef SEEN_TOP_H
#define SEEN_TOP_H

#include "seen.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* -- heavy hitters ------------------------------------------------------------------------ */

/* Space-Saving: finds the most frequent keys with k counters.  After N records, every key that came
 * more than N/k times has a counter.  A counter is never below the truth, and above it by at most
 * its `error`, which is at most N/k.  Free it with seen_top_free. */
typedef struct seen_top seen_top;

struct seen_heavy {
    seen_digest key;
    uint64_t count, error; /* count - error <= truth <= count */
    size_t counter;        /* 0 to k-1, as seen_top_add returns it */
};

int seen_top_new(seen_top **, uint64_t k, const struct seen_allocator *, struct seen_error *);
void seen_top_free(seen_top *); /* NULL is fine */

/* Counts one record of a key and returns the number of its counter.  *taken becomes 1 if the
 * counter was unused or belonged to another key before. */
size_t seen_top_add(seen_top *, seen_digest, int *taken);

/* An upper bound for the number of records of a key. */
uint64_t seen_top_bound(const seen_top *, seen_digest);

/* Writes the keys that have counters, the highest count first.  `out` has room for k.  Returns how
 * many it wrote. */
size_t seen_top_list(const seen_top *, struct seen_heavy *out);
void seen_top_clear(seen_top *);
uint64_t seen_top_bytes(const seen_top *);

/* Write and load a snapshot, as for seen_counter.  Counters keep their numbers. */
int seen_top_save(const seen_top *, struct seen_writer, struct seen_error *);
int seen_top_load(seen_top **, struct seen_reader, size_t limit, const struct seen_allocator *,
                  struct seen_error *);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
