/* main.c - the subcommands' table.  Without one, `seen` is the first, `seen dedup`. */
#include "base/cli.h"
#include "help/help.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct command *const table[] = {
    &dedup_command, &plan_command, &compare_command,  &filter_command, &count_command,
    &top_command,   &diff_command, &generate_command, &state_command,  &help_command,
    NULL,
};

const struct command *const *const commands = table;

const struct command *command_find(const char *name) {
    for (const struct command *const *c = commands; *c; c++)
        if (!strcmp((*c)->name, name)) return *c;
    return NULL;
}

static const char *next_command(void *ctx) {
    const struct command *const **at = ctx;
    return **at ? (*(*at)++)->name : NULL;
}

const char *command_near(const char *name) {
    const struct command *const *at = commands;
    return nearest_name(name, next_command, &at);
}

void finish_output(void) {
    if (fflush(stdout) || ferror(stdout)) die("cannot write the output: %s", strerror(errno));
}

/* Dies with a suggestion if a bare word is not a file and is spelled like a command. */
static void suspect_slip(const char *word) {
    const char *near = strpbrk(word, "-./") ? NULL : command_near(word);
    if (near && access(word, F_OK))
        die("there is no command and no file '%s'; did you mean seen %s?", word, near);
}

static int run(int argc, char **argv) {
    const struct command *first = commands[0];
    bool idle = argc < 2 && isatty(STDIN_FILENO); /* records come from a pipe, not by hand */
    if (idle || (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))))
        return help_overview_print(), EXIT_FINE;
    if (argc < 2) return first->run(argc, argv);
    const struct command *c = command_find(argv[1]);
    if (!c) suspect_slip(argv[1]);
    return c ? c->run(argc - 1, argv + 1) : first->run(argc, argv);
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
    message_look_for_format(argc, argv);
    int code = run(argc, argv);
    finish_output();
    return code;
}
