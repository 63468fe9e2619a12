/* options.c - puts the options of a subcommand into one table, lists what their values can be, and
 * finds the nearest of some names. */
#include "base/cli.h"

#include "seen.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* -- tables -------------------------------------------------------------------------------- */

enum { MAX_ROWS = 192 };

const struct option_row help_rows[] = {
    {"Help and messages", 0, NULL, NULL, 0},
    {"help", 'h', "[=all]", "a short help; all: every option", OPTION_HELP},
    {"log", 0, "text|json", "messages as sentences, or as a JSON object a line", OPTION_LOG},
    {"version", 'V', NULL, "the version", OPTION_VERSION},
    {0},
};

static struct option_row table[MAX_ROWS + 1];
static const struct option_group *group_of[MAX_ROWS];

const struct option_row *command_rows(const struct command *c) {
    static const struct command *listed;
    size_t n = 0, same;
    if (c == listed) return table;
    for (const struct option_group *g = c->groups; g->rows; g++) {
        for (const struct option_row *row = g->rows; row->name && n < MAX_ROWS; row++) {
            for (same = 0; same < n && strcmp(table[same].name, row->name) != 0;) same++;
            if (same < n && row->id) continue;
            group_of[n] = g;
            table[n++] = *row;
        }
    }
    table[n] = (struct option_row){0};
    listed = c;
    return table;
}

const struct option_group *command_group(const struct option_row *row) {
    return group_of[row - table];
}

/* -- values -------------------------------------------------------------------------------- */

void value_append(char *buf, size_t cap, const char *format, ...) {
    va_list args;
    size_t used = strlen(buf);
    va_start(args, format);
    vsnprintf(buf + used, cap - used, format, args);
    va_end(args);
}

/* "a|b|c" as "a b c"; what is written in capitals is a placeholder and no word. */
static enum value_kind choices(struct option_value *v, const char *arg) {
    value_append(v->words, sizeof v->words, "%.*s", (int)strcspn(arg, "]"), arg);
    for (char *p = v->words; *p; p++) {
        if (*p >= 'A' && *p <= 'Z') return v->words[0] = '\0', VALUE_ANY;
        if (*p == '|') *p = ' ';
    }
    return v->optional || strchr(v->words, ' ') ? VALUE_CHOICES : VALUE_ANY;
}

static void filters(struct option_value *v) {
    const char *name;
    for (size_t i = 0; (name = seen_filter_name(i)); i++)
        value_append(v->words, sizeof v->words, "%s%s", i ? " " : "", name);
}

struct option_value option_value_of(const struct option_row *row) {
    static const struct {
        const char *arg;
        enum value_kind kind;
    } known[] = {{"FILE", VALUE_FILE},
                 {"SPEC", VALUE_SPEC},
                 {"ZONE", VALUE_ZONE},
                 {"FILTER", VALUE_CHOICES}};
    struct option_value v = {.kind = VALUE_NONE};
    if (!row->arg) return v;
    v.optional = row->arg[0] == '[';
    const char *arg = row->arg + 2 * v.optional; /* behind [= */
    size_t n = strcspn(arg, "]");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i].arg) == n && !strncmp(known[i].arg, arg, n)) v.kind = known[i].kind;
    if (v.kind == VALUE_CHOICES) filters(&v);
    if (v.kind == VALUE_NONE) v.kind = choices(&v, arg);
    return v;
}

bool option_is_json(const char *value) { return value && !strcmp(value, "json"); }

/* -- suggestions -------------------------------------------------------------------------- */

const char *nearest_name(const char *word, const char *(*next)(void *ctx), void *ctx) {
    const char *best = NULL, *name;
    size_t least = SIZE_MAX;
    while ((name = next(ctx))) {
        size_t d = seen_slip(word, strlen(word), name);
        if (d < least) best = name, least = d;
    }
    return best;
}
