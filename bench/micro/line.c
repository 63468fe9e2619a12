/* line - sliding windows without false negatives, beside what memory costs and beside the papers'.
 *
 *     build/bench-line            windows of 1e5 and 1e6 records; the rivals at 1e6
 *     build/bench-line long       and of 4e7
 *
 * In steady state, with 25 % duplicates at uniform gaps and with none, digests given, in batches of
 * 256.  Bits are of everything allocated, a record of the window; lines are counted by the
 * detector; fp counts false duplicates among records that are new.  `memory` is the loop of bench.h
 * that reads, changes and writes a random line of a table as large.  Medians of runs that
 * alternate. */
#include "bench.h"

#include "spec/spec.h"

#include "base/base.h"
#include "sliding/line.h"

#include <math.h>
#include <string.h>

#define RUNS 9

static uint64_t draw(uint64_t *rng) {
    uint64_t z = *rng += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* An endless stream of records; the last `window` of them are known. */
struct source {
    seen_digest *past;
    uint8_t *repeats;
    uint64_t window, n, rng;
    double share;
};

static struct source source_new(uint64_t window, double share) {
    struct source s = {calloc(window, sizeof *s.past), calloc(window, 1), window, 0, 7, share};
    if (!s.past || !s.repeats) exit(2);
    return s;
}

static void source_free(struct source *s) {
    free(s->past);
    free(s->repeats);
}

static void source_read(struct source *s, size_t n, seen_digest *d, uint8_t *repeats) {
    for (size_t i = 0; i < n; i++, s->n++) {
        uint64_t place = s->n % s->window;
        repeats[i] = s->n > s->window && (double)(draw(&s->rng) >> 11) * 0x1p-53 < s->share;
        d[i] = repeats[i] ? s->past[draw(&s->rng) % s->window]
                          : (seen_digest){draw(&s->rng), draw(&s->rng)};
        s->past[place] = d[i];
    }
}

/* -- one detector in a steady state ------------------------------------------------------- */

struct subject {
    seen_detector *d;
    struct seen_plan plan;
    uint64_t fresh, wrong, missed;
    uint64_t looked, records; /* before its steady state */
    double ns[RUNS];
};

static void judge(struct subject *s, size_t n, const seen_digest *d, const uint8_t *repeats) {
    uint8_t verdict[BATCH];
    for (size_t i = 0; i < n; i += BATCH) {
        size_t batch = n - i < BATCH ? n - i : BATCH;
        seen_observe(s->d, batch, d + i, verdict);
        for (size_t j = 0; j < batch; j++) {
            s->fresh += !repeats[i + j];
            s->wrong += verdict[j] && !repeats[i + j];
            s->missed += !verdict[j] && repeats[i + j];
        }
    }
}

static const struct line_head *head(const struct subject *s) {
    const struct line_state *state = s->d->shard[0].state;
    return &state->h;
}

/* What was before does not count. */
static void begin(struct subject *s) {
    struct seen_stats stats;
    seen_stats(s->d, &stats);
    s->fresh = s->wrong = 0;
    s->records = stats.records;
    if (!strcmp(s->plan.filter, "line")) s->looked = head(s)->looked;
}

static void check(const struct subject *s) {
    if (!s->missed || s->plan.fn > 0) return;
    fprintf(stderr, "%s missed %llu\n", s->plan.filter, (unsigned long long)s->missed);
    exit(1);
}

static double bits(const struct subject *s) {
    struct seen_stats stats;
    seen_stats(s->d, &stats);
    return (double)stats.bytes * 8 / (double)s->plan.spec.length;
}

/* -- rows --------------------------------------------------------------------------------- */

#define PART (1 << 16)

/* Runs all of them over the same records, `windows` of the window to warm up. */
static double run(struct subject *s, int n, uint64_t window, double share, double windows,
                  uint64_t lines) {
    struct source source = source_new(window, share);
    struct bench_table table = table_new(lines);
    seen_digest *d = malloc(PART * sizeof *d);
    uint8_t *repeats = malloc(PART);
    double memory[RUNS];
    if (!d || !repeats) exit(2);
    for (double done = 0; done < windows * (double)window; done += PART) {
        source_read(&source, PART, d, repeats);
        for (int i = 0; i < n; i++) judge(&s[i], PART, d, repeats);
        if (done < 2 * (double)window) /* not yet in its steady state */
            for (int i = 0; i < n; i++) begin(&s[i]);
    }
    for (int r = 0; r < RUNS; r++) {
        source_read(&source, PART, d, repeats);
        memory[r] = modify(&table, d, PART, 8);
        for (int i = 0; i < n; i++) s[i].ns[r] = observe(s[i].d, d, PART);
    }
    for (int i = 0; i < n; i++) check(&s[i]);
    free(d);
    free(repeats);
    table_free(&table);
    source_free(&source);
    return median(memory, RUNS);
}

static void row(uint64_t window, double share) {
    struct subject s[3] = {0};
    char spec[80];
    static const uint32_t cpu[] = {CPU_BEST, CPU_AVX2, CPU_PORTABLE};
    int n = window > 2000000 ? 1 : 3;
    snprintf(spec, sizeof spec, "sliding:%llu fp=5e-4 filter=line seed=1",
             (unsigned long long)window);
    for (int i = 0; i < n; i++) s[i].d = detector(spec, cpu[i], &s[i].plan);
    double memory = run(s, n, window, share, window > 2000000 ? 6 : 3e6 / (double)window + 7,
                        options_get(&s[0].plan.spec, OPTION_BLOCKS));
    struct seen_stats stats;
    seen_stats(s[0].d, &stats);
    double ns = median(s[0].ns, RUNS);
    printf("%-8.0e %2.0f %%  %5.2f bits  %.3f lines  %.4f %% spare  fp %.2e of %.2e  %5.1f ns, "
           "memory %4.1f, ratio %.2f",
           (double)window, share * 100, bits(s),
           1 + (double)(head(&s[0])->looked - s[0].looked) / (double)(stats.records - s[0].records),
           100. * (double)stats.listed / (double)window, (double)s[0].wrong / (double)s[0].fresh,
           s[0].plan.fp_full, ns, memory, ns / memory);
    if (n > 1) printf("  (avx2 %.1f, portable %.1f)", median(s[1].ns, RUNS), median(s[2].ns, RUNS));
    printf("\n");
    for (int i = 0; i < n; i++) seen_free(s[i].d);
}

/* -- the papers' structures --------------------------------------------------------------- */

static void rivals(const char *const *specs, int n, uint64_t window) {
    struct subject s[8] = {0};
    for (int i = 0; i < n; i++) s[i].d = detector(specs[i], 0, &s[i].plan);
    run(s, n, window, .25, 4, options_get(&s[0].plan.spec, OPTION_BLOCKS));
    double ns = median(s[0].ns, RUNS), each = bits(s);
    for (int i = 0; i < n; i++)
        printf("%-52s %6.1f bits, %5.2fx  %6.1f ns, %5.2fx  fp %.2e\n", specs[i], bits(&s[i]),
               bits(&s[i]) / each, median(s[i].ns, RUNS), median(s[i].ns, RUNS) / ns,
               (double)s[i].wrong / (double)s[i].fresh);
    for (int i = 0; i < n; i++) seen_free(s[i].d);
}

int main(int argc, char **argv) {
    static const char *const papers[] = {
        "sliding:1e6 fp=5e-4 filter=line seed=1",
        "sliding:1e6 fp=5e-4 filter=timing seed=1",
        "sliding:1e6 fp=5e-4 filter=timed-cuckoo lambda=2e6 seed=1",
        "sliding:1e6 fp=5e-4 filter=timed-cuckoo lambda=1.2e6 seed=1",
        "sliding:1e6 fp=5e-4 filter=timed-cuckoo vla=1 seed=1",
        "sliding:1e6 fp=4e-4 filter=age-partitioned seed=1",
        "sliding:1e6 fp=5e-4 filter=exact seed=1"};
    row(100000, .25);
    row(100000, 0);
    row(1000000, .25);
    row(1000000, 0);
    rivals(papers, sizeof papers / sizeof *papers, 1000000);
    if (argc > 1 && !strcmp(argv[1], "long")) {
        row(40000000, .25);
        row(40000000, 0);
    }
    return 0;
}
