/* table.c - rows of `seen plan`: plans beside each other, and the lower bounds of any structure. */
#include "commands/plan/table.h"

#include "base/cli.h"
#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double read_universe(const char *text) {
    struct seen_error e;
    uint64_t n = 0;
    char *end;
    if (text[0] == '2' && text[1] == '^') {
        double bits = strtod(text + 2, &end);
        if (!*end && end > text + 2 && bits >= 0 && bits <= 512) return exp2(bits);
        die("--universe %s: give 2^0 to 2^512, or a number of keys", text);
    }
    if (seen_parse_count(text, &n, &e)) die("--universe %s: %s", text, e.text);
    if (!n) die("--universe 0: there has to be a key; give 1 or more");
    return (double)n;
}

enum { BOUNDS = 1, UNIVERSE };

const struct option_row bounds_rows[] = {
    {"bounds", 0, NULL, "bits a key of each plan, beside lower bounds for any structure", BOUNDS},
    {"universe", 0, "N", "with --bounds: different keys there can be, as 1e9 or 2^32", UNIVERSE},
    {0},
};

void bounds_take(void *bounds, const struct option_row *row, const char *value) {
    struct bounds *b = bounds;
    if (row->id == BOUNDS) b->shown = true;
    if (row->id == UNIVERSE) b->universe = read_universe(value);
}

void bounds_check(const struct bounds *b) {
    if (b->universe > 0 && !b->shown) die("--universe serves --bounds; give both");
}

/* -- the table ---------------------------------------------------------------------------- */

static void fill(char *cell, double value) {
    if (isnan(value))
        strcpy(cell, "-");
    else
        snprintf(cell, CELL, "%.3g", value);
}

static void fill_row(table_row row, const struct seen_plan *p, const struct seen_bounds *b) {
    const double values[] = {b->bits, b->set, b->dynamic, b->sliding, b->ordered, b->ratio};
    snprintf(row[0], CELL, "%s", p->filter);
    snprintf(row[1], CELL, "%s", p->window);
    snprintf(row[2], CELL, "%.0f", b->keys);
    if (b->keys < 1) strcpy(row[2], "any");
    for (int i = 0; i < 6; i++) fill(row[3 + i], values[i]);
}

void bounds_print(const struct bounds *b, const struct seen_plan *plans, int n) {
    static table_row table[MAX_PLANS + 1] = {
        {"filter", "window", "keys", "bits/key", "set", "dynamic", "sliding", "ordered", "times"}};
    struct seen_bounds each;
    if (!b->shown) return;
    for (int i = 0; i < n; i++) {
        seen_plan_bounds(&plans[i], b->universe, &each);
        fill_row(table[i + 1], &plans[i], &each);
    }
    putchar('\n');
    rows_print((const table_row *)table, n + 1);
    puts(
        "\nbits/key: memory over keys; then lower bounds in bits a key, with L = log2(1/fp full):\n"
        "set: L, or an exact set out of all keys there can be (--universe)\n"
        "dynamic: L + log2 e, keys come and go in any order (Kuszmaul, Walzer 2024)\n"
        "sliding: L + max(log2(n/m), log2 L) less O(1), n keys kept for up to m more (Naor, Yogev "
        "2013)\n"
        "ordered: (n - fp U) log2(n - fp U) / n, U keys there can be (INFOCOM 2013, Theorem 3)\n"
        "times: bits/key over the greatest of set, sliding and ordered; -: says nothing here");
}

/* -- JSON --------------------------------------------------------------------------------- */

static int put(char *at, size_t cap, const char *name, double value) {
    if (isnan(value)) return snprintf(at, cap, "\"%s\": null, ", name);
    return snprintf(at, cap, "\"%s\": %.9g, ", name, value);
}

const char *bounds_json(const struct bounds *b, const struct seen_plan *p) {
    static char text[512];
    struct seen_bounds each;
    int n = 0, cap = sizeof text;
    if (!b->shown) return "";
    seen_plan_bounds(p, b->universe, &each);
    const struct {
        const char *name;
        double value;
    } members[] = {
        {"keys", each.keys < 1 ? NAN : each.keys},
        {"universe", each.universe},
        {"bits", each.bits},
        {"set", each.set},
        {"dynamic", each.dynamic},
        {"sliding", each.sliding},
        {"ordered", each.ordered},
        {"times", each.ratio},
    };
    n += snprintf(text, sizeof text, "\"bounds\": {");
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        n += put(text + n, (size_t)(cap - n), members[i].name, members[i].value);
    snprintf(text + n - 2, (size_t)cap - (size_t)n + 2, "}, ");
    return text;
}

void rows_memory(const struct seen_plan *p, char cell[CELL]) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
    int i = 0;
    double value = (double)p->bytes;
    if (seen_print_size(p->bytes, cell, CELL) > 6) {
        for (; value >= 1000 && i < 3; i++) value /= 1024;
        snprintf(cell, CELL, value < 1000 ? "%.3g%s" : "%.0f%s", value, units[i]);
    }
    if (p->traits & SEEN_GROWS) strncat(cell, "+", CELL - strlen(cell) - 1);
}

void rows_print(const table_row *table, int n) {
    int width[COLUMNS] = {0};
    for (int i = 0; i < n; i++)
        for (int c = 0; c < COLUMNS; c++)
            if ((int)strlen(table[i][c]) > width[c]) width[c] = (int)strlen(table[i][c]);
    for (int i = 0; i < n; i++) {
        putchar(i == 1 ? '*' : ' ');
        printf(" %-*s  %-*s", width[0], table[i][0], width[1], table[i][1]);
        for (int c = 2; c < COLUMNS; c++) printf("  %*s", width[c], table[i][c]);
        putchar('\n');
    }
}

void rows_json_text(const char *name, const char *text) {
    printf("\"%s\": ", name);
    json_print_text(stdout, text);
}

void rows_json_plan(const struct seen_plan *p, const char *more, bool chosen) {
    char spec[MAX_SPEC];
    seen_spec_print(&p->spec, spec, sizeof spec);
    printf("    {");
    rows_json_text("filter", p->filter), printf(", ");
    rows_json_text("window", p->window), printf(", ");
    rows_json_text("spec", spec), printf(", ");
    printf("\"bytes\": %" PRIu64 ", \"grows\": %s, \"capacity\": ", p->bytes,
           p->traits & SEEN_GROWS ? "true" : "false");
    if (p->capacity)
        printf("%" PRIu64, p->capacity);
    else
        printf("null");
    printf(
        ", \"fp_full\": %.9g, \"fp_mean\": %.9g, \"fn\": %.9g, \"slack\": %.9g, \"lines\": %.9g, ",
        p->fp_full, p->fp_mean, p->fn, p->slack, p->touches);
    printf("%s", more);
    if (chosen) rows_json_text("reason", p->reason), printf(", ");
    printf("\"chosen\": %s}", chosen ? "true" : "false");
}
