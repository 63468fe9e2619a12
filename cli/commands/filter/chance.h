/* chance.h - how many records pass that hold no key of a list: of m keys each is taken for one of a
 * list's with probability e, so that a record passes with 1-(1-e)^m. */
#ifndef SEEN_FILTER_CHANCE_H
#define SEEN_FILTER_CHANCE_H

#include "commands/filter/lists.h"

enum { CHANCE_KEYS = 1024 };

struct chance {
    uint64_t records, keys;   /* so far */
    uint64_t by[CHANCE_KEYS]; /* records by how many keys they have */
    uint64_t more,
        more_keys; /* records with as many or more, and their keys: counted as if all were alike */
};

void chance_note(struct chance *, uint32_t keys);

/* The mean of 1-(1-e)^m over the records; m is the keys of each. */
double chance_record(const struct chance *, double e);

/* e of all lists together: that a key is taken for one of any of them. */
double chance_key(const struct lists *);

#endif
