/* snapshot.c - snapshots of a window, as bytes and as files, and its statistics. */
#include "window.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

/* -- statistics --------------------------------------------------------------------------- */

static bool put(PyObject *dict, const char *name, PyObject *value) {
    bool good = value && !PyDict_SetItemString(dict, name, value);
    Py_XDECREF(value);
    return good;
}

static PyObject *count_or_none(uint64_t n) {
    return n == SEEN_NEVER ? Py_NewRef(Py_None) : PyLong_FromUnsignedLongLong(n);
}

/* The fields of struct seen_stats, in order; `source` is text. */
#define FIELD(name, is_real)                                                                       \
    { #name, offsetof(struct seen_stats, name), is_real }
static const struct {
    const char *name;
    size_t at;
    bool is_real;
} fields[] = {
    FIELD(records, 0),        FIELD(unique, 0),
    FIELD(duplicates, 0),     FIELD(confirmed, 0),
    FIELD(stored, 0),         FIELD(capacity, 0),
    FIELD(fp_now, 1),         FIELD(fp_worst, 1),
    FIELD(expected_false, 1), FIELD(false_lo, 0),
    FIELD(false_hi, 0),       FIELD(expected_missed, 1),
    FIELD(missed_lo, 0),      FIELD(missed_hi, 0),
    FIELD(sampled_keys, 0),   FIELD(sampled_records, 0),
    FIELD(bytes, 0),          FIELD(landmarks, 0),
    FIELD(late, 0),           FIELD(clamped, 0),
    FIELD(max_late, 0),       FIELD(forgotten, 0),
    FIELD(saturated, 0),      FIELD(rebuilt, 0),
    FIELD(listed, 0),         FIELD(kept, 0),
    FIELD(oldest, 0),         FIELD(last, 0),
};

PyObject *window_stats(PyObject *self, PyObject *ignored) {
    (void)ignored;
    struct seen_stats s;
    window *w = (window *)self;
    window_take(w);
    seen_stats(w->detector, &s);
    window_give(w);
    PyObject *d = PyDict_New();
    const char *source = s.source == SEEN_FROM_SAMPLE ? "sample" : "model";
    bool good = d && put(d, "source", PyUnicode_FromString(source));
    for (size_t i = 0; good && i < sizeof fields / sizeof *fields; i++) {
        double real;
        uint64_t count;
        memcpy(&real, (char *)&s + fields[i].at, sizeof real);
        memcpy(&count, (char *)&s + fields[i].at, sizeof count);
        good = put(d, fields[i].name,
                   fields[i].is_real ? PyFloat_FromDouble(real) : count_or_none(count));
    }
    if (!good) Py_CLEAR(d);
    return d;
}

/* -- snapshots ---------------------------------------------------------------------------- */

static int save(window *w, struct seen_writer writer, struct seen_error *e) {
    int bad;
    Py_BEGIN_ALLOW_THREADS;
    pthread_mutex_lock(&w->lock);
    bad = seen_save(w->detector, w->blob, w->blob_len, writer, e);
    pthread_mutex_unlock(&w->lock);
    Py_END_ALLOW_THREADS;
    return bad;
}

PyObject *window_dump(PyObject *self, PyObject *ignored) {
    (void)ignored;
    struct engine_bytes bytes = {0};
    struct seen_error e;
    PyObject *out = NULL;
    if (save((window *)self, (struct seen_writer){engine_write, &bytes}, &e)) {
        if (e.code == SEEN_EIO) e = (struct seen_error){SEEN_ENOMEM, 0, "no memory for a snapshot"};
        engine_raise(&e);
    } else {
        out = PyBytes_FromStringAndSize(bytes.text, (Py_ssize_t)bytes.len);
    }
    free(bytes.text);
    return out;
}

struct file {
    int fd, error;
};

static int write_file(void *ctx, const void *buf, size_t len) {
    struct file *f = ctx;
    while (len) {
        ssize_t n = write(f->fd, buf, len);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return f->error = errno, -1;
        buf = (const char *)buf + n;
        len -= (size_t)n;
    }
    return 0;
}

static int read_file(void *ctx, void *buf, size_t len) {
    struct file *f = ctx;
    while (len) {
        ssize_t n = read(f->fd, buf, len);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) f->error = errno;
        if (n <= 0) return -1;
        buf = (char *)buf + n;
        len -= (size_t)n;
    }
    return 0;
}

static PyObject *raise_file(const struct file *f, const struct seen_error *e) {
    if (!f->error) return engine_raise(e);
    errno = f->error;
    return PyErr_SetFromErrno(PyExc_OSError);
}

/* _save(fd) */
PyObject *window_save(PyObject *self, PyObject *fd) {
    struct file file = {(int)PyLong_AsLong(fd), 0};
    struct seen_error e;
    if (PyErr_Occurred()) return NULL;
    if (save((window *)self, (struct seen_writer){write_file, &file}, &e))
        return raise_file(&file, &e);
    Py_RETURN_NONE;
}

static void *room_for_blob(void *ctx, size_t len) {
    window *w = ctx;
    w->blob = malloc(len ? len : 1);
    w->blob_len = w->blob ? len : 0;
    return w->blob;
}

/* _load(source, clock, mode, limit): source is bytes, or the number of a file that is open. */
PyObject *window_load(PyObject *type, PyObject *args) {
    PyObject *source, *clock;
    unsigned char mode;
    Py_ssize_t limit;
    struct seen_error e;
    int bad;
    if (!PyArg_ParseTuple(args, "OObn:_load", &source, &clock, &mode, &limit)) return NULL;
    Py_buffer view = {0};
    struct file file = {0};
    struct engine_source bytes = {0};
    struct seen_reader reader = {read_file, &file};
    if (PyLong_Check(source)) {
        file.fd = (int)PyLong_AsLong(source);
    } else {
        if (PyObject_GetBuffer(source, &view, PyBUF_SIMPLE)) return NULL;
        bytes = (struct engine_source){view.buf, (const char *)view.buf + view.len};
        reader = (struct seen_reader){engine_read, &bytes};
    }
    window *w = window_alloc((PyTypeObject *)type, clock);
    if (w) {
        const struct seen_room room = {room_for_blob, w};
        Py_BEGIN_ALLOW_THREADS;
        bad = seen_load(&w->detector, reader, (size_t)limit, &room, NULL, &e);
        Py_END_ALLOW_THREADS;
        if (bad) w->detector = NULL;
        if (!bad && bytes.at != bytes.end) {
            e = (struct seen_error){SEEN_EFORMAT, 0,
                                    "there are bytes behind the end of the snapshot"};
            bad = e.code;
        }
        if (bad) {
            Py_CLEAR(w);
            raise_file(&file, &e);
        }
    }
    if (view.obj) PyBuffer_Release(&view);
    if (w) w->mode = mode <= MODE_TIMES ? (char)mode : MODE_UNSET;
    return w ? window_ready(w) : NULL;
}
