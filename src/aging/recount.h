/* recount.h - a table of counters that are counted anew, little by little, if any has stuck.
 *
 * A counter at its top of 2^width-1 counts no more, so it would stand for ever once a key came that
 * often.  Whoever owns the table keeps a queue of all that it counts: the table counts one region
 * again from that queue, in a shadow as large as a region, and sets free what was below the top.
 *
 *     lines   | region 0 | region 1 | … | region 15 | shadow |
 *                            └───── counted in ───────▲
 *
 *     queue   oldest ◄─────── walk ◄──────────── newest ◄── new
 *               │              └── in the shadow ──────────────┘
 *               └── leaves uncounted while it is older than `walk`, else leaves the shadow too
 *
 * When the walk has met the oldest, the shadow holds the exact counts of the region, but for those
 * at their top in it; then line by line the stuck ones below take theirs over, and the next region
 * is next.  With nothing stuck nothing is done.  Lines are stamped with an epoch (table.h), so that
 * all counters, the shadow's too, are zero at once when the epoch advances. */
#ifndef RECOUNT_H
#define RECOUNT_H

#include "filter/cells.h"
#include "filter/counters.h"

/* What a snapshot keeps beside the lines. */
struct recount_head {
    uint64_t epoch;
    uint64_t region;    /* being counted */
    uint64_t walking;   /* 1: the owner walks its queue */
    uint64_t walk;      /* entries of the queue from this one on are in the shadow */
    uint64_t taken;     /* lines of the shadow taken over since the walk ended */
    uint64_t saturated; /* counters that reached their top */
    uint64_t rebuilt;   /* of them, set free */
};

struct recount {
    struct recount_head h;
    uint64_t lines, shadow; /* lines before the shadow, and in it */
    uint64_t set, stuck;    /* counters above zero, and at their top */
    uint32_t width, top, a_line;
};

uint64_t recount_lines(uint64_t lines); /* of so many, those before the shadow; two at least */
uint64_t recount_cells(const struct filter_shape *);

void recount_init(struct recount *, const struct filter_shape *);

/* `table` is where the lines are.  `shadowed`: the entry of the queue is in the shadow. */
uint32_t recount_get(const struct recount *, const uint64_t *table, struct cells_probe);
void recount_up(struct recount *, uint64_t *table, struct cells_probe);
void recount_down(struct recount *, uint64_t *table, struct cells_probe, bool shadowed);

/* All counters are zero. */
void recount_empty(struct recount *, uint64_t *table);

/* Once a record, with the queue's ends: true if the owner is to walk a few entries, down to begin.
 */
bool recount_step(struct recount *, uint64_t *table, uint64_t begin, uint64_t end);
void recount_walked(struct recount *, uint64_t *table, struct cells_probe); /* a probe of one */

/* A head that was loaded; then a line that was. */
bool recount_sane(const struct recount *, uint64_t end);
void recount_tally(struct recount *, const uint64_t *table, uint64_t line);

#endif
