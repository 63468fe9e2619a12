/* entry.h - what is known of one key, or of one key at one time: how often each side has it. */
#ifndef SEEN_DIFF_ENTRY_H
#define SEEN_DIFF_ENTRY_H

#include "base/number.h"

#include <stddef.h>
#include <stdint.h>

enum { LEFT, RIGHT };

struct entry {
    const char *key; /* as packed.h writes it, perhaps with a time behind it */
    size_t len;
    uint64_t n[2];  /* records of the left and of the right side */
    decimal sum[2]; /* of their amounts */
};

/* Adds what is known of the same key.  Dies if a sum does not fit. */
void entry_add(struct entry *, const struct entry *more);

#endif
