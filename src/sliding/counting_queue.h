/* counting_queue.h - what the algorithm and the planning of the sliding counting filter share. */
#ifndef COUNTING_QUEUE_H
#define COUNTING_QUEUE_H

#include "plan/plan.h"
#include "sliding/recount.h"

#include <stdbool.h>

#define COUNTING_QUEUE_K_MOST 64

/* What a snapshot keeps beside the table and the queue. */
struct counting_queue_head {
    uint64_t begin, end; /* numbers of the oldest entry and of the next to come */
    uint64_t landmarks, forgotten, kept;
};

/* A shard's state; its table and its queue follow. */
struct counting_queue {
    struct counting_queue_head h;
    struct recount r;
    uint64_t reach; /* an entry counts while clock - its own <= reach */
    uint64_t room;  /* entries */
    uint64_t leave; /* popped a record at most */
    uint32_t k, first, clocked, time;
};

#define COUNTING_QUEUE_BYTES ((sizeof(struct counting_queue) + 63) / 64 * 64)

/* Whether entries keep their clock, and how many there is room for. */
bool counting_queue_clocked(const struct seen_spec *);
uint64_t counting_queue_room(const struct seen_spec *);

uint64_t counting_queue_size(const struct seen_spec *);
int counting_queue_plan(struct seen_plan *, struct seen_error *);

#endif
