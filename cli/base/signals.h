/* signals.h - what was asked of us from outside, noted by a handler and done by the main loop. */
#ifndef SEEN_SIGNALS_H
#define SEEN_SIGNALS_H

#include <stdbool.h>

void signals_init(void);

/* A descriptor that is readable once a signal has come: poll it beside the input, so that none is
 * slept through.  signals_taken() empties it. */
int signals_wake(void);

int signals_stop(void);         /* the signal that asks us to end, or 0 */
bool signals_taken_stats(void); /* SIGUSR1 has come since the last call */

/* SIGUSR2, and a timer of `every` seconds (0: none), ask that the state be saved. */
void signals_watch_state(double every);
bool signals_taken_save(void); /* it was asked for since the last call */

/* Ends the process as that signal does by default. */
_Noreturn void signals_die(int sig);

#endif
