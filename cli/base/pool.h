/* pool.h - a few threads that do jobs, in the order in which they were handed in.  A thread that
 * waits for a job does other waiting jobs meanwhile.  So a pool of n keeps n cores busy, and a job
 * never waits for a thread that has gone to sleep. */
#ifndef SEEN_POOL_H
#define SEEN_POOL_H

#include <stdbool.h>

enum { MAX_THREADS = 64 };

struct job {
    void (*run)(void *ctx, unsigned who); /* who: the thread's number in the pool, 0 the caller's */
    void *ctx;
    struct job *next; /* private, as is the following */
    bool done;
};

struct pool;

/* The calling thread is one of the `threads` (1 to MAX_THREADS), and the only one that may call
 * what follows.  Dies if the system has no threads to give; signals come to the caller alone. */
struct pool *pool_new(unsigned threads);
void pool_free(struct pool *); /* NULL is fine; no job may be left */

/* How many threads do jobs, the calling one among them; 1 without a pool (NULL). */
unsigned pool_size(const struct pool *);

/* Hands a job in; urgent jobs go before the others.  The caller keeps the job's memory and must not
 * use it until pool_done says that the job is done. */
void pool_start(struct pool *, struct job *);
void pool_start_urgent(struct pool *, struct job *);
bool pool_done(struct pool *, const struct job *);

/* Waits until one of the two jobs is done; b may be NULL.  The calling thread does other waiting
 * jobs meanwhile, and sleeps only when there are none. */
void pool_wait(struct pool *, const struct job *a, const struct job *b);

#endif
