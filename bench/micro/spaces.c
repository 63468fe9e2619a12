/* spaces - does a space of memory for each hash function save time?
 *
 *     build/bench-spaces                 all rows; each is a median of alternated runs
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
 * Lines lie spread over the machine's banks whatever space they belong to, and accesses that do not
 * hang on each other overlap in both layouts, fetched ahead or not; only the chain pays k waits,
 * and it pays them in spaces of their own as well. */
#include "bench.h"

#include <string.h>

#define RUNS   41 /* short ones: a longer is more often interrupted */
#define AHEAD  16
#define K_MOST 64

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
    const uint64_t *at[AHEAD][K_MOST];
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

static void row(const char *size, uint32_t k, size_t n) {
    static const char *const ways[] = {"library", "chained", "plain", "ahead"};
    static const char *const filters[] = {"bloom", "partitioned"};
    double ns[WAYS][RUNS], ratio[WAYS][RUNS];
    seen_detector *d[2];
    struct seen_plan plan;
    char spec[128];
    for (int own = 0; own < 2; own++) {
        snprintf(spec, sizeof spec, "landmark mem=%s filter=%s k=%u seed=1", size, filters[own], k);
        d[own] = detector(spec, 0, &plan);
    }
    struct bench_table t = table_new(plan.spec.lines);
    memset(t.lines, 0, t.count * 64);
    struct places places[2] = {{t.lines, t.count, 0, k}, {t.lines, t.count / k, t.count / k, k}};
    seen_digest *digest = stream(n, n, 1);
    for (int run = -1; run < RUNS; run++)
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
    printf("%-7s k=%-3u", size, k);
    for (int way = 0; way < WAYS; way++)
        printf("  %s %6.1f ns, ratio %.2f", ways[way], median(ns[way], RUNS),
               median(ratio[way], RUNS));
    putchar('\n');
    for (int own = 0; own < 2; own++) seen_free(d[own]);
    table_free(&t);
    free(digest);
}

int main(void) {
    static const uint32_t k[] = {4, 7, 14};
    for (int i = 0; i < 3; i++) row("512KiB", k[i], 100000 / k[i]);
    for (int i = 0; i < 3; i++) row("64MiB", k[i], 1000000 / k[i]);
    return 0;
}
