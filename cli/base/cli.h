/* cli.h - what every subcommand shares: its shape, its options, its messages. */
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
    const char *arg;  /* its value: of "text|json" it is one, "[=json]" may be left out, FILE,
                         SPEC, ZONE, FILTER (option_value_of) are completed; NULL: a flag */
    const char *help; /* one line; NULL: known and not shown */
    int id;           /* > 0, its number in this table; 0: the name is a heading */
};

/* Options of one kind, and the function that takes them: it puts the value (NULL: none was given)
 * into the options of its kind, or dies with a sentence. */
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

/* A line that can be typed, and what it is good for. */
struct example {
    const char *line, *what;
};

/* All that is known of a subcommand: --help, manual pages and completions are written from it.
 * Prose is in sentences without line ends, a blank line between paragraphs, `code` in backquotes;
 * its first paragraph stands in --help as well. */
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

const struct command *command_find(const char *name); /* or NULL */
const char *command_near(const char *name);           /* the one that was probably meant, or NULL */

/* All rows of a subcommand's groups in one table, each name once: of two equal names the earlier
 * group's counts.  Valid until the next call for another subcommand.  And a row's group. */
const struct option_row *command_rows(const struct command *);
const struct option_group *command_group(const struct option_row *);

/* Rows that every subcommand has, for one of its groups: --help, --version and --log, which main.c
 * takes. */
enum { OPTION_HELP = 1, OPTION_VERSION, OPTION_LOG };
extern const struct option_row help_rows[];

/* Dies with a sentence if what was printed has not arrived. */
void finish_output(void);

/* -- what the value of an option can be, as far as that can be listed --------------------- */

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
    bool optional;   /* only as --name=value */
    char words[512]; /* of VALUE_CHOICES, a blank between */
};

/* Read from the placeholder in the option's row. */
struct option_value option_value_of(const struct option_row *);

/* As snprintf, behind what stands in buf. */
void value_append(char *buf, size_t cap, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Reads the value of an option that takes text or json: true for json. */
bool option_is_json(const char *value);

/* The candidate nearest to `word` (next(ctx) gives them in turn, then NULL), or NULL if none is
 * near enough to be a slip of the finger. */
const char *nearest_name(const char *word, const char *(*next)(void *ctx), void *ctx);

/* -- messages on stderr, each one sentence (message.c) ------------------------------------ */

_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2))); /* exits 2 */
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* strerror with what to do, of an error that opening or reading a file met. */
const char *file_trouble(int error);
_Noreturn void die_both(const char *one, const char *other); /* options that exclude each other */

/* As die, with the text of a spec and a mark under its place `where`, from 1; 0: there is none. */
_Noreturn void die_at(const char *spec, size_t where, const char *message);

/* --log=json: each message as {"level":"warning","message":"..."}, `error` if the run ends with it;
 * no progress.  Looked for among all arguments, so that the first complaint is JSON already. */
void message_set_json(bool);
void message_look_for_format(int argc, char **argv);

/* One line on stderr that the next message or the next such line replaces; NULL only removes it. */
void message_transient(const char *line);

/* Replaces bytes that would steer a terminal by question marks. */
void text_tame(char *text);

#endif
