/* base.c - errors, the default allocator with huge pages, and the choice of instruction set. */
#include "base/base.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* -- errors ------------------------------------------------------------------------------- */

int error_set(struct seen_error *e, int code, size_t where, const char *format, ...) {
    if (!e) return code;
    va_list args;
    va_start(args, format);
    vsnprintf(e->text, sizeof e->text, format, args);
    va_end(args);
    e->code = code;
    e->where = where;
    return code;
}

/* -- memory ------------------------------------------------------------------------------- */

#define HUGE_PAGE ((size_t)2 << 20)

/* Maps memory that begins at the boundary of a huge page, and asks for huge pages.  On pages of
 * 4 KiB, a table that is read at random spends half its time in TLB misses. */
static void *map(size_t size) {
    size_t whole = size + HUGE_PAGE;
    if (whole < size) return NULL;
    char *p = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return NULL;
    size_t lead = (HUGE_PAGE - (uintptr_t)p % HUGE_PAGE) % HUGE_PAGE;
    if (lead) munmap(p, lead);
    p += lead;
    size_t page = 4096, kept = (size + page - 1) / page * page, tail = whole - lead - kept;
    if (tail) munmap(p + kept, tail);
    madvise(p, kept, MADV_HUGEPAGE);
    return p;
}

static void *zalloc(void *ctx, size_t size) {
    (void)ctx;
    if (size >= HUGE_PAGE) return map(size);
    size_t rounded = (size + 63) / 64 * 64;
    void *p = aligned_alloc(64, rounded ? rounded : 64);
    if (p) memset(p, 0, rounded);
    return p;
}

static void release(void *ctx, void *p, size_t size) {
    (void)ctx;
    if (p && size >= HUGE_PAGE)
        munmap(p, (size + 4095) / 4096 * 4096);
    else
        free(p);
}

const struct seen_allocator alloc_default = {zalloc, release, NULL};

/* -- the processor ------------------------------------------------------------------------ */

uint32_t cpu_choose(uint32_t wanted) {
    uint32_t have = CPU_PORTABLE;
#if defined __x86_64__
    __builtin_cpu_init();
    bool bmi2 = __builtin_cpu_supports("bmi2");
    if (bmi2 && __builtin_cpu_supports("avx2")) have = CPU_AVX2;
    if (bmi2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        have = CPU_AVX512;
    if (have == CPU_AVX512 && __builtin_cpu_supports("avx512vbmi") &&
        __builtin_cpu_supports("avx512vbmi2"))
        have = CPU_VBMI2;
#endif
    return wanted == CPU_BEST || wanted > have ? have : wanted;
}
