/* stream.h - a stream whose LRU behaviour is given: the model of
 * deng-rafiei-table2-stream-model.csv, whose comment defines it. */
#ifndef STREAM_H
#define STREAM_H

#include <stdbool.h>
#include <stdint.h>

struct element {
    uint32_t key;   /* 0, 1, 2 … in the order of their first coming */
    bool duplicate; /* it came before */
    uint64_t depth; /* of the LRU stack where it was found; 0: new */
    uint64_t gap;   /* records between it and its last coming */
};

struct stream;

/* `knots`: "1:0.97,256:0.57,…,75000:0", depth and the scaled share of duplicates deeper. */
struct stream *stream_new(uint64_t elements, double new_share, const char *knots, uint64_t seed);
void stream_free(struct stream *);
struct element stream_next(struct stream *);

#endif
