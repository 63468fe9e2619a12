/* huge_pages.h - huge pages after a fork.
 *
 * While a child shares our memory, the system splits each huge page that we change into 512 small
 * ones and does not join them again in any useful time.  From then on random access to a table
 * misses the TLB, and the next fork copies an entry for each small page.  So a thread asks for each
 * huge page again, which takes about as long as copying the table. */
#ifndef SEEN_STATE_HUGE_PAGES_H
#define SEEN_STATE_HUGE_PAGES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_HUGE_SPANS = 64 };

struct huge_pages {
    struct {
        uintptr_t at, end;
    } span[MAX_HUGE_SPANS]; /* mappings that asked for huge pages */
    size_t n;
    atomic_bool mending; /* the thread is at it, and the above is its own */
};

/* Finds the mappings that asked for huge pages.  Comes before the fork: afterwards there are more
 * mappings to read. */
void huge_pages_find(struct huge_pages *);

/* Restores the huge pages in a thread of its own.  No child may share our memory any more. */
void huge_pages_restore(struct huge_pages *);

#endif
