/* completion.h - scripts that teach shells to complete seen: what is in the tables, printed as
 * data, and the shell's own few lines that look it up. */
#ifndef SEEN_HELP_COMPLETION_H
#define SEEN_HELP_COMPLETION_H

#include "help/value.h"

void bash_print(void);
void zsh_print(void);
void fish_print(void);

/* What a command's operands are: files, specs, subcommands (VALUE_CHOICES) or none. */
enum value_kind completion_operands(const struct command *);

/* Does --help tell of this row, and is it an option at all? */
bool completion_shown(const struct option_row *);

/* `text` with each byte of `special` behind a backslash, and each single quote as `quote`. */
void completion_put(const char *text, const char *special, const char *quote);

/* The names of all subcommands, a blank between. */
void completion_put_commands(void);

#endif
