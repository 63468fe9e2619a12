/* control.c - what the control sample costs: the same structure with and without it, record by
 * record of one stream, on each instruction set.  The two take turns on slices of the stream; each
 * row has the median of the slices' times, after windows and samples have filled. */
#include "bench.h"

#include "base/base.h"

#include <stdbool.h>

enum { SLICE = 1 << 16, SLICES = 61 };

static double timed(seen_detector *d, const seen_digest *digest) {
    static uint8_t verdict[BATCH];
    double start = seconds();
    for (size_t i = 0; i < SLICE; i += BATCH) seen_observe(d, BATCH, digest + i, verdict);
    return (seconds() - start) / SLICE * 1e9;
}

static void row(const char *window, uint64_t n, uint32_t cpu, const char *name) {
    static double without[SLICES], with[SLICES];
    char spec[128];
    struct seen_plan plan;
    snprintf(spec, sizeof spec, "%s control=0 seed=1", window);
    seen_detector *plain = detector(spec, cpu, &plan);
    snprintf(spec, sizeof spec, "%s seed=1", window);
    seen_detector *sampled = detector(spec, cpu, &plan);
    size_t before = (size_t)(2 * n + (1 << 22)) / SLICE * SLICE, records = before + SLICE * SLICES;
    seen_digest *digest = stream(records, n, 1);
    for (size_t i = 0; i < before; i += SLICE) timed(plain, digest + i), timed(sampled, digest + i);
    for (size_t i = 0; i < SLICES; i++) {
        const seen_digest *slice = digest + before + i * SLICE;
        bool first = i % 2; /* the second one finds the digests in the cache */
        if (first) with[i] = timed(sampled, slice);
        without[i] = timed(plain, slice);
        if (!first) with[i] = timed(sampled, slice);
    }
    double a = median(without, SLICES), b = median(with, SLICES);
    printf("%-34s %-8s %7.2f ns without, %7.2f with: %+.2f ns, %+.1f %%\n", window, name, a, b,
           b - a, 100 * (b / a - 1));
    free(digest);
    seen_free(plain);
    seen_free(sampled);
}

int main(void) {
    static const struct {
        uint32_t cpu;
        const char *name;
    } cpus[] = {{CPU_PORTABLE, "portable"}, {CPU_AVX2, "avx2"}, {CPU_BEST, "best"}};
    for (uint64_t n = 100000; n <= 10000000; n *= 10)
        for (size_t c = 0; c < 3; c++) {
            char window[96];
            snprintf(window, sizeof window, "sliding:%llu fp=5e-4 filter=line",
                     (unsigned long long)n);
            row(window, n, cpus[c].cpu, cpus[c].name);
            snprintf(window, sizeof window, "landmark:%llu fp=1e-3 filter=blocked",
                     (unsigned long long)n);
            row(window, n, cpus[c].cpu, cpus[c].name);
        }
    return 0;
}
