/* crew.h - a few threads that do jobs, in the order in which they were handed in.  A thread that
 * waits for a job does other waiting jobs meanwhile.  So a crew of n keeps n cores busy, and a job
 * never waits for a thread that has gone to sleep. */
#ifndef SEEN_CREW_H
#define SEEN_CREW_H

#include <stdbool.h>

enum { CREW_MOST = 64 };

struct job {
    void (*run)(void *ctx, unsigned who); /* who: the thread's number in the crew, 0 the caller's */
    void *ctx;
    struct job *next; /* private, as is the following */
    bool done;
};

struct crew;

/* The calling thread is one of the `threads` (1 to CREW_MOST), and the only one that may call what
 * follows.  Dies if the system has no threads to give; signals come to the caller alone. */
struct crew *crew_new(unsigned threads);
void crew_free(struct crew *); /* NULL is fine; no job may be left */

unsigned crew_size(const struct crew *); /* NULL: 1 */

/* Hands a job in; urgent jobs go before the others.  The caller keeps the job's memory and must not
 * use it until crew_done says that the job is done. */
void crew_start(struct crew *, struct job *);
void crew_start_urgent(struct crew *, struct job *);
bool crew_done(struct crew *, const struct job *);

/* Until one of the two is done; b may be NULL. */
void crew_wait(struct crew *, const struct job *a, const struct job *b);

#endif
