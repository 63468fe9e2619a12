/* memory.h - a detector's memory, from the server's allocator.
 *
 * So it counts towards maxmemory.  What is large comes zeroed without being touched and goes on a
 * thread of the module's own: neither making nor freeing a filter takes time in proportion to it.
 */
#ifndef MODULE_MEMORY_H
#define MODULE_MEMORY_H

#include "redis_api.h"
#include "seen.h"

/* Bytes that take too long to clear or free at once.  In the build for valgrind (`make
 * check-valgrind`) no number does: it does not know what the system clears. */
#ifndef MEMORY_LARGE
#define MEMORY_LARGE ((size_t)1 << 20)
#endif

/* Bytes that one value's detectors asked for.  Allocators round up what they take for it. */
struct memory {
    size_t bytes;
};

/* At start: what the server's allocator is like. */
void memory_look(void);

/* Detectors made with it must go before `m` does. */
struct seen_allocator memory_allocator(struct memory *m);

/* Moves what is small to where the server has room among others. */
struct seen_mover memory_mover(RedisModuleDefragCtx *);

/* Runs work(arg) soon on the module's thread; at once, on this one, where there can be none. */
void memory_later(void (*work)(void *arg), void *arg);

#endif
