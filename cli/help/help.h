/* help.h - writes --help, manual pages and completions to stdout.
 *
 * All of them come from the subcommands' tables (struct command). */
#ifndef SEEN_HELP_H
#define SEEN_HELP_H

#include "base/cli.h"

/* `seen --help`: the subcommands. */
void help_overview_print(void);

/* `seen COMMAND --help[=all]`.  `form` is NULL or "all"; it dies with a sentence for another
 * one. */
void help_command_print(const struct command *, const char *form);

/* Prints a manual page in man(7).  NULL: the page of `seen` itself. */
void help_man_print(const struct command *);

/* Prints the script for "bash", "zsh" or "fish".  False: it is another shell. */
bool help_completion_print(const char *shell);

/* -- exit codes, for --help=all and the manual pages --------------------------------------- */

struct exit_row {
    int code;
    const char *option; /* the code is for subcommands with this option; NULL: for all */
    const char *text;   /* prose, as in struct command */
};

/* The next row after `row` (NULL: the first) for a subcommand (NULL: for any), or NULL. */
const struct exit_row *exits_next(const struct exit_row *row, const struct command *);

/* Does the subcommand have an option of that name? */
bool help_has_option(const struct command *, const char *name);

/* Does a subcommand take specs, and are the options of specs its options as well? */
enum help_spec { SPEC_NONE, SPEC_ALONE, SPEC_AND_OPTIONS };
enum help_spec help_spec(const struct command *);

#endif
