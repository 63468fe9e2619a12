/* growth - the cost of a record as tables grow from caches' size to beyond 2^32 bits.
 *
 *     build/bench-growth           up to 2^32.2 bits: 1.3 GB, some minutes
 *     build/bench-growth 1e9       up to 10^9 bits
 *     bench/growth.sh              draws doc/growth.svg
 *
 * A table in as many bits as sliding:N filter=line takes at fp=5e-4, for line (a window and a half
 * filled), cache and blocked (a quarter filled); 25 % of the records repeat one of the last
 * million, or of the last N.  `memory` is the loop of bench.h that changes a random line of as
 * large a table.  Medians of runs that alternate; ns a record, and as a multiple of memory's. */
#include "bench.h"

#include <math.h>
#include <string.h>

#define RUNS 15
#define PART (1 << 16)

static uint64_t mixed(uint64_t z) {
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* The n-th record of an endless stream, which is computed rather than stored. */
static seen_digest record(uint64_t n, uint64_t window) {
    uint64_t reach = window < 1000000 ? window : 1000000;
    if (n % 4 == 3 && n > reach) {
        n -= mixed(n * 0x9e3779b97f4a7c15u) % (reach - 4);
        n -= n % 4 == 3; /* one that repeats none */
    }
    return (seen_digest){mixed(n * 0x9e3779b97f4a7c15u + 1), mixed(n * 0xd6e8feb86659fd93u + 2)};
}

static void draw(seen_digest *d, uint64_t *n, uint64_t window) {
    for (int i = 0; i < PART; i++) d[i] = record((*n)++, window);
}

static void row(uint64_t window) {
    static const char *const forms[] = {"sliding:%llu fp=5e-4 filter=line seed=1",
                                        "decaying mem=%lluKiB filter=cache seed=1",
                                        "landmark mem=%lluKiB fp=1e-3 filter=blocked seed=1"};
    seen_detector *d[3];
    double ns[3][RUNS], memory[RUNS];
    uint64_t bytes = 0, n = 0;
    for (int i = 0; i < 3; i++) {
        char spec[80];
        struct seen_plan plan;
        snprintf(spec, sizeof spec, forms[i], (unsigned long long)(i ? bytes / 1024 : window));
        d[i] = detector(spec, 0, &plan);
        if (!i) bytes = plan.bytes;
    }
    struct bench_table table = table_new(bytes / 64);
    seen_digest *part = malloc(PART * sizeof *part);
    if (!part) exit(2);
    memset(table.lines, 1, bytes / 64 * 64);
    while (n < window + window / 2) {
        draw(part, &n, window);
        for (int i = 0; i < 3; i++)
            if (!i || n < window / 2 + PART) observe(d[i], part, PART);
    }
    for (int r = 0; r < RUNS; r++) {
        draw(part, &n, window);
        memory[r] = modify(&table, part, PART, 8);
        for (int i = 0; i < 3; i++) ns[i][r] = observe(d[i], part, PART);
    }
    double base = median(memory, RUNS);
    printf("%-9.2e %-9.2e", (double)window, (double)bytes * 8);
    for (int i = 0; i < 3; i++)
        printf(" %6.1f %5.2f", median(ns[i], RUNS), median(ns[i], RUNS) / base);
    printf(" %6.1f\n", base);
    fflush(stdout);
    for (int i = 0; i < 3; i++) seen_free(d[i]);
    table_free(&table);
    free(part);
}

int main(int argc, char **argv) {
    double most = argc > 1 ? atof(argv[1]) : 5e9;
    printf("# N       bits      line          cache         blocked       memory\n");
    for (double n = 1e4; n * 24.5 <= most; n *= sqrt(10)) row((uint64_t)n);
    if (most > 4.9e9) row(200000000);
    return 0;
}
