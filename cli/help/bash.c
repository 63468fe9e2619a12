/* bash.c - completion for bash, without the bash-completion package: it need not be installed. */
#include "help/completion.h"

#include <stdio.h>

/* The word at the cursor is read from the line, since readline cuts its own at = and :, and takes a
 * quoted spec for one word; what is proposed is cut to what readline replaces ($2). */
static const char script[] =
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

static const char *const kinds[] = {
    [VALUE_NONE] = "@none", [VALUE_ANY] = "@any",   [VALUE_CHOICES] = "@command",
    [VALUE_FILE] = "@file", [VALUE_SPEC] = "@spec", [VALUE_ZONE] = "@zone"};

static void put_takes(const struct command *c, const struct option_row *row) {
    struct value v = value_of(row);
    if (v.kind == VALUE_NONE) return;
    printf("    ");
    if (row->letter) printf("'%s -%c' | ", c->name, row->letter);
    printf("'%s --%s') echo '%s%s' ;;\n", c->name, row->name, v.optional ? "?" : "",
           v.kind == VALUE_CHOICES ? v.words : kinds[v.kind]);
}

/* What may be left out is proposed with and without. */
static void put_option(const struct option_row *row) {
    struct value v = value_of(row);
    if (row->letter) printf("-%c ", row->letter);
    printf("--%s ", row->name);
    if (v.optional) printf("--%s= ", row->name);
}

void bash_print(void) {
    puts("# Completes seen in bash.  Written by: seen help --completion bash");
    printf("_seen_commands='");
    completion_put_commands();
    printf("'\n_seen_spec='%s'\n\n_seen_options() {\n    case $1 in\n", value_spec_words());
    for (const struct command *const *c = commands; *c; c++) {
        printf("    %s) echo '", (*c)->name);
        for (const struct option_row *row = (*c)->rows(); row->name; row++)
            if (completion_shown(row)) put_option(row);
        puts("' ;;");
    }
    puts("    esac\n}\n\n_seen_takes() {\n    case $1 in");
    for (const struct command *const *c = commands; *c; c++)
        for (const struct option_row *row = (*c)->rows(); row->name; row++)
            if (completion_shown(row)) put_takes(*c, row);
    puts("    esac\n}\n\n_seen_operands() {\n    case $1 in");
    for (const struct command *const *c = commands; *c; c++)
        printf("    %s) echo %s ;;\n", (*c)->name, kinds[completion_operands(*c)]);
    printf("    esac\n}\n\n%s", script);
}
