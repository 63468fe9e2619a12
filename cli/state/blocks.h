/* blocks.h - what follows the snapshot in a state of `seen count` or `seen top`: bytes in blocks,
 * each with its checksum.
 *
 *     length u64, 1 to 65536 | `length` bytes | XXH3-64 of them, seeded with the block's number
 *     …
 *     0 u64                                    the end
 *
 * Writing calls only the writer, because it runs in a forked child, where other calls are not safe.
 * Reading trusts no byte: after the first error `bad` is set and every number read is 0. */
#ifndef SEEN_STATE_BLOCKS_H
#define SEEN_STATE_BLOCKS_H

#include "seen.h"

#include <stdbool.h>

enum { BLOCK = 1 << 16 };

struct blocks_out {
    struct seen_writer to;
    uint64_t number; /* of the block that fills */
    size_t n;
    bool bad; /* the writer has failed */
    char bytes[BLOCK];
};

void blocks_out_begin(struct blocks_out *, struct seen_writer);
void blocks_put(struct blocks_out *, const void *, size_t len);
void blocks_put_number(struct blocks_out *, uint64_t);
struct seen_writer blocks_writer(struct blocks_out *); /* for snapshots */
int blocks_out_end(struct blocks_out *);               /* nonzero if the writer has failed */

struct blocks_in {
    struct seen_reader from;
    uint64_t number;
    size_t at, n; /* of the block */
    bool bad, ended;
    char bytes[BLOCK];
};

void blocks_in_begin(struct blocks_in *, struct seen_reader);
bool blocks_get(struct blocks_in *, void *, size_t len); /* false: bad */
uint64_t blocks_get_number(struct blocks_in *);
struct seen_reader blocks_reader(struct blocks_in *); /* for snapshots */
bool blocks_in_end(struct blocks_in *);               /* nothing was bad, and nothing is left */
void blocks_skip(struct blocks_in *);                 /* reads all that is left */

#endif
