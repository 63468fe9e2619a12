/* transfer.h - a dump or a load in steps short enough for a server.
 *
 * To write or read a value is one call of the library, which takes long if the value is large. Here
 * that call runs on a thread of its own, which takes turns with the server's thread: one works
 * while the other waits, so they never touch the same data at once.  A step lasts as long as its
 * bytes take.  An abandoned transfer costs a sleeping thread; if there are many, the oldest dump is
 * ended.
 */
#ifndef MODULE_TRANSFER_H
#define MODULE_TRANSFER_H

#include "value.h"

#define TRANSFER_CHUNK ((size_t)128 << 10) /* bytes of a step */

/* Begins a transfer and stores it in *place, which becomes NULL when the transfer ends.  False: no
 * thread or no memory.  While a dump goes on, its value may gain items, and must not change
 * otherwise.  A load may allocate
 * `limit` bytes (0: any number). */
bool transfer_dump(struct transfer **place, const struct value *);
bool transfer_load(struct transfer **place, uint64_t limit);

/* Writes the next bytes of a dump, at most `cap`, and returns how many.  Fewer than `cap`, or
 * *last: the dump is complete. */
size_t transfer_next(struct transfer *, char *buf, size_t cap, bool *last);

/* Takes the next bytes of a load, and sets *value once it is complete.  Negative on failure. */
int transfer_feed(struct transfer *, const char *bytes, size_t len, struct value **value,
                  struct seen_error *);

/* Ends a transfer in any state. */
void transfer_end(struct transfer **place);

/* -- a value that is still being loaded ---------------------------------------------------- */

/* The chunks so far, which RDB and AOF keep.  A transfer reads each as it comes. */
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
