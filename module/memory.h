/* memory.h - a detector's memory, from the server's allocator.
 *
 * The memory counts towards maxmemory.  Large blocks come zeroed without being touched.  When one
 * is freed, the server sees its memory as free at once, as its eviction loop expects; only the
 * pages themselves go back to the system later, on a thread of the module's own.  So neither making
 * nor freeing a filter takes time in proportion to its size.
 */
#ifndef MODULE_MEMORY_H
#define MODULE_MEMORY_H

#include "redis_api.h"
#include "seen.h"

/* Blocks of this size and more give their pages away instead of clearing them.  In the build for
 * valgrind (`make check-valgrind`) no block does, because valgrind does not follow the pages. */
#ifndef MEMORY_LARGE
#define MEMORY_LARGE ((size_t)1 << 20)
#endif

/* Bytes that one value's detectors asked for.  Allocators round up what they take for it. */
struct memory {
    size_t bytes;
};

/* At start, on the server's thread: looks at its allocator. */
void memory_look(void);

/* Detectors made with it must go before `m` does. */
struct seen_allocator memory_allocator(struct memory *m);

/* Moves small blocks to where the server has room among others.  Larger ones have pages of their
 * own, and stay. */
struct seen_mover memory_mover(RedisModuleDefragCtx *);

/* Frees something of many blocks with work(arg).  That runs on the module's thread, except where
 * the server is short of memory: its eviction loop waits for what is freed now.  So does a thread
 * of the server's own. */
void memory_free_many(void (*work)(void *arg), void *arg);

#endif
