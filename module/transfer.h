/* transfer.h - a dump or a load in steps short enough for a server.
 *
 * Writing and reading a value is one call each, and a long one where it is large.  Here the call
 * runs on a thread that takes turns with the server's: while one works the other waits, so that no
 * two ever touch the same thing, and a step lasts as long as its bytes do.  Abandoned transfers
 * cost a sleeping thread; the oldest dump is given up where there are many.
 */
#ifndef MODULE_TRANSFER_H
#define MODULE_TRANSFER_H

#include "value.h"

#define TRANSFER_CHUNK ((size_t)128 << 10) /* bytes of a step */

/* Begins one in *place, which it leaves again, set to NULL, when it ends; false where no thread or
 * memory can be had.  A dump's value must not change before its end; a load may take `limit` bytes,
 * 0 any. */
bool transfer_dump(struct transfer **place, const struct value *);
bool transfer_load(struct transfer **place, uint64_t limit);

/* A dump's next bytes.  Less than all of `cap`, or *last: there are no more. */
size_t transfer_next(struct transfer *, char *buf, size_t cap, bool *last);

/* A load's next bytes, whose value is *value when it is complete.  Negative on failure. */
int transfer_feed(struct transfer *, const char *bytes, size_t len, struct value **value,
                  struct seen_error *);

/* Ends it, whatever its state. */
void transfer_end(struct transfer **place);

#endif
