/* claims.c - claims of a window: a key is reserved while it is worked on. */
#include "window.h"

#include <string.h>

/* A claim goes by the window's clock or times; windows of records have the system's clock. */
static bool claim_time(window *w, PyObject *given, seen_time *out) {
    if (!seen_spec_get_count(seen_spec_of(w->detector), "claims")) {
        PyErr_SetString(PyExc_ValueError,
                        "this window keeps no claims: add claims=N to its spec, for "
                        "at most N open claims");
        return false;
    }
    char mode = given == Py_None ? MODE_CLOCK : MODE_TIMES;
    if (w->timed && !window_may(w, mode)) return false;
    if (!(mode == MODE_TIMES ? engine_time(given, out) : window_now(w, out))) return false;
    if (w->timed) w->mode = mode;
    return true;
}

/* _claim(key, lease, time) -> (answer, number): new and its token, pending and the microseconds
 * that are left, or seen */
PyObject *window_claim(PyObject *self, PyObject *args) {
    window *w = (window *)self;
    PyObject *key, *given;
    unsigned long long lease;
    seen_digest digest[SEEN_MAX_DIGESTS];
    seen_time at;
    uint64_t number;
    struct seen_error e;
    if (!PyArg_ParseTuple(args, "OKO:_claim", &key, &lease, &given)) return NULL;
    if (!window_digest(w, key, digest) || !claim_time(w, given, &at)) return NULL;
    window_take(w);
    int answer = seen_claim(w->detector, digest, at, lease, &number, &e);
    window_give(w);
    if (answer < 0) return engine_raise(&e);
    return Py_BuildValue("(iK)", answer, (unsigned long long)number);
}

/* _ack(key, token, time, done) -> whether the claim lasted until now */
PyObject *window_ack(PyObject *self, PyObject *args) {
    window *w = (window *)self;
    PyObject *key, *given;
    unsigned long long token;
    int done;
    seen_digest digest[SEEN_MAX_DIGESTS];
    seen_time at;
    struct seen_error e;
    if (!PyArg_ParseTuple(args, "OKOp:_ack", &key, &token, &given, &done)) return NULL;
    if (!window_digest(w, key, digest) || !claim_time(w, given, &at)) return NULL;
    window_take(w);
    int ended = done ? seen_ack(w->detector, digest, at, token, &e)
                     : seen_nack(w->detector, digest, at, token);
    window_give(w);
    if (ended < 0) return engine_raise(&e);
    return PyBool_FromLong(ended);
}

/* _claims() -> (most, held, claimed, again, acked, nacked, dropped, bytes) */
PyObject *window_claims_stats(PyObject *self, PyObject *ignored) {
    (void)ignored;
    window *w = (window *)self;
    struct seen_claims_stats s;
    window_take(w);
    seen_claims_stats(w->detector, &s);
    window_give(w);
    return Py_BuildValue("(KKKKKKKK)", (unsigned long long)s.most, (unsigned long long)s.held,
                         (unsigned long long)s.claimed, (unsigned long long)s.again,
                         (unsigned long long)s.acked, (unsigned long long)s.nacked,
                         (unsigned long long)s.dropped, (unsigned long long)s.bytes);
}
