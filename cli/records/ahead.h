/* ahead.h - reading ahead of the records' turn: while the calling thread hands on batches in their
 * order, others fill the input's buffer and split, parse and hash what it held.
 *
 *     input  ->  chunk: whole records  ->  batches  ->  reader_events.batch, in order
 *     fill       (a pool's jobs)                        the calling thread
 *
 * A ring of chunks bounds how far ahead that goes.  All events, all messages and everything that
 * may wait for input stay with the calling thread, so that nothing depends on how many there are.
 */
#ifndef SEEN_AHEAD_H
#define SEEN_AHEAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct reader;
struct ahead;

struct ahead *ahead_new(struct reader *);
void ahead_free(struct ahead *); /* NULL is fine */

/* Takes all complete records off the input.  False: it has outgrown a chunk. */
bool ahead_push(struct ahead *);

/* How many bytes of the file have been handed on. */
uint64_t ahead_position(const struct ahead *);

/* As input_fill, for a file that does not block; hands on batches meanwhile. */
ssize_t ahead_fill(struct ahead *);

/* Hands on all that was pushed.  False: there was nothing. */
bool ahead_settle(struct ahead *);

#endif
