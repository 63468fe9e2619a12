/* message.c - what is said on stderr: one sentence at a time, and at most one line in progress. */
#include "cli.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static bool line_open; /* a transient line stands on the terminal */

static void say(const char *format, va_list args) {
    char text[1024];
    vsnprintf(text, sizeof text, format, args);
    message_transient(NULL);
    fprintf(stderr, "seen: %s\n", text);
}

void die(const char *format, ...) {
    va_list args;
    va_start(args, format);
    say(format, args);
    va_end(args);
    exit(EXIT_TROUBLE);
}

void warn(const char *format, ...) {
    va_list args;
    va_start(args, format);
    say(format, args);
    va_end(args);
}

void die_both(const char *one, const char *other) {
    die("%s and %s exclude each other: give one of them", one, other);
}

void message_transient(const char *line) {
    if (line_open) fputs("\r\033[K", stderr);
    if (line) fputs(line, stderr);
    line_open = line != NULL;
    fflush(stderr);
}
