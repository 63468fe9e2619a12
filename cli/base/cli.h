/* cli.h - what every subcommand shares: its shape, its options, its messages and signals. */
#ifndef SEEN_CLI_H
#define SEEN_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit statuses.  If several apply, the first of EXIT_TROUBLE, EXIT_DEGRADED, EXIT_FOUND counts. */
enum { EXIT_FINE = 0, EXIT_FOUND = 1, EXIT_TROUBLE = 2, EXIT_DEGRADED = 3 };

/* -- subcommands: one folder and one row of main.c's table each ---------------------------- */

/* One option of a subcommand. */
struct option_row {
    const char *name; /* --name; NULL: the rows end */
    int letter;       /* -x, or 0 */
    const char *arg;  /* placeholder of its value, see option_value_of; NULL: a flag */
    const char *help; /* one line; NULL: the option works, but --help does not show it */
    int id;           /* > 0, its number in this table; 0: the name is a heading */
};

/* Options of one kind, and the function that takes them.  It stores the value (NULL: none was
 * given) in the struct of this kind, or dies with a sentence. */
struct option_group {
    const struct option_row *rows;
    void (*take)(void *options, const struct option_row *, const char *value);
    size_t at; /* where the options of this kind stand in those of the subcommand (offsetof) */
};

/* The options that a subcommand was given, in order, and the other arguments. */
struct given_option {
    const struct option_row *row;
    const char *value;
};

struct args {
    char **operand;
    size_t operands;
    struct given_option *given;
    size_t n;
};

/* A command line for --help and the manual page, and what it does. */
struct example {
    const char *line, *what;
};

/* A subcommand.  --help, manual pages and completions are written from this description.  Prose has
 * no line ends within a paragraph, a blank line between paragraphs, and `code` in backquotes.
 * --help prints its first paragraph. */
struct command {
    const char *name;
    int (*run)(const struct args *);   /* all options are taken; returns the exit code */
    const struct option_group *groups; /* in the order of --help, ended by one without rows */
    void *options;                     /* what the groups fill in */
    void (*begin)(void);               /* sets the defaults; NULL: all are 0 */
    const char *help;                  /* one line */
    const char *usage; /* what follows its name; FILE, SPEC and COMMAND say what to complete */
    const char *about; /* prose */
    const struct example *examples; /* ended by a row without a line */
    const char *often; /* names of the options that --help explains; it lists the others */
};

extern const struct command *const *const commands; /* ended by NULL; the first is the default */
extern const struct command dedup_command, plan_command, compare_command, filter_command,
    count_command, top_command, diff_command, generate_command, state_command, help_command;

const struct command *command_find(const char *name); /* NULL: there is none of that name */
const char *command_near(const char *name);           /* the likely meaning of a typo, or NULL */

/* All rows of a subcommand's groups in one table.  If two groups have a name, the earlier row
 * counts.  The table is valid until the next call for another subcommand. */
const struct option_row *command_rows(const struct command *);
const struct option_group *command_group(const struct option_row *); /* of a row of that table */

/* --help, --version and --log: a group without `take` has these rows, and main.c takes them. */
enum { OPTION_HELP = 1, OPTION_VERSION, OPTION_LOG };
extern const struct option_row help_rows[];

/* -- the values that an option can have ---------------------------------------------------- */

enum value_kind {
    VALUE_NONE,    /* a flag */
    VALUE_ANY,     /* a number, a name: nothing to list */
    VALUE_CHOICES, /* one of a few words */
    VALUE_FILE,
    VALUE_SPEC, /* words of the grammar of windows */
    VALUE_ZONE  /* a time zone */
};

struct option_value {
    enum value_kind kind;
    bool optional;   /* the value may be left out, and is only given as --name=value */
    char words[512]; /* of VALUE_CHOICES, with blanks between them */
};

/* Reads the placeholder of a row.  "text|json" is one of two words.  "[=json]" may be left out.
 * FILE, SPEC, ZONE and FILTER are kinds of their own.  Other capitals stand for any value. */
struct option_value option_value_of(const struct option_row *);

/* Appends formatted text to the string in `buf`, which has `cap` bytes. */
void value_append(char *buf, size_t cap, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Read the value of an option, which a message calls `name`, such as "--hold".  They die with a
 * sentence if it is malformed. */
uint64_t option_count(const char *name, const char *value); /* 1e6 */
uint64_t option_size(const char *name, const char *value);  /* 64MiB */
uint64_t option_span(const char *name, const char *value);  /* 5m: microseconds */

/* Reads the value of an option that takes text or json: true for json. */
bool option_is_json(const char *value);

/* The candidate that `word` is most likely a typo of, or NULL.  next(ctx) gives the candidates one
 * by one, then NULL. */
const char *nearest_name(const char *word, const char *(*next)(void *ctx), void *ctx);

/* -- messages on stderr, each one sentence ------------------------------------------------- */

_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2))); /* exits 2 */
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Describes an errno of opening or reading a file, and says what to do. */
const char *file_trouble(int error);
_Noreturn void die_both(const char *one, const char *other); /* options that exclude each other */

/* Like die, but also prints the spec with a mark under column `where`, from 1 (0: no mark). */
_Noreturn void die_at(const char *spec, size_t where, const char *message);

/* --log=json: each message is {"level":"warning","message":"..."}, with the level "error" if it
 * ends the run.  No progress is shown.  message_look_for_format finds the option among all
 * arguments before they are read, so that even the first message is JSON. */
void message_set_json(bool);
void message_look_for_format(int argc, char **argv);

/* Shows a line that the next message or the next such line replaces.  NULL removes the line. */
void message_transient(const char *line);

/* Replaces control characters, which could steer a terminal, by question marks. */
void text_tame(char *text);

/* -- signals ----------------------------------------------------------------------------------- */

/* Installs the handlers, once.  Dies with a sentence if the system has no descriptors left. */
void signals_init(void);

/* A descriptor that is readable once a signal has come.  A wait for input polls it as well. */
int signals_wake(void);

int signals_stop(void);         /* the signal that asked us to end, or 0 */
bool signals_taken_stats(void); /* has SIGUSR1 come since the last call? */

/* From now on SIGUSR2, and a timer of `every` seconds (0: no timer), ask for a save of the
 * state. */
void signals_watch_state(double every);
bool signals_taken_save(void); /* was a save asked for since the last call? */

/* Ends the process as that signal does by default. */
_Noreturn void signals_die(int sig);

#endif
