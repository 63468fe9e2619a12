/* columns.c - batches of keys: buffers, iterables, and what NumPy or Arrow can show. */
#include "columns.h"

#include <string.h>

/* -- columns ------------------------------------------------------------------------------ */

struct column *columns_add(struct keys *k, enum kind kind, size_t n) {
    struct column *all = realloc(k->column, (k->columns + 1) * sizeof *all);
    if (!all) return PyErr_NoMemory(), NULL;
    k->column = all;
    struct column *c = memset(all + k->columns++, 0, sizeof *c);
    c->kind = kind;
    c->n = n;
    k->n += n;
    return c;
}

static void column_free(struct column *c) {
    if (c->values) {
        column_free(c->values);
        free(c->values);
    }
    free(c->digest);
    free(c->null);
    if (c->array.release) c->array.release(&c->array);
}

/* -- iterables ---------------------------------------------------------------------------- */

static bool room_for(struct column *c, size_t *cap, size_t m) {
    if (c->n < *cap) return true;
    *cap = *cap ? 2 * *cap : 256;
    seen_digest *digest = realloc(c->digest, *cap * m * sizeof *digest);
    if (digest) c->digest = digest;
    bool *null = realloc(c->null, *cap);
    if (null) c->null = null;
    return digest && null ? true : (PyErr_NoMemory(), false);
}

static bool add_item(struct column *c, PyObject *item, struct keys_hash h) {
    char digits[24];
    PyObject *held = NULL;
    const char *text;
    size_t len;
    struct seen_error e;
    c->null[c->n] = keys_is_null(item);
    if (!c->null[c->n]) {
        if (!keys_text(item, digits, &held, &text, &len)) {
            Py_XDECREF(held);
            return false;
        }
        int bad = keys_digest(h, text, len, c->digest + c->n * h.digests, &e);
        Py_XDECREF(held);
        if (bad) {
            PyErr_Format(PyExc_ValueError, "record %zu: %s", c->n, e.text);
            return false;
        }
    }
    c->n++;
    return true;
}

/* Reads an iterable to its end before anything is judged, so that an error changes nothing. */
static bool open_iterable(struct keys *k, PyObject *object) {
    PyObject *items = PyObject_GetIter(object), *item;
    struct column *c = items ? columns_add(k, DIGEST, 0) : NULL;
    size_t cap = 0;
    bool good = c != NULL;
    while (good && (item = PyIter_Next(items))) {
        good = room_for(c, &cap, k->hash.digests) && add_item(c, item, k->hash);
        Py_DECREF(item);
    }
    Py_XDECREF(items);
    if (c) k->n = c->n;
    return good && !PyErr_Occurred();
}

/* -- buffers ------------------------------------------------------------------------------ */

static bool refuse_buffer(const char *format) {
    if (strchr("fdge", *format) && *format)
        PyErr_SetString(PyExc_TypeError,
                        "keys are bytes, str or int, and these are floats; convert "
                        "them to integers or to text");
    else if (*format == '?')
        PyErr_SetString(PyExc_TypeError, "keys are bytes, str or int, and these are bools");
    else
        PyErr_Format(
            PyExc_TypeError,
            "cannot read keys from a buffer of the format '%s': take integers, fixed-width "
            "bytes or str, or rows of a 2-D array of uint8",
            format);
    return false;
}

static bool open_view(struct keys *k, const Py_buffer *v) {
    const char *format = v->format ? v->format : "B";
    if (*format == '@' || *format == '=' || *format == '<') format++;
    if (*format == '>' || *format == '!') {
        PyErr_SetString(PyExc_TypeError, "keys are in big-endian order; convert them with "
                                         ".astype(a.dtype.newbyteorder('='))");
        return false;
    }
    char type = format[strspn(format, "0123456789")];
    bool rows = v->ndim == 2 && type == 'B' && v->itemsize == 1;
    if (v->ndim != 1 && !rows) {
        PyErr_Format(PyExc_ValueError,
                     "keys are one-dimensional (or rows of uint8), and these have %d dimensions",
                     v->ndim);
        return false;
    }
    if (rows && v->strides[1] != 1 && v->shape[1] > 1) {
        PyErr_SetString(PyExc_ValueError, "the bytes of a row must lie side by side");
        return false;
    }
    enum kind kind = type == 's' || type == 'c' || rows ? FIXED : type == 'w' ? UCS4 : INTEGER;
    bool integer = type && strchr("bBhHiIlLqQnN", type) && format[1] == 0;
    if (!integer && kind == INTEGER) return refuse_buffer(format);
    struct column *c = columns_add(k, kind, (size_t)v->shape[0]);
    if (!c) return false;
    c->data = v->buf;
    c->stride = v->strides[0];
    c->width = rows ? (size_t)v->shape[1] : (size_t)v->itemsize;
    c->is_signed = strchr("bhilqn", type) != NULL;
    c->is_text = kind == UCS4;
    c->is_padded = type == 's';
    if (kind == UCS4 && !(k->scratch = malloc(c->width + 1))) return PyErr_NoMemory(), false;
    return true;
}

/* -- opening ------------------------------------------------------------------------------ */

/* pandas' columns and other arrays that NumPy can show without a copy. */
static PyObject *as_array(PyObject *object) {
    PyObject *method = PyObject_GetAttrString(object, "__array__");
    if (!method) return PyErr_Clear(), Py_NewRef(object);
    PyObject *array = PyObject_CallObject(method, NULL);
    Py_DECREF(method);
    return array;
}

static bool open_buffer_or_items(struct keys *k, PyObject *object) {
    if (!PyObject_CheckBuffer(object)) return open_iterable(k, object);
    if (PyObject_GetBuffer(object, &k->view, PyBUF_FORMAT | PyBUF_STRIDES)) {
        PyObject *kind = PyObject_GetAttrString(object, "dtype");
        if (kind)
            PyErr_Format(PyExc_TypeError,
                         "keys are bytes, str or int, and these are %S; convert them", kind);
        Py_XDECREF(kind);
        return false;
    }
    k->has_view = true;
    const char *format = k->view.format;
    if (format && !strcmp(format, "O")) return open_iterable(k, object);
    return open_view(k, &k->view);
}

static bool open_any(struct keys *k, PyObject *object) {
    if (PyUnicode_Check(object) || PyBytes_Check(object)) {
        PyErr_SetString(PyExc_TypeError, "this is one key: use add(), or pass a list of keys");
        return false;
    }
    if (PyObject_CheckBuffer(object)) return open_buffer_or_items(k, object);
    int arrow = columns_of_arrow(k, object);
    if (arrow) return arrow > 0;
    PyObject *array = as_array(object);
    if (!array) return false;
    bool good = open_buffer_or_items(k, array);
    Py_XDECREF(k->held);
    k->held = array;
    return good;
}

struct keys *keys_open(PyObject *object, struct keys_hash hash) {
    struct keys *k = calloc(1, sizeof *k);
    if (!k) return PyErr_NoMemory(), NULL;
    k->hash = hash;
    if (open_any(k, object)) return k;
    keys_close(k);
    return NULL;
}

void keys_close(struct keys *k) {
    for (size_t i = 0; i < k->columns; i++) column_free(k->column + i);
    free(k->column);
    free(k->scratch);
    if (k->has_view) PyBuffer_Release(&k->view);
    Py_XDECREF(k->held);
    free(k);
}

size_t keys_count(const struct keys *k) { return k->n; }
