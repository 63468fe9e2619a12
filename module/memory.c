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

#define PRESSED 0.9 /* of maxmemory: memory is short */

static bool aligns;      /* the server's allocator, multiples of ALIGNED */
static pthread_t server; /* its thread */

static bool is_aligned(size_t size) {
    void *p = RedisModule_TryAlloc(size);
    bool is = (uintptr_t)p % ALIGNED == 0 && (!p || RedisModule_MallocSize(p) % ALIGNED == 0);
    RedisModule_Free(p);
    return is;
}

void memory_look(void) {
    server = pthread_self();
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

/* -- later ---------------------------------------------------------------------------------- */

struct job {
    struct job *next;
    void (*work)(void *arg);
    void *arg;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static struct job *first, **last = &first;

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
static bool start_thread(void) {
    sigset_t all, before;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = !pthread_create(&thread, NULL, run, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

/* Runs work(arg) on the module's thread, or at once if there is neither thread nor memory. */
static void later(void (*work)(void *), void *arg) {
    static bool runs;
    struct job *job = RedisModule_TryAlloc(sizeof *job);
    pthread_mutex_lock(&lock);
    if (job && !runs) runs = start_thread();
    bool queued = job && runs;
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

void memory_free_many(void (*work)(void *), void *arg) {
    bool now = !pthread_equal(pthread_self(), server) || RedisModule_GetUsedMemoryRatio() > PRESSED;
    now ? work(arg) : later(work, arg);
}

/* -- giving pages back ---------------------------------------------------------------------- */

/* Unmapping 64 MiB takes the kernel some 3 ms; moving their page tables elsewhere takes 0.1 ms.  So
 * large blocks have their pages moved away, to a mapping that the module's thread unmaps.  The
 * block itself stays the server's, and reads as zeros. */
#define TABLE ((size_t)2 << 20)   /* one page table maps so much: page tables move whole */
#define SLICE ((size_t)256 << 10) /* unmapped in one call, during which the server cannot map */

static void unmap(void *mapping) {
    char *at = mapping;
    size_t size = *(size_t *)mapping; /* which move_away left there */
    for (; size > SLICE; size -= SLICE, at += SLICE) munmap(at, SLICE);
    munmap(at, size);
}

/* Moves the pages of a range away; false: the kernel cannot, and nothing happened.  Page tables
 * move whole only between addresses that are equal modulo what a table maps.  The first page of the
 * mapping holds the mapping's size. */
static bool move_away(char *from, size_t size) {
    size_t whole = PAGE + TABLE + size;
    char *mapping = mmap(NULL, whole, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED) return false;
    char *to = mapping + PAGE;
    to += ((uintptr_t)from - (uintptr_t)to) & (TABLE - 1);
    int how = MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP;
    if (mremap(from, size, size, how, to) == MAP_FAILED) {
        munmap(mapping, whole);
        return false;
    }
    *(size_t *)(void *)mapping = whole;
    later(unmap, mapping);
    return true;
}

/* Zeroes whole pages.  The kernel moves pages of one mapping only, so a range of several is halved;
 * a kernel older than Linux 5.7 moves none, and clears them. */
static void zero_pages(char *from, size_t size) {
    if (move_away(from, size)) return;
    if (size <= TABLE) {
        if (madvise(from, size, MADV_DONTNEED)) memset(from, 0, size);
        return;
    }
    size_t half = size / 2 / PAGE * PAGE;
    zero_pages(from, half);
    zero_pages(from + half, size - half);
}

static void clear(char *p, size_t size) {
    if (size < MEMORY_LARGE) {
        memset(p, 0, size);
        return;
    }
    char *from = (char *)(((uintptr_t)p + PAGE - 1) / PAGE * PAGE);
    char *to = (char *)((uintptr_t)(p + size) / PAGE * PAGE);
    memset(p, 0, (size_t)(from - p));
    zero_pages(from, (size_t)(to - from));
    memset(to, 0, (size_t)(p + size - to));
}

/* -- the allocator ------------------------------------------------------------------------- */

static void *zalloc(void *ctx, size_t size) {
    struct memory *m = ctx;
    void *p = allocate(size);
    if (!p) return NULL;
    clear(p, size);
    m->bytes += size;
    return p;
}

/* The pages go first: else the server's allocator would take the time to give them back. */
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
