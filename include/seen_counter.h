/* seen_counter.h - counts different keys: of all records so far, or of the last N records or
 * microseconds, in fixed memory.
 *
 *     seen_counter *c;
 *     if (seen_counter_new(&c, SEEN_COUNTER_HLL, 0.01, seed, NULL, &e)) ...
 *     seen_counter_add(c, n, digest);
 *     double keys = seen_counter_estimate(c, NULL);
 *     seen_counter_free(c);
 *
 * Failure, ownership and threads are as in seen.h. */
#ifndef SEEN_COUNTER_H
#define SEEN_COUNTER_H

#include "seen.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* -- counting distinct keys --------------------------------------------------------------- */

/* Counts different keys: exactly while they are few, then with a sketch of fixed size.  Free it
 * with seen_counter_free.  Use one counter from one thread at a time.  All digests must come from
 * the same hash and seed.
 *
 * The first keys are kept as digests beside the sketch, in up to four times its memory.  A standard
 * error of one percent takes a sketch of 16 KiB, which counts 3072 keys exactly.  If there is no
 * memory for the digests, the sketch counts from the start. */
typedef struct seen_counter seen_counter;

enum seen_counter_kind {
    /* HyperLogLog with Ertl's estimator: relative standard error 1.04/sqrt(bytes) */
    SEEN_COUNTER_HLL,
    /* Flajolet-Martin, linear hashing: 0.78/sqrt(k) with k mappings of 24 bytes */
    SEEN_COUNTER_FM,
    /* No sketch: keeps all digests, in 22 to 43 bytes each, and half as much again while the set
     * grows; seen_counter_new ignores the error */
    SEEN_COUNTER_SET
};

/* Makes a counter with a relative standard error (0.01: one percent).  SEEN_EREFUSED: no size gives
 * this error. */
int seen_counter_new(seen_counter **, uint32_t kind, double error, uint64_t seed,
                     const struct seen_allocator *, struct seen_error *);
void seen_counter_free(seen_counter *); /* NULL is fine */
void seen_counter_add(seen_counter *, size_t n, const seen_digest *);

/* Returns the number of different keys.  *error (may be NULL) becomes the relative standard error.
 * 0: the count is exact.  INFINITY: a SEEN_COUNTER_SET had no memory for some keys and counts the
 * others. */
double seen_counter_estimate(const seen_counter *, double *error);
uint64_t seen_counter_bytes(const seen_counter *); /* now */
void seen_counter_clear(seen_counter *);

/* Adds the keys of `from`: `into` then counts the union of both.  SEEN_EMISMATCH: kind, error or
 * seed differ. */
int seen_counter_merge(seen_counter *into, const seen_counter *from, struct seen_error *);

/* Write and load a snapshot with checksums.  The bytes may be hostile.  SEEN_EFORMAT: they are
 * damaged, or need more than `limit` bytes of memory (0: no limit); nothing needs to be freed. */
int seen_counter_save(const seen_counter *, struct seen_writer, struct seen_error *);
int seen_counter_load(seen_counter **, struct seen_reader, size_t limit,
                      const struct seen_allocator *, struct seen_error *);

/* -- counting distinct keys of a sliding window ------------------------------------------- */

/* Counts different keys of the last `window` records or microseconds: exactly while they are few
 * (2688 keys with a standard error of one percent), then with a sliding HyperLogLog.  Its estimate
 * equals that of a HyperLogLog over exactly the keys of the window.  Free it with
 * seen_sliding_counter_free.  Threads and digests are as for seen_counter. */
typedef struct seen_sliding_counter seen_sliding_counter;

/* kind: SEEN_COUNTER_HLL, or SEEN_COUNTER_SET, which keeps the digests of the window in up to 98
 * bytes each.  Error and failures are those of seen_counter_new.  SEEN_EINVAL: another kind, or a
 * window of 0. */
int seen_sliding_counter_new(seen_sliding_counter **, uint32_t kind, double error, uint64_t window,
                             const struct seen_allocator *, struct seen_error *);
void seen_sliding_counter_free(seen_sliding_counter *); /* NULL is fine */

/* Adds n keys.  Times may come in any order; the window ends at the newest.  With NULL times the
 * window counts records. */
void seen_sliding_counter_add(seen_sliding_counter *, size_t n, const seen_digest *,
                              const seen_time *);

/* Returns the number of different keys in the last `last` records or microseconds, at most the
 * window (0: the whole window).  *error is as for seen_counter_estimate; INFINITY: there was no
 * memory for some keys. */
double seen_sliding_counter_estimate(const seen_sliding_counter *, uint64_t last, double *error);
uint64_t seen_sliding_counter_bytes(const seen_sliding_counter *); /* now */

/* 1 if both are of the same kind, error and window. */
int seen_sliding_counter_alike(const seen_sliding_counter *, const seen_sliding_counter *);

/* Write and load a snapshot, as for seen_counter. */
int seen_sliding_counter_save(const seen_sliding_counter *, struct seen_writer,
                              struct seen_error *);
int seen_sliding_counter_load(seen_sliding_counter **, struct seen_reader, size_t limit,
                              const struct seen_allocator *, struct seen_error *);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
