/* fish.c - completion for fish: a line an option. */
#include "help/completion.h"

#include <stdio.h>

static const char script[] =
    "# Completes the last word of a quoted spec and keeps the words before it.\n"
    "function __seen_in_spec\n"
    "    set -l before (string replace -r '[^ ]*$' '' -- (commandline -ct | string trim -l -c "
    "\\'\\\"))\n"
    "    printf '%s\\n' \"$before\"$__seen_spec\n"
    "end\n"
    "\n"
    "function __seen_zones\n"
    "    string replace -rf '^[A-Z]{2}\\t[^\\t]*\\t([^\\t]*).*' '$1' < "
    "/usr/share/zoneinfo/zone.tab\n"
    "end\n"
    "\n"
    "function __seen_runs -a wanted # is it this subcommand that is being typed?\n"
    "    set -l words (commandline -opc)\n"
    "    set -l name dedup\n"
    "    contains -- \"$words[2]\" $__seen_commands; and set name $words[2]\n"
    "    test $name = $wanted\n"
    "end\n"
    "\n"
    "function __seen_first\n"
    "    test (count (commandline -opc)) -eq 1\n"
    "end\n"
    "\n"
    "complete -c seen -f -n 'not __seen_first' -n 'not __seen_takes_files'\n";

static void put_option(const struct command *c, const struct option_row *row) {
    struct value v = value_of(row);
    printf("complete -c seen -n '__seen_runs %s'", c->name);
    if (row->letter) printf(" -s %c", row->letter);
    printf(" -l %s", row->name);
    switch (v.kind) {
    case VALUE_NONE: break;
    case VALUE_ANY: printf(" -x"); break;
    case VALUE_CHOICES: printf(" %s -a '%s'", v.optional ? "-f" : "-x", v.words); break;
    case VALUE_FILE: printf(" -r -F"); break;
    case VALUE_SPEC: printf(" -x -a '(__seen_in_spec)'"); break;
    case VALUE_ZONE: printf(" -x -a '(__seen_zones)'"); break;
    }
    printf(" -d '");
    completion_put(row->help, "\\", "\\'");
    puts("'");
}

static void put_operands(const struct command *c) {
    enum value_kind kind = completion_operands(c);
    if (kind == VALUE_SPEC)
        printf("complete -c seen -f -n '__seen_runs %s' -a '(__seen_in_spec)'\n", c->name);
    if (kind == VALUE_CHOICES)
        printf("complete -c seen -f -n '__seen_runs %s' -a '$__seen_commands'\n", c->name);
}

void fish_print(void) {
    puts("# Completes seen in fish.  Written by: seen help --completion fish");
    printf("set -g __seen_commands ");
    completion_put_commands();
    printf("\nset -g __seen_spec %s\n\n", value_spec_words());
    puts("function __seen_takes_files");
    for (const struct command *const *c = commands; *c; c++)
        if (completion_operands(*c) == VALUE_FILE)
            printf("    __seen_runs %s; and return 0\n", (*c)->name);
    printf("    return 1\nend\n\n%s\n", script);
    for (const struct command *const *c = commands; *c; c++) {
        printf("complete -c seen -n __seen_first -a %s -d '", (*c)->name);
        completion_put((*c)->help, "\\", "\\'");
        puts("'");
    }
    for (const struct command *const *c = commands; *c; c++) {
        put_operands(*c);
        for (const struct option_row *row = (*c)->rows(); row->name; row++)
            if (completion_shown(row)) put_option(*c, row);
    }
}
