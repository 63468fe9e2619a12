/* completions.c - writes scripts that complete seen in bash, zsh and fish.  A script has the tables
 * of options as data, and some lines of shell that look words up in them. */
#include "help/help.h"

#include "seen.h"

#include <stdio.h>
#include <string.h>

/* -- what the shells share ---------------------------------------------------------------- */

/* The kind of a command's operands: files, specs, subcommands (VALUE_CHOICES) or none. */
static enum value_kind operands_of(const struct command *c) {
    const char *usage = c->usage, *options = strstr(usage, "[OPTION]...");
    if (options) usage = options;
    if (strstr(usage, "FILE")) return VALUE_FILE;
    if (strstr(usage, "SPEC")) return VALUE_SPEC;
    return strstr(usage, "COMMAND") ? VALUE_CHOICES : VALUE_NONE;
}

/* Is the row an option, and does --help show it? */
static bool shown(const struct option_row *row) { return row->id != 0 && row->help; }

/* Prints `text` with a backslash before each byte of `special`, and `quote` for a single quote. */
static void put_escaped(const char *text, const char *special, const char *quote) {
    for (; *text; text++) {
        if (*text == '\'') {
            fputs(quote, stdout);
            continue;
        }
        if (strchr(special, *text)) putchar('\\');
        putchar(*text);
    }
}

/* Prints the names of all subcommands with blanks between them. */
static void put_commands(void) {
    for (const struct command *const *c = commands; *c; c++)
        printf("%s%s", c == commands ? "" : " ", (*c)->name);
}

/* Every word that a spec may have, with blanks between them: windows, then name=value. */
static const char *spec_words(void) {
    static char words[4096] = "landmark landmark: jumping: sliding: decaying";
    static bool done;
    const struct seen_option *o;
    const char *name;
    for (size_t i = 0; !done && (o = seen_option(i)); i++) {
        if (o->kind != SEEN_KIND_CHOICE) value_append(words, sizeof words, " %s=", o->name);
        for (const char *const *c = o->choices; c && *c; c++)
            value_append(words, sizeof words, " %s=%s", o->name, *c);
    }
    for (size_t i = 0; !done && (name = seen_filter_name(i)); i++)
        value_append(words, sizeof words, " filter=%s", name);
    done = true;
    return words;
}

/* -- bash, without the bash-completion package, which need not be installed --------------- */

/* readline cuts words at = and :, and takes a quoted spec for one word.  So the script reads the
 * word at the cursor from the line, and cuts proposals to the part that readline replaces ($2). */
static const char bash_script[] =
    "_seen_propose() { # PROPOSAL...: those that begin like the word at the cursor\n"
    "    local full\n"
    "    for full; do\n"
    "        [[ $full == \"$word\"* ]] || continue\n"
    "        [[ $full == *[=:] ]] && compopt -o nospace\n"
    "        if [[ $word == *\"$cut\" ]]; then\n"
    "            COMPREPLY+=(\"${full#\"${word%\"$cut\"}\"}\")\n"
    "        else\n"
    "            COMPREPLY+=(\"${cut%\"$word\"}$full\")\n"
    "        fi\n"
    "    done\n"
    "}\n"
    "\n"
    "_seen_files() {\n"
    "    local IFS=$'\\n'\n"
    "    compopt -o filenames\n"
    "    COMPREPLY+=($(compgen -f -- \"${cut#\"$stem\"}\"))\n"
    "}\n"
    "\n"
    "_seen_zones() {\n"
    "    awk '/^[^#]/ { print $3 }' \"${TZDIR:-/usr/share/zoneinfo}/tzdata.zi\" \\\n"
    "        \"${TZDIR:-/usr/share/zoneinfo}/zone.tab\" 2> /dev/null | grep /\n"
    "}\n"
    "\n"
    "_seen() {\n"
    "    local line=${COMP_LINE:0:COMP_POINT} cut=$2 command=dedup stem= takes= words word n\n"
    "    local quoted='(-w|--window)[[:space:]=]*['\\''\"][^'\\''\"]*$'\n"
    "    word=${line##*[[:space:]\\'\\\"]}\n"
    "    read -r -a words <<< \"$line\"\n"
    "    [[ $word ]] || words+=('')\n"
    "    n=$((${#words[@]} - 1))\n"
    "    ((n > 1)) && [[ \" $_seen_commands \" == *\" ${words[1]} \"* ]] && command=${words[1]}\n"
    "    if [[ $line =~ $quoted ]]; then\n"
    "        takes=@spec\n"
    "    elif [[ $word == --*=* ]]; then\n"
    "        stem=${word%%=*}=\n"
    "        takes=$(_seen_takes \"$command ${word%%=*}\")\n"
    "    elif [[ ${words[n - 1]} == -* ]]; then\n"
    "        takes=$(_seen_takes \"$command ${words[n - 1]}\")\n"
    "        [[ $takes == '?'* ]] && takes=\n"
    "    fi\n"
    "    if [[ ! $takes && $word == -* ]]; then\n"
    "        _seen_propose $(_seen_options $command)\n"
    "        return\n"
    "    elif [[ ! $takes ]]; then\n"
    "        ((n == 1)) && _seen_propose $_seen_commands\n"
    "        takes=$(_seen_operands $command)\n"
    "    fi\n"
    "    case ${takes#'?'} in\n"
    "    @file) _seen_files ;;\n"
    "    @spec) _seen_propose $_seen_spec ;;\n"
    "    @zone) _seen_propose $(_seen_zones | sed \"s/^/$stem/\") ;;\n"
    "    @command) _seen_propose $_seen_commands ;;\n"
    "    @*) ;;\n"
    "    *) _seen_propose $(printf -- \"$stem%s \" ${takes#'?'}) ;;\n"
    "    esac\n"
    "}\n"
    "\n"
    "complete -F _seen seen\n";

static const char *const bash_kinds[] = {
    [VALUE_NONE] = "@none", [VALUE_ANY] = "@any",   [VALUE_CHOICES] = "@command",
    [VALUE_FILE] = "@file", [VALUE_SPEC] = "@spec", [VALUE_ZONE] = "@zone"};

static void bash_print(void) {
    puts("# Completes seen in bash.  Written by: seen help --completion bash");
    printf("_seen_commands='");
    put_commands();
    printf("'\n_seen_spec='%s'\n\n_seen_options() {\n    case $1 in\n", spec_words());
    for (const struct command *const *c = commands; *c; c++) {
        printf("    %s) echo '", (*c)->name);
        for (const struct option_row *row = command_rows(*c); row->name; row++)
            if (shown(row)) {
                if (row->letter) printf("-%c ", row->letter);
                printf("--%s ", row->name);
                if (option_value_of(row).optional) printf("--%s= ", row->name);
            }
        puts("' ;;");
    }
    puts("    esac\n}\n\n_seen_takes() {\n    case $1 in");
    for (const struct command *const *c = commands; *c; c++)
        for (const struct option_row *row = command_rows(*c); row->name; row++) {
            struct option_value v = option_value_of(row);
            if (!shown(row) || v.kind == VALUE_NONE) continue;
            printf("    ");
            if (row->letter) printf("'%s -%c' | ", (*c)->name, row->letter);
            printf("'%s --%s') echo '%s%s' ;;\n", (*c)->name, row->name, v.optional ? "?" : "",
                   v.kind == VALUE_CHOICES ? v.words : bash_kinds[v.kind]);
        }
    puts("    esac\n}\n\n_seen_operands() {\n    case $1 in");
    for (const struct command *const *c = commands; *c; c++)
        printf("    %s) echo %s ;;\n", (*c)->name, bash_kinds[operands_of(*c)]);
    printf("    esac\n}\n\n%s", bash_script);
}

/* -- zsh: a function a subcommand, for _arguments ----------------------------------------- */

/* '*'{-w+,--window=}'[help]:SPEC:action'; the star: it may be given again. */
static void zsh_option(const struct option_row *row) {
    static const char *const actions[] = {
        [VALUE_NONE] = " ",           [VALUE_ANY] = " ",
        [VALUE_CHOICES] = " ",        [VALUE_FILE] = "_files",
        [VALUE_SPEC] = "__seen_spec", [VALUE_ZONE] = "_time_zone"};
    struct option_value v = option_value_of(row);
    bool takes = v.kind != VALUE_NONE;
    const char *end = v.optional ? "=-" : takes ? "=" : "";
    printf(" \\\n        '%s'", takes ? "*" : "");
    if (row->letter && !v.optional)
        printf("{-%c%s,--%s%s}'[", row->letter, takes ? "+" : "", row->name, end);
    else
        printf("--%s%s'[", row->name, end);
    put_escaped(row->help, "[]:\\", "'\\''");
    putchar(']');
    if (takes) printf("%s:", v.optional ? ":" : "");
    if (takes && v.kind == VALUE_CHOICES)
        printf("%s:(%s)", row->name, v.words);
    else if (takes)
        put_escaped(row->arg + 2 * v.optional, "[]:\\", ""), printf(":%s", actions[v.kind]);
    putchar('\'');
}

static void zsh_command(const struct command *c) {
    printf("_seen_%s() {\n    _arguments -s -S", c->name);
    for (const struct option_row *row = command_rows(c); row->name; row++)
        if (shown(row)) zsh_option(row);
    switch (operands_of(c)) {
    case VALUE_FILE: printf(" \\\n        '*:file:_files'"); break;
    case VALUE_SPEC: printf(" \\\n        '*:spec:__seen_spec'"); break;
    case VALUE_CHOICES: printf(" \\\n        '1:command:__seen_commands'"); break;
    default: break;
    }
    puts("\n}\n");
}

static void zsh_print(void) {
    puts("#compdef seen\n# Completes seen in zsh.  Written by: seen help --completion zsh\n");
    printf("# The words of a spec, one of them or several between quotes.\n"
           "__seen_spec() {\n    local -a words=(%s)\n"
           "    compset -P '* '\n    compadd -Q -S '' -- $words\n}\n\n",
           spec_words());
    puts("__seen_commands() {\n    local -a names=(");
    for (const struct command *const *c = commands; *c; c++) {
        printf("        '%s:", (*c)->name);
        put_escaped((*c)->help, ":\\", "'\\''");
        puts("'");
    }
    puts("    )\n    _describe command names\n}\n");
    for (const struct command *const *c = commands; *c; c++) zsh_command(*c);
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

/* -- fish: a line an option --------------------------------------------------------------- */

static const char fish_script[] =
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

static void fish_option(const struct command *c, const struct option_row *row) {
    struct option_value v = option_value_of(row);
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
    put_escaped(row->help, "\\", "\\'");
    puts("'");
}

static void fish_print(void) {
    puts("# Completes seen in fish.  Written by: seen help --completion fish");
    printf("set -g __seen_commands ");
    put_commands();
    printf("\nset -g __seen_spec %s\n\n", spec_words());
    puts("function __seen_takes_files");
    for (const struct command *const *c = commands; *c; c++)
        if (operands_of(*c) == VALUE_FILE) printf("    __seen_runs %s; and return 0\n", (*c)->name);
    printf("    return 1\nend\n\n%s\n", fish_script);
    for (const struct command *const *c = commands; *c; c++) {
        printf("complete -c seen -n __seen_first -a %s -d '", (*c)->name);
        put_escaped((*c)->help, "\\", "\\'");
        puts("'");
    }
    for (const struct command *const *c = commands; *c; c++) {
        enum value_kind kind = operands_of(*c);
        if (kind == VALUE_SPEC || kind == VALUE_CHOICES)
            printf("complete -c seen -f -n '__seen_runs %s' -a '%s'\n", (*c)->name,
                   kind == VALUE_SPEC ? "(__seen_in_spec)" : "$__seen_commands");
        for (const struct option_row *row = command_rows(*c); row->name; row++)
            if (shown(row)) fish_option(*c, row);
    }
}

/* -- all shells --------------------------------------------------------------------------- */

bool help_completion_print(const char *shell) {
    static const struct {
        const char *name;
        void (*print)(void);
    } shells[] = {{"bash", bash_print}, {"zsh", zsh_print}, {"fish", fish_print}};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (!strcmp(shells[i].name, shell)) return shells[i].print(), true;
    return false;
}
