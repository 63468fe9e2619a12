/* timed_cuckoo.h - what the algorithm and the planning of the timed cuckoo table share. */
#ifndef TIMED_CUCKOO_H
#define TIMED_CUCKOO_H

#include "plan/plan.h"
#include "sliding/cuckoo_cells.h"

#define TIMED_CUCKOO_LIST       64 /* keys that found no place, kept aside */
#define TIMED_CUCKOO_MOVES      64 /* by default */
#define TIMED_CUCKOO_MOVES_MOST 256

struct timed_cuckoo_listed {
    seen_digest digest;
    uint64_t stamp; /* logical tick */
};

/* What a snapshot keeps beside the clock and the cells. */
struct timed_cuckoo_head {
    uint64_t landmarks, lost; /* lost: keys that found no place */
    uint64_t flood;           /* logical tick of the last of them, plus 1; 0: none */
    uint64_t random;          /* which table is tried first */
    uint64_t listed, check;   /* length of L; its next item to be looked at for expiry */
    struct timed_cuckoo_listed list[TIMED_CUCKOO_LIST];
};

/* A shard's state; its lines follow. */
struct timed_cuckoo {
    struct timed_cuckoo_head h;
    struct stamps t;
    struct cuckoo_cells c;
    uint64_t lambda; /* cells a table */
    uint32_t place, signature, moves, first;
};

#define TIMED_CUCKOO_BYTES ((sizeof(struct timed_cuckoo) + 63) / 64 * 64)

uint64_t timed_cuckoo_size(const struct seen_spec *);
int timed_cuckoo_plan(struct seen_plan *, struct seen_error *);

#endif
