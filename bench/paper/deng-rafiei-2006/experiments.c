/* The experiments of Deng, Rafiei: Approximately Detecting Duplicates for Streaming Data using
 * Stable Bloom Filters, SIGMOD 2006.
 *
 *     paper-deng-rafiei-2006 row elements=100000 new=0.7566 knots=1:0.97398,… bits=65536 runs=20
 *                                                   a row of table 2; curves of figures 3 and 4
 *     paper-deng-rafiei-2006 hashes lines=202 gap=10000 max=1 fp=0.1        figure 1
 *     paper-deng-rafiei-2006 observation                                    Observation 1, §4.1
 *     paper-deng-rafiei-2006 gaps lines=202 fp=0.1                          figure 2
 *     paper-deng-rafiei-2006 learn elements=100000 new=0.7566 knots=… runs=20
 *                                                   §4.1: Max from the gaps of a sample
 *     paper-deng-rafiei-2006 bound lines=202                                Eqs. 7, 8 and 17
 *     paper-deng-rafiei-2006 times bits=67108864                            §5.5
 */
#include "../lab.h"
#include "formulas.h"
#include "learn.h"
#include "stream.h"
#include "theory/decaying.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 256 };

/* -- table 2, figures 3 and 4: structures side by side on one stream ----------------------- */

enum size { SAME_LINES, NOMINAL, SAME_BYTES }; /* NOMINAL: 64 bits a key, links not counted */
/* Keys folded; Algorithm 1 as it is printed; the planner told how far apart repeats may be, or that
 * fp= is what the sbf measured on the same stream. */
enum trait { PLAIN, FOLDED, AS_PRINTED, TOLD_GAPS, MATCHED };

/* A rival is one line.  `if_asked`: a number on the command line without which it does not run. */
static const struct entry {
    const char *series, *spec;
    enum size size;
    enum trait trait;
    const char *if_asked;
} entries[] = {
    {"sbf", "decaying filter=stable max=1 k=2 p=4", SAME_LINES, PLAIN, NULL},
    {"buffering", "decaying filter=lru", NOMINAL, PLAIN, NULL},
    {"bf", "landmark filter=bloom k=2", SAME_LINES, PLAIN, NULL},
    {"sbf folded", "decaying filter=stable max=1 k=2 p=4", SAME_LINES, FOLDED, "fold"},
    {"bf folded", "landmark filter=bloom k=2", SAME_LINES, FOLDED, "fold"},
    {"sbf as printed", "decaying filter=stable max=1 k=2 p=4", SAME_LINES, AS_PRINTED, "printed"},
    {"sbf 0.5", "decaying filter=stable max=3 k=4 fp=.005", SAME_LINES, PLAIN, "budgets"},
    {"sbf 1", "decaying filter=stable max=3 k=4 fp=.01", SAME_LINES, PLAIN, "budgets"},
    {"sbf 20", "decaying filter=stable max=1 k=2 fp=.2", SAME_LINES, PLAIN, "budgets"},
    {"lru", "decaying filter=lru", SAME_BYTES, PLAIN, NULL},
    {"clock", "decaying filter=clock", SAME_BYTES, PLAIN, NULL},
    {"stable", "decaying filter=stable fp=.1", SAME_BYTES, PLAIN, NULL},
    {"stable gaps", "decaying filter=stable fp=.1", SAME_BYTES, TOLD_GAPS, NULL},
    {"cache", "decaying filter=cache", SAME_LINES, MATCHED, NULL}, /* the last: a second pass */
};
enum { SBF, BUFFERING, ENTRIES = sizeof entries / sizeof *entries, POINTS = 64 };

struct contender {
    const struct entry *entry;
    seen_detector *d;
    uint64_t missed, wrong;
    struct lab_mean fn, fp;
    char spec[512];
};

struct contest {
    struct contender c[ENTRIES];
    size_t n;
    uint64_t elements, seed, duplicates, fresh, deeper; /* than buffering reaches */
    double bits, fold, predicted; /* predicted: false negatives, Eq. 15 with phi = 0 */
    double matched;               /* false positives of the sbf on this stream */
    struct theory_stable theory;
    struct lab_mean expected, deep, zeros[POINTS];
    uint64_t point[POINTS];
};

static void make(const struct contest *all, struct contender *c) {
    char size[64], more[32] = "";
    uint64_t lines = (uint64_t)fmax(1, nearbyint(all->bits / CELLS));
    if (c->entry->size == NOMINAL) lines = (uint64_t)fmax(1, nearbyint(all->bits / 64 / 2));
    snprintf(size, sizeof size, "lines=%llu", (unsigned long long)lines);
    if (c->entry->size == SAME_BYTES) /* as many as the sbf, which is the first, takes in all */
        snprintf(size, sizeof size, "mem=%.4fKiB",
                 (double)seen_plan_of(all->c[SBF].d).bytes / 1024);
    if (c->entry->trait == TOLD_GAPS)
        snprintf(more, sizeof more, "gaps=%llu", (unsigned long long)all->elements);
    if (c->entry->trait == MATCHED) snprintf(more, sizeof more, "fp=%.9g", all->matched);
    c->d =
        lab_make("%s %s %s seed=%llu", c->entry->spec, size, more, (unsigned long long)all->seed);
    if (!c->spec[0]) snprintf(c->spec, sizeof c->spec, "%s", lab_spec(c->d));
    c->missed = c->wrong = 0;
}

/* As Algorithm 1 is indented: only what is found to be distinct changes the filter. */
static void observe_as_printed(seen_detector *d, size_t n, const seen_digest *digest,
                               uint8_t *says) {
    for (size_t i = 0; i < n; i++) {
        seen_query(d, 1, digest + i, 0, says + i);
        if (!says[i]) seen_observe(d, 1, digest + i, says + i), says[i] = SEEN_NEW;
    }
}

static void judge(struct contender *c, size_t n, const seen_digest *digest, const uint8_t *is) {
    uint8_t says[BATCH];
    if (c->entry->trait == AS_PRINTED)
        observe_as_printed(c->d, n, digest, says);
    else
        seen_observe(c->d, n, digest, says);
    for (size_t i = 0; i < n; i++) {
        c->missed += is[i] && !says[i];
        c->wrong += !is[i] && says[i];
    }
}

/* Keys that fall together in `fold` values before they are hashed. */
static seen_digest folded(uint32_t key, double fold, uint64_t seed) {
    seen_digest d = lab_digest(key, seed + 1000);
    return lab_digest((uint64_t)((double)(d.lo >> 11) * 0x1p-53 * fold), seed);
}

static void batch(struct contest *all, struct stream *stream, size_t n) {
    seen_digest digest[BATCH], together[BATCH];
    uint8_t is[BATCH];
    for (size_t i = 0; i < n; i++) {
        struct element e = stream_next(stream);
        is[i] = e.duplicate;
        digest[i] = lab_digest(e.key, all->seed);
        if (all->fold > 0) together[i] = folded(e.key, all->fold, all->seed);
        all->duplicates += e.duplicate;
        all->fresh += !e.duplicate;
        all->deeper += e.depth > seen_plan_of(all->c[BUFFERING].d).capacity;
        if (e.duplicate) all->predicted += 1 - theory_stable_found_one(&all->theory, (double)e.gap);
    }
    for (size_t i = 0; i < all->n; i++)
        if (all->c[i].entry->trait != MATCHED)
            judge(&all->c[i], n, all->c[i].entry->trait == FOLDED ? together : digest, is);
}

/* The stream once more, for those that had to wait for what the sbf measured. */
static void run_matched(struct contest *all) {
    struct stream *stream = stream_new(all->elements, lab_number("new", .5),
                                       lab_text("knots", "1:1,1000:0"), all->seed);
    for (size_t i = 0; i < all->n; i++)
        if (all->c[i].entry->trait == MATCHED) make(all, &all->c[i]);
    for (uint64_t at = 0, n; at < all->elements; at += n) {
        seen_digest digest[BATCH];
        uint8_t is[BATCH];
        n = all->elements - at < BATCH ? all->elements - at : BATCH;
        for (uint64_t i = 0; i < n; i++) {
            struct element e = stream_next(stream);
            is[i] = e.duplicate;
            digest[i] = lab_digest(e.key, all->seed);
        }
        for (size_t i = 0; i < all->n; i++)
            if (all->c[i].entry->trait == MATCHED) judge(&all->c[i], n, digest, is);
    }
    stream_free(stream);
}

/* Points evenly on a logarithmic scale, from a batch to the whole stream. */
static void run_once(struct contest *all) {
    struct stream *stream = stream_new(all->elements, lab_number("new", .5),
                                       lab_text("knots", "1:1,1000:0"), all->seed);
    all->duplicates = all->fresh = all->deeper = 0;
    all->predicted = 0;
    for (size_t i = 0; i < all->n; i++)
        if (all->c[i].entry->trait != MATCHED) make(all, &all->c[i]);
    const struct seen_spec *s = seen_spec_of(all->c[SBF].d);
    all->theory = (struct theory_stable){(double)seen_spec_get_count(s, "blocks") * CELLS, 2, 4, 1};
    for (uint64_t at = 0, i = 0; at < all->elements;) {
        size_t n = all->elements - at < BATCH ? all->elements - at : BATCH;
        batch(all, stream, n);
        at += n;
        double due = BATCH * pow((double)all->elements / BATCH, (double)i / (POINTS - 1));
        if ((double)at < floor(due) || i == POINTS) continue;
        all->point[i] = at;
        lab_add(&all->zeros[i++], zeros_of(all->c[SBF].d));
    }
    all->matched = (double)all->c[SBF].wrong / (double)all->fresh;
    run_matched(all);
    for (size_t i = 0; i < all->n; i++) {
        struct contender *c = &all->c[i];
        lab_add(&c->fn, (double)c->missed / (double)all->duplicates);
        lab_add(&c->fp, (double)c->wrong / (double)all->fresh);
        seen_free(c->d);
    }
    lab_add(&all->expected, all->predicted / (double)all->duplicates);
    lab_add(&all->deep, (double)all->deeper / (double)all->duplicates);
    stream_free(stream);
}

static void row(void) {
    struct contest all = {.elements = (uint64_t)lab_number("elements", 1e5),
                          .bits = lab_number("bits", 65536),
                          .fold = lab_number("fold", 0)};
    uint64_t runs = (uint64_t)lab_number("runs", 1);
    for (size_t i = 0; i < ENTRIES; i++)
        if (!entries[i].if_asked || lab_number(entries[i].if_asked, 0) > 0)
            all.c[all.n++].entry = &entries[i];
    for (all.seed = 1; all.seed <= runs; all.seed++) run_once(&all);
    for (size_t i = 0; i < all.n; i++) {
        char series[64];
        snprintf(series, sizeof series, "%s fn", all.c[i].entry->series);
        lab_row(series, all.bits, &all.c[i].fn, 1, all.c[i].spec);
        snprintf(series, sizeof series, "%s fp", all.c[i].entry->series);
        lab_row(series, all.bits, &all.c[i].fp, 1, all.c[i].spec);
    }
    lab_row("deeper", all.bits, &all.deep, 1, all.c[BUFFERING].spec);
    lab_row("eq15 fn", all.bits, &all.expected, 1, all.c[SBF].spec);
    for (size_t i = 0; i < POINTS && all.point[i]; i++)
        if (!i || all.point[i] > all.point[i - 1])
            lab_row("zeros", (double)all.point[i], &all.zeros[i], 1, all.c[SBF].spec);
}

/* -- §5.5: times --------------------------------------------------------------------------- */

enum { STRETCHES = 5, RECORDS = 1 << 20 };

static seen_digest *digests(void) {
    uint64_t n = (uint64_t)STRETCHES * RECORDS;
    struct stream *stream =
        stream_new(n, lab_number("new", .5), lab_text("knots", "1:1,1000:0"), 1);
    seen_digest *digest = lab_alloc(n, sizeof *digest);
    for (uint64_t i = 0; i < n; i++) digest[i] = lab_digest(stream_next(stream).key, 1);
    stream_free(stream);
    return digest;
}

static double nanoseconds(seen_detector *d, const seen_digest *digest) {
    uint8_t verdict[BATCH];
    double begun = lab_seconds();
    for (size_t at = 0; at < RECORDS; at += BATCH) seen_observe(d, BATCH, digest + at, verdict);
    return (lab_seconds() - begun) * 1e9 / RECORDS;
}

/* A record's time, the least of five stretches of one stream that is held in memory, in turn with
 * the others, after the structure has been filled with other keys. */
static void times(void) {
    struct contest all = {
        .bits = lab_number("bits", 65536), .elements = RECORDS, .seed = 1, .matched = .1};
    seen_digest *digest = digests();
    double least[ENTRIES];
    for (size_t i = 0; i < ENTRIES; i++) {
        if (entries[i].if_asked) continue;
        struct contender *c = &all.c[all.n];
        c->entry = &entries[i];
        make(&all, c);
        lab_show(c->d, (uint64_t)1 << 32, (uint64_t)(all.bits / 64), 1);
        least[all.n++] = INFINITY;
    }
    for (size_t stretch = 0; stretch < STRETCHES; stretch++)
        for (size_t i = 0; i < all.n; i++)
            least[i] = fmin(least[i], nanoseconds(all.c[i].d, digest + stretch * RECORDS));
    for (size_t i = 0; i < all.n; i++) {
        lab_one(all.c[i].entry->series, all.bits, least[i], 1, all.c[i].spec);
        seen_free(all.c[i].d);
    }
    free(digest);
}

int main(int argc, char **argv) {
    static const struct lab_experiment experiments[] = {
        {"row", row},    {"times", times}, {"hashes", hashes},
        {"gaps", gaps},  {"bound", bound}, {"observation", observation},
        {"learn", learn}};
    return lab_main(argc, argv, experiments, sizeof experiments / sizeof *experiments);
}
