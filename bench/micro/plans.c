/* plans - how long it takes to plan: a server that is asked for a filter does nothing else
 * meanwhile.
 *
 *     build/bench-plans           40 random specs for each window and structure, and each option
 *                                 alone
 *     build/bench-plans 400       more random specs
 *     build/bench-plans 40 all    a line for each spec: its text, every number of the plan, time
 *
 * Specs follow from the tables: windows from tiny to huge, with each structure or none named; every
 * option that serves it alone, at values from its least to its most; and several options at once,
 * drawn with values whose orders of magnitude are all alike.  Each spec that can be had is planned
 * once more as resolved, which must give the same, as replicas and snapshots do.  Times are the
 * processor's for text to plan or refusal, the least of three. */
#include "bench.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define TEXT 1024
#define MOST 50000 /* specs a row */

static const char *const windows[] = {
    "landmark",      "landmark:1",   "landmark:1000", "landmark:1e6",   "landmark:1e12",
    "landmark:1d",   "jumping:10/3", "jumping:1e6/8", "jumping:1e9/63", "jumping:1h/12",
    "jumping:4w/28", "sliding:1",    "sliding:1000",  "sliding:1e6",    "sliding:1e10",
    "sliding:1s",    "sliding:24h",  "sliding:52w",   "decaying"};

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* -- specs -------------------------------------------------------------------------------- */

static double draw(void) { /* 0 to 1, the same in each run */
    static uint64_t n;
    n++;
    return (double)(seen_hash(&n, sizeof n, 1).lo >> 11) * 0x1p-53;
}

static bool serves(const struct seen_option *o, const char *filter) {
    char of[128], *at = of;
    if (!o->of) return strcmp(o->name, "filter") != 0;
    snprintf(of, sizeof of, "%s", o->of);
    for (char *name; (name = strsep(&at, ", "));)
        if (!strcmp(name, filter)) return true;
    return false;
}

/* A value `share` of the way from the least to the most. */
static void add_value(char *spec, const struct seen_option *o, double share) {
    char value[64];
    double least = fmax(o->min, o->kind == SEEN_KIND_REAL   ? 1e-15
                                : o->kind == SEEN_KIND_RATE ? 1e-3
                                                            : 1);
    double most = o->kind == SEEN_KIND_REAL || o->kind == SEEN_KIND_RATE ? o->max * .99 : o->max;
    double x = least * pow(most / least, share);
    uint64_t whole = x < 0x1p64 ? (uint64_t)x : UINT64_MAX;
    size_t choices = 0, at = strlen(spec);
    while (o->kind == SEEN_KIND_CHOICE && o->choices[choices]) choices++;
    if (o->kind == SEEN_KIND_CHOICE)
        snprintf(value, sizeof value, "%s",
                 o->choices[(size_t)fmin(share * (double)choices, (double)choices - 1)]);
    else if (o->kind == SEEN_KIND_REAL || o->kind == SEEN_KIND_RATE)
        snprintf(value, sizeof value, "%.3g", x);
    else if (o->kind == SEEN_KIND_SIZE)
        seen_print_size(whole < 8192 ? whole : whole / 1024 * 1024, value, sizeof value);
    else if (o->kind == SEEN_KIND_SPAN)
        seen_print_span(whole, value, sizeof value);
    else
        snprintf(value, sizeof value, "%llu", (unsigned long long)whole);
    snprintf(spec + at, TEXT - at, " %s=%s", o->name, value);
}

/* -- planning one ------------------------------------------------------------------------- */

struct row {
    char window[16], filter[16], slowest[TEXT];
    double us[MOST], most;
    int n, refused;
};

static bool verbose;
static int unstable;

static int plan_text(struct seen_plan *plan, const char *text, struct seen_error *e) {
    struct seen_spec spec;
    int bad = seen_spec_parse(&spec, text, e);
    return bad ? bad : seen_plan_make(plan, &spec, e);
}

static void print(const char *text, int bad, const struct seen_plan *plan, const char *resolved,
                  const struct seen_error *e, double us) {
    printf("%s\t", text);
    if (bad)
        printf("%s", e->text);
    else
        printf("%s\t%llu\t%llu\t%.17g\t%.17g\t%.17g\t%.17g\t%.17g\t%s", resolved,
               (unsigned long long)plan->bytes, (unsigned long long)plan->capacity, plan->fp_full,
               plan->fp_mean, plan->fn, plan->slack, plan->touches, plan->reason);
    printf("\t%.1f\n", us);
}

/* Whether there is such a plan; then `resolved` is its spec. */
static bool measure(struct row *row, const char *text, char *resolved) {
    struct seen_plan plan;
    struct seen_error e;
    double least = INFINITY;
    int bad = 0;
    for (int i = 0; i < 3 && (!i || least < .05); i++) {
        double start = seconds();
        bad = plan_text(&plan, text, &e);
        least = fmin(least, seconds() - start);
    }
    double us = least * 1e6;
    if (bad == SEEN_EINVAL) return false; /* no spec at all */
    if (!bad) seen_spec_print(&plan.spec, resolved, TEXT);
    if (verbose) print(text, bad, &plan, resolved, &e, us);
    if (row->n == MOST) return !bad;
    row->us[row->n++] = us;
    row->refused += bad != 0;
    if (us > row->most) {
        row->most = us;
        snprintf(row->slowest, sizeof row->slowest, "%s", text);
    }
    return !bad;
}

static void measure_twice(struct row *row, const char *text) {
    char resolved[TEXT], again[TEXT];
    if (!measure(row, text, resolved) || !measure(row, resolved, again)) return;
    if (!strcmp(resolved, again)) return;
    unstable++;
    fprintf(stderr, "not itself: %s\n     first: %s\n    second: %s\n", text, resolved, again);
}

/* -- all of them -------------------------------------------------------------------------- */

static void begin(char *spec, const char *window, const char *filter) {
    snprintf(spec, TEXT, "%s%s%s", window, *filter ? " filter=" : "", filter);
}

static void singles(struct row *row, const char *window, const char *filter) {
    char spec[TEXT];
    const struct seen_option *o;
    begin(spec, window, filter);
    measure_twice(row, spec);
    for (size_t i = 0; (o = seen_option(i)); i++)
        for (int at = 0; serves(o, filter) && at <= 4; at++) {
            begin(spec, window, filter);
            add_value(spec, o, at / 4.);
            measure_twice(row, spec);
        }
}

static void drawn(struct row *row, const char *window, const char *filter) {
    char spec[TEXT];
    const struct seen_option *o;
    begin(spec, window, filter);
    for (size_t i = 0; (o = seen_option(i)); i++) {
        bool sizes = !strcmp(o->name, "fp") || !strcmp(o->name, "mem") ||
                     !strcmp(o->name, "items") || !strcmp(o->name, "shards");
        double wanted = sizes ? .5 : o->geometry ? .15 : .08, chance = draw(), share = draw();
        if (serves(o, filter) && chance < wanted) add_value(spec, o, share);
    }
    measure_twice(row, spec);
}

static void report(struct row *row) {
    double middle = median(row->us, row->n); /* which sorts */
    printf("%-9s %-16s %6d %7d %8.1f %8.1f %9.1f  %s\n", row->window,
           *row->filter ? row->filter : "any", row->n, row->refused, middle,
           row->us[row->n * 99 / 100], row->most, row->slowest);
    fflush(stdout);
}

static void kind_of(char *kind, const char *window) {
    snprintf(kind, 16, "%.*s", (int)strcspn(window, ":"), window);
}

static void all(int draws, const char *kind, const char *filter) {
    static struct row row;
    char own[16];
    memset(&row, 0, sizeof row);
    snprintf(row.window, sizeof row.window, "%s", kind);
    snprintf(row.filter, sizeof row.filter, "%s", filter);
    for (size_t w = 0; w < COUNT(windows); w++) {
        kind_of(own, windows[w]);
        if (strcmp(own, kind) != 0) continue;
        singles(&row, windows[w], filter);
        for (int i = 0; i < draws; i++) drawn(&row, windows[w], filter);
    }
    if (row.refused < row.n && !verbose) report(&row);
}

int main(int argc, char **argv) {
    static const char *const kinds[] = {"landmark", "jumping", "sliding", "decaying"};
    int draws = argc > 1 ? atoi(argv[1]) : 40;
    verbose = argc > 2;
    if (!verbose)
        printf("# window  filter            specs refused   median      99%%      most  slowest, "
               "us\n");
    for (size_t w = 0; w < COUNT(kinds); w++) {
        const char *filter = "";
        for (size_t i = 0; filter; filter = seen_filter_name(i++)) all(draws, kinds[w], filter);
    }
    return unstable > 0;
}
