/* message.c - what is said on stderr: one sentence at a time, as text or as a JSON object a line,
 * and at most one line in progress. */
#include "base/cli.h"
#include "base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool line_open; /* a transient line stands on the terminal */
static bool as_json;

void message_set_json(bool json) { as_json = json; }

void message_look_for_format(int argc, char **argv) {
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        bool next = !strcmp(argv[i], "--log") && i + 1 < argc && !strcmp(argv[i + 1], "json");
        if (next || !strcmp(argv[i], "--log=json")) as_json = true;
    }
}

static void say_json(const char *level, const char *text, const char *spec, size_t where) {
    fprintf(stderr, "{\"level\":\"%s\",\"message\":", level);
    json_print(text, strlen(text), stderr);
    if (spec) {
        fputs(",\"spec\":", stderr);
        json_print(spec, strlen(spec), stderr);
        fprintf(stderr, ",\"column\":%zu", where);
    }
    fputs("}\n", stderr);
}

/* A text that does not fit into memory of its own is cut. */
static void say(const char *level, const char *format, va_list args) {
    char cut[1024], *text = NULL;
    va_list again;
    va_copy(again, args);
    if (vasprintf(&text, format, args) < 0) {
        vsnprintf(cut, sizeof cut, format, again);
        text = NULL;
    }
    va_end(again);
    message_transient(NULL);
    if (as_json)
        say_json(level, text ? text : cut, NULL, 0);
    else
        fprintf(stderr, "seen: %s\n", text ? text : cut);
    free(text);
}

void die(const char *format, ...) {
    va_list args;
    va_start(args, format);
    say("error", format, args);
    va_end(args);
    exit(EXIT_TROUBLE);
}

void warn(const char *format, ...) {
    va_list args;
    va_start(args, format);
    say("warning", format, args);
    va_end(args);
}

void die_at(const char *spec, size_t where, const char *message) {
    if (!where) die("%s", message);
    message_transient(NULL);
    if (as_json)
        say_json("error", message, spec, where);
    else
        fprintf(stderr, "seen: %s\n  %s\n  %*s^\n", message, spec, (int)where - 1, "");
    exit(EXIT_TROUBLE);
}

const char *file_trouble(int error) {
    switch (error) {
    case ENOENT: return "No such file or directory; check its name and folder";
    case EISDIR: return "Is a directory; name the files in it";
    case EACCES: return "Permission denied; run as a user who may read it";
    default: return strerror(error);
    }
}

void die_both(const char *one, const char *other) {
    die("%s and %s exclude each other: give one of them", one, other);
}

void message_transient(const char *line) {
    if (as_json) return;
    if (line_open) fputs("\r\033[K", stderr);
    if (line) fputs(line, stderr);
    line_open = line != NULL;
    fflush(stderr);
}

void text_tame(char *text) {
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f) *text = '?';
}
