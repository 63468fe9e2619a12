/* spaces - does a space of memory for each hash function save time?
 *
 *     build/bench-spaces                 all rows; each is a median of alternated runs
 *     build/bench-spaces rows 64MiB 9    of one size, for bench/paper, each of 9 runs
 *
 * Metwally, Agrawal, El Abbadi (WWW 2005, §5.1) argue for it: memory modules work at once, but one
 * module waits between two accesses, so k accesses to k modules take one such wait and k accesses
 * to one module take k of them (theory_latency_separate, theory_latency_shared).  `partitioned` has
 * such spaces, `bloom` has one for all.
 *
 * For scale, the k lines of each record are read in a bare loop over a table of the same size, in
 * one space and in k: *chained*, where the place of each line hangs on the line before, so that the
 * whole wait is paid k times; *plain*, where the processor may overlap them as it likes; *ahead*,
 * fetched for 16 records before they are read, as the library does.
 *
 * Prints ns a record in one space, and the median ratio of spaces of their own to it, run by run.
 * What one learns: it makes no difference that the layout could explain, in the cache or in memory.
 * In both layouts lines lie spread over the machine's banks, and accesses that do not depend on
 * each other overlap, fetched ahead or not.  Only the chain pays k waits, and it pays them in
 * spaces of their own as well. */
#include "bench.h"

#include <string.h>

#define RUNS  41 /* short ones: a longer is more often interrupted */
#define AHEAD 16
#define MAX_K 64

/* -- bare loops --------------------------------------------------------------------------- */

struct places {
    const uint64_t *lines;
    uint64_t space, stride; /* lines a space; from one space to the next, 0 if there is one */
    uint32_t k;
};

static inline const uint64_t *place(const struct places *p, seen_digest d, uint32_t i,
                                    uint64_t chain) {
    uint64_t draw = d.lo + i * d.hi + chain;
    return p->lines + 8 * (i * p->stride + (uint64_t)(((bench_u128)draw * p->space) >> 64));
}

static volatile uint64_t sink; /* keeps the reads */

static double chained(const struct places *p, const seen_digest *d, size_t n) {
    uint64_t chain = 0;
    double start = seconds();
    for (size_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < p->k; j++) chain += *place(p, d[i], j, chain);
    sink = chain;
    return (seconds() - start) / (double)n * 1e9;
}

static double plain(const struct places *p, const seen_digest *d, size_t n) {
    uint64_t sum = 0;
    double start = seconds();
    for (size_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < p->k; j++) sum += *place(p, d[i], j, 0);
    sink = sum;
    return (seconds() - start) / (double)n * 1e9;
}

static double ahead(const struct places *p, const seen_digest *d, size_t n) {
    const uint64_t *at[AHEAD][MAX_K];
    uint64_t sum = 0;
    double start = seconds();
    for (size_t from = 0; from + AHEAD <= n; from += AHEAD) {
        for (size_t i = 0; i < AHEAD; i++)
            for (uint32_t j = 0; j < p->k; j++)
                __builtin_prefetch(at[i][j] = place(p, d[from + i], j, 0));
        for (size_t i = 0; i < AHEAD; i++)
            for (uint32_t j = 0; j < p->k; j++) sum += *at[i][j];
    }
    sink = sum;
    return (seconds() - start) / (double)n * 1e9;
}

/* -- rows --------------------------------------------------------------------------------- */

enum { LIBRARY, CHAINED, PLAIN, FETCHED, WAYS };

static double measure(int way, seen_detector *d, const struct places *p, const seen_digest *digest,
                      size_t n) {
    if (way == LIBRARY) {
        seen_landmark(d);
        return observe(d, digest, n);
    }
    ahead(p, digest, n); /* neither finds in the cache what the other left there */
    return way == CHAINED ? chained(p, digest, n / 8)
                          : (way == PLAIN ? plain : ahead)(p, digest, n);
}

static const char *const ways[WAYS] = {"library", "chained", "plain", "ahead"};

/* Medians of `runs` alternated runs: ns a record in one space, and its ratio in spaces of their
 * own. */
static void compare(const char *size, uint32_t k, size_t n, int runs, double *ns_of,
                    double *ratio_of) {
    static const char *const filters[] = {"bloom", "partitioned"};
    double ns[WAYS][RUNS], ratio[WAYS][RUNS];
    seen_detector *d[2];
    struct seen_plan plan;
    char spec[128];
    for (int own = 0; own < 2; own++) {
        snprintf(spec, sizeof spec, "landmark mem=%s filter=%s k=%u fp=.5 seed=1", size,
                 filters[own], k);
        d[own] = detector(spec, 0, &plan);
    }
    struct bench_table t = table_new(seen_spec_get_count(&plan.spec, "blocks"));
    memset(t.lines, 0, t.count * 64);
    struct places places[2] = {{t.lines, t.count, 0, k}, {t.lines, t.count / k, t.count / k, k}};
    seen_digest *digest = stream(n, n, 1);
    for (int run = -1; run < runs; run++)
        for (int way = 0; way < WAYS; way++) {
            double took[2];
            for (int turn = 0; turn < 2; turn++) {
                int own = (run + turn) & 1; /* each goes first in turn */
                took[own] = measure(way, d[own], &places[own], digest, n);
            }
            if (run < 0) continue;
            ns[way][run] = took[0];
            ratio[way][run] = took[1] / took[0];
        }
    for (int way = 0; way < WAYS; way++) {
        ns_of[way] = median(ns[way], runs);
        ratio_of[way] = median(ratio[way], runs);
    }
    for (int own = 0; own < 2; own++) seen_free(d[own]);
    table_free(&t);
    free(digest);
}

static void row(const char *size, uint32_t k, size_t n) {
    double ns[WAYS], ratio[WAYS];
    compare(size, k, n, RUNS, ns, ratio);
    printf("%-7s k=%-3u", size, k);
    for (int way = 0; way < WAYS; way++)
        printf("  %s %6.1f ns, ratio %.2f", ways[way], ns[way], ratio[way]);
    putchar('\n');
}

/* As bench/paper/lab.h has them: series,x,y,sd,runs,seed,spec. */
static void rows(const char *size, int runs) {
    static const uint32_t k[] = {1, 2, 4, 7, 10, 14};
    size_t reads = strchr(size, 'K') ? 100000 : 1000000;
    for (size_t i = 0; i < sizeof k / sizeof *k; i++) {
        double ns[WAYS], ratio[WAYS];
        compare(size, k[i], reads / k[i], runs, ns, ratio);
        for (int way = 0; way < WAYS; way++) {
            printf("%s one,%u,%.8g,0,%d,1,mem=%s\n", ways[way], k[i], ns[way], runs, size);
            printf("%s own,%u,%.8g,0,%d,1,mem=%s\n", ways[way], k[i], ns[way] * ratio[way], runs,
                   size);
        }
    }
}

int main(int argc, char **argv) {
    static const uint32_t k[] = {4, 7, 14};
    if (argc == 4 && !strcmp(argv[1], "rows")) {
        int runs = atoi(argv[3]);
        rows(argv[2], runs < 1 ? 1 : runs < RUNS ? runs : RUNS);
        return 0;
    }
    for (int i = 0; i < 3; i++) row("512KiB", k[i], 100000 / k[i]);
    for (int i = 0; i < 3; i++) row("64MiB", k[i], 1000000 / k[i]);
    return 0;
}
