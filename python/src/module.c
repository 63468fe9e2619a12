/* module.c - seen._engine: errors, times, plans, hashes.  window.c and sketches.c have types. */
#include "engine.h"

#include <math.h>
#include <string.h>

PyObject *engine_format_error;
static PyObject *scalar_time; /* seen._times.scalar, once it was needed */

/* -- errors ------------------------------------------------------------------------------- */

PyObject *engine_raise(const struct seen_error *e) {
    PyObject *type = PyExc_ValueError;
    if (e->code == SEEN_ENOMEM) type = PyExc_MemoryError;
    if (e->code == SEEN_EFORMAT) type = engine_format_error;
    if (e->code == SEEN_EIO) type = PyExc_OSError;
    PyErr_SetString(type, e->text);
    return NULL;
}

/* -- times -------------------------------------------------------------------------------- */

#define MAX_SECONDS 1e11 /* the year 5138: later ones are in other units */

static bool from_seconds(double s, seen_time *out) {
    if (!(s >= 0) || s >= MAX_SECONDS) {
        PyObject *number = PyFloat_FromDouble(s);
        if (number)
            PyErr_Format(PyExc_ValueError, "a time is seconds since 1970, and %R is %s", number,
                         s >= MAX_SECONDS ? "beyond the year 5138: divide milliseconds by 1000"
                         : s < 0          ? "before 1970"
                                          : "none");
        Py_XDECREF(number);
        return false;
    }
    *out = (seen_time)llround(s * 1e6);
    return true;
}

bool engine_time(PyObject *object, seen_time *out) {
    if (PyFloat_Check(object)) return from_seconds(PyFloat_AsDouble(object), out);
    if (PyLong_Check(object) && !PyBool_Check(object)) {
        double s = PyLong_AsDouble(object);
        return !(s == -1 && PyErr_Occurred()) && from_seconds(s, out);
    }
    if (!scalar_time) {
        PyObject *module = PyImport_ImportModule("seen._times");
        scalar_time = module ? PyObject_GetAttrString(module, "scalar") : NULL;
        Py_XDECREF(module);
    }
    PyObject *us = scalar_time ? PyObject_CallFunctionObjArgs(scalar_time, object, NULL) : NULL;
    if (us) *out = PyLong_AsUnsignedLongLong(us);
    Py_XDECREF(us);
    return us && !PyErr_Occurred();
}

bool engine_times(PyObject *object, size_t n, Py_buffer *view) {
    if (PyObject_GetBuffer(object, view, PyBUF_SIMPLE)) return false;
    if ((size_t)view->len == n * sizeof(seen_time)) return true;
    PyErr_Format(PyExc_ValueError, "there are %zu keys and %zu times", n,
                 (size_t)view->len / sizeof(seen_time));
    return false;
}

/* -- bytes -------------------------------------------------------------------------------- */

int engine_write(void *ctx, const void *buf, size_t len) {
    struct engine_bytes *b = ctx;
    if (len > b->cap - b->len) {
        size_t cap = b->cap ? b->cap : 4096;
        while (cap - b->len < len) cap += cap;
        char *text = realloc(b->text, cap);
        if (!text) return -1;
        b->text = text;
        b->cap = cap;
    }
    memcpy(b->text + b->len, buf, len);
    b->len += len;
    return 0;
}

int engine_read(void *ctx, void *buf, size_t len) {
    struct engine_source *s = ctx;
    if ((size_t)(s->end - s->at) < len) return -1;
    memcpy(buf, s->at, len);
    s->at += len;
    return 0;
}

/* -- plans -------------------------------------------------------------------------------- */

static PyObject *spec_text(const struct seen_spec *spec) {
    char text[2048];
    seen_spec_print(spec, text, sizeof text);
    return PyUnicode_FromString(text);
}

static PyObject *traits_of(uint32_t traits) {
    static const char *const names[] = {"no_fn", "no_fp",      "deletable",  "mergeable",
                                        "grows", "any_digest", "on_request", "no_ages"};
    PyObject *out = PyList_New(0);
    for (size_t i = 0; out && i < sizeof names / sizeof *names; i++) {
        if (!(traits >> i & 1)) continue;
        PyObject *name = PyUnicode_FromString(names[i]);
        if (!name || PyList_Append(out, name)) Py_CLEAR(out);
        Py_XDECREF(name);
    }
    return out;
}

/* (spec, window, filter, bytes, capacity, fp_full, fp_mean, fn, slack, touches, traits, reason) */
static PyObject *plan_row(const struct seen_plan *p) {
    return Py_BuildValue("(NssKKdddddNs)", spec_text(&p->spec), p->window, p->filter,
                         (unsigned long long)p->bytes, (unsigned long long)p->capacity, p->fp_full,
                         p->fp_mean, p->fn, p->slack, p->touches, traits_of(p->traits), p->reason);
}

/* _plan(spec, all) -> a row, or a list of rows with the chosen one first */
static PyObject *plan(PyObject *self, PyObject *args) {
    (void)self;
    enum { MOST = 64 };
    const char *text;
    int all;
    struct seen_error e;
    struct seen_spec spec;
    if (!PyArg_ParseTuple(args, "sp:_plan", &text, &all)) return NULL;
    struct seen_plan *plans = PyMem_Calloc(MOST, sizeof *plans);
    if (!plans) return PyErr_NoMemory();
    int n = seen_spec_parse(&spec, text, &e);
    if (!n) n = all ? seen_plan_all(&spec, plans, MOST, &e) : seen_plan_make(plans, &spec, &e);
    PyObject *out = NULL;
    if (n < 0) {
        engine_raise(&e);
    } else if (!all) {
        out = plan_row(plans);
    } else {
        out = PyList_New(0);
        for (int i = 0; out && i < n; i++) {
            PyObject *row = plan_row(plans + i);
            if (!row || PyList_Append(out, row)) Py_CLEAR(out);
            Py_XDECREF(row);
        }
    }
    PyMem_Free(plans);
    return out;
}

/* _window(spec) -> (window, unit, length, subwindows, refresh=first) */
static PyObject *window_of(PyObject *self, PyObject *text) {
    (void)self;
    static const char *const windows[] = {"", "landmark", "jumping", "sliding", "decaying"};
    struct seen_error e;
    struct seen_spec spec;
    const char *utf8 = PyUnicode_AsUTF8AndSize(text, NULL);
    if (!utf8) return NULL;
    if (seen_spec_parse(&spec, utf8, &e)) return engine_raise(&e);
    return Py_BuildValue("(siKKi)", windows[spec.window < 5 ? spec.window : 0], (int)spec.unit,
                         (unsigned long long)spec.length, (unsigned long long)spec.subwindows,
                         seen_spec_get_count(&spec, "refresh") == SEEN_REFRESH_FIRST);
}

/* -- keys --------------------------------------------------------------------------------- */

static PyObject *digest(PyObject *self, PyObject *args, PyObject *names) {
    (void)self;
    static char *keywords[] = {"key", "seed", NULL};
    PyObject *key, *held, *out = NULL;
    unsigned long long seed = 0;
    char digits[24];
    const char *text;
    size_t len;
    if (!PyArg_ParseTupleAndKeywords(args, names, "O|K:digest", keywords, &key, &seed)) return NULL;
    if (keys_text(key, digits, &held, &text, &len)) {
        seen_digest d = seen_hash(text, len, seed);
        unsigned char bytes[16];
        memcpy(bytes, &d, sizeof bytes);
        out = PyBytes_FromStringAndSize((char *)bytes, sizeof bytes);
    }
    Py_XDECREF(held);
    return out;
}

static bool append(PyObject *field, char **buf, size_t *at) {
    char digits[24];
    PyObject *held;
    const char *text;
    size_t len;
    bool good = keys_text(field, digits, &held, &text, &len);
    if (good) {
        char *grown = realloc(*buf, *at + len + 10);
        good = grown != NULL;
        if (good) *buf = grown;
        if (good) *at = seen_key_append(grown, *at + len + 10, *at, text, len);
        if (!good) PyErr_NoMemory();
    }
    Py_XDECREF(held);
    return good;
}

static PyObject *key(PyObject *self, PyObject *fields) {
    (void)self;
    Py_ssize_t n = PyTuple_Size(fields);
    char *buf = NULL;
    size_t at = 0;
    if (n < 2) return PyErr_SetString(PyExc_TypeError, "key() joins two or more fields"), NULL;
    bool good = true;
    for (Py_ssize_t i = 0; i < n && good; i++) good = append(PyTuple_GetItem(fields, i), &buf, &at);
    PyObject *out = good ? PyBytes_FromStringAndSize(buf, (Py_ssize_t)at) : NULL;
    free(buf);
    return out;
}

/* _digests(keys) -> bytearray of 16 bytes a record, seed 0; zeros where there is no key */
static PyObject *digests(PyObject *self, PyObject *object) {
    (void)self;
    struct seen_error e = {SEEN_ENOMEM, 0, "out of memory"};
    struct keys *keys = keys_open(object, (struct keys_hash){NULL, 1});
    if (!keys) return NULL;
    size_t all = keys_count(keys);
    uint32_t *record = malloc(KEYS_BATCH * sizeof *record);
    seen_digest *some = malloc(KEYS_BATCH * sizeof *some);
    PyObject *out = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(all * sizeof *some));
    int bad = !record || !some || !out;
    char *to = out ? PyByteArray_AsString(out) : NULL;
    if (!bad) memset(to, 0, all * sizeof *some);
    for (size_t from = 0, n; !bad && from < all; from += KEYS_BATCH) {
        bad = keys_hash_some(keys, from, some, record, &n, &e);
        for (size_t i = 0; !bad && i < n; i++)
            memcpy(to + (from + record[i]) * sizeof *some, some + i, sizeof *some);
    }
    free(record);
    free(some);
    keys_close(keys);
    if (!bad) return out;
    Py_XDECREF(out);
    return engine_raise(&e);
}

/* -- the module --------------------------------------------------------------------------- */

static PyMethodDef functions[] = {
    {"digest", (PyCFunction)(void (*)(void))digest, METH_VARARGS | METH_KEYWORDS,
     "digest(key, seed=0)\n--\n\n"
     "The 16 bytes of XXH3-128 that stand for a key: the same in every process and on every "
     "machine."},
    {"key", key, METH_VARARGS,
     "key(*fields)\n--\n\n"
     "Joins two or more fields (bytes, str, int) to one key, as `seen -k user,ad` does."},
    {"_digests", digests, METH_O, NULL},
    {"_plan", plan, METH_VARARGS, NULL},
    {"_window", window_of, METH_O, NULL},
    {0}};

static int fill(PyObject *module) {
    engine_format_error = PyErr_NewExceptionWithDoc(
        "seen.FormatError", "A snapshot is damaged, truncated or of another version.",
        PyExc_ValueError, NULL);
    if (!engine_format_error || PyModule_AddObjectRef(module, "FormatError", engine_format_error))
        return -1;
    if (PyModule_AddStringConstant(module, "__version__", SEEN_VERSION)) return -1;
    if (window_register(module)) return -1;
    return sketches_register(module);
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)fill},
#ifdef Py_GIL_DISABLED
                                   {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
                                   {0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_engine", NULL, 0, functions, slots, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__engine(void) { return PyModuleDef_Init(&definition); }
