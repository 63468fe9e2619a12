/* memory.c - allocates detectors from the server's allocator. */
#include "memory.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

/* The engine wants 64-byte alignment.  jemalloc keeps blocks of one size side by side from the
 * beginning of a page on, and rounds multiples of 64 up to multiples of 64, so that these are
 * aligned.  Where a server's allocator is not like that the block lies in a larger one, whose
 * address is in the word before it. */
#define ALIGNED 64
#define PAGE    ((size_t)4096)
#define PACKED  ((size_t)16 << 10) /* what is larger has pages of its own */

static bool aligns; /* the server's allocator, multiples of ALIGNED */

static bool is_aligned(size_t size) {
    void *p = RedisModule_TryAlloc(size);
    bool is = (uintptr_t)p % ALIGNED == 0 && (!p || RedisModule_MallocSize(p) % ALIGNED == 0);
    RedisModule_Free(p);
    return is;
}

void memory_look(void) {
    aligns = true;
    for (size_t size = ALIGNED; size <= PACKED && aligns; size += ALIGNED)
        aligns = is_aligned(size);
    for (size_t size = PACKED; size <= PACKED << 10 && aligns; size += size / 2)
        aligns = is_aligned(size);
}

static void *allocate(size_t size) {
    if (size > SIZE_MAX - 2 * ALIGNED) return NULL;
    size_t rounded = (size + ALIGNED - 1) / ALIGNED * ALIGNED;
    void *p = RedisModule_TryAlloc(aligns ? rounded : size + 2 * ALIGNED);
    if (p && !aligns) {
        uintptr_t up = ((uintptr_t)p / ALIGNED + 2) * ALIGNED;
        ((void **)up)[-1] = p;
        p = (void *)up;
    }
    if ((uintptr_t)p % ALIGNED == 0) return p;
    RedisModule_Free(p);
    return NULL;
}

static void deallocate(void *p) { RedisModule_Free(aligns ? p : ((void **)p)[-1]); }

/* Whole pages are given back to the system, which hands them out zeroed when they are touched. */
static void clear(char *p, size_t size) {
    char *from = (char *)(((uintptr_t)p + PAGE - 1) / PAGE * PAGE);
    char *to = (char *)((uintptr_t)(p + size) / PAGE * PAGE);
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
    deallocate(p);
}

struct seen_allocator memory_allocator(struct memory *m) {
    return (struct seen_allocator){zalloc, release, m};
}

/* -- defragmentation ---------------------------------------------------------------------- */

/* The server knows whether a block would lie better elsewhere, where it is as aligned as here. What
 * has pages of its own would not, and would take long to copy. */
static void *move(void *ctx, void *p, size_t size) {
    return aligns && size <= PACKED ? RedisModule_DefragAlloc(ctx, p) : NULL;
}

struct seen_mover memory_mover(RedisModuleDefragCtx *ctx) {
    return (struct seen_mover){move, ctx};
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
