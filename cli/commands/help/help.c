/* help.c - `seen help [COMMAND]`; with --man and --completion, what the build installs. */
#include "help/help.h"

enum { ALL = 1, MAN, COMPLETION };

static const struct option_row own_rows[] = {
    {"Instead of the short help", 0, NULL, NULL, 0},
    {"all", 'a', NULL, "every option of the command", ALL},
    {"man", 0, NULL, "its manual page, for man -l - to show", MAN},
    {"completion", 0, "bash|zsh|fish", "how that shell completes seen, for it to read", COMPLETION},
    HELP_ROWS,
    {0},
};

static const struct option_row *rows(void) { return own_rows; }

static const struct command *named(const char *name) {
    const struct command *c = command_find(name);
    if (c) return c;
    const char *near = command_near(name);
    if (near) die("there is no command '%s'; did you mean %s?", name, near);
    die("there is no command '%s'; seen --help lists them", name);
}

static int help_main(int argc, char **argv) {
    struct args a = {.argc = argc, .argv = argv, .command = &help_command};
    bool all = false, man = false;
    const char *shell = NULL;
    for (int id; (id = args_next(&a));) {
        all |= id == ALL;
        man |= id == MAN;
        if (id == COMPLETION) shell = a.value;
    }
    if (a.at + 1 < argc) die("one command at a time: what is '%s'?", argv[a.at + 1]);
    const struct command *c = a.at < argc ? named(argv[a.at]) : NULL;
    if (shell) return help_completion_print(shell), EXIT_FINE;
    if (man)
        help_man_print(c);
    else if (c || all)
        help_command_print(c ? c : commands[0], all ? "all" : NULL);
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
    .rows = rows,
    .often = "all man completion",
};
