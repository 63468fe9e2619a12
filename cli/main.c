/* main.c - the subcommands' table.  Without one, `seen` is `seen dedup`. */
#include "cli.h"
#include "seen.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int help_main(int argc, char **argv);

static const struct command commands[] = {
    {"dedup", dedup_main, "print the records not seen before (the default)"},
    {"plan", plan_main, "what a spec costs and promises, before any data"},
    {"compare", compare_main, "errors, memory and speed of several specs on your data"},
    {"filter", filter_main, "the records whose key is in a list"},
    {"count", count_main, "how many different keys: in all, a window, a group"},
    {"top", top_main, "the most frequent keys; addresses with too many cookies"},
    {"generate", generate_main, "a click stream with planted duplicates"},
    {"help", help_main, "seen help COMMAND: its options"},
};

enum { COMMANDS = sizeof commands / sizeof *commands };

static const char examples[] =
    "Prints each record of a stream the first time, in a fixed amount of memory.\n"
    "\n"
    "  seen access.log                          instead of awk '!s[$0]++'\n"
    "  tail -f clicks.tsv | seen -w sliding:1h -k 2,5\n"
    "                                           one an hour for each pair of fields\n"
    "  seen --csv -k user,ad -w landmark:1d --time when clicks.csv\n"
    "                                           one a day, by the records' own time\n"
    "  seen -w 'landmark fp=1e-6 mem=48MiB' --stats big.txt\n"
    "                                           errors and memory, and the account\n"
    "  seen --csv -k id --tag a.csv b.csv       keep all; last column new or dup\n"
    "\n"
    "usage: seen [COMMAND] [OPTION]... [FILE]...    '-' is standard input\n"
    "\n";

static void print_help(void) {
    fputs(examples, stdout);
    for (size_t i = 0; i < COMMANDS; i++)
        printf("  %-10s %s\n", commands[i].name, commands[i].help);
    puts("\nseen help dedup: every option.  Bare seen is -w 'landmark fp=1e-9 mem=64MiB'.");
}

static const struct command *find(const char *name) {
    for (size_t i = 0; i < COMMANDS; i++)
        if (!strcmp(commands[i].name, name)) return &commands[i];
    return NULL;
}

static const char *next_command(void *ctx) {
    size_t *i = ctx;
    return *i < COMMANDS ? commands[(*i)++].name : NULL;
}

static int help_main(int argc, char **argv) {
    if (argc < 2) return print_help(), EXIT_FINE;
    const struct command *c = find(argv[1]);
    size_t i = 0;
    const char *near = c ? NULL : nearest_name(argv[1], next_command, &i);
    if (near) die("there is no command '%s'; did you mean %s?", argv[1], near);
    if (!c) die("there is no command '%s'; try seen --help", argv[1]);
    if (c->run == help_main) return print_help(), EXIT_FINE;
    char *help[] = {argv[1], "--help", NULL};
    return c->run(2, help);
}

static int run(int argc, char **argv) {
    if (argc < 2) return dedup_main(argc, argv);
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) return print_help(), EXIT_FINE;
    if (!strcmp(argv[1], "--version")) return puts("seen " SEEN_VERSION), EXIT_FINE;
    const struct command *c = find(argv[1]);
    return c ? c->run(argc - 1, argv + 1) : dedup_main(argc, argv);
}

/* A standard descriptor that was closed must not become some other file: it gets one that refuses
 * what it is for, so that reading or writing it fails as it would have. */
static void hold_standard_descriptors(void) {
    static const int mode[] = {O_WRONLY, O_RDONLY, O_WRONLY};
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", mode[fd]) < 0) _exit(EXIT_TROUBLE);
}

int main(int argc, char **argv) {
    hold_standard_descriptors();
    int code = run(argc, argv);
    if (fflush(stdout) || ferror(stdout)) die("cannot write the output: %s", strerror(errno));
    return code;
}
