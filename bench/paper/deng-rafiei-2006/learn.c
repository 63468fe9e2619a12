#include "learn.h"

#include "../lab.h"
#include "formulas.h"
#include "seen_gaps.h"
#include "stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZES = 12, A_KEY = 64, SMALL = 4 << 20 }; /* memory of a sample */

/* What is planned for the sample and runs on what follows it. */
static const struct rival {
    const char *series, *spec;
} rivals[] = {{"max=1", "filter=stable max=1"},
              {"max=3", "filter=stable max=3"},
              {"max=7", "filter=stable max=7"},
              {"chosen", "filter=stable"},
              {"lru", "filter=lru"},
              {"clock", "filter=clock"},
              {"cache", "filter=cache"}};
enum { RIVALS = sizeof rivals / sizeof *rivals };

enum { SAMPLE, REST, PARTS, BATCH = 256 };

struct outcome {
    struct lab_mean fn[PARTS], fp[PARTS], planned_fn, planned_fp;
    char spec[512];
};

/* Two halves of one stream, and whether a record repeats one of its half. */
struct halves {
    uint64_t n, seed;
    seen_digest *digest[PARTS];
    uint8_t *repeats[PARTS];
};

static void read_halves(struct halves *h) {
    struct stream *s =
        stream_new(2 * h->n, lab_number("new", .5), lab_text("knots", "1:1,1000:0"), h->seed);
    for (int part = 0; part < PARTS; part++)
        for (uint64_t i = 0; i < h->n; i++) {
            struct element e = stream_next(s);
            h->digest[part][i] = lab_digest(e.key, h->seed);
            h->repeats[part][i] = e.duplicate && e.gap < i;
        }
    stream_free(s);
}

static void measure(struct outcome *o, const struct seen_plan *plan, const struct halves *h,
                    int part) {
    uint64_t n[2] = {0, 0}, wrong[2] = {0, 0};
    seen_detector *d = lab_new(plan);
    for (uint64_t at = 0; at < h->n; at += BATCH) {
        uint8_t says[BATCH];
        uint64_t some = h->n - at < BATCH ? h->n - at : BATCH;
        seen_observe(d, some, h->digest[part] + at, says);
        for (uint64_t i = 0; i < some; i++) {
            uint8_t is = h->repeats[part][at + i];
            n[is]++;
            wrong[is] += is ? !says[i] : says[i];
        }
    }
    lab_add(&o->fp[part], (double)wrong[0] / (double)n[0]);
    lab_add(&o->fn[part], (double)wrong[1] / (double)n[1]);
    seen_free(d);
}

static void try(struct outcome *o, const struct rival *r, uint64_t lines, const seen_gaps *gaps,
                const struct halves *h) {
    char text[256];
    struct seen_spec spec;
    struct seen_plan plan;
    struct seen_error e;
    double fp, fn;
    snprintf(text, sizeof text, "decaying %s lines=%llu fp=%g seed=%llu", r->spec,
             (unsigned long long)lines, lab_number("fp", .1), (unsigned long long)h->seed);
    if (seen_spec_parse(&spec, text, &e) || seen_gaps_plan(gaps, &spec, &plan, 1, &e) < 0 ||
        seen_gaps_predict(gaps, &plan, h->n, &fp, &fn, &e))
        lab_die("%s", e.text);
    lab_add(&o->planned_fp, fp);
    lab_add(&o->planned_fn, fn);
    if (!o->spec[0]) seen_spec_print(&plan.spec, o->spec, sizeof o->spec);
    for (int part = 0; part < PARTS; part++) measure(o, &plan, h, part);
}

static void put(const char *what, const char *series, double x, const struct lab_mean *m,
                const char *spec) {
    char name[64];
    snprintf(name, sizeof name, "%s %s", series, what);
    lab_row(name, x, m, 1, spec);
}

void learn(void) {
    static struct outcome all[SIZES][RIVALS];
    struct halves h = {.n = (uint64_t)lab_number("elements", 1e5) / 2};
    uint64_t runs = (uint64_t)lab_number("runs", 1), first = (uint64_t)lab_number("first", 2);
    for (int part = 0; part < PARTS; part++) {
        h.digest[part] = lab_alloc(h.n, sizeof *h.digest[part]);
        h.repeats[part] = lab_alloc(h.n, 1);
    }
    for (h.seed = 1; h.seed <= runs; h.seed++) {
        seen_gaps *gaps;
        struct seen_error e;
        read_halves(&h);
        if (seen_gaps_new(&gaps, SMALL + A_KEY * h.n, NULL, &e)) lab_die("%s", e.text);
        seen_gaps_add(gaps, h.n, h.digest[SAMPLE]);
        for (int i = 0; i < SIZES; i++)
            for (int r = 0; r < RIVALS; r++) try(&all[i][r], &rivals[r], first << i, gaps, &h);
        seen_gaps_free(gaps);
    }
    for (int i = 0; i < SIZES; i++)
        for (int r = 0; r < RIVALS; r++) {
            const struct outcome *o = &all[i][r];
            double bits = (double)(first << i) * CELLS;
            put("fn", rivals[r].series, bits, &o->fn[REST], o->spec);
            put("fn of the sample", rivals[r].series, bits, &o->fn[SAMPLE], o->spec);
            put("fn predicted", rivals[r].series, bits, &o->planned_fn, o->spec);
            put("fp", rivals[r].series, bits, &o->fp[REST], o->spec);
            put("fp of the sample", rivals[r].series, bits, &o->fp[SAMPLE], o->spec);
            put("fp predicted", rivals[r].series, bits, &o->planned_fp, o->spec);
        }
    for (int part = 0; part < PARTS; part++) free(h.digest[part]), free(h.repeats[part]);
}
