/* blocks.h - splits blocks of input into batches of records, on several threads.  Any free thread
 * splits a block and hashes its records.  The calling thread hands on the batches in order.
 *
 *     input  ->  block: whole records  ->  batches  ->  events.batch, in order
 *     fill       split, parse, hash (any thread)        the calling thread
 *
 * A ring of blocks bounds how far the other threads run ahead.  With one thread, the calling thread
 * does it all, a batch at a time, within the input's buffer.  Other threads only call `ahead`.
 * Messages and waits for input stay with the calling thread, so the output does not depend on the
 * number of threads. */
#ifndef SEEN_BLOCKS_H
#define SEEN_BLOCKS_H

#include "base/pool.h"
#include "records/format/record.h"
#include "records/input.h"

struct block_events {
    /* Work on a batch before its turn, on thread `who` (0: the calling one), while other threads
     * work on other batches.  The result goes to batch->result, which has `result_size` bytes. */
    void (*ahead)(void *ctx, unsigned who, struct batch *, seen_time now);
    size_t result_size;
    void (*batch)(void *ctx, struct batch *, seen_time now); /* the batch's turn has come */
    bool (*ending)(void *ctx);                               /* no further batch is wanted */
};

struct blocks;

/* All arguments stay the caller's.  Without a pool (NULL) there is one thread.  Dies if memory is
 * short. */
struct blocks *blocks_new(struct pool *, struct input *, const struct layout *,
                          const struct block_events *, void *ctx);
void blocks_free(struct blocks *); /* NULL is fine */

/* Reads once, as input_fill does.  Hands on batches meanwhile if the input never waits. */
ssize_t blocks_fill(struct blocks *);

/* Takes all whole records off the input as a block, for any thread.  False: use blocks_pass,
 * because there is one thread or a record is longer than a block. */
bool blocks_push(struct blocks *, struct splitter *, seen_time now);

/* Hands on all records in the input's buffer.  At the end of a file (`last`) the bytes behind them
 * are a record, too.  Call blocks_settle first. */
void blocks_pass(struct blocks *, struct splitter *, bool last, seen_time now);

/* Hands on all blocks that were pushed.  False: there were no such blocks. */
bool blocks_settle(struct blocks *);

/* How many bytes of the file have been handed on. */
uint64_t blocks_position(const struct blocks *);

#endif
