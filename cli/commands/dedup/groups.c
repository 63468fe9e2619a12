/* groups.c - counts and sums of each group, and how they are printed. */
#include "commands/dedup/groups.h"
#include "base/json.h"

#include "base/cli.h"
#include "base/number.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void *grown(void *old, uint32_t room, uint32_t more, size_t size) {
    char *p = realloc(old, (size_t)more * size + 1);
    if (!p) die("out of memory for groups; give less --max-groups");
    memset(p + (size_t)room * size, 0, (size_t)(more - room) * size);
    return p;
}

/* Counts for all groups that have a number. */
void groups_make_room(struct groups *g) {
    if (g->names.n <= g->room) return;
    uint32_t room = 2 * g->names.n + 16;
    g->group = grown(g->group, g->room, room, sizeof *g->group);
    g->sum = grown(g->sum, g->room, room, g->sums.fields.n * sizeof *g->sum);
    g->room = room;
}

void groups_init(struct groups *g, const char *by, const char *sum, bool confirmed, bool confirms) {
    *g = (struct groups){.grouped = by, .summed = sum};
    g->sums = (struct sums){.confirmed = confirmed, .confirms = confirms};
}

void groups_bound(struct groups *g, size_t bytes) { g->most_bytes = bytes; }

void groups_columns(struct groups *g, struct layout *layout, const char *by, const char *sum,
                    const struct header *header, uint32_t most) {
    if (by) columns_fields(layout, "--group-by", by, header, &g->by);
    if (sum) columns_fields(layout, "--sum", sum, header, &g->sums.fields);
    sums_init(&g->sums);
    names_init(&g->names, g->by.n, most);
    if (g->most_bytes) g->names.most_bytes = g->most_bytes;
    g->names.each = 9 + 8 * VERDICTS + g->sums.fields.n * 16 * (VERDICTS + 1);
    groups_make_room(g);
}

void groups_free(struct groups *g) {
    names_free(&g->names);
    columns_free_fields(&g->by);
    sums_free(&g->sums);
    free(g->group);
    free(g->sum);
    *g = (struct groups){0};
}

/* -- counting ----------------------------------------------------------------------------- */

struct sum *groups_sum(const struct groups *g, uint32_t group) {
    return g->sum + (size_t)group * g->sums.fields.n;
}

uint32_t groups_find(struct groups *g, const struct slice *field, uint64_t number) {
    uint32_t group = names_find(&g->names, &g->by, field);
    groups_make_room(g);
    if (!g->sums.fields.n) return group;
    return sums_read(&g->sums, group, groups_sum(g, group), field, number);
}

void groups_count(struct groups *g, uint32_t found, uint8_t verdict) {
    uint32_t group = g->sums.fields.n ? sums_group(&g->sums, found) : found;
    g->group[group].of[verdict]++;
    if (g->sums.fields.n) sums_count(&g->sums, groups_sum(g, group), verdict, found);
}

void groups_count_lacking(struct groups *g, uint64_t number) {
    uint32_t group = g->by.n ? GROUP_LACKING : names_find(&g->names, &g->by, NULL);
    groups_make_room(g);
    g->group[group].of[UNREADABLE]++;
    sums_lacking(&g->sums, groups_sum(g, group), number);
}

/* -- printing ----------------------------------------------------------------------------- */

static uint64_t unique(const struct group *g) { return g->of[SEEN_NEW]; }

static uint64_t duplicates(const struct group *g) {
    return g->of[SEEN_DUPLICATE] + g->of[SEEN_CONFIRMED];
}

static uint64_t records(const struct group *g) {
    return unique(g) + duplicates(g) + g->of[UNREADABLE];
}

static double rate(const struct group *g) {
    uint64_t judged = unique(g) + duplicates(g);
    return judged ? (double)duplicates(g) / (double)judged : 0;
}

static int larger_first(const void *a, const void *b, void *ctx) {
    const struct groups *g = ctx;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    uint64_t x = records(&g->group[i]), y = records(&g->group[j]);
    return x != y ? (x < y ? 1 : -1) : names_order(&g->names, i, j);
}

/* The numbers of groups that have records: those with values sorted, then no such field and the
 * others.  Returns how many. */
static uint32_t sorted(const struct groups *g, uint32_t **list) {
    uint32_t n = 0, *out = malloc((g->names.n + 1) * sizeof *out);
    if (!out) die("out of memory for a table of groups");
    *list = out;
    if (!g->by.n) return 0; /* not asked for, or no line named the columns */
    for (uint32_t i = GROUP_FIRST; i < g->names.n; i++)
        if (records(&g->group[i])) out[n++] = i;
    if (n) qsort_r(out, n, sizeof *out, larger_first, (void *)g);
    if (records(&g->group[GROUP_LACKING])) out[n++] = GROUP_LACKING;
    if (records(&g->group[GROUP_OTHERS])) out[n++] = GROUP_OTHERS;
    return n;
}

/* All groups together; the sums are the caller's to free. */
static struct sum *total_of(const struct groups *g, struct group *total) {
    struct sum *sum = calloc(g->sums.fields.n + 1, sizeof *sum);
    if (!sum) die("out of memory for sums");
    *total = (struct group){0};
    for (uint32_t i = 0; i < g->names.n; i++) {
        for (uint8_t v = 0; v < VERDICTS; v++) total->of[v] += g->group[i].of[v];
        sums_add(&g->sums, sum, groups_sum(g, i));
    }
    return sum;
}

static void put_counts(const struct group *of, FILE *out) {
    fprintf(out, "  %14s %14s %14s  %6.2f %%", number_grouped(records(of)).text,
            number_grouped(unique(of)).text, number_grouped(duplicates(of)).text, 100 * rate(of));
}

void groups_print_text(const struct groups *g, FILE *out) {
    struct group all;
    uint32_t *list, n = sorted(g, &list);
    struct sum *total = total_of(g, &all);
    fprintf(out, "  %14s %14s %14s  %8s", "records", "unique", "duplicates", "rate");
    sums_put_names(&g->sums, total, out);
    for (uint32_t i = 0; i < g->by.n; i++) fprintf(out, "%s%s", i ? "," : "  ", g->by.name[i]);
    putc('\n', out);
    for (uint32_t i = 0; i < n; i++) {
        put_counts(&g->group[list[i]], out);
        sums_put_row(&g->sums, total, groups_sum(g, list[i]), out);
        fputs("  ", out);
        names_put_text(&g->names, list[i], ',', out);
        putc('\n', out);
    }
    if (g->sums.fields.n) {
        put_counts(&all, out);
        sums_put_row(&g->sums, total, total, out);
        fputs(g->by.n ? "  (total)\n" : "\n", out);
    }
    free(list);
    free(total);
}

static void print_json_group(const struct groups *g, uint32_t number, FILE *out) {
    const struct group *of = &g->group[number];
    fputs("{\"group\":", out);
    names_put_json(&g->names, number, out);
    if (number < GROUP_FIRST)
        fprintf(out, ",\"others\":%s", number == GROUP_OTHERS ? "true" : "false");
    fprintf(out,
            ",\"records\":%" PRIu64 ",\"unique\":%" PRIu64 ",\"duplicates\":%" PRIu64
            ",\"unparseable\":%" PRIu64 ",\"rate\":%.9g",
            records(of), unique(of), duplicates(of), of->of[UNREADABLE], rate(of));
    if (g->sums.fields.n) putc(',', out), sums_put_json(&g->sums, groups_sum(g, number), out);
    putc('}', out);
}

static void print_json_names(const struct fields *f, FILE *out) {
    if (f->n != 1) putc('[', out);
    for (uint32_t i = 0; i < f->n; i++) {
        if (i) putc(',', out);
        json_print_text(out, f->name[i]);
    }
    if (f->n != 1) putc(']', out);
}

static void print_json_groups(const struct groups *g, FILE *out) {
    uint32_t *list, n = sorted(g, &list);
    fputs("\"group_by\":", out);
    print_json_names(&g->by, out);
    fputs(",\"groups\":[", out);
    for (uint32_t i = 0; i < n; i++) {
        if (i) putc(',', out);
        print_json_group(g, list[i], out);
    }
    putc(']', out);
    free(list);
}

void groups_print_json(const struct groups *g, FILE *out) {
    struct group all;
    struct sum *total = total_of(g, &all);
    if (g->grouped) print_json_groups(g, out);
    if (g->grouped && g->summed) putc(',', out);
    if (g->summed) sums_put_json(&g->sums, total, out);
    free(total);
}

uint64_t groups_misread(const struct groups *g) {
    struct group all;
    struct sum *total = total_of(g, &all);
    uint64_t n = sums_misread(&g->sums, total);
    free(total);
    return n;
}

bool groups_lack(const struct groups *g, bool quiet) {
    struct group all;
    struct sum *total = total_of(g, &all);
    bool lack = sums_lack(&g->sums, total, g->misread, quiet);
    free(total);
    return lack;
}
