/* man.c - prints manual pages in man(7): one for `seen`, and one for each subcommand. */
#include "help/help.h"

#include "judge/window_options.h"
#include "seen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LINE = 66 }; /* bytes of prose in a line of source; escapes make it longer */

/* -- roff --------------------------------------------------------------------------------- */

/* The escapes of characters that roff would take as commands, or print as other characters. */
static const char *roff_of(char c) {
    switch (c) {
    case '\\': return "\\e";
    case '-': return "\\-";
    case '^': return "\\(ha";
    case '~': return "\\(ti";
    case '\'': return "\\(aq";
    case '`': return "\\(ga";
    default: return NULL;
    }
}

static void put_char(char c) {
    const char *roff = roff_of(c);
    if (roff)
        fputs(roff, stdout);
    else
        putchar(c);
}

/* Prints text.  A dot at the start of a line is escaped, because it would begin a request. */
static void put_text(const char *text) {
    if (*text == '.') fputs("\\&", stdout);
    for (; *text; text++) put_char(*text);
}

/* Prints prose (struct command): paragraphs, `code` in bold, each sentence in a new line. */
static void put_prose(const char *text) {
    bool bold = false, stop = false;
    const char *line = text;
    for (; *text; text++) {
        if (*text == '\n') {
            text += strspn(text, "\n") - 1;
            fputs("\n.PP\n", stdout);
            line = text + 1;
        } else if (*text == '`') {
            bold = !bold;
            fputs(bold ? "\\fB" : "\\fR", stdout);
        } else if (*text == ' ' && (stop || text + 1 + strcspn(text + 1, " ") > line + LINE)) {
            putchar('\n');
            line = text + 1;
        } else {
            put_char(*text);
        }
        stop = strchr(".?", *text) && text[1] == ' ' && text[2] >= 'A' && text[2] <= 'Z';
    }
    putchar('\n');
}

/* -- sections ----------------------------------------------------------------------------- */

/* Prints the title with the day of the build, or of SOURCE_DATE_EPOCH, which makes builds
 * repeat. */
static void put_title(const char *page) {
    char day[32];
    const char *fixed = getenv("SOURCE_DATE_EPOCH");
    time_t now = fixed ? (time_t)strtoll(fixed, NULL, 10) : time(NULL);
    struct tm tm = {0};
    gmtime_r(&now, &tm);
    strftime(day, sizeof day, "%Y-%m-%d", &tm);
    fputs(".TH ", stdout);
    for (; *page; page++) putchar(*page >= 'a' && *page <= 'z' ? *page - 'a' + 'A' : *page);
    printf(" 1 %s \"seen " SEEN_VERSION "\" \"User Commands\"\n", day);
}

static void put_examples(const struct command *c) {
    puts(".SH EXAMPLES");
    for (const struct example *e = c->examples; e->line; e++) {
        puts(".TP");
        printf(".B ");
        put_text(e->line);
        putchar('\n');
        put_text(e->what);
        putchar('\n');
    }
}

/* Prints a row as an option, or as the name=value of a spec. */
static void put_option(const struct option_row *row, bool in_spec) {
    puts(".TP");
    if (row->letter) printf("\\fB\\-%c\\fR, ", row->letter);
    fputs(in_spec ? "\\fB" : "\\fB\\-\\-", stdout);
    put_text(row->name);
    fputs(in_spec ? "=\\fR" : "\\fR", stdout);
    if (row->arg) {
        if (!in_spec && row->arg[0] != '[') putchar(' ');
        fputs("\\fI", stdout);
        put_text(row->arg);
        fputs("\\fR", stdout);
    }
    putchar('\n');
    put_text(row->help);
    putchar('\n');
}

static void put_options(const struct option_row *row, bool in_spec) {
    for (; row->name; row++) {
        if (row->id == 0) {
            fputs(".SS ", stdout);
            put_text(row->name);
            putchar('\n');
        } else if (row->help) {
            put_option(row, in_spec);
        }
    }
}

static void put_spec(const struct command *c) {
    const char *name;
    if (!help_spec(c)) return;
    puts(".SH SPEC");
    puts(".nf");
    for (const char *text = window_grammar; *text; text++) {
        if (*text == '.') fputs("\\&", stdout);
        put_char(*text);
    }
    puts("\n.fi");
    puts(".PP");
    put_prose("A landmark window begins again at each N-th record, or at each boundary of the span "
              "in UTC. A jumping window reaches back N records, or the span, and up to 1/Q more; "
              "a sliding one a little more. A decaying window reaches as far back as its memory.");
    puts(".PP\nStructures that \\fBfilter=\\fR may name:");
    for (size_t i = 0; (name = seen_filter_name(i)); i++) {
        fputs(i ? ",\n" : "", stdout);
        put_text(name);
    }
    puts(".");
    if (help_spec(c) == SPEC_ALONE) put_options(window_engine_rows, true);
    if (help_spec(c) == SPEC_AND_OPTIONS)
        puts("The names of NAME=VALUE are the options under \\(lqThe same as in SPEC\\(rq,\n"
             "without their dashes.");
}

static void put_exit_status(const struct command *c) {
    puts(".SH EXIT STATUS");
    for (const struct exit_row *row = NULL; (row = exits_next(row, c));) {
        printf(".TP\n.B %d\n", row->code);
        put_prose(row->text);
    }
}

static void put_environment(const struct command *c) {
    if (c && !help_has_option(c, "zone")) return;
    puts(".SH ENVIRONMENT\n.TP\n.B TZDIR\nThe folder of time zones, for \\fB\\-\\-zone\\fR, "
         "instead of "
         "/usr/share/zoneinfo.");
}

static void put_see_also(const struct command *self) {
    fputs(".SH SEE ALSO\n", stdout);
    if (self) puts(".BR seen (1),");
    for (const struct command *const *c = commands; *c; c++) {
        if (*c == self) continue;
        bool last = !c[1] || (c[1] == self && !c[2]);
        printf(".BR seen\\-%s (1)%s\n", (*c)->name, last ? "" : ",");
    }
    puts(".PP\nA guide with recipes, and documents on formats, times and verdicts, stand in the\n"
         "folder share/doc/seen of the installation.");
}

/* -- pages -------------------------------------------------------------------------------- */

static void put_command(const struct command *c) {
    char page[64];
    snprintf(page, sizeof page, "seen-%s", c->name);
    put_title(page);
    printf(".SH NAME\nseen\\-%s \\- ", c->name);
    put_text(c->help);
    puts("\n.SH SYNOPSIS");
    printf(".B seen %s%s%s\n", c == commands[0] ? "[" : "", c->name, c == commands[0] ? "]" : "");
    put_text(c->usage);
    puts("\n.SH DESCRIPTION");
    put_prose(c->about);
    puts(".SH OPTIONS");
    put_options(command_rows(c), false);
    put_spec(c);
    put_exit_status(c);
    put_environment(c);
    put_examples(c);
    put_see_also(c);
}

static void put_overview(void) {
    const struct command *first = commands[0];
    put_title("seen");
    puts(".SH NAME\nseen \\- find duplicates in streams, in a fixed amount of memory\n"
         ".SH SYNOPSIS\n.B seen\n[COMMAND] [OPTION]... [FILE]...\n.SH DESCRIPTION");
    put_prose("Answers for each record of an endless stream whether it was seen before: over the "
              "window that matters, in a fixed amount of memory, with a stated rate of errors. "
              "Without a COMMAND it prints the records not seen before.");
    puts(".SH COMMANDS");
    for (const struct command *const *c = commands; *c; c++) {
        printf(".TP\n.BR seen\\-%s (1)\n", (*c)->name);
        put_text((*c)->help);
        putchar('\n');
    }
    printf(".PP\n\\fBseen COMMAND \\-\\-help\\fR is short, \\fB\\-\\-help=all\\fR complete.\n"
           "\\fBseen \\-\\-version\\fR prints the version.\n");
    put_exit_status(NULL);
    put_environment(NULL);
    put_examples(first);
    put_see_also(NULL);
}

void help_man_print(const struct command *c) {
    if (c)
        put_command(c);
    else
        put_overview();
}
