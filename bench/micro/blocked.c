/* blocked - test-and-add of digests against what memory itself costs.
 *
 *     build/bench-blocked                all rows; each is a median of alternated runs
 *
 * The yardsticks are loops over random cache lines of a table of the same size, fetched 16 ahead,
 * from the same digests, in the same run: one reads, changes and writes the whole line (as a filter
 * must), the other a single word of it.  Prints ns a record and our ratio to each, and the other
 * kernels beside the one that the machine would choose. */
#include "bench.h"

#include "spec/spec.h"

#define RUNS 21

static void row(const char *name, const char *spec_text, size_t n) {
    double whole_line[RUNS], word[RUNS], ours[4][RUNS];
    struct seen_plan plan;
    seen_detector *d[4];
    for (uint32_t cpu = 0; cpu < 4; cpu++) d[cpu] = detector(spec_text, cpu, &plan);
    struct bench_table table = table_new(options_get(&plan.spec, OPTION_BLOCKS));
    seen_digest *digests = stream(n, n, 1);
    for (int run = -1; run < RUNS; run++) {
        double l = modify(&table, digests, n, 8);
        double w = modify(&table, digests, n, 1);
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
        name, (double)table.count / 16, (unsigned long long)options_get(&plan.spec, OPTION_K), l, w,
        chosen, chosen / l, chosen / w, median(ours[1], RUNS), median(ours[2], RUNS),
        median(ours[3], RUNS));
    for (int cpu = 0; cpu < 4; cpu++) seen_free(d[cpu]);
    table_free(&table);
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
