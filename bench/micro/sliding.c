/* sliding - exact windows of the last N records: ns a record and bits a record of the window.
 *
 *     build/bench-sliding                        timing, timed-cuckoo in both layouts, exact
 *     build/bench-sliding 'sliding:1e6 filter=timing fp=1e-3' …     others, alternated
 *
 * 25 % duplicates, whose gaps in the window are uniform, in batches of 256.  The yardstick is a
 * loop that reads, changes and writes random cache lines of a table of the same size, fetched 16
 * ahead, from the same digests, in the same run.  All are medians of runs that alternate. */
#include "bench.h"

#include <string.h>

#define RUNS      15
#define ROWS_MOST 16
#define PERIOD    4 /* windows, after which the stream begins again: its keys are new by then */

struct row {
    const char *spec;
    seen_detector *detector;
    struct bench_table table;
    double bits, ours[RUNS], line[RUNS];
};

static void row_begin(struct row *r, const char *spec, uint64_t window, const seen_digest *d) {
    struct seen_plan plan;
    struct seen_stats stats;
    r->spec = spec;
    r->detector = detector(spec, 0, &plan);
    if (plan.spec.unit != SEEN_UNIT_RECORDS || plan.spec.length != window) {
        fprintf(stderr, "%s: all windows must be of the same number of records\n", spec);
        exit(2);
    }
    observe(r->detector, d, PERIOD * window);
    seen_stats(r->detector, &stats);
    r->table = table_new((stats.bytes + 63) / 64);
    r->bits = (double)stats.bytes * 8 / (double)window;
}

static void row_end(struct row *r) {
    double ours = median(r->ours, RUNS), line = median(r->line, RUNS);
    printf("%-60s %6.1f bits  %6.1f ns  line %5.1f ns  ratio %5.2f\n", r->spec, r->bits, ours, line,
           ours / line);
    seen_free(r->detector);
    table_free(&r->table);
}

static uint64_t window_of(const char *text) {
    struct seen_error e;
    struct seen_spec spec;
    if (!seen_spec_parse(&spec, text, &e)) return spec.length;
    fprintf(stderr, "%s: %s\n", text, e.text);
    exit(2);
}

static void compare(const char *const *specs, size_t n) {
    static struct row rows[ROWS_MOST];
    uint64_t window = window_of(specs[0]);
    size_t part = window * PERIOD / 16 / BATCH * BATCH;
    if (n > ROWS_MOST || !part) {
        fprintf(stderr, "at most %d specs, of windows of 1024 records or more\n", ROWS_MOST);
        exit(2);
    }
    seen_digest *digests = stream(window * PERIOD, window - 2, 1);
    for (size_t i = 0; i < n; i++) row_begin(&rows[i], specs[i], window, digests);
    for (size_t run = 0; run < RUNS; run++)
        for (size_t i = 0; i < n; i++) {
            rows[i].line[run] = modify(&rows[i].table, digests + run * part, part, 8);
            rows[i].ours[run] = observe(rows[i].detector, digests + run * part, part);
        }
    for (size_t i = 0; i < n; i++) row_end(&rows[i]);
    free(digests);
}

int main(int argc, char **argv) {
    static const char *const usual[2][4] = {
        {"sliding:1e5 fp=1e-3 filter=timing seed=1",
         "sliding:1e5 fp=1e-3 filter=timed-cuckoo seed=1",
         "sliding:1e5 fp=1e-3 filter=timed-cuckoo vla=1 seed=1",
         "sliding:1e5 fp=1e-3 filter=exact seed=1"},
        {"sliding:1e6 fp=1e-3 filter=timing seed=1",
         "sliding:1e6 fp=1e-3 filter=timed-cuckoo seed=1",
         "sliding:1e6 fp=1e-3 filter=timed-cuckoo vla=1 seed=1",
         "sliding:1e6 fp=1e-3 filter=exact seed=1"},
    };
    if (argc > 1)
        compare((const char *const *)(argv + 1), (size_t)argc - 1);
    else
        for (int i = 0; i < 2; i++) compare(usual[i], 4);
    return 0;
}
