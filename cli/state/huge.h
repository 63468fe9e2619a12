/* huge.h - huge pages after a fork.
 *
 * While a child shares our memory, the system splits each huge page that we change into 512 small
 * ones, and never mends that in a time that matters: from then on a table that is touched at random
 * pays for it in TLB misses, and the next fork for each small page.  So we ask for it, a page now
 * and then. */
#ifndef SEEN_HUGE_H
#define SEEN_HUGE_H

#include <stddef.h>
#include <stdint.h>

enum { HUGE_SPANS = 64 };

struct huge {
    struct {
        uintptr_t at, end;
    } span[HUGE_SPANS]; /* mappings that asked for huge pages, and are yet to be mended */
    size_t n;
};

void huge_look(struct huge *); /* before the fork: later it takes longer by the pages split */
void huge_step(
    struct huge *); /* after it: mends one page, in about a millisecond, if one is left */

#endif
