/* cli.h - what every subcommand shares: its shape, its options, its messages. */
#ifndef SEEN_CLI_H
#define SEEN_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EXIT_FINE = 0, EXIT_FOUND = 1, EXIT_TROUBLE = 2 };

/* -- subcommands: one file and one row of main.c's table each ----------------------------- */

struct command {
    const char *name;
    int (*run)(int argc, char **argv); /* argv[0] is the subcommand's name; returns the exit code */
    const char *help;                  /* one line */
};

int dedup_main(int argc, char **argv);
int plan_main(int argc, char **argv);
int compare_main(int argc, char **argv);
int filter_main(int argc, char **argv);
int count_main(int argc, char **argv);
int top_main(int argc, char **argv);
int generate_main(int argc, char **argv);

/* -- options: one row each (options.c) ---------------------------------------------------- */

struct option_row {
    const char *name; /* --name */
    int letter;       /* -x, or 0 */
    const char *arg;  /* placeholder of its value in --help; "[=FORM]": it may be left out; NULL: a
                         flag */
    const char *help; /* one line */
    int id;           /* what args_next returns, > 0 */
};

struct args {
    int argc;
    char **argv;
    const struct option_row *rows; /* ended by a row without a name */
    const char *value;             /* of the option just returned; NULL: it has none */
    int at;                        /* first operand, once args_next has returned 0 */
};

/* The next option's id; 0 when only operands are left (argv[at] .. argv[argc-1]).  An unknown
 * option or a missing value is reported with the nearest known name, and exits with 2. */
int args_next(struct args *);

/* The options part of one subcommand's --help: a line an option on stdout.  A row whose help is
 * NULL is known and not shown; a row with id 0 is a heading. */
void print_options(const struct option_row *rows);

/* The value of an option that is "text" or "json", or dies. */
bool option_is_json(const char *name, const char *value);

/* The candidate nearest to `word` (next(ctx) gives them in turn, then NULL), or NULL if none is
 * near enough to be a slip of the finger. */
const char *nearest_name(const char *word, const char *(*next)(void *ctx), void *ctx);

/* -- messages on stderr, each one sentence (message.c) ------------------------------------ */

_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2))); /* exits 2 */
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* One line on stderr that the next message or the next such line replaces; NULL only removes it. */
void message_transient(const char *line);

#endif
