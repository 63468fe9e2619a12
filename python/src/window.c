/* window.c - the type behind seen.Window: one detector, one lock.
 *
 * Batches let go of the GIL.  Each call takes the lock for as long as it works, so a window may be
 * used from several threads: calls happen one after the other, each batch as a whole.  While a
 * thread has the lock it runs no Python code. */
#include "window.h"

#include <string.h>
#include <time.h>

static PyTypeObject *window_type;

/* -- the lock ----------------------------------------------------------------------------- */

void window_take(window *w) {
    if (!pthread_mutex_trylock(&w->lock)) return;
    Py_BEGIN_ALLOW_THREADS;
    pthread_mutex_lock(&w->lock);
    Py_END_ALLOW_THREADS;
}

void window_give(window *w) { pthread_mutex_unlock(&w->lock); }

/* -- making and freeing ------------------------------------------------------------------- */

window *window_alloc(PyTypeObject *type, PyObject *clock) {
    if (clock && clock != Py_None && !PyCallable_Check(clock)) {
        PyErr_SetString(PyExc_TypeError, "clock= is a function that returns seconds since 1970");
        return NULL;
    }
    allocfunc make = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    window *w = (window *)make(type, 0);
    if (!w) return NULL;
    pthread_mutex_init(&w->lock, NULL);
    w->clock = clock && clock != Py_None ? Py_NewRef(clock) : NULL;
    return w;
}

PyObject *window_ready(window *w) {
    struct seen_spec const *spec = seen_spec_of(w->detector);
    w->timed = spec->unit == SEEN_UNIT_MICROSECONDS;
    w->digests = seen_digests(w->detector);
    if (w->clock && !w->timed) {
        Py_DECREF(w);
        PyErr_SetString(PyExc_ValueError,
                        "clock= is for windows of time, and this one counts records");
        return NULL;
    }
    return (PyObject *)w;
}

static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *names) {
    static char *keywords[] = {"spec", "clock", NULL};
    const char *text;
    PyObject *clock = NULL;
    struct seen_error e;
    struct seen_spec spec;
    struct seen_plan plan;
    if (!PyArg_ParseTupleAndKeywords(args, names, "s|$O:Window", keywords, &text, &clock))
        return NULL;
    if (seen_spec_parse(&spec, text, &e) || seen_plan_make(&plan, &spec, &e))
        return engine_raise(&e);
    window *w = window_alloc(type, clock);
    if (!w) return NULL;
    if (seen_new(&w->detector, &plan, NULL, &e)) {
        Py_DECREF(w);
        return engine_raise(&e);
    }
    return window_ready(w);
}

static int traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(((window *)self)->clock);
    Py_VISIT(Py_TYPE(self));
    return 0;
}

static int forget_references(PyObject *self) {
    Py_CLEAR(((window *)self)->clock);
    return 0;
}

static void dealloc(PyObject *self) {
    window *w = (window *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    forget_references(self);
    seen_free(w->detector);
    free(w->blob);
    pthread_mutex_destroy(&w->lock);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

/* -- times -------------------------------------------------------------------------------- */

bool window_now(window *w, seen_time *out) {
    if (!w->clock) {
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        *out = (seen_time)t.tv_sec * 1000000 + (seen_time)t.tv_nsec / 1000;
        return true;
    }
    PyObject *seconds = PyObject_CallObject(w->clock, NULL);
    bool good = seconds && engine_time(seconds, out);
    Py_XDECREF(seconds);
    return good;
}

bool window_may(window *w, char mode) {
    if (!w->timed) {
        if (mode == MODE_CLOCK) return true;
        PyErr_SetString(PyExc_ValueError, "this window counts records: it takes no times");
        return false;
    }
    if (mode == MODE_TIMES && w->clock) {
        PyErr_SetString(PyExc_ValueError, "this window has a clock=: it takes no times");
        return false;
    }
    if (w->mode && w->mode != mode) {
        PyErr_SetString(
            PyExc_ValueError,
            mode == MODE_TIMES
                ? "this window went by the clock so far: give times from the first call on"
                : "this window went by the times that it was given: give times to every "
                  "call");
        return false;
    }
    return true;
}

bool window_query_time(window *w, PyObject *given, seen_time *out) {
    if (given && given != Py_None) {
        if (w->timed) return engine_time(given, out);
        return window_may(w, MODE_TIMES);
    }
    *out = 0;
    if (!w->timed) return true;
    if (w->mode != MODE_TIMES) return window_now(w, out);
    struct seen_stats stats;
    window_take(w);
    seen_stats(w->detector, &stats);
    window_give(w);
    *out = stats.last;
    return true;
}

/* -- one key ------------------------------------------------------------------------------ */

bool window_digest(window *w, PyObject *key, seen_digest digest[SEEN_MAX_DIGESTS]) {
    char digits[24];
    PyObject *held;
    const char *text;
    size_t len;
    struct seen_error e;
    if (!keys_text(key, digits, &held, &text, &len)) {
        Py_XDECREF(held);
        return false;
    }
    int bad = seen_key(w->detector, text, len, digest, &e);
    Py_XDECREF(held);
    if (bad) engine_raise(&e);
    return !bad;
}

static PyObject *add_at(window *w, PyObject *key, PyObject *at) {
    seen_digest digest[SEEN_MAX_DIGESTS];
    seen_time time = 0;
    uint8_t verdict;
    if (!window_digest(w, key, digest)) return NULL;
    if (w->timed || at) {
        char mode = at ? MODE_TIMES : MODE_CLOCK;
        if (!window_may(w, mode) || !(at ? engine_time(at, &time) : window_now(w, &time)))
            return NULL;
        w->mode = mode;
    }
    window_take(w);
    if (w->timed)
        seen_observe_at(w->detector, 1, digest, &time, &verdict);
    else
        seen_observe(w->detector, 1, digest, &verdict);
    window_give(w);
    return PyBool_FromLong(verdict == SEEN_NEW);
}

/* add(key, time=None) */
static PyObject *add(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names) {
    if (n == 1 && !names) return add_at((window *)self, args[0], NULL);
    Py_ssize_t named = names ? PyTuple_Size(names) : 0;
    PyObject *key = n > 0 ? args[0] : NULL, *time = n > 1 ? args[1] : NULL;
    bool good = n <= 2;
    for (Py_ssize_t i = 0; i < named && good; i++) {
        PyObject *name = PyTuple_GetItem(names, i);
        if (!PyUnicode_CompareWithASCIIString(name, "time") && !time)
            time = args[n + i];
        else if (!PyUnicode_CompareWithASCIIString(name, "key") && !key)
            key = args[n + i];
        else
            good = false;
    }
    if (!good || !key) {
        PyErr_SetString(PyExc_TypeError, "add() takes a key, and in windows of time a time=");
        return NULL;
    }
    return add_at((window *)self, key, time == Py_None ? NULL : time);
}

static int contains(PyObject *self, PyObject *key) {
    window *w = (window *)self;
    seen_digest digest[SEEN_MAX_DIGESTS];
    seen_time at;
    uint8_t verdict;
    if (!window_digest(w, key, digest) || !window_query_time(w, NULL, &at)) return -1;
    window_take(w);
    if (w->timed)
        seen_query_at(w->detector, 1, digest, at, 0, &verdict);
    else
        seen_query(w->detector, 1, digest, 0, &verdict);
    window_give(w);
    return verdict != SEEN_NEW;
}

/* age(key, time=None): seconds or records, None if the key is not in the window. */
static PyObject *age(PyObject *self, PyObject *args, PyObject *names) {
    static char *keywords[] = {"key", "time", NULL};
    window *w = (window *)self;
    PyObject *key, *time = NULL;
    seen_digest digest[SEEN_MAX_DIGESTS];
    seen_time at;
    uint64_t found;
    if (!PyArg_ParseTupleAndKeywords(args, names, "O|O:age", keywords, &key, &time)) return NULL;
    if (!window_digest(w, key, digest) || !window_query_time(w, time, &at)) return NULL;
    window_take(w);
    if (w->timed)
        seen_last_seen_at(w->detector, 1, digest, at, &found);
    else
        seen_last_seen(w->detector, 1, digest, &found);
    window_give(w);
    if (found == SEEN_NEVER) Py_RETURN_NONE;
    return w->timed ? PyFloat_FromDouble((double)found / 1e6) : PyLong_FromUnsignedLongLong(found);
}

/* -- the window as a whole ---------------------------------------------------------------- */

static Py_ssize_t length(PyObject *self) {
    struct seen_stats stats;
    window *w = (window *)self;
    window_take(w);
    seen_stats(w->detector, &stats);
    window_give(w);
    return (Py_ssize_t)(stats.stored < PY_SSIZE_T_MAX ? stats.stored : PY_SSIZE_T_MAX);
}

static PyObject *clear(PyObject *self, PyObject *ignored) {
    (void)ignored;
    window_take((window *)self);
    seen_clear(((window *)self)->detector);
    window_give((window *)self);
    Py_RETURN_NONE;
}

static PyObject *landmark(PyObject *self, PyObject *ignored) {
    (void)ignored;
    window_take((window *)self);
    seen_landmark(((window *)self)->detector);
    window_give((window *)self);
    Py_RETURN_NONE;
}

static PyObject *merge(PyObject *self, PyObject *other) {
    window *into = (window *)self, *from = (window *)other;
    struct seen_error e;
    int bad;
    if (!PyObject_TypeCheck(other, window_type)) {
        PyErr_SetString(PyExc_TypeError, "merge() takes another window");
        return NULL;
    }
    if (into == from) Py_RETURN_NONE; /* it has all its keys */
    window *first = into < from ? into : from, *second = into < from ? from : into;
    Py_BEGIN_ALLOW_THREADS;
    pthread_mutex_lock(&first->lock);
    pthread_mutex_lock(&second->lock);
    bad = seen_merge(into->detector, from->detector, &e);
    pthread_mutex_unlock(&second->lock);
    pthread_mutex_unlock(&first->lock);
    Py_END_ALLOW_THREADS;
    if (!bad && !into->mode) into->mode = from->mode;
    if (bad) return engine_raise(&e);
    Py_RETURN_NONE;
}

/* -- what a window says of itself --------------------------------------------------------- */

static PyObject *spec_text(const struct seen_spec *spec) {
    char text[2048];
    seen_spec_print(spec, text, sizeof text);
    return PyUnicode_FromString(text);
}

static PyObject *get_spec(PyObject *self, void *ignored) {
    (void)ignored;
    return spec_text(seen_spec_of(((window *)self)->detector));
}

static PyObject *get_seed(PyObject *self, void *ignored) {
    (void)ignored;
    return PyLong_FromUnsignedLongLong(seen_seed(((window *)self)->detector));
}

static PyObject *get_timed(PyObject *self, void *ignored) {
    (void)ignored;
    return PyBool_FromLong(((window *)self)->timed);
}

static PyObject *get_clock(PyObject *self, void *ignored) {
    (void)ignored;
    window *w = (window *)self;
    return Py_NewRef(w->clock ? w->clock : Py_None);
}

static PyObject *get_mode(PyObject *self, void *ignored) {
    (void)ignored;
    return PyLong_FromLong(((window *)self)->mode);
}

static PyObject *get_blob(PyObject *self, void *ignored) {
    (void)ignored;
    window *w = (window *)self;
    return PyBytes_FromStringAndSize(w->blob, (Py_ssize_t)w->blob_len);
}

static PyObject *size_of(PyObject *self, PyObject *ignored) {
    (void)ignored;
    struct seen_stats s;
    window *w = (window *)self;
    window_take(w);
    seen_stats(w->detector, &s);
    window_give(w);
    return PyLong_FromUnsignedLongLong(s.bytes + sizeof *w + w->blob_len);
}

/* -- the type ----------------------------------------------------------------------------- */

static PyMethodDef methods[] = {
    {"add", (PyCFunction)(void (*)(void))add, METH_FASTCALL | METH_KEYWORDS,
     "add($self, key, time=None)\n--\n\n"
     "Adds a key (bytes, str or int). Returns True if it is new, False if it came before in the\n"
     "window. A window of time takes `time` (seconds since 1970, or a datetime with a zone), or "
     "else\n"
     "its clock. Raises TypeError for keys of other types, ValueError for times that do not fit."},
    {"age", (PyCFunction)(void (*)(void))age, METH_VARARGS | METH_KEYWORDS,
     "age($self, key, time=None)\n--\n\n"
     "How long ago a key was last seen: seconds (float) in windows of time, else records (1: the\n"
     "previous record). None: it is not in the window."},
    {"clear", clear, METH_NOARGS,
     "clear($self)\n--\n\nForgets all keys and resets the counters of stats()."},
    {"landmark", landmark, METH_NOARGS,
     "landmark($self)\n--\n\nForgets all keys, at constant cost; counters go on."},
    {"merge", merge, METH_O,
     "merge($self, other)\n--\n\n"
     "Adds the keys of another window with the same resolved spec, seed included. Raises "
     "ValueError if\n"
     "the specs differ or the structure cannot merge."},
    {"__bytes__", window_dump, METH_NOARGS, "__bytes__($self)\n--\n\nThe snapshot of this window."},
    {"__sizeof__", size_of, METH_NOARGS,
     "__sizeof__($self)\n--\n\nBytes of memory, the engine's included."},
    {"_batch", window_batch, METH_VARARGS, NULL},
    {"_stats", window_stats, METH_NOARGS, NULL},
    {"_save", window_save, METH_O, NULL},
    {"_claim", window_claim, METH_VARARGS, NULL},
    {"_ack", window_ack, METH_VARARGS, NULL},
    {"_claims", window_claims_stats, METH_NOARGS, NULL},
    {"_load", window_load, METH_VARARGS | METH_CLASS, NULL},
    {0}};

static PyGetSetDef properties[] = {
    {"spec", get_spec, NULL, "The resolved spec: every option has a value, the seed included.",
     NULL},
    {"seed", get_seed, NULL, "The seed of the hash.", NULL},
    {"timed", get_timed, NULL, "Whether this is a window of time.", NULL},
    {"clock", get_clock, NULL, "The function given as clock=, or None.", NULL},
    {"blob", get_blob, NULL,
     "Bytes that another program keeps in the snapshot, such as seen --state.", NULL},
    {"_mode", get_mode, NULL, NULL, NULL},
    {0}};

static PyType_Slot slots[] = {{Py_tp_new, (void *)make},
                              {Py_tp_dealloc, (void *)dealloc},
                              {Py_tp_traverse, (void *)traverse},
                              {Py_tp_clear, (void *)forget_references},
                              {Py_tp_methods, methods},
                              {Py_tp_getset, properties},
                              {Py_sq_contains, (void *)contains},
                              {Py_sq_length, (void *)length},
                              {0, NULL}};

static PyType_Spec type_spec = {"seen._engine.Window", sizeof(window), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                                slots};

int window_register(PyObject *module) {
    window_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &type_spec, NULL);
    if (!window_type) return -1;
    return PyModule_AddObjectRef(module, "Window", (PyObject *)window_type);
}
