#include "memory.h"

#include "redis_api.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

/* The engine wants 64-byte alignment.  jemalloc aligns so what is large; where a server's allocator
 * does not, and for what is small, the block lies in a larger one, whose address is in the word
 * before it. */
#define ALIGNED 64
#define LARGE   ((size_t)4096)

static bool aligns; /* the server's allocator, what is LARGE */

void memory_look(void) {
    aligns = true;
    for (size_t size = LARGE; size <= LARGE << 12; size += size / 2) {
        void *p = RedisModule_TryAlloc(size);
        aligns = aligns && (uintptr_t)p % ALIGNED == 0;
        RedisModule_Free(p);
    }
}

static bool lies_within(size_t size) { return !aligns || size < LARGE; }

static void *allocate(size_t size) {
    bool within = lies_within(size);
    if (size > SIZE_MAX - 2 * ALIGNED) return NULL;
    void *p = RedisModule_TryAlloc(within ? size + 2 * ALIGNED : size);
    if (p && within) {
        uintptr_t up = ((uintptr_t)p / ALIGNED + 2) * ALIGNED;
        ((void **)up)[-1] = p;
        p = (void *)up;
    }
    if ((uintptr_t)p % ALIGNED == 0) return p;
    RedisModule_Free(p);
    return NULL;
}

static void deallocate(void *p, size_t size) {
    RedisModule_Free(lies_within(size) ? ((void **)p)[-1] : p);
}

/* Whole pages are given back to the system, which hands them out zeroed when they are touched. */
static void clear(char *p, size_t size) {
    const uintptr_t page = 4096;
    char *from = (char *)(((uintptr_t)p + page - 1) / page * page);
    char *to = (char *)((uintptr_t)(p + size) / page * page);
    if (size < MEMORY_LARGE || madvise(from, (size_t)(to - from), MADV_DONTNEED)) {
        memset(p, 0, size);
        return;
    }
    memset(p, 0, (size_t)(from - p));
    memset(to, 0, (size_t)(p + size - to));
}

static void *zalloc(void *ctx, size_t size) {
    struct memory *m = ctx;
    void *p = allocate(size);
    if (!p) return NULL;
    clear(p, size);
    m->bytes += size;
    return p;
}

/* The pages go back first: else the next to be given this memory would have to clear them. */
static void release(void *ctx, void *p, size_t size) {
    struct memory *m = ctx;
    if (!p) return;
    m->bytes -= size;
    if (size >= MEMORY_LARGE) clear(p, size);
    deallocate(p, size);
}

struct seen_allocator memory_allocator(struct memory *m) {
    return (struct seen_allocator){zalloc, release, m};
}

/* -- later -------------------------------------------------------------------------------- */

struct job {
    struct job *next;
    void (*work)(void *);
    void *arg;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static struct job *first, **last = &first;
static int runs;

static void *run(void *unused) {
    (void)unused;
    for (;;) {
        pthread_mutex_lock(&lock);
        while (!first) pthread_cond_wait(&more, &lock);
        struct job *job = first;
        first = job->next;
        if (!first) last = &first;
        pthread_mutex_unlock(&lock);
        job->work(job->arg);
        RedisModule_Free(job);
    }
    return NULL;
}

/* Signals are the server's. */
static int start(void) {
    sigset_t all, before;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int bad = pthread_create(&thread, NULL, run, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return bad;
}

void memory_later(void (*work)(void *), void *arg) {
    struct job *job = RedisModule_TryAlloc(sizeof *job);
    pthread_mutex_lock(&lock);
    if (job && !runs) runs = !start();
    int queued = job && runs;
    if (queued) {
        *job = (struct job){NULL, work, arg};
        *last = job;
        last = &job->next;
        pthread_cond_signal(&more);
    }
    pthread_mutex_unlock(&lock);
    if (queued) return;
    RedisModule_Free(job);
    work(arg);
}
