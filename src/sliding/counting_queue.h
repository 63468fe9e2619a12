/* counting_queue.h - what the algorithm and the planning of the sliding counting filter share. */
#ifndef COUNTING_QUEUE_H
#define COUNTING_QUEUE_H

#include "plan/plan.h"
#include "table/table.h"

#include <stdbool.h>

/* -- counters that are counted again ------------------------------------------------------ */

/* a table of counters that repairs stuck counters, a few steps with each record.
 *
 * A counter sticks at its top of 2^width-1: it neither rises nor falls any more.  The table's owner
 * keeps a queue of all entries that are counted.  From that queue the table counts one region
 * again, in a shadow of the same size.  A stuck counter whose true count is below the top gets that
 * count.
 *
 *     lines   | region 0 | region 1 | … | region 15 | shadow |
 *                            └───── counted in ───────▲
 *
 *     queue   oldest ◄─────── walk ◄──────────── newest ◄── new
 *               │              └── in the shadow ──────────────┘
 *               └── leaves uncounted while it is older than `walk`, else leaves the shadow too
 *
 * When the walk has reached the oldest entry, the shadow holds the exact counts of the region,
 * except those that stuck in the shadow too.  Then stuck counters take over the shadow's counts,
 * line by line, and the next region follows.  If no counter is stuck, nothing is done.  Lines are
 * stamped with an epoch (table.h): when the epoch advances, all counters are zero at once, those of
 * the shadow included. */
/* What a snapshot keeps beside the lines. */
struct recount_head {
    uint64_t epoch;
    uint64_t region;    /* being counted */
    uint64_t walking;   /* 1: the owner walks its queue */
    uint64_t walk;      /* entries of the queue from this one on are in the shadow */
    uint64_t taken;     /* lines of the shadow taken over since the walk ended */
    uint64_t saturated; /* counters that reached their top */
    uint64_t rebuilt;   /* stuck counters that were repaired */
};

struct recount {
    struct recount_head h;
    uint64_t lines, shadow; /* lines before the shadow, and in it */
    uint64_t set, stuck;    /* counters above zero, and at their top */
    uint32_t width, top, a_line;
};

/* The lines before the shadow, in a table of `lines` lines; at least two. */
uint64_t recount_lines(uint64_t lines);
uint64_t recount_cells(const struct filter_shape *);

void recount_init(struct recount *, const struct filter_shape *);

/* The counter of a probe; and one key more or less in it.  `table` is where the lines are.
 * `shadowed`: the shadow counts this entry of the queue. */
uint32_t recount_get(const struct recount *, const uint64_t *table, struct cells_probe);
void recount_up(struct recount *, uint64_t *table, struct cells_probe);
void recount_down(struct recount *, uint64_t *table, struct cells_probe, bool shadowed);

/* Sets all counters to zero. */
void recount_empty(struct recount *, uint64_t *table);

/* Call once a record, with the ends of the queue.  True: the owner walks a few entries, down to
 * `begin` at most, and calls recount_walked for each probe of each entry. */
bool recount_step(struct recount *, uint64_t *table, uint64_t begin, uint64_t end);
void recount_walked(struct recount *, uint64_t *table, struct cells_probe);

/* Checks a head that was loaded; then counts the counters of one loaded line. */
bool recount_sane(const struct recount *, uint64_t end);
void recount_tally(struct recount *, const uint64_t *table, uint64_t line);

/* -- the queue ---------------------------------------------------------------------------- */

#define COUNTING_QUEUE_MAX_K 64

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
