/* help.h - what seen says of itself, all of it written from the subcommands' tables: --help, manual
 * pages, completions.  Everything goes to stdout. */
#ifndef SEEN_HELP_H
#define SEEN_HELP_H

#include "base/cli.h"

/* `seen --help`: the subcommands. */
void help_overview_print(void);

/* `seen COMMAND --help[=all]`: what it does, how, and its options; form is NULL or "all", or one
 * sentence says what it can be. */
void help_command_print(const struct command *, const char *form);

/* The manual page, in man(7): NULL is the page of `seen` itself. */
void help_man_print(const struct command *);

/* A script for "bash", "zsh" or "fish" to read; false if the shell is none of them. */
bool help_completion_print(const char *shell);

/* -- exit codes, for --help=all and the manual pages --------------------------------------- */

struct exit_row {
    int code;
    const char *option; /* only subcommands that have it return this code; NULL: all do */
    const char *text;   /* prose, as in struct command */
};

/* The next row after `row` (NULL: the first) that holds for a subcommand (NULL: for any), or NULL.
 */
const struct exit_row *exits_next(const struct exit_row *row, const struct command *);

/* Does the subcommand have an option of that name? */
bool help_has_option(const struct command *, const char *name);

/* Does it take specs, and what may stand in them as options as well? */
enum help_spec { SPEC_NONE, SPEC_ALONE, SPEC_AND_OPTIONS };
enum help_spec help_spec(const struct command *);

#endif
