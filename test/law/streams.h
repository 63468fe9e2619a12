/* streams.h - streams of keys on which bounds and intervals are measured: what hurts a window most,
 * and real ones. */
#ifndef STREAMS_H
#define STREAMS_H

#include "law.h"

struct stream {
    const char *name;
    size_t n;
    uint64_t *key; /* numbers from 0 to n-1 */
    uint64_t *time;
};

enum { STREAM_KINDS = 9 };

/* n records of the kind-th stream, made for windows of about `window` records. */
struct stream streams_make(size_t kind, size_t window, size_t n, uint64_t seed);

/* At most n records of a file of "time TAB key" lines, times in seconds. */
struct stream streams_read(const char *path, size_t n);
void streams_free(struct stream *);

struct streams_held {
    uint64_t keys, records; /* the most of any window */
    size_t at;              /* the first record at which it holds them */
};

/* What a window holds of the last `length` records, or of those less than `length` microseconds
 * old; a landmark window begins at each multiple. */
struct streams_held streams_most_held(const struct stream *, uint32_t window, bool times,
                                      uint64_t length);

#endif
