/* help.c - prints --help, which fits a screen (purpose, examples, the first options, the names of
 * the others), and --help=all, which explains every option. */
#include "help/help.h"

#include "judge/window_options.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_WIDTH = 79, OPTION_COLUMN = 26, EXAMPLE_COLUMN = 43, EXIT_COLUMN = 5 };

/* -- prose ------------------------------------------------------------------------------- */

/* Prints a word, in lines that begin `indent` columns in.  `at` is the column reached so far. */
static void put_word(const char *word, size_t indent, size_t *at) {
    size_t len = strlen(word);
    if (*at > indent && *at + 1 + len > TEXT_WIDTH) {
        printf("\n%*s", (int)indent, "");
        *at = indent;
    }
    *at += (size_t)printf("%s%s", *at > indent ? " " : "", word);
}

/* Fills lines with the words of `text` up to a blank line in it, without backquotes.  Lines begin
 * `indent` columns in; the first one has begun already.  Returns the text behind the blank line, or
 * NULL. */
static const char *put_paragraph(const char *text, size_t indent) {
    char word[128];
    size_t at = indent;
    while (*text && *text != '\n') {
        size_t n = strcspn(text, " \n"), out = 0;
        for (size_t i = 0; i < n && out + 1 < sizeof word; i++)
            if (text[i] != '`') word[out++] = text[i];
        word[out] = '\0';
        text += n;
        put_word(word, indent, &at);
        text += *text == ' ';
    }
    putchar('\n');
    return *text ? text + strspn(text, "\n") : NULL;
}

/* -- examples ----------------------------------------------------------------------------- */

/* Prints `left`, then `right` in its column, or on the next line if `left` is too long. */
static void put_pair(const char *left, const char *right, int column) {
    if ((int)strlen(left) + 1 >= column)
        printf("%s\n%*s%s\n", left, column, "", right);
    else
        printf("%-*s%s\n", column, left, right);
}

static void put_examples(const struct command *c) {
    char line[256];
    for (const struct example *e = c->examples; e->line; e++) {
        snprintf(line, sizeof line, "  %s", e->line);
        put_pair(line, e->what, EXAMPLE_COLUMN);
    }
}

/* -- options ------------------------------------------------------------------------------ */

static void put_option(const struct option_row *row) {
    char left[128], letter[8] = "    ";
    const char *gap = row->arg && row->arg[0] != '[' ? " " : "";
    if (row->letter) snprintf(letter, sizeof letter, "-%c, ", row->letter);
    snprintf(left, sizeof left, "  %s--%s%s%s", letter, row->name, gap, row->arg ? row->arg : "");
    put_pair(left, row->help, OPTION_COLUMN);
}

static bool hidden(const struct option_row *row) { return row->id != 0 && !row->help; }

bool help_has_option(const struct command *c, const char *name) {
    for (const struct option_row *row = command_rows(c); row->name; row++)
        if (row->id && !strcmp(row->name, name)) return true;
    return false;
}

enum help_spec help_spec(const struct command *c) {
    enum help_spec found = SPEC_NONE;
    for (const struct option_row *row = command_rows(c); row->name; row++) {
        if (command_group(row)->rows == window_engine_rows) return SPEC_AND_OPTIONS;
        if (option_value_of(row).kind == VALUE_SPEC) found = SPEC_ALONE;
    }
    return found;
}

/* Is `name` one of the words in `list`? */
static bool listed(const char *list, const char *name) {
    size_t n = strlen(name);
    for (; list && *list; list += strspn(list, " ")) {
        size_t word = strcspn(list, " ");
        if (word == n && !strncmp(list, name, n)) return true;
        list += word;
    }
    return false;
}

static void put_often(const struct command *c) {
    const struct option_row *row;
    for (const char *word = c->often; *word; word += strspn(word, " ")) {
        size_t n = strcspn(word, " ");
        for (row = command_rows(c); row->name; row++)
            if (row->id && strlen(row->name) == n && !strncmp(row->name, word, n)) break;
        if (!row->name) die("no option of %s is called %.*s", c->name, (int)n, word);
        put_option(row);
        word += n;
    }
}

/* Prints the names of the options that put_often leaves out, without the many options of specs. */
static void put_others(const struct command *c) {
    char word[64];
    size_t at = 0;
    for (const struct option_row *row = command_rows(c); row->name; row++) {
        if (row->id == 0 || hidden(row) || command_group(row)->rows == window_engine_rows ||
            listed(c->often, row->name))
            continue;
        if (!at) at = (size_t)printf("\nAlso");
        snprintf(word, sizeof word, "--%s", row->name);
        put_word(word, 2, &at);
    }
    if (help_spec(c) == SPEC_AND_OPTIONS) puts("\n  and every NAME=VALUE of SPEC as --NAME VALUE");
    if (help_spec(c) != SPEC_AND_OPTIONS) putchar('\n');
}

/* -- exit codes --------------------------------------------------------------------------- */

static const struct exit_row table[] = {
    {EXIT_FINE, NULL, "All went well."},
    {EXIT_FOUND, "exit-code",
     "There were duplicates, or `seen diff` found a difference, and `--exit-code` was given."},
    {EXIT_TROUBLE, NULL,
     "The command line makes no sense, or something could not be read or written; one sentence on "
     "standard error says what, where and what to do."},
    {EXIT_TROUBLE, "rejects",
     "The input has records, and none of them could be judged; the output is complete all the "
     "same."},
    {EXIT_TROUBLE, "strict", "A record could not be judged, and `--strict` was given."},
    {EXIT_DEGRADED, "hold",
     "An answer was degraded: `--hold` was too small for `--keep` last, which printed duplicates, "
     "or for `--reorder`, which judged records out of order. If 2 applies as well, the exit code "
     "is 2; if 1 does, it is 3."},
    {EXIT_DEGRADED, "sum",
     "An answer was degraded: amounts of `--sum` could not be read, or a sum did not fit. With "
     "`--strict` the exit code is 2."},
    {0},
};

const struct exit_row *exits_next(const struct exit_row *row, const struct command *c) {
    for (row = row ? row + 1 : table; row->text; row++)
        if (!c || !row->option || help_has_option(c, row->option)) return row;
    return NULL;
}

/* -- the pages ---------------------------------------------------------------------------- */

static void put_usage(const struct command *c) {
    bool first = c == commands[0];
    printf("\nusage: seen %s%s%s %s\n", first ? "[" : "", c->name, first ? "]" : "", c->usage);
}

static void put_short(const struct command *c) {
    put_paragraph(c->about, 0);
    putchar('\n');
    put_examples(c);
    put_usage(c);
    putchar('\n');
    put_often(c);
    put_others(c);
    printf("\nseen %s --help=all, or man seen-%s: every option\n", c->name, c->name);
}

static void put_all(const struct command *c) {
    const struct option_row *row;
    for (const char *text = c->about; text;) {
        text = put_paragraph(text, 0);
        putchar('\n');
    }
    put_examples(c);
    put_usage(c);
    if (help_spec(c)) printf("\n%s\n", window_grammar);
    if (command_rows(c)->id) putchar('\n'); /* no heading */
    for (row = command_rows(c); row->name; row++) {
        if (row->id == 0)
            printf("\n%s:\n", row->name);
        else if (!hidden(row))
            put_option(row);
    }
    if (help_spec(c) == SPEC_ALONE) puts("\nIn SPEC:");
    for (row = window_engine_rows; help_spec(c) == SPEC_ALONE && row->name; row++) {
        char left[128];
        snprintf(left, sizeof left, "  %s=%s", row->name, row->arg);
        put_pair(left, row->help, OPTION_COLUMN);
    }
    puts("\nExit codes:");
    for (const struct exit_row *exit = NULL; (exit = exits_next(exit, c));) {
        printf("  %d  ", exit->code);
        put_paragraph(exit->text, EXIT_COLUMN);
    }
}

void help_command_print(const struct command *c, const char *form) {
    if (!form)
        put_short(c);
    else if (!strcmp(form, "all"))
        put_all(c);
    else
        die("--help=%s: it is --help or --help=all", form);
}

void help_overview_print(void) {
    puts("Prints each record of a stream the first time, in a fixed amount of memory.\n");
    put_examples(commands[0]);
    puts("\nusage: seen [COMMAND] [OPTION]... [FILE]...    '-' is standard input\n");
    for (const struct command *const *c = commands; *c; c++)
        printf("  %-10s %s\n", (*c)->name, (*c)->help);
    puts("\nseen help COMMAND: more.  Bare seen is -w 'landmark fp=1e-9 mem=64MiB'.");
}
