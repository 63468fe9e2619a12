/* signals.c - SIGINT, SIGTERM and SIGHUP ask for an orderly end, SIGUSR1 for statistics, SIGPIPE
 * kills quietly.  Handlers only take notes; a pipe to ourselves wakes a poll that has begun to
 * wait. */
#include "signals.h"

#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static volatile sig_atomic_t stop, stats;
static int wake[2] = {-1, -1};

static void note(int sig) {
    int saved = errno;
    if (sig == SIGUSR1)
        stats = 1;
    else
        stop = sig;
    ssize_t unused = write(wake[1], "", 1); /* full: awake anyway */
    (void)unused;
    errno = saved;
}

/* A second SIGINT finds the default action: whoever is in a hurry is not made to wait. */
static void handle(int sig, int flags) {
    struct sigaction old, new = {.sa_handler = note, .sa_flags = flags};
    if (!sigaction(sig, NULL, &old) && old.sa_handler == SIG_IGN) return; /* nohup, cmd & */
    sigaction(sig, &new, NULL);
}

void signals_init(void) {
    if (wake[0] >= 0) return;
    if (pipe(wake)) die("cannot make a pipe for signals");
    for (int i = 0; i < 2; i++) {
        fcntl(wake[i], F_SETFL, O_NONBLOCK);
        fcntl(wake[i], F_SETFD, FD_CLOEXEC);
    }
    signal(SIGPIPE, SIG_DFL);
    handle(SIGINT, (int)SA_RESETHAND);
    handle(SIGTERM, (int)SA_RESETHAND);
    handle(SIGHUP, (int)SA_RESETHAND);
    handle(SIGUSR1, 0);
}

int signals_wake(void) { return wake[0]; }

int signals_stop(void) { return stop; }

bool signals_taken_stats(void) {
    char drop[16];
    if (!stats) return false;
    while (read(wake[0], drop, sizeof drop) > 0) continue;
    stats = 0;
    return true;
}

void signals_die(int sig) {
    signal(sig, SIG_DFL);
    raise(sig);
    exit(128 + sig);
}
