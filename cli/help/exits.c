/* exits.c - the table of exit codes. */
#include "help/exits.h"

#include "help/help.h"

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
