/* bench.h - what the benchmarks of single structures share: streams, detectors, and a loop that
 * only touches memory to compare with.  Times are the processor's, not the clock's: a busy machine
 * disturbs them less. */
#ifndef BENCH_H
#define BENCH_H

#include "detector/block.h"
#include "seen.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define BATCH 256

__extension__ typedef unsigned __int128 bench_u128;

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v, int n) {
    qsort(v, (size_t)n, sizeof *v, by_value);
    return v[n / 2];
}

/* 25 % duplicates: every fourth record repeats one of those at most `window` back, each alike. */
static inline seen_digest *stream(size_t n, uint64_t window, uint64_t seed) {
    seen_digest *d = malloc(n * sizeof *d);
    if (!d) exit(2);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t key = i;
        if (i % 4 == 3) {
            uint64_t draw = seen_hash(&i, sizeof i, ~seed).lo, reach = i < window ? i : window;
            key = i - reach + (uint64_t)(((bench_u128)draw * reach) >> 64);
            key += key % 4 == 3 ? (key + 1 < i ? 1 : -1) : 0; /* not one that repeats */
        }
        d[i] = seen_hash(&key, sizeof key, seed);
    }
    return d;
}

static inline seen_detector *detector(const char *spec_text, uint32_t cpu, struct seen_plan *plan) {
    struct seen_error e;
    struct seen_spec spec;
    seen_detector *d;
    if (seen_spec_parse(&spec, spec_text, &e) || seen_plan_make(plan, &spec, &e)) goto failed;
    if (!detector_new(&d, plan, cpu, NULL, &e)) return d;
failed:
    fprintf(stderr, "%s: %s\n", spec_text, e.text);
    exit(2);
}

static inline double observe(seen_detector *detector, const seen_digest *d, size_t n) {
    uint8_t verdict[BATCH];
    double start = seconds();
    for (size_t i = 0; i + BATCH <= n; i += BATCH) seen_observe(detector, BATCH, d + i, verdict);
    return (seconds() - start) / (double)n * 1e9;
}

/* -- what memory itself costs ------------------------------------------------------------- */

struct bench_table {
    uint64_t *lines, count; /* of 64 bytes */
    void *whole;
    size_t span;
};

/* In huge pages where that is what detectors get. */
static inline struct bench_table table_new(uint64_t lines) {
    size_t bytes = lines * 64, huge = (size_t)2 << 20;
    struct bench_table t = {NULL, lines, NULL, (bytes + 2 * huge) / huge * huge};
    t.whole = mmap(NULL, t.span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (t.whole == MAP_FAILED) exit(2);
    madvise(t.whole, t.span, MADV_HUGEPAGE);
    t.lines = (uint64_t *)(((uintptr_t)t.whole + huge - 1) / huge * huge);
    if (bytes < huge) t.lines = t.whole;
    return t;
}

static inline void table_free(struct bench_table *t) { munmap(t->whole, t->span); }

/* Reads, changes and writes `words` words of a random line for each digest, fetched 16 ahead. */
static inline __attribute__((always_inline)) double modify(const struct bench_table *t,
                                                           const seen_digest *d, size_t n,
                                                           int words) {
    double start = seconds();
    for (size_t i = 0; i < n; i++) {
        if (i + 16 < n)
            __builtin_prefetch(
                t->lines + 8 * (uint64_t)(((bench_u128)d[i + 16].lo * t->count) >> 64), 1);
        uint64_t *line = t->lines + 8 * (uint64_t)(((bench_u128)d[i].lo * t->count) >> 64);
        for (int w = 0; w < words; w++) line[w] ^= d[i].hi;
    }
    return (seconds() - start) / (double)n * 1e9;
}

#endif
