/* flow.h - the way of a batch from the reader to the sink.
 *
 *     reader ─► [ reorder ] ─► judge ─► sink
 *
 * What is in brackets is there if it is wanted, and costs nothing otherwise. */
#ifndef SEEN_FLOW_H
#define SEEN_FLOW_H

#include "dedup/wanted.h"
#include "hold/reorder.h"
#include "write/sink.h"

struct flow {
    const struct wanted *wanted;
    struct judge *judge;
    struct sink *sink;
    struct reorder reorder;
    struct outlet outlet;
    uint64_t records, first_unreadable; /* come so far; the first without key or time, from 1 */
};

/* All but the flow itself stays the caller's. */
void flow_init(struct flow *, const struct wanted *, struct judge *, struct sink *);
void flow_free(struct flow *);

void flow_batch(struct flow *, struct batch *); /* the next, its records read ahead */
void flow_end(struct flow *);                   /* what is held back goes */

#endif
