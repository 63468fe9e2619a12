/* cli.h - what every subcommand shares: its shape, its options, its messages. */
#ifndef SEEN_CLI_H
#define SEEN_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit statuses.  If several apply, the first of EXIT_TROUBLE, EXIT_DEGRADED, EXIT_FOUND counts. */
enum { EXIT_FINE = 0, EXIT_FOUND = 1, EXIT_TROUBLE = 2, EXIT_DEGRADED = 3 };

/* -- subcommands: one file and one row of main.c's table each ----------------------------- */

struct option_row;

/* A line that can be typed, and what it is good for. */
struct example {
    const char *line, *what;
};

/* All that is known of a subcommand: --help, manual pages and completions are written from it.
 * Prose is in sentences without line ends, a blank line between paragraphs, `code` in backquotes;
 * its first paragraph stands in --help as well. */
struct command {
    const char *name;
    int (*run)(int argc, char **argv); /* argv[0] is the subcommand's name; returns the exit code */
    const char *help;                  /* one line */
    const char *usage; /* what follows its name; FILE, SPEC and COMMAND say what to complete */
    const char *about; /* prose */
    const struct example *examples; /* ended by a row without a line */
    const struct option_row *(*rows)(void);
    const char *often; /* names of the options that --help explains; it lists the others */
};

extern const struct command *const *const commands; /* ended by NULL; the first is the default */
extern const struct command dedup_command, plan_command, compare_command, filter_command,
    count_command, top_command, diff_command, generate_command, state_command, help_command;

const struct command *command_find(const char *name); /* or NULL */
const char *command_near(const char *name);           /* the one that was probably meant, or NULL */

/* What was printed has arrived, or a sentence and exit 2. */
void finish_output(void);

/* -- options: one row each (options.c) ---------------------------------------------------- */

struct option_row {
    const char *name; /* --name */
    int letter;       /* -x, or 0 */
    const char *arg;  /* its value: of "text|json" it is one, "[=json]" may be left out, FILE,
                         SPEC, ZONE, FILTER (value_of) are completed; NULL: a flag */
    const char *help; /* one line; NULL: known and not shown */
    int id;           /* what args_next returns, > 0; 0: the name is a heading */
};

struct args {
    int argc;
    char **argv;
    const struct command *command;
    const struct option_row *row; /* the option just returned, ... */
    const char *value;            /* ... and its value; NULL: it has none */
    int at;                       /* first operand, once args_next has returned 0 */
};

/* The next option's id; 0 when only operands are left (argv[at] .. argv[argc-1]).  --help and
 * --version are answered, and exit; --log is obeyed.  An unknown option, a missing value or one
 * that is none of the row's choices is reported with the nearest known name, and exits with 2. */
int args_next(struct args *);

/* Rows that every subcommand has: --help, --version and --log. */
enum { OPTION_HELP = 400, OPTION_VERSION, OPTION_LOG };
#define HELP_ROWS                                                                                  \
    {"Help and messages", 0, NULL, NULL, 0},                                                       \
        {"help", 'h', "[=all]", "a short help; all: every option", OPTION_HELP},                   \
        {"log", 0, "text|json", "messages as sentences, or as a JSON object a line", OPTION_LOG},  \
    {                                                                                              \
        "version", 'V', NULL, "the version", OPTION_VERSION                                        \
    }

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
