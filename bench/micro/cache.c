/* cache - test-and-add of digests by the fingerprint cache, against stable and against what memory
 * itself costs.
 *
 *     build/bench-cache                  all rows; each is a median of alternated runs
 *
 * 25 % duplicates, in batches of 256, on full tables.  The yardstick is a loop that reads, changes
 * and writes random cache lines of a table of the same size, fetched 16 ahead, from the same
 * digests, in the same run.  cache is shown with each kernel; both structures have the fp= of the
 * row and the parameters that the planner gives them. */
#include "bench.h"

#include "spec/spec.h"

#define RUNS 15

enum { LINE, STABLE, PORTABLE, CHOSEN, COLUMNS };

static void row(const char *mem, const char *fp, size_t n) {
    double times[COLUMNS][RUNS], mid[COLUMNS];
    struct seen_plan plan;
    seen_detector *d[COLUMNS] = {NULL};
    char text[96];
    for (int c = STABLE; c < COLUMNS; c++) {
        snprintf(text, sizeof text, "decaying filter=%s mem=%s fp=%s seed=1",
                 c == STABLE ? "stable" : "cache", mem, fp);
        d[c] = detector(text, c == PORTABLE ? 1 : 0, &plan);
    }
    struct bench_table table = table_new(options_get(&plan.spec, OPTION_BLOCKS));
    seen_digest *fill = stream(8 * n, n, 2);
    for (int c = STABLE; c < COLUMNS; c++) observe(d[c], fill, 8 * n);
    for (int run = 0; run < RUNS; run++) {
        const seen_digest *part = fill + (size_t)(run % 8) * n;
        times[LINE][run] = modify(&table, part, n, 8);
        for (int c = STABLE; c < COLUMNS; c++) times[c][run] = observe(d[c], part, n);
    }
    for (int c = 0; c < COLUMNS; c++) mid[c] = median(times[c], RUNS);
    printf("%-6s fp=%-5s ways=%-2llu signature=%-2llu  line %5.2f  stable %6.2f  cache %5.2f ns  "
           "ratio to stable %.2f, to line %.2f  (portable %.2f)\n",
           mem, fp, (unsigned long long)options_get(&plan.spec, OPTION_SET_SIZE),
           (unsigned long long)options_get(&plan.spec, OPTION_SIGNATURE), mid[LINE], mid[STABLE],
           mid[CHOSEN], mid[CHOSEN] / mid[STABLE], mid[CHOSEN] / mid[LINE], mid[PORTABLE]);
    for (int c = STABLE; c < COLUMNS; c++) seen_free(d[c]);
    table_free(&table);
    free(fill);
}

int main(void) {
    static const char *const rates[] = {"0.1", "0.01", "1e-4", "1e-9"};
    for (int i = 0; i < 4; i++) {
        row("64KiB", rates[i], 1 << 17);
        row("1MiB", rates[i], 1 << 18);
        row("64MiB", rates[i], 1 << 21);
    }
    return 0;
}
