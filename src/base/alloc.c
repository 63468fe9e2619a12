/* alloc.c - the library's own allocator, with huge pages for large blocks. */
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)

/* A table that is touched at random spends half its time in TLB misses on 4 KiB pages: map a
 * huge-page-aligned span, trimming what alignment took. */
static void *map(size_t size) {
    size_t whole = size + HUGE_PAGE;
    if (whole < size) return NULL;
    char *p = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return NULL;
    size_t lead = (HUGE_PAGE - (uintptr_t)p % HUGE_PAGE) % HUGE_PAGE;
    if (lead) munmap(p, lead);
    p += lead;
    size_t page = 4096, kept = (size + page - 1) / page * page, tail = whole - lead - kept;
    if (tail) munmap(p + kept, tail);
    madvise(p, kept, MADV_HUGEPAGE);
    return p;
}

static void *zalloc(void *ctx, size_t size) {
    (void)ctx;
    if (size >= HUGE_PAGE) return map(size);
    size_t rounded = (size + 63) / 64 * 64;
    void *p = aligned_alloc(64, rounded ? rounded : 64);
    if (p) memset(p, 0, rounded);
    return p;
}

static void release(void *ctx, void *p, size_t size) {
    (void)ctx;
    if (p && size >= HUGE_PAGE)
        munmap(p, (size + 4095) / 4096 * 4096);
    else
        free(p);
}

const struct seen_allocator alloc_default = {zalloc, release, NULL};
