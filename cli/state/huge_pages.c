/* huge_pages.c - asks the system for huge pages again, after a fork has split them.
 *
 * They are found in /proc/self/smaps and restored with MADV_COLLAPSE (Linux 6.1).  Without these,
 * nothing happens. */
#include "state/state.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

#define SMALL ((uintptr_t)4096)
#define HUGE  ((uintptr_t)2 << 20)

enum { PARTS = HUGE / SMALL };

void huge_pages_find(struct huge_pages *h) {
    char line[512];
    unsigned long at = 0, end = 0, a, b;
    if (atomic_load(&h->mending)) return;
    h->n = 0;
    char mode[64] = ""; /* which huge pages the system gives */
    FILE *f = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "re");
    bool wanted = f && fgets(mode, sizeof mode, f) && !strstr(mode, "[never]");
    if (f) fclose(f);
    f = wanted && sysconf(_SC_PAGESIZE) == SMALL ? fopen("/proc/self/smaps", "re") : NULL;
    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "%lx-%lx ", &a, &b) == 2) at = a, end = b;
        if (strncmp(line, "VmFlags:", 8) != 0 || !strstr(line, " hg")) continue;
        uintptr_t first = (at + HUGE - 1) / HUGE * HUGE, last = end / HUGE * HUGE;
        if (first >= last || h->n == MAX_HUGE_SPANS) continue;
        h->span[h->n].at = first;
        h->span[h->n++].end = last;
    }
    if (f) fclose(f);
}

/* True if all of the huge page is in memory: parts that were never touched are not to take memory
 * now. */
static bool present(int fd, uintptr_t at) {
    uint64_t part[PARTS];
    if (pread(fd, part, sizeof part, (off_t)(at / SMALL * sizeof *part)) != sizeof part)
        return false;
    for (size_t i = 0; i < PARTS; i++)
        if (!(part[i] >> 63)) return false;
    return true;
}

static void *mend(void *ctx) {
    struct huge_pages *h = ctx;
    int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    bool mending = fd >= 0;
    for (size_t i = 0; i < h->n; i++)
        for (uintptr_t at = h->span[i].at; mending && at < h->span[i].end; at += HUGE)
            if (present(fd, at)) /* fails where there is no memory for it, or Linux is too old */
                mending = !madvise((void *)at, HUGE, MADV_COLLAPSE);
    if (fd >= 0) close(fd);
    atomic_store(&h->mending, false);
    return NULL;
}

void huge_pages_restore(struct huge_pages *h) {
    sigset_t all, before;
    pthread_t thread;
    if (!h->n || atomic_exchange(&h->mending, true)) return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals come to the caller alone */
    if (pthread_create(&thread, NULL, mend, h))
        atomic_store(&h->mending, false);
    else
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
