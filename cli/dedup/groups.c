/* groups.c - counts of each group, and how they are printed. */
#include "dedup/groups.h"

#include "cli.h"
#include "print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct group {
    uint64_t records, unique, duplicates, unjudged;
};

static void make_room(struct groups *g) {
    if (g->names.n <= g->room) return;
    uint32_t room = 2 * g->names.n + 16;
    g->group = realloc(g->group, room * sizeof *g->group);
    if (!g->group) die("out of memory for groups; give less --max-groups");
    memset(g->group + g->room, 0, (room - g->room) * sizeof *g->group);
    g->room = room;
}

void groups_init(struct groups *g, struct layout *layout, const char *list,
                 const struct header *header, uint32_t most) {
    *g = (struct groups){0};
    columns_fields(layout, "--group-by", list, header, &g->by);
    names_init(&g->names, g->by.n, most);
    make_room(g);
}

void groups_free(struct groups *g) {
    names_free(&g->names);
    columns_free_fields(&g->by);
    free(g->group);
    *g = (struct groups){0};
}

uint32_t groups_find(struct groups *g, const struct slice *field) {
    uint32_t number = names_find(&g->names, &g->by, field);
    make_room(g);
    return number;
}

void groups_count(struct groups *g, uint32_t group, uint8_t verdict) {
    struct group *of = &g->group[group];
    of->records++;
    of->unjudged += verdict == UNREADABLE;
    of->unique += verdict == SEEN_NEW;
    of->duplicates += verdict == SEEN_DUPLICATE || verdict == SEEN_CONFIRMED;
}

/* -- printing ----------------------------------------------------------------------------- */

static int larger_first(const void *a, const void *b, void *ctx) {
    const struct groups *g = ctx;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const struct group *x = &g->group[i], *y = &g->group[j];
    if (x->records != y->records) return x->records < y->records ? 1 : -1;
    return names_order(&g->names, i, j);
}

/* The numbers of groups that have records: those with values sorted, then no such field and the
 * others.  Returns how many. */
static uint32_t sorted(const struct groups *g, uint32_t **list) {
    uint32_t n = 0, *out = malloc((g->names.n + 1) * sizeof *out);
    if (!out) die("out of memory for a table of groups");
    *list = out;
    if (!g->room) return 0; /* no record came, nor the names of columns */
    for (uint32_t i = GROUP_FIRST; i < g->names.n; i++)
        if (g->group[i].records) out[n++] = i;
    if (n) qsort_r(out, n, sizeof *out, larger_first, (void *)g);
    if (g->group[GROUP_LACKING].records) out[n++] = GROUP_LACKING;
    if (g->group[GROUP_OTHERS].records) out[n++] = GROUP_OTHERS;
    return n;
}

static double rate(const struct group *g) {
    uint64_t judged = g->unique + g->duplicates;
    return judged ? (double)g->duplicates / (double)judged : 0;
}

void groups_print_text(const struct groups *g, FILE *out) {
    uint32_t *list, n = sorted(g, &list);
    fprintf(out, "  %14s %14s %14s   %6s  ", "records", "unique", "duplicates", "rate");
    for (uint32_t i = 0; i < g->by.n; i++) fprintf(out, "%s%s", i ? "," : "", g->by.name[i]);
    putc('\n', out);
    for (uint32_t i = 0; i < n; i++) {
        const struct group *of = &g->group[list[i]];
        fprintf(out, "  %14s %14s %14s   %4.2f %%  ", number_grouped(of->records).text,
                number_grouped(of->unique).text, number_grouped(of->duplicates).text,
                100 * rate(of));
        names_put_text(&g->names, list[i], ',', out);
        putc('\n', out);
    }
    free(list);
}

static void print_json_group(const struct groups *g, uint32_t number, FILE *out) {
    const struct group *of = &g->group[number];
    fputs("{\"group\":", out);
    names_put_json(&g->names, number, out);
    if (number < GROUP_FIRST)
        fprintf(out, ",\"others\":%s", number == GROUP_OTHERS ? "true" : "false");
    fprintf(out,
            ",\"records\":%" PRIu64 ",\"unique\":%" PRIu64 ",\"duplicates\":%" PRIu64
            ",\"unparseable\":%" PRIu64 ",\"rate\":%.9g}",
            of->records, of->unique, of->duplicates, of->unjudged, rate(of));
}

static void print_json_names(const struct fields *f, FILE *out) {
    if (f->n != 1) putc('[', out);
    for (uint32_t i = 0; i < f->n; i++) {
        if (i) putc(',', out);
        print_json_string(out, f->name[i]);
    }
    if (f->n != 1) putc(']', out);
}

void groups_print_json(const struct groups *g, FILE *out) {
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
