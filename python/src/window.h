/* window.h - the type behind seen.Window, shared by the files that have its methods. */
#ifndef WINDOW_H
#define WINDOW_H

#include "engine.h"

#include <pthread.h>

enum mode { MODE_UNSET, MODE_CLOCK, MODE_TIMES };

typedef struct {
    PyObject_HEAD seen_detector *detector;
    pthread_mutex_t lock;
    PyObject *clock; /* a callable, or NULL: the system's clock */
    char *blob;      /* the application's bytes in the snapshot that was loaded */
    size_t blob_len;
    uint32_t digests;
    char timed, mode;
} window;

/* Takes the lock, without the GIL if it has to wait; gives it back.  Who has it runs no Python. */
void window_take(window *);
void window_give(window *);

/* An empty object without a detector, and the object once it has one (NULL: raised, and freed). */
window *window_alloc(PyTypeObject *, PyObject *clock);
PyObject *window_ready(window *);

/* The digests of a key.  Returns false and raises. */
bool window_digest(window *, PyObject *key, seen_digest digest[SEEN_MAX_DIGESTS]);

/* The clock's time in microseconds.  Returns false and raises. */
bool window_now(window *, seen_time *out);

/* Whether a window may take its times from here; the caller sets `mode` when it does.  One window
 * has its times from one place: mixed ones would run backwards unnoticed. */
bool window_may(window *, char mode);

/* The time of a query: the one given, else the clock's, or the newest time that was given. */
bool window_query_time(window *, PyObject *given, seen_time *out);

/* Methods, for the table in window.c. */
PyObject *window_batch(PyObject *, PyObject *args);
PyObject *window_stats(PyObject *, PyObject *ignored);
PyObject *window_dump(PyObject *, PyObject *ignored);
PyObject *window_save(PyObject *, PyObject *fd);
PyObject *window_load(PyObject *type, PyObject *args);
PyObject *window_claim(PyObject *, PyObject *args);
PyObject *window_ack(PyObject *, PyObject *args);
PyObject *window_claims_stats(PyObject *, PyObject *ignored);

#endif
