/* huge.h - huge pages after a fork.
 *
 * While a child shares our memory, the system splits each huge page that we change into 512 small
 * ones, and never mends that in a time that matters: from then on a table that is touched at random
 * pays for it in TLB misses, and the next fork for each small page.  So a thread of ours asks for
 * it, page by page, which takes about as long as copying the table. */
#ifndef SEEN_HUGE_H
#define SEEN_HUGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HUGE_SPANS = 64 };

struct huge {
    struct {
        uintptr_t at, end;
    } span[HUGE_SPANS]; /* mappings that asked for huge pages */
    size_t n;
    atomic_bool mending; /* the thread is at it, and the above is its own */
};

void huge_look(struct huge *); /* before the fork: later it takes longer by the pages split */
void huge_mend(struct huge *); /* no child shares our memory any more */

#endif
