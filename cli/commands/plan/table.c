/* table.c - prints plans as a table or as JSON, and the lower bounds for any structure. */
#include "commands/plan/plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double read_universe(const char *text) {
    char *end;
    if (text[0] == '2' && text[1] == '^') {
        double bits = strtod(text + 2, &end);
        if (!*end && end > text + 2 && bits >= 0 && bits <= 512) return exp2(bits);
        die("--universe %s: give 2^0 to 2^512, or a number of keys", text);
    }
    uint64_t n = option_count("--universe", text);
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

void bounds_print(const struct bounds *b, const struct seen_plan *plans, int n) {
    static table_row table[MAX_PLANS + 1] = {
        {"filter", "window", "keys", "bits/key", "set", "dynamic", "sliding", "ordered", "times"}};
    struct seen_bounds each;
    if (!b->shown) return;
    for (int i = 0; i < n; i++) {
        seen_plan_bounds(&plans[i], b->universe, &each);
        const double values[] = {each.bits,    each.set,     each.dynamic,
                                 each.sliding, each.ordered, each.ratio};
        char(*row)[CELL] = table[i + 1];
        snprintf(row[0], CELL, "%s", plans[i].filter);
        snprintf(row[1], CELL, "%s", plans[i].window);
        snprintf(row[2], CELL, each.keys < 1 ? "any" : "%.0f", each.keys);
        for (int c = 0; c < 6; c++)
            snprintf(row[3 + c], CELL, isnan(values[c]) ? "-" : "%.3g", values[c]);
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

void bounds_json(const struct bounds *b, const struct seen_plan *p, struct json *j) {
    struct seen_bounds each;
    if (!b->shown) return;
    seen_plan_bounds(p, b->universe, &each);
    json_open(j, "bounds", '{');
    json_real(j, "keys", each.keys < 1 ? NAN : each.keys);
    json_put(j, "universe", isnan(each.universe) ? "null" : "%.9g", each.universe);
    json_real(j, "bits", each.bits);
    json_real(j, "set", each.set);
    json_real(j, "dynamic", each.dynamic);
    json_real(j, "sliding", each.sliding);
    json_real(j, "ordered", each.ordered);
    json_real(j, "times", each.ratio);
    json_close(j, '}');
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

void rows_json_begin(struct json *j, const struct seen_spec *asked) {
    char text[MAX_SPEC];
    seen_spec_print(asked, text, sizeof text);
    *j = (struct json){.out = stdout, .spaced = true};
    json_open(j, NULL, '{');
    json_line(j, 2);
    json_text(j, "asked", text);
}

void rows_json_end(struct json *j) { fputs("\n  ]\n}\n", j->out); }

void rows_json_plan(struct json *j, const struct seen_plan *p) {
    char spec[MAX_SPEC];
    seen_spec_print(&p->spec, spec, sizeof spec);
    json_line(j, 4);
    json_open(j, NULL, '{');
    json_text(j, "filter", p->filter);
    json_text(j, "window", p->window);
    json_text(j, "spec", spec);
    json_count(j, "bytes", p->bytes);
    json_bool(j, "grows", p->traits & SEEN_GROWS);
    json_put(j, "capacity", p->capacity ? "%" PRIu64 : "null", p->capacity);
    json_real(j, "fp_full", p->fp_full);
    json_real(j, "fp_mean", p->fp_mean);
    json_real(j, "fn", p->fn);
    json_real(j, "slack", p->slack);
    json_real(j, "lines", p->touches);
}

void rows_json_plan_end(struct json *j, const struct seen_plan *p, bool chosen) {
    if (chosen) json_text(j, "reason", p->reason);
    json_bool(j, "chosen", chosen);
    json_close(j, '}');
}
