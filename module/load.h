/* load.h - a value that is still being loaded: the chunks so far, which RDB and AOF keep, and the
 * transfer that reads them as they come. */
#ifndef MODULE_LOAD_H
#define MODULE_LOAD_H

#include "value.h"

struct load_chunk {
    struct load_chunk *next;
    size_t len;
    char bytes[];
};

/* NULL without memory. */
struct value *load_begin(uint64_t limit);

/* The next chunk.  *done: the value it completes, which takes the place of this one.  Fails on
 * bytes that are none of a snapshot, on a last one that completes nothing, and beyond `limit`. */
int load_feed(struct value *, const char *bytes, size_t len, bool last, uint64_t limit,
              struct value **done, struct seen_error *);

const struct load_chunk *load_chunks(const struct value *);

#endif
