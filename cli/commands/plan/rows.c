#include "commands/plan/rows.h"
#include "base/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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
    char spec[SPEC_MOST];
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
