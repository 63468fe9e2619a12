/* rows.c - chooses the rows of `seen top`, prints them, and warns of what is missing in them. */
#include "commands/top/top.h"

#include "group/group.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *unit(const struct listing *l) { return l->distinct ? "partners" : "records"; }

/* Prints the heading of the table, once. */
static void listing_heading(struct listing *l) {
    if (!l->json && !l->headed) printf("from\tkey\t%s\terror\twindows\n", unit(l));
    l->headed = true;
}

/* Prints the row of a key in a window.  `windows` is the number of windows in which it was among
 * the most frequent keys. */
static void listing_row(const struct listing *l, const char *from, const struct name *name,
                        const struct seen_heavy *h, uint64_t windows) {
    if (!l->json) {
        printf("%s\t", from);
        name_print_text(name, l->delimiter, stdout);
        printf("\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", h->count, h->error, windows);
        return;
    }
    printf("{\"from\": ");
    json_print(from, strlen(from), stdout);
    printf(", \"key\": ");
    values_print_json(name->bytes, name->values, stdout);
    printf(", \"%s\": %" PRIu64 ", \"error\": %" PRIu64 ", \"windows\": %" PRIu64 "}\n", unit(l),
           h->count, h->error, windows);
}

/* Prints the n keys that were in the rows of most windows.  `list` has room for all keys. */
static void listing_persistent(const struct listing *l, const struct ranking *windows,
                               struct seen_heavy *list, uint64_t number) {
    size_t n = seen_top_list(windows->top, list);
    for (size_t i = 0; i < n && i < number; i++) {
        const struct name *name = windows->name[list[i].counter];
        uint64_t surely = list[i].count - list[i].error;
        if (!l->json) {
            printf("all\t");
            name_print_text(name, l->delimiter, stdout);
            printf("\t-\t-\t%" PRIu64 "\n", surely);
            continue;
        }
        printf("{\"from\": \"all\", \"key\": ");
        values_print_json(name->bytes, name->values, stdout);
        printf(", \"windows\": %" PRIu64 "}\n", surely);
    }
}

/* Notes that a window ends.  At most `twice` of its pairs were counted twice. */
static void shortfall_note(struct shortfall *s, const struct missing *m, uint64_t twice) {
    bool sure;
    double missed = missing_all(m, &sure);
    double pairs = (double)m->counted + missed;
    s->twice += twice;
    s->missed += missed;
    s->missed_most |= !sure;
    if (pairs > s->most_pairs) s->most_pairs = pairs;
}

/* Warns if the detector of pairs was too small for a window. */
static void tell_pairs(const struct shortfall *s, const struct seen_plan *pairs) {
    char items[32], spec[64];
    struct seen_spec enough;
    struct seen_plan plan;
    struct seen_error e;
    if (s->missed < 0.5 && !s->twice) return;
    double enough_pairs = 1.1 * s->most_pairs; /* written with two digits: 3.3e6 */
    int power = enough_pairs >= 1 ? (int)floor(log10(enough_pairs)) : 0;
    snprintf(items, sizeof items, "%.1fe%d", ceil(enough_pairs / pow(10, power - 1)) / 10, power);
    snprintf(spec, sizeof spec, "landmark items=%s", items);
    if (seen_spec_parse(&enough, spec, &e) || seen_plan_make(&plan, &enough, &e)) return;
    struct number memory = number_size(plan.bytes);
    if (s->missed >= 0.5)
        warn("%s %.0f pairs are missing from the counts, because the table of pairs was planned "
             "for %ju in a window; the errors include them; items=%s and no mem= would hold all, "
             "in %s",
             s->missed_most ? "up to" : "about", s->missed, (uintmax_t)pairs->capacity, items,
             memory.text);
    if (s->twice)
        warn("up to %ju pairs were counted twice, because memory for pairs was short; the errors "
             "include them; items=%s and no mem= or filter= would hold all, in %s",
             (uintmax_t)s->twice, items, memory.text);
}

void shortfall_tell(const struct shortfall *s, const struct seen_plan *pairs, uint64_t keep) {
    if (s->left_out)
        warn("%ju row%s left out, whose error is as large as the count; more counters (--keep, now "
             "%ju) have smaller errors",
             (uintmax_t)s->left_out, s->left_out == 1 ? " is" : "s are", (uintmax_t)keep);
    tell_pairs(s, pairs);
}

/* The keys of a window that are printed.
 *
 * A jumping window is the union of sub-windows, each with its own counters.  A key's count is the
 * sum of the bounds that the sub-windows give: the key's counter, or the least counter if the key
 * has none and all are taken.  So the error is at most N/k of the whole window, as with one set of
 * counters, and each key that came more than N/k times has a counter in some sub-window. */

struct row {
    struct seen_heavy h;
    const struct name *name;
    size_t part; /* the first part that has a counter for the key */
};

void shown_init(struct shown *r) {
    ranking_init(&r->windows, r->keep);
    r->list = calloc(r->keep, sizeof *r->list);
    if (!r->list) die("out of memory for %" PRIu64 " counters", r->keep);
}

void shown_free(struct shown *r) {
    ranking_free(&r->windows);
    free(r->list);
}

/* -- all keys that have a counter --------------------------------------------------------- */

static int by_key(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    if (x->h.key.lo != y->h.key.lo) return x->h.key.lo < y->h.key.lo ? -1 : 1;
    if (x->h.key.hi != y->h.key.hi) return x->h.key.hi < y->h.key.hi ? -1 : 1;
    return (x->part > y->part) - (x->part < y->part);
}

static int by_count(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    if (x->h.count != y->h.count) return x->h.count < y->h.count ? 1 : -1;
    if (x->h.error != y->h.error) return x->h.error > y->h.error ? 1 : -1;
    if (x->part != y->part) return x->part > y->part ? 1 : -1;
    return (x->h.counter > y->h.counter) - (x->h.counter < y->h.counter);
}

/* Joins m rows in the order of by_key: one row for each key, with the sums of all parts. */
static size_t join(struct counted *const *parts, size_t n, struct row *row, size_t m) {
    size_t out = 0;
    for (size_t i = 0, j; i < m; i = j) {
        struct row joined = row[i];
        uint64_t surely = 0, most = 0;
        for (j = i; j < m && !memcmp(&row[j].h.key, &row[i].h.key, sizeof row[i].h.key); j++)
            surely += row[j].h.count - row[j].h.error;
        for (size_t p = 0; p < n; p++) most += seen_top_bound(parts[p]->keys.top, joined.h.key);
        joined.h.count = most;
        joined.h.error = most - surely;
        row[out++] = joined;
    }
    return out;
}

/* The rows of all keys, the most frequent first.  The caller frees them. */
static struct row *all_rows(struct shown *r, struct counted *const *parts, size_t n, size_t *m) {
    size_t room = 1;
    for (size_t p = 0; p < n; p++) room += parts[p]->keys.used;
    struct row *row = malloc(room * sizeof *row);
    if (!row) die("out of memory for %zu keys", room);
    *m = 0;
    for (size_t p = 0; p < n; p++) {
        const struct ranking *keys = &parts[p]->keys;
        size_t listed = seen_top_list(keys->top, r->list);
        for (size_t i = 0; i < listed; i++)
            row[(*m)++] = (struct row){r->list[i], keys->name[r->list[i].counter], p};
    }
    if (n < 2) return row;
    qsort(row, *m, sizeof *row, by_key);
    *m = join(parts, n, row, *m);
    qsort(row, *m, sizeof *row, by_count);
    return row;
}

/* -- the rows of a window ------------------------------------------------------------------- */

/* Moves the rows of keys that surely came often enough to the front, and returns their number. */
static size_t choose(struct shown *r, struct row *row, size_t n, uint64_t twice) {
    size_t m = 0, out = 0;
    for (size_t i = 0; i < n && m < r->number; i++) {
        const struct seen_heavy *h = &row[i].h;
        if (h->count < h->error + twice || h->count - h->error - twice < r->least) continue;
        /* Some keys have only the record with which they took their counter over. */
        bool says_nothing = h->error > 0 && h->count - h->error <= 1;
        if (!says_nothing)
            row[m++] = row[i];
        else if (m + out < r->number)
            out++;
    }
    r->short_of.left_out += out;
    return m;
}

/* Counts a window for each of m keys.  in[i] becomes the number of windows that surely had key
 * i. */
static void persist(struct shown *r, const struct row *row, size_t m, uint64_t *in) {
    struct ranking *w = &r->windows;
    uint64_t *surely = calloc(r->keep, sizeof *surely);
    if (!surely) die("out of memory for %" PRIu64 " counters", r->keep);
    for (size_t i = 0; i < m; i++) {
        bool taken;
        size_t c = ranking_add(w, row[i].h.key, &taken);
        if (taken) ranking_name(w, c, row[i].name);
        in[i] = c;
    }
    size_t n = seen_top_list(w->top, r->list);
    for (size_t i = 0; i < n; i++) surely[r->list[i].counter] = r->list[i].count - r->list[i].error;
    for (size_t i = 0; i < m; i++) in[i] = surely[in[i]];
    free(surely);
}

void shown_put(struct shown *r, const char *from, struct counted *const *parts, size_t n) {
    const struct counted *pairs = parts[0]->pairs ? parts[0] : NULL;
    uint64_t twice = pairs ? missing_twice(&pairs->missing, pairs->pairs) : 0;
    size_t m;
    struct row *row = all_rows(r, parts, n, &m);
    m = choose(r, row, m, twice);
    uint64_t *in = calloc(m + 1, sizeof *in);
    if (!in) die("out of memory for %zu keys", m);
    /* The errors include partners that are missing in the counts. */
    if (pairs) {
        shortfall_note(&r->short_of, &pairs->missing, twice);
        for (size_t i = 0; i < m; i++)
            row[i].h.error += twice + missing_most(&pairs->missing, row[i].h.key, row[i].h.counter);
    }
    listing_heading(&r->listing);
    persist(r, row, m, in);
    for (size_t i = 0; i < m; i++) listing_row(&r->listing, from, row[i].name, &row[i].h, in[i]);
    free(row);
    free(in);
    r->ended++;
}

void shown_end(struct shown *r) {
    listing_heading(&r->listing);
    if (r->ended > 1) listing_persistent(&r->listing, &r->windows, r->list, r->number);
}
