/* completion.c - what the shells' completions share. */
#include "help/completion.h"

#include "help/help.h"

#include <stdio.h>
#include <string.h>

enum value_kind completion_operands(const struct command *c) {
    const char *usage = c->usage, *options = strstr(usage, "[OPTION]...");
    if (options) usage = options;
    if (strstr(usage, "FILE")) return VALUE_FILE;
    if (strstr(usage, "SPEC")) return VALUE_SPEC;
    return strstr(usage, "COMMAND") ? VALUE_CHOICES : VALUE_NONE;
}

bool completion_shown(const struct option_row *row) { return row->id != 0 && row->help; }

void completion_put(const char *text, const char *special, const char *quote) {
    for (; *text; text++) {
        if (*text == '\'') {
            fputs(quote, stdout);
            continue;
        }
        if (strchr(special, *text)) putchar('\\');
        putchar(*text);
    }
}

void completion_put_commands(void) {
    for (const struct command *const *c = commands; *c; c++)
        printf("%s%s", c == commands ? "" : " ", (*c)->name);
}

bool help_completion_print(const char *shell) {
    static const struct {
        const char *name;
        void (*print)(void);
    } shells[] = {{"bash", bash_print}, {"zsh", zsh_print}, {"fish", fish_print}};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (!strcmp(shells[i].name, shell)) return shells[i].print(), true;
    return false;
}
