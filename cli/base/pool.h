/* pool.h - a few threads that do jobs from one queue.
 *
 * A thread that waits for a job does other jobs of the queue meanwhile.  So a pool of n threads
 * keeps n cores busy, and a job never waits for a thread that sleeps. */
#ifndef SEEN_POOL_H
#define SEEN_POOL_H

#include <stdbool.h>

enum { MAX_THREADS = 64 };

struct job {
    void (*run)(void *ctx, unsigned who); /* who: the thread's number in the pool, 0 the caller's */
    void *ctx;
    struct job *next; /* private to pool.c, like `done` */
    bool done;
};

struct pool;

/* The calling thread is one of the `threads` (1 to MAX_THREADS).  Only this thread may call the
 * functions below, and only it gets signals.  Dies if the system refuses to start a thread. */
struct pool *pool_new(unsigned threads);
void pool_free(struct pool *); /* NULL is fine; no job may be left */

/* The number of threads, the calling one included; 1 without a pool (NULL). */
unsigned pool_size(const struct pool *);

/* Puts a job at the end of the queue; an urgent one goes to its front.  The caller keeps the job's
 * memory and must not use it until pool_done says that the job is done. */
void pool_start(struct pool *, struct job *, bool urgent);
bool pool_done(struct pool *, const struct job *);

/* Waits until one of the two jobs is done; b may be NULL.  The calling thread does other waiting
 * jobs meanwhile, and sleeps only when there are none. */
void pool_wait(struct pool *, const struct job *a, const struct job *b);

#endif
