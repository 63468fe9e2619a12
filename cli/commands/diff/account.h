/* account.h - what a comparison came to: --stats. */
#ifndef SEEN_DIFF_ACCOUNT_H
#define SEEN_DIFF_ACCOUNT_H

#include "commands/diff/pairs.h"
#include "commands/diff/side.h"

struct account {
    uint64_t both, different; /* keys of both sides; those whose counts or sums differ */
    uint64_t only[2];         /* keys of one side */
    uint64_t matched;         /* records of either side */
};

void account_add(struct account *, const struct pair *);

/* On stderr. */
void account_text(const struct account *, const struct side[2], const struct tally *);
void account_json(const struct account *, const struct side[2], const struct tally *);

#endif
