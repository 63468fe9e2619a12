/* signals.c - SIGINT, SIGTERM and SIGHUP ask for an orderly end, SIGUSR1 for statistics, SIGUSR2
 * and a timer for the state to be saved, where one is kept; SIGPIPE kills quietly.  Handlers only
 * take notes; a pipe to ourselves wakes a poll that has begun to wait. */
#include "base/signals.h"

#include "base/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t stop, stats, save;
static int wake[2] = {-1, -1};

static void poke(void) {
    ssize_t unused = write(wake[1], "", 1); /* full: awake anyway */
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

/* The first SIGINT restores the default action, so that a second one ends the process at once. */
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
    handle(SIGINT, (int)SA_RESETHAND);
    handle(SIGTERM, (int)SA_RESETHAND);
    handle(SIGHUP, (int)SA_RESETHAND);
    handle(SIGUSR1, 0);
}

int signals_wake(void) { return wake[0]; }

int signals_stop(void) { return stop; }

/* Emptying the pipe must not lose what wakes us for something else. */
static bool taken(volatile sig_atomic_t *flag) {
    char drop[16];
    bool was = *flag;
    while (read(wake[0], drop, sizeof drop) > 0) continue;
    if (was) *flag = 0;
    if (stop || stats || save) poke();
    return was;
}

bool signals_taken_stats(void) { return stats && taken(&stats); }

/* Taken whether or not it is asked for: a child that ended has woken us as well. */
bool signals_taken_save(void) { return taken(&save); }

void signals_watch_state(double every) {
    struct timeval tick = {(time_t)every, (suseconds_t)((every - (double)(time_t)every) * 1e6)};
    handle(SIGUSR2, SA_RESTART);
    handle(SIGALRM, SA_RESTART);
    handle(SIGCHLD, SA_RESTART);
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error like others */
    setitimer(ITIMER_REAL, &(struct itimerval){tick, tick}, NULL);
}

void signals_die(int sig) {
    signal(sig, SIG_DFL);
    raise(sig);
    exit(128 + sig);
}
