#include "dedup/groups.h"

#include "cli.h"
#include "print.h"
#include "write/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define uthash_fatal(what) die("out of memory for groups; give less --max-groups")
#include <uthash.h>

enum { OTHERS, NAMELESS, FIRST };

struct group {
    uint64_t records, unique, duplicates, unjudged;
    UT_hash_handle hh;
    uint32_t number, len;
    char name[];
};

static struct group *add(struct groups *g, const char *name, uint32_t len) {
    struct group *new = calloc(1, sizeof *new + len);
    if (g->n == g->room) {
        g->room = 2 * g->room + 16;
        g->list = realloc(g->list, g->room * sizeof(struct group *));
    }
    if (!new || !g->list) die("out of memory for groups; give less --max-groups");
    new->number = g->n;
    new->len = len;
    memcpy(new->name, name, len);
    return g->list[g->n++] = new;
}

void groups_init(struct groups *g, uint32_t most) {
    *g = (struct groups){.most = most};
    add(g, "", 0);
    add(g, "", 0);
}

void groups_free(struct groups *g) {
    HASH_CLEAR(hh, g->by_name);
    for (uint32_t i = 0; i < g->n; i++) free(g->list[i]);
    free(g->list);
    free(g->scratch);
    *g = (struct groups){0};
}

static const char *value_of(struct groups *g, const struct slice *f, size_t *len) {
    if (!f->escaped) return *len = f->len, f->at;
    if (g->cap < f->len) {
        g->cap = 2 * (size_t)f->len;
        free(g->scratch);
        g->scratch = malloc(g->cap);
        if (!g->scratch) die("out of memory for a value of %u bytes", f->len);
    }
    *len = slice_value(f, g->scratch);
    return g->scratch;
}

uint32_t groups_find(struct groups *g, const struct slice *f) {
    struct group *found;
    size_t len;
    if (!f->at) return NAMELESS;
    const char *name = value_of(g, f, &len);
    if (len > GROUPS_NAME) len = GROUPS_NAME;
    HASH_FIND(hh, g->by_name, name, len, found);
    if (found) return found->number;
    if (g->n - FIRST >= g->most) return OTHERS;
    found = add(g, name, (uint32_t)len);
    HASH_ADD_KEYPTR(hh, g->by_name, found->name, len, found);
    return found->number;
}

void groups_count(struct groups *g, uint32_t group, uint8_t verdict) {
    struct group *of = g->list[group];
    of->records++;
    of->unjudged += verdict == UNREADABLE;
    of->unique += verdict == SEEN_NEW;
    of->duplicates += verdict == SEEN_DUPLICATE || verdict == SEEN_CONFIRMED;
}

/* -- printing ----------------------------------------------------------------------------- */

static int larger_first(const void *a, const void *b) {
    const struct group *x = *(struct group *const *)a, *y = *(struct group *const *)b;
    if (x->records != y->records) return x->records < y->records ? 1 : -1;
    int order = memcmp(x->name, y->name, x->len < y->len ? x->len : y->len);
    return order ? order : (x->len > y->len) - (x->len < y->len);
}

/* Those with names sorted, then no such field and the others. */
static struct group **sorted(const struct groups *g) {
    struct group **list = malloc(g->n * sizeof(struct group *));
    if (!list) die("out of memory for a table of groups");
    memcpy(list, g->list + FIRST, (g->n - FIRST) * sizeof(struct group *));
    qsort(list, g->n - FIRST, sizeof(struct group *), larger_first);
    list[g->n - FIRST] = g->list[NAMELESS];
    list[g->n - FIRST + 1] = g->list[OTHERS];
    return list;
}

static double rate(const struct group *g) {
    uint64_t judged = g->unique + g->duplicates;
    return judged ? (double)g->duplicates / (double)judged : 0;
}

static void print_name(const struct group *g, FILE *out) {
    if (g->number < FIRST) fputs(g->number == OTHERS ? "(all others)" : "(no such field)", out);
    for (uint32_t i = 0; i < g->len; i++) /* no control characters on a terminal */
        putc((unsigned char)g->name[i] < 0x20 || g->name[i] == 0x7f ? '?' : g->name[i], out);
}

void groups_print_text(const struct groups *g, const char *field, FILE *out) {
    struct group **list = sorted(g);
    fprintf(out, "  %14s %14s %14s   %6s  %s\n", "records", "unique", "duplicates", "rate", field);
    for (uint32_t i = 0; i < g->n; i++) {
        const struct group *of = list[i];
        if (of->number < FIRST && !of->records) continue;
        fprintf(out, "  %14s %14s %14s   %4.2f %%  ", number_grouped(of->records).text,
                number_grouped(of->unique).text, number_grouped(of->duplicates).text,
                100 * rate(of));
        print_name(of, out);
        putc('\n', out);
    }
    free(list);
}

void groups_print_json(const struct groups *g, const char *field, FILE *out) {
    struct group **list = sorted(g);
    bool any = false;
    fputs("\"group_by\":", out);
    print_json_string(out, field);
    fputs(",\"groups\":[", out);
    for (uint32_t i = 0; i < g->n; i++) {
        const struct group *of = list[i];
        if (of->number < FIRST && !of->records) continue;
        fputs(any ? ",{\"group\":" : "{\"group\":", out);
        any = true;
        if (of->number < FIRST)
            fprintf(out, "null,\"others\":%s", of->number == OTHERS ? "true" : "false");
        else
            json_print(of->name, of->len, out);
        fprintf(out,
                ",\"records\":%" PRIu64 ",\"unique\":%" PRIu64 ",\"duplicates\":%" PRIu64
                ",\"unparseable\":%" PRIu64 ",\"rate\":%.9g}",
                of->records, of->unique, of->duplicates, of->unjudged, rate(of));
    }
    putc(']', out);
    free(list);
}
