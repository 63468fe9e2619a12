/* counts.c - rows of counts: a table, JSON, or the bare number. */
#include "commands/count/counts.h"
#include "base/json.h"

#include "base/cli.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct figures counts_figures(uint64_t records, const seen_counter *c) {
    struct figures f = {.records = records};
    f.distinct = seen_counter_estimate(c, &f.error);
    return f;
}

static void put_figures(const struct counts *r, struct figures f) {
    double low = f.distinct / (1 + 1.96 * f.error);
    double high = f.distinct / fmax(1 - 1.96 * f.error, .05);
    if (r->json)
        printf("\"records\": %" PRIu64
               ", \"distinct\": %.0f, \"distinct_95\": [%.0f, %.0f], \"error\": %.3g}\n",
               f.records, f.distinct, low, high, f.error);
    else
        printf("%" PRIu64 "\t%.0f\t%.0f\t%.0f\n", f.records, f.distinct, low, high);
}

/* A table's columns before the figures; several fields of a group have a column each. */
static void put_heading(const struct counts *r) {
    const struct fields *f = &r->how->fields;
    printf("from\t");
    if (r->how->by && f->n < 2) printf("group\t");
    for (uint32_t i = 0; f->n > 1 && i < f->n; i++) printf("%s\t", f->name[i]);
    puts("records\tdistinct\tlow\thigh");
}

static void put_group(const struct counts *r, const struct names *names, uint32_t group) {
    if (r->json) printf("\"group\": ");
    if (group >= GROUP_FIRST && r->json)
        names_put_json(names, group, stdout);
    else if (group >= GROUP_FIRST)
        names_put_text(names, group, '\t', stdout);
    else if (r->json)
        printf("\"all\"");
    else
        for (uint32_t i = 0; !i || i < r->how->fields.n; i++) printf("%sall", i ? "\t" : "");
    printf(r->json ? ", " : "\t");
}

void counts_put(struct counts *r, const char *from, const struct names *names, uint32_t group,
                struct figures f) {
    r->n++;
    if (r->value) {
        printf("%.0f\n", f.distinct);
        return;
    }
    if (!r->json && !r->headed) put_heading(r);
    r->headed = true;
    if (r->json)
        printf("{\"from\": "), json_print_text(stdout, from), printf(", ");
    else
        printf("%s\t", from);
    if (r->how->by) put_group(r, names, group);
    put_figures(r, f);
}

static int by_count(const void *a, const void *b, void *ctx) {
    const struct part *p = ctx;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    double x = rint(seen_counter_estimate(p->group[i].counter, NULL)); /* as printed */
    double y = rint(seen_counter_estimate(p->group[j].counter, NULL));
    return x != y ? (x < y ? 1 : -1) : names_order(&p->names, i, j);
}

void counts_put_groups(struct counts *r, const char *from, const struct part *p) {
    uint32_t n = p->room ? p->names.n - GROUP_FIRST : 0, *list = malloc((n + 1) * sizeof *list);
    if (!list) die("out of memory for %u groups", n);
    for (uint32_t i = 0; i < n; i++) list[i] = GROUP_FIRST + i;
    qsort_r(list, n, sizeof *list, by_count, (void *)(uintptr_t)p);
    for (uint32_t i = 0; i < n; i++) {
        const struct group *g = &p->group[list[i]];
        counts_put(r, from, &p->names, list[i], counts_figures(g->records, g->counter));
    }
    free(list);
}
