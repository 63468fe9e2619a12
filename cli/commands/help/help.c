/* help.c - `seen help [COMMAND]`; with --man and --completion, what the build installs. */
#include "help/help.h"

enum { ALL = 1, MAN, COMPLETION };

static const struct option_row own_rows[] = {
    {"Instead of the short help", 0, NULL, NULL, 0},
    {"all", 'a', NULL, "every option of the command", ALL},
    {"man", 0, NULL, "its manual page, for man -l - to show", MAN},
    {"completion", 0, "bash|zsh|fish", "how that shell completes seen, for it to read", COMPLETION},
    {0},
};

static struct {
    bool all, man;
    const char *shell; /* the shell of --completion, or NULL */
} asked;

static void take(void *options, const struct option_row *row, const char *value) {
    (void)options;
    asked.all |= row->id == ALL;
    asked.man |= row->id == MAN;
    if (row->id == COMPLETION) asked.shell = value;
}

static const struct option_group groups[] = {
    {own_rows, take, 0},
    {help_rows, NULL, 0},
    {0},
};

static int help_main(const struct args *a) {
    if (a->operands > 1) die("one command at a time: what is '%s'?", a->operand[1]);
    const char *name = a->operands ? a->operand[0] : NULL;
    const struct command *c = name ? command_find(name) : NULL;
    const char *near = name && !c ? command_near(name) : NULL;
    if (near) die("there is no command '%s'; did you mean %s?", name, near);
    if (name && !c) die("there is no command '%s'; seen --help lists them", name);
    if (asked.shell)
        help_completion_print(asked.shell);
    else if (asked.man)
        help_man_print(c);
    else if (c || asked.all)
        help_command_print(c ? c : commands[0], asked.all ? "all" : NULL);
    else
        help_overview_print();
    return EXIT_FINE;
}

static const struct example examples[] = {
    {"seen help dedup", "what one needs first"},
    {"seen help --all dedup", "every option"},
    {"seen help --man filter | man -l -", "the manual, where it is not installed"},
    {"source <(seen help --completion bash)", "TAB completes, in this shell"},
    {0},
};

const struct command help_command = {
    .name = "help",
    .run = help_main,
    .help = "seen help COMMAND: its options",
    .usage = "[OPTION]... [COMMAND]",
    .about = "Says what seen does, or what one of its subcommands does, and with which options.",
    .examples = examples,
    .groups = groups,
    .options = &asked,
    .often = "all man completion",
};
