/* held.h - a record kept back for a while: its bytes and all that was read of it. */
#ifndef SEEN_HELD_H
#define SEEN_HELD_H

#include "judge/judge.h"

struct held {
    struct reading read;
    uint64_t serial; /* in the order in which they were held */
    uint8_t verdict;
    uint32_t len, bare; /* as struct record; its line end is always there */
    char bytes[];
};

/* A copy, or one sentence and exit 2.  A last record without its `end` gets it: others may follow.
 */
struct held *held_new(const struct record *, const struct reading *, char end);
size_t held_size(const struct held *); /* what it takes */

/* -- let go: batches of them -------------------------------------------------------------- */

struct outlet {
    struct batch *batch; /* records stand in `text`, one behind the other */
    struct readable *read;
    char *text;
    size_t used, cap;
};

void outlet_init(struct outlet *);
void outlet_free(struct outlet *);
void outlet_begin(struct outlet *);
bool outlet_full(const struct outlet *);
void outlet_take(struct outlet *, struct held *); /* which is freed */
void outlet_end(struct outlet *);                 /* the batch can be used until the next begins */

#endif
