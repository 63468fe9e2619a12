/* sort.h - sorts strings of bytes: multikey quicksort that looks at eight bytes at a time
 * (Bentley and Sedgewick 1997; Ng and Kakehi 2007 for the cached bytes). */
#ifndef SEEN_DIFF_SORT_H
#define SEEN_DIFF_SORT_H

#include <stddef.h>
#include <stdint.h>

struct text {
    uint32_t len;
    char bytes[];
};

/* One string to be sorted: only `text` needs to be set. */
struct sorted {
    uint64_t chunk;
    const struct text *text;
};

/* By memcmp.  No string may be the beginning of another one.  The order does not depend on the
 * seed, which keeps made-up input from making the sort slow. */
void sort_texts(struct sorted *, size_t n, uint64_t seed);

#endif
