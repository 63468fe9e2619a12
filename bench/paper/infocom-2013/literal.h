/* literal.h - the paper's structure as its §IV.B is written: the list L has no bound, an insertion
 * does not look for its item there, and moves are tried from one table only, drawn by lot.  What
 * seen has is src/sliding/timed_cuckoo.c; this one is for figures whose tables are too small for
 * its keys, where L holds hundreds of them. */
#ifndef LITERAL_H
#define LITERAL_H

#include "../lab.h"

struct literal;

/* Windows up to n; two tables of lambda positions; at most `moves` moves an insertion.  `look`:
 * insertions do look for their item in L. */
struct literal *literal_new(uint64_t n, uint64_t lambda, int signature, uint64_t moves, bool look,
                            uint64_t seed);
void literal_free(struct literal *);

void literal_update(struct literal *, seen_digest); /* the next item of the stream */
void literal_pass(struct literal *);                /* one that is not inserted */

/* The least w for which the item counts as one of the most recent w; SEEN_NEVER above n. */
uint64_t literal_age(const struct literal *, seen_digest);

uint64_t literal_listed(const struct literal *);

#endif
