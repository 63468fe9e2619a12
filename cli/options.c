/* options.c - a subcommand's options, one row each: reading them, suggesting the nearest.
 * getopt_long does the reading; this gives it the rows and says in one sentence what is wrong. */
#include "base/cli.h"
#include "help/help.h"
#include "seen.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 192, MAX_WORD = 32 };

static bool optional(const struct option_row *row) { return row->arg && row->arg[0] == '['; }

static bool heading(const struct option_row *row) { return row->id == 0; }

/* -- values -------------------------------------------------------------------------------- */

/* The next of words with blanks between. */
static const char *next_word(void *ctx) {
    char **rest = ctx, *word;
    while ((word = strsep(rest, " ")) && !*word) continue;
    return word;
}

/* "a", "a or b", "a, b or c". */
static void list_words(const char *words, char *list, size_t cap) {
    size_t at = 0;
    *list = '\0';
    for (const char *p = words; *p && at < cap;) {
        size_t n = strcspn(p, " ");
        bool last = !p[n];
        at += (size_t)snprintf(list + at, cap - at, "%s%.*s",
                               !at    ? ""
                               : last ? " or "
                                      : ", ",
                               (int)n, p);
        p += n + !last;
    }
}

/* A value that is one of a few words has to be one of them. */
static void check_choice(const struct option_row *row, const char *value) {
    struct option_value v = option_value_of(row);
    char words[sizeof v.words], list[2 * sizeof v.words], *rest = words;
    if (!value || v.kind != VALUE_CHOICES) return;
    for (const char *w = v.words; *w; w += strcspn(w, " "), w += *w == ' ')
        if (strcspn(w, " ") == strlen(value) && !strncmp(w, value, strlen(value))) return;
    strcpy(words, v.words);
    const char *near = nearest_name(value, next_word, &rest);
    list_words(v.words, list, sizeof list);
    if (near) die("--%s takes %s, not '%s'; did you mean %s?", row->name, list, value, near);
    die("--%s takes %s, not '%s', as in --%s%c%.*s", row->name, list, value, row->name,
        v.optional ? '=' : ' ', (int)strcspn(v.words, " "), v.words);
}

/* -- suggestions -------------------------------------------------------------------------- */

static const char *next_option(void *ctx) {
    const struct option_row **at = ctx;
    while ((*at)->name && heading(*at)) (*at)++;
    return (*at)->name ? (*at)++->name : NULL;
}

_Noreturn static void refuse_unknown(const struct args *a, const char *word) {
    if (optopt && strncmp(word, "--", 2) != 0)
        die("unknown option -%c; seen %s --help lists them", optopt, a->command->name);
    char name[MAX_WORD + 1];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    const struct option_row *at = a->command->rows();
    const char *near = nearest_name(name, next_option, &at);
    if (near) die("unknown option --%s; did you mean --%s?", name, near);
    die("unknown option --%s; seen %s --help lists them", name, a->command->name);
}

/* -- reading ------------------------------------------------------------------------------ */

/* The name that an option of the engine had before; NULL: none. */
static const char *old_name(const struct option_row *row) {
    const struct seen_option *o = seen_option_find(row->name);
    return o && !strcmp(o->name, row->name) ? o->old_name : NULL;
}

/* getopt's two tables out of ours, made once: a process runs one subcommand. */
static struct option long_rows[MAX_ROWS];
static char short_rows[3 * MAX_ROWS + 2];

static void prepare(const struct option_row *rows) {
    size_t n = 0;
    char *s = short_rows;
    *s++ = ':'; /* tell a missing value from an unknown option */
    for (const struct option_row *row = rows; row->name && n < MAX_ROWS - 2; row++) {
        if (heading(row)) continue;
        int takes = !row->arg ? no_argument : optional(row) ? optional_argument : required_argument;
        long_rows[n++] = (struct option){row->name, takes, NULL, row->id};
        if (old_name(row)) long_rows[n++] = (struct option){old_name(row), takes, NULL, row->id};
        if (!row->letter) continue;
        *s++ = (char)row->letter;
        if (takes == required_argument) *s++ = ':';
    }
    opterr = 0;
    optind = 1;
}

static const struct option_row *row_of(const struct option_row *rows, int got, bool by_letter) {
    for (const struct option_row *row = rows; row->name; row++)
        if (by_letter ? row->letter == got : !heading(row) && row->id == got) return row;
    return NULL;
}

/* What every subcommand answers alike. */
static void answer(const struct args *a, int id) {
    if (id == OPTION_HELP) help_command_print(a->command, a->value);
    if (id == OPTION_VERSION) puts("seen " SEEN_VERSION);
    if (id == OPTION_LOG) message_set_json(option_is_json(a->value));
    if (id != OPTION_HELP && id != OPTION_VERSION) return;
    finish_output();
    exit(EXIT_FINE);
}

int args_next(struct args *a) {
    const struct option_row *rows = a->command->rows();
    if (!short_rows[0]) prepare(rows);
    int index = -1;
    int got = getopt_long(a->argc, a->argv, short_rows, long_rows, &index);
    const char *word = a->argv[optind - 1]; /* where a long option that was refused stands */
    a->value = optarg;
    a->at = optind;
    if (got == -1) return 0;
    if (got == '?' && index < 0) {
        const struct option_row *flag = optopt ? row_of(rows, optopt, false) : NULL;
        if (flag && !strncmp(word, "--", 2)) die("--%s takes no value", flag->name);
        refuse_unknown(a, word);
    }
    if (got == ':') {
        const struct option_row *row = row_of(rows, optopt, strncmp(word, "--", 2) != 0);
        die("%s needs a value: --%s %s", word, row ? row->name : "", row ? row->arg : "");
    }
    a->row = row_of(rows, got, index < 0);
    check_choice(a->row, a->value);
    answer(a, a->row->id);
    return a->row->id == OPTION_LOG ? args_next(a) : a->row->id;
}
