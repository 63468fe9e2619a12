/* blocked - test-and-add of digests against what memory itself costs.
 *
 *     build/bench-blocked                all rows; each is a median of alternated runs
 *
 * The yardsticks are loops over random cache lines of a table of the same size, fetched 16 ahead,
 * from the same digests, in the same run: one reads, changes and writes the whole line (as a filter
 * must), the other a single word of it.  Prints ns a record and our ratio to each, and the other
 * kernels beside the one that the machine would choose. */
#include "seen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define BATCH 256
#define RUNS  21

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
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

/* 25 % duplicates, uniform gaps. */
static seen_digest *stream(size_t n, uint64_t seed) {
    seen_digest *d = malloc(n * sizeof *d);
    if (!d) exit(2);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t key = i % 4 == 3 ? i / 2 : i;
        d[i] = seen_hash(&key, sizeof key, seed);
    }
    return d;
}

static inline __attribute__((always_inline)) double modify(uint64_t *table, uint64_t lines,
                                                           const seen_digest *d, size_t n,
                                                           int words) {
    __extension__ typedef unsigned __int128 wide;
    double start = seconds();
    for (size_t i = 0; i < n; i++) {
        if (i + 16 < n)
            __builtin_prefetch(table + 8 * (uint64_t)(((wide)d[i + 16].lo * lines) >> 64), 1);
        uint64_t *line = table + 8 * (uint64_t)(((wide)d[i].lo * lines) >> 64);
        for (int w = 0; w < words; w++) line[w] ^= d[i].hi;
    }
    return (seconds() - start) / (double)n * 1e9;
}

static double observe(seen_detector *detector, const seen_digest *d, size_t n) {
    uint8_t verdict[BATCH];
    double start = seconds();
    for (size_t i = 0; i + BATCH <= n; i += BATCH)
        seen_observe(detector, BATCH, d + i, NULL, verdict);
    return (seconds() - start) / (double)n * 1e9;
}

static seen_detector *detector(const char *spec_text, uint32_t cpu, struct seen_plan *plan) {
    struct seen_error e;
    struct seen_spec spec;
    seen_detector *d;
    if (seen_spec_parse(&spec, spec_text, &e) || seen_plan_make(plan, &spec, &e)) goto failed;
    plan->cpu = cpu;
    if (!seen_new(&d, plan, NULL, &e)) return d;
failed:
    fprintf(stderr, "%s\n", e.text);
    exit(2);
}

static void row(const char *name, const char *spec_text, size_t n) {
    double whole_line[RUNS], word[RUNS], ours[4][RUNS];
    struct seen_plan plan;
    seen_detector *d[4];
    for (uint32_t cpu = 0; cpu < 4; cpu++) d[cpu] = detector(spec_text, cpu, &plan);
    size_t bytes = plan.spec.lines * 64, span = (bytes + ((size_t)4 << 20)) >> 21 << 21;
    char *whole = mmap(NULL, span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (whole == MAP_FAILED) exit(2);
    madvise(whole, span, MADV_HUGEPAGE);
    uint64_t *table = (uint64_t *)(((uintptr_t)whole + ((uintptr_t)2 << 20) - 1) >> 21 << 21);
    if (bytes < (size_t)2 << 20) table = (uint64_t *)whole;
    seen_digest *digests = stream(n, 1);
    for (int run = -1; run < RUNS; run++) {
        double l = modify(table, plan.spec.lines, digests, n, 8);
        double w = modify(table, plan.spec.lines, digests, n, 1);
        for (uint32_t cpu = 0; cpu < 4; cpu++) {
            seen_landmark(d[cpu]);
            double o = observe(d[cpu], digests, n);
            if (run >= 0) ours[cpu][run] = o;
        }
        if (run >= 0) whole_line[run] = l, word[run] = w;
    }
    double l = median(whole_line, RUNS), w = median(word, RUNS), chosen = median(ours[0], RUNS);
    printf(
        "%-20s %8.0f KiB k=%-2llu  line %5.2f  word %5.2f  blocked %5.2f ns  ratio to line %.2f, "
        "to word %.2f  (portable %.1f, avx2 %.1f, avx512 %.1f)\n",
        name, (double)bytes / 1024, (unsigned long long)plan.spec.k, l, w, chosen, chosen / l,
        chosen / w, median(ours[1], RUNS), median(ours[2], RUNS), median(ours[3], RUNS));
    for (int cpu = 0; cpu < 4; cpu++) seen_free(d[cpu]);
    munmap(whole, span);
    free(digests);
}

int main(void) {
    row("small, fp 0.4 %", "landmark items=1e5 fp=4e-3 filter=blocked seed=1", 100000);
    row("small, fp 1e-6", "landmark items=1e5 fp=1e-6 filter=blocked seed=1", 100000);
    row("1 MiB, fp 1e-6", "landmark mem=1MiB fp=1e-6 filter=blocked seed=1", 200000);
    row("64 MiB, fp 0.4 %", "landmark mem=64MiB fp=4e-3 filter=blocked seed=1", 8000000);
    row("64 MiB, fp 1e-6", "landmark mem=64MiB fp=1e-6 filter=blocked seed=1", 8000000);
    return 0;
}
