/* main.c - finds the subcommand, reads its options, each with the function of its group, and runs
 * it.  Without a subcommand, `seen` is the first one, `seen dedup`. */
#include "base/cli.h"
#include "help/help.h"
#include "judge/window_options.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct command *const table[] = {
    &dedup_command, &plan_command, &compare_command,  &filter_command, &count_command,
    &top_command,   &diff_command, &generate_command, &state_command,  &help_command,
    NULL,
};

const struct command *const *const commands = table;

const struct command *command_find(const char *name) {
    for (const struct command *const *c = commands; *c; c++)
        if (!strcmp((*c)->name, name)) return *c;
    return NULL;
}

static const char *next_command(void *ctx) {
    const struct command *const **at = ctx;
    return **at ? (*(*at)++)->name : NULL;
}

const char *command_near(const char *name) {
    const struct command *const *at = commands;
    return nearest_name(name, next_command, &at);
}

/* Flushes standard output.  Dies with a sentence if something could not be written. */
static void finish_output(void) {
    if (fflush(stdout) || ferror(stdout)) die("cannot write the output: %s", strerror(errno));
}

/* -- options ------------------------------------------------------------------------------ */

enum { MAX_OPTIONS = 192, MAX_WORD = 32, FIRST_VALUE = 1000 };

/* The next of some words with blanks between them. */
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

/* Dies if an option takes one of a few words, and the value is another one. */
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

static const char *next_option(void *ctx) {
    const struct option_row **at = ctx;
    while ((*at)->name && !(*at)->id) (*at)++;
    return (*at)->name ? (*at)++->name : NULL;
}

_Noreturn static void refuse_unknown(const struct command *c, const char *word) {
    const struct option_row *rows = command_rows(c);
    bool by_name = !strncmp(word, "--", 2);
    if (optopt >= FIRST_VALUE && by_name)
        die("--%s takes no value", rows[optopt - FIRST_VALUE].name);
    if (optopt && !by_name) die("unknown option -%c; seen %s --help lists them", optopt, c->name);
    char name[MAX_WORD + 1];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    const char *near = nearest_name(name, next_option, &rows);
    if (near) die("unknown option --%s; did you mean --%s?", name, near);
    die("unknown option --%s; seen %s --help lists them", name, c->name);
}

/* The rows as getopt_long takes them.  The value of a long option is its row's place, counted from
 * FIRST_VALUE on.  An old name of an engine's option has the same value. */
static void list_options(const struct option_row *rows, struct option *name, char *letter) {
    *letter++ = ':'; /* getopt then tells a missing value from an unknown option */
    for (const struct option_row *row = rows; row->name; row++) {
        if (!row->id) continue;
        const struct seen_option *known = seen_option_find(row->name);
        bool optional = row->arg && row->arg[0] == '[';
        int takes = !row->arg ? no_argument : optional ? optional_argument : required_argument;
        *name++ = (struct option){row->name, takes, NULL, FIRST_VALUE + (int)(row - rows)};
        if (known && !strcmp(known->name, row->name) && known->old_name) {
            *name = name[-1];
            (name++)->name = known->old_name;
        }
        if (row->letter)
            letter += sprintf(letter, "%c%s", row->letter, takes == required_argument ? ":" : "");
    }
    *name = (struct option){0};
    *letter = '\0';
}

/* --help, --version and --log, which every subcommand has. */
static void take_common(const struct command *c, const struct option_row *row, const char *value) {
    if (row->id == OPTION_LOG) {
        message_set_json(option_is_json(value));
        return;
    }
    if (row->id == OPTION_HELP) help_command_print(c, value);
    if (row->id == OPTION_VERSION) puts("seen " SEEN_VERSION);
    finish_output();
    exit(EXIT_FINE);
}

static void read_options(const struct command *c, int argc, char **argv, struct args *a) {
    const struct option_row *rows = command_rows(c), *row;
    struct option names[2 * MAX_OPTIONS + 1];
    char letters[3 * MAX_OPTIONS + 2];
    list_options(rows, names, letters);
    opterr = 0;
    for (int got; (got = getopt_long(argc, argv, letters, names, NULL)) != -1;) {
        const char *word = argv[optind - 1]; /* where a long option that was refused stands */
        int found = got == ':' ? optopt : got;
        if (got == '?') refuse_unknown(c, word);
        for (row = rows; found < FIRST_VALUE && row->name && row->letter != found;) row++;
        if (found >= FIRST_VALUE) row = &rows[found - FIRST_VALUE];
        if (got == ':') die("%s needs a value: --%s %s", word, row->name, row->arg);
        check_choice(row, optarg);
        const struct option_group *group = command_group(row);
        if (group->take)
            group->take((char *)c->options + group->at, row, optarg);
        else
            take_common(c, row, optarg);
        a->given = realloc(a->given, (a->n + 1) * sizeof *a->given);
        if (!a->given) die("out of memory for options");
        a->given[a->n++] = (struct given_option){row, optarg};
    }
    a->operand = argv + optind;
    a->operands = (size_t)(argc - optind);
}

/* -- the run ------------------------------------------------------------------------------ */

static int run(int argc, char **argv) {
    bool idle = argc < 2 && isatty(STDIN_FILENO); /* records come from a pipe, not by hand */
    if (idle || (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))))
        return help_overview_print(), EXIT_FINE;
    const struct command *c = argc > 1 ? command_find(argv[1]) : NULL;
    if (c) {
        argc--, argv++;
    } else {
        const char *word = argc > 1 ? argv[1] : NULL;
        const char *near = word && !strpbrk(word, "-./") ? command_near(word) : NULL;
        if (near && access(word, F_OK))
            die("there is no command and no file '%s'; did you mean seen %s?", word, near);
        c = commands[0];
    }
    struct args a = {0};
    if (c->begin) c->begin();
    read_options(c, argc, argv, &a);
    int code = c->run(&a);
    free(a.given);
    return code;
}

/* Opens /dev/null for each standard descriptor that is closed, so that no file gets its number.
 * The direction is the wrong one, so that reading or writing it still fails. */
static void hold_standard_descriptors(void) {
    static const int mode[] = {O_WRONLY, O_RDONLY, O_WRONLY};
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", mode[fd]) < 0) _exit(EXIT_TROUBLE);
}

int main(int argc, char **argv) {
    hold_standard_descriptors();
    message_look_for_format(argc, argv);
    window_prepare();
    int code = run(argc, argv);
    finish_output();
    return code;
}
