/* pool.c - threads that do jobs from one queue.  The queue's lock is only held for a moment. */
#include "base/pool.h"

#include "base/cli.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct member {
    struct pool *pool;
    pthread_t thread;
    unsigned who;
};

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t work, done; /* there is a job to do; one was done */
    struct job *first, **last;
    unsigned threads;
    bool waiting; /* pool_wait sleeps */
    bool closing;
    struct member member[]; /* threads - 1 */
};

/* -- threads ------------------------------------------------------------------------------ */

/* Does the first job of the queue.  Called and returns with the lock held. */
static void perform(struct pool *c, unsigned who) {
    struct job *j = c->first;
    c->first = j->next;
    if (!c->first) c->last = &c->first;
    pthread_mutex_unlock(&c->lock);
    j->run(j->ctx, who);
    pthread_mutex_lock(&c->lock);
    j->done = true;
    if (c->waiting) pthread_cond_signal(&c->done);
}

static void *serve(void *arg) {
    const struct member *m = arg;
    struct pool *c = m->pool;
    pthread_mutex_lock(&c->lock);
    while (!c->closing) {
        if (c->first)
            perform(c, m->who);
        else
            pthread_cond_wait(&c->work, &c->lock);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

struct pool *pool_new(unsigned threads) {
    sigset_t all, before;
    struct pool *c = calloc(1, sizeof *c + threads * sizeof *c->member);
    if (!c) die("out of memory for %u threads", threads);
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->work, NULL);
    pthread_cond_init(&c->done, NULL);
    c->last = &c->first;
    c->threads = threads;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* which new threads inherit */
    for (unsigned i = 0; i + 1 < threads; i++) {
        struct member *m = &c->member[i];
        *m = (struct member){.pool = c, .who = i + 1};
        int error = pthread_create(&m->thread, NULL, serve, m);
        if (error) die("cannot start thread %u of %u: %s", i + 2, threads, strerror(error));
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return c;
}

void pool_free(struct pool *c) {
    if (!c) return;
    pthread_mutex_lock(&c->lock);
    c->closing = true;
    pthread_cond_broadcast(&c->work);
    pthread_mutex_unlock(&c->lock);
    for (unsigned i = 0; i + 1 < c->threads; i++) pthread_join(c->member[i].thread, NULL);
    pthread_cond_destroy(&c->done);
    pthread_cond_destroy(&c->work);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

unsigned pool_size(const struct pool *c) { return c ? c->threads : 1; }

/* -- jobs --------------------------------------------------------------------------------- */

void pool_start(struct pool *c, struct job *j, bool urgent) {
    pthread_mutex_lock(&c->lock);
    struct job **at = urgent ? &c->first : c->last;
    j->done = false;
    j->next = *at;
    *at = j;
    if (!j->next) c->last = &j->next;
    pthread_cond_signal(&c->work);
    pthread_mutex_unlock(&c->lock);
}

bool pool_done(struct pool *c, const struct job *j) {
    pthread_mutex_lock(&c->lock);
    bool done = j->done;
    pthread_mutex_unlock(&c->lock);
    return done;
}

void pool_wait(struct pool *c, const struct job *a, const struct job *b) {
    pthread_mutex_lock(&c->lock);
    while (!a->done && !(b && b->done)) {
        if (c->first) {
            perform(c, 0);
        } else {
            c->waiting = true;
            pthread_cond_wait(&c->done, &c->lock);
            c->waiting = false;
        }
    }
    pthread_mutex_unlock(&c->lock);
}
