/* exits.h - what each exit code means, for --help=all and the manual pages. */
#ifndef SEEN_HELP_EXITS_H
#define SEEN_HELP_EXITS_H

#include "base/cli.h"

struct exit_row {
    int code;
    const char *option; /* only subcommands that have it return this code; NULL: all do */
    const char *text;   /* prose, as in struct command */
};

/* The next row after `row` (NULL: the first) that holds for a subcommand (NULL: for any), or NULL.
 */
const struct exit_row *exits_next(const struct exit_row *row, const struct command *);

#endif
