/* cli.c - what every subcommand shares: its table of options, messages on stderr, and signals. */
#include "base/cli.h"

#include "base/text.h"
#include "seen.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

/* -- tables -------------------------------------------------------------------------------- */

enum { MAX_ROWS = 192 };

const struct option_row help_rows[] = {
    {"Help and messages", 0, NULL, NULL, 0},
    {"help", 'h', "[=all]", "a short help; all: every option", OPTION_HELP},
    {"log", 0, "text|json", "messages as sentences, or as a JSON object a line", OPTION_LOG},
    {"version", 'V', NULL, "the version", OPTION_VERSION},
    {0},
};

/* The rows of the subcommand that command_rows was last called for, and the group of each. */
static struct option_row table[MAX_ROWS + 1];
static const struct option_group *group_of[MAX_ROWS];

const struct option_row *command_rows(const struct command *c) {
    static const struct command *listed;
    size_t n = 0, same;
    if (c == listed) return table;
    for (const struct option_group *g = c->groups; g->rows; g++) {
        for (const struct option_row *row = g->rows; row->name && n < MAX_ROWS; row++) {
            for (same = 0; same < n && strcmp(table[same].name, row->name) != 0;) same++;
            if (same < n && row->id) continue;
            group_of[n] = g;
            table[n++] = *row;
        }
    }
    table[n] = (struct option_row){0};
    listed = c;
    return table;
}

const struct option_group *command_group(const struct option_row *row) {
    return group_of[row - table];
}

/* -- values -------------------------------------------------------------------------------- */

void value_append(char *buf, size_t cap, const char *format, ...) {
    va_list args;
    size_t used = strlen(buf);
    va_start(args, format);
    vsnprintf(buf + used, cap - used, format, args);
    va_end(args);
}

/* Reads "a|b|c" as the words a, b and c.  A word in capitals stands for any value. */
static enum value_kind read_choices(struct option_value *v, const char *arg) {
    value_append(v->words, sizeof v->words, "%.*s", (int)strcspn(arg, "]"), arg);
    for (char *p = v->words; *p; p++) {
        if (*p >= 'A' && *p <= 'Z') return v->words[0] = '\0', VALUE_ANY;
        if (*p == '|') *p = ' ';
    }
    return v->optional || strchr(v->words, ' ') ? VALUE_CHOICES : VALUE_ANY;
}

struct option_value option_value_of(const struct option_row *row) {
    static const struct {
        const char *arg;
        enum value_kind kind;
    } known[] = {{"FILE", VALUE_FILE},
                 {"SPEC", VALUE_SPEC},
                 {"ZONE", VALUE_ZONE},
                 {"FILTER", VALUE_CHOICES}};
    struct option_value v = {.kind = VALUE_NONE};
    if (!row->arg) return v;
    v.optional = row->arg[0] == '[';
    const char *arg = row->arg + 2 * v.optional, *name; /* behind [= */
    size_t n = strcspn(arg, "]");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i].arg) == n && !strncmp(known[i].arg, arg, n)) v.kind = known[i].kind;
    if (v.kind == VALUE_NONE) {
        v.kind = read_choices(&v, arg);
    } else if (v.kind == VALUE_CHOICES) {
        for (size_t i = 0; (name = seen_filter_name(i)); i++)
            value_append(v.words, sizeof v.words, "%s%s", i ? " " : "", name);
    }
    return v;
}

static uint64_t read_value(int parse(const char *, uint64_t *, struct seen_error *),
                           const char *name, const char *value) {
    struct seen_error e;
    uint64_t n;
    if (parse(value, &n, &e)) die("%s %s: %s", name, value, e.text);
    return n;
}

uint64_t option_count(const char *name, const char *value) {
    return read_value(seen_parse_count, name, value);
}

uint64_t option_size(const char *name, const char *value) {
    return read_value(seen_parse_size, name, value);
}

uint64_t option_span(const char *name, const char *value) {
    return read_value(seen_parse_span, name, value);
}

bool option_is_json(const char *value) { return value && !strcmp(value, "json"); }

/* -- suggestions -------------------------------------------------------------------------- */

const char *nearest_name(const char *word, const char *(*next)(void *ctx), void *ctx) {
    const char *best = NULL, *name;
    size_t least = SIZE_MAX;
    while ((name = next(ctx))) {
        size_t d = seen_slip(word, strlen(word), name);
        if (d < least) best = name, least = d;
    }
    return best;
}

/* -- messages ---------------------------------------------------------------------------------- */

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

/* Prints one message.  If memory is short, the text is cut. */
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

/* -- signals ----------------------------------------------------------------------------------- */

/* SIGINT, SIGTERM and SIGHUP ask for an orderly end, SIGUSR1 for statistics, SIGUSR2 and a timer
 * for the state to be saved.  The handler only takes a note and makes a pipe readable. */
static volatile sig_atomic_t stop, stats, save;
static int wake[2] = {-1, -1};

/* Makes the pipe readable, which ends a poll that waits. */
static void poke(void) {
    ssize_t unused = write(wake[1], "", 1); /* a full pipe is readable already */
    (void)unused;
}

static void note(int sig) {
    int saved = errno;
    if (sig == SIGUSR1)
        stats = 1;
    else if (sig == SIGUSR2 || sig == SIGALRM)
        save = 1;
    else if (sig != SIGCHLD)
        stop = sig;
    poke();
    errno = saved;
}

/* Calls `note` for this signal, unless the process was started with the signal ignored. */
static void handle(int sig, int flags) {
    struct sigaction old, new = {.sa_handler = note, .sa_flags = flags};
    if (!sigaction(sig, NULL, &old) && old.sa_handler == SIG_IGN) return; /* nohup, cmd & */
    sigaction(sig, &new, NULL);
}

void signals_init(void) {
    if (wake[0] >= 0) return;
    if (pipe(wake)) die("cannot make a pipe for signals: %s", strerror(errno));
    for (int i = 0; i < 2; i++) {
        fcntl(wake[i], F_SETFL, O_NONBLOCK);
        fcntl(wake[i], F_SETFD, FD_CLOEXEC);
    }
    signal(SIGPIPE, SIG_DFL);
    /* The first signal restores the default action, so that a second one ends the process. */
    handle(SIGINT, (int)SA_RESETHAND);
    handle(SIGTERM, (int)SA_RESETHAND);
    handle(SIGHUP, (int)SA_RESETHAND);
    handle(SIGUSR1, 0);
}

int signals_wake(void) { return wake[0]; }

int signals_stop(void) { return stop; }

/* Takes one note and empties the pipe.  Notes that remain make the pipe readable again. */
static bool taken(volatile sig_atomic_t *flag) {
    char drop[16];
    bool was = *flag;
    while (read(wake[0], drop, sizeof drop) > 0) continue;
    if (was) *flag = 0;
    if (stop || stats || save) poke();
    return was;
}

bool signals_taken_stats(void) { return stats && taken(&stats); }

/* Empties the pipe even if no save was asked for, because the end of a child also wakes us. */
bool signals_taken_save(void) { return taken(&save); }

void signals_watch_state(double every) {
    struct timeval tick = {(time_t)every, (suseconds_t)((every - (double)(time_t)every) * 1e6)};
    handle(SIGUSR2, SA_RESTART);
    handle(SIGALRM, SA_RESTART);
    handle(SIGCHLD, SA_RESTART);
    signal(SIGXFSZ, SIG_IGN); /* write() then fails with EFBIG when a file may not grow */
    setitimer(ITIMER_REAL, &(struct itimerval){tick, tick}, NULL);
}

void signals_die(int sig) {
    signal(sig, SIG_DFL);
    raise(sig);
    exit(128 + sig);
}
