/* zsh.c - completion for zsh: a function a subcommand, for _arguments. */
#include "help/completion.h"

#include <stdio.h>

static const char *action(const struct value *v) {
    switch (v->kind) {
    case VALUE_FILE: return "_files";
    case VALUE_SPEC: return "__seen_spec";
    case VALUE_ZONE: return "_time_zone";
    default: return " ";
    }
}

/* '*'{-w+,--window=}'[help]:SPEC:action'; the star: it may be given again. */
static void put_option(const struct option_row *row) {
    struct value v = value_of(row);
    bool takes = v.kind != VALUE_NONE;
    const char *end = v.optional ? "=-" : takes ? "=" : "";
    printf(" \\\n        '%s'", takes ? "*" : "");
    if (row->letter && !v.optional)
        printf("{-%c%s,--%s%s}'[", row->letter, takes ? "+" : "", row->name, end);
    else
        printf("--%s%s'[", row->name, end);
    completion_put(row->help, "[]:\\", "'\\''");
    putchar(']');
    if (takes) printf("%s:", v.optional ? ":" : "");
    if (takes && v.kind == VALUE_CHOICES)
        printf("%s:(%s)", row->name, v.words);
    else if (takes)
        completion_put(row->arg + 2 * v.optional, "[]:\\", ""), printf(":%s", action(&v));
    putchar('\'');
}

static void put_command(const struct command *c) {
    printf("_seen_%s() {\n    _arguments -s -S", c->name);
    for (const struct option_row *row = c->rows(); row->name; row++)
        if (completion_shown(row)) put_option(row);
    switch (completion_operands(c)) {
    case VALUE_FILE: printf(" \\\n        '*:file:_files'"); break;
    case VALUE_SPEC: printf(" \\\n        '*:spec:__seen_spec'"); break;
    case VALUE_CHOICES: printf(" \\\n        '1:command:__seen_commands'"); break;
    default: break;
    }
    puts("\n}\n");
}

static void put_names(void) {
    puts("__seen_commands() {\n    local -a names=(");
    for (const struct command *const *c = commands; *c; c++) {
        printf("        '%s:", (*c)->name);
        completion_put((*c)->help, ":\\", "'\\''");
        puts("'");
    }
    puts("    )\n    _describe command names\n}\n");
}

void zsh_print(void) {
    puts("#compdef seen\n# Completes seen in zsh.  Written by: seen help --completion zsh\n");
    printf("# The words of a spec, one of them or several between quotes.\n"
           "__seen_spec() {\n    local -a words=(%s)\n"
           "    compset -P '* '\n    compadd -Q -S '' -- $words\n}\n\n",
           value_spec_words());
    put_names();
    for (const struct command *const *c = commands; *c; c++) put_command(*c);
    puts("_seen() {\n"
         "    local name=$words[2]\n"
         "    if (( CURRENT == 2 )) && [[ $name != -* ]]; then\n"
         "        __seen_commands\n"
         "        _files\n"
         "    elif (( CURRENT > 2 && $+functions[_seen_$name] )); then\n"
         "        shift words\n"
         "        (( CURRENT-- ))\n"
         "        _seen_$name\n"
         "    else\n"
         "        _seen_dedup\n"
         "    fi\n"
         "}\n\n"
         "if [[ $funcstack[1] == _seen ]]; then _seen \"$@\"; else compdef _seen seen; fi");
}
